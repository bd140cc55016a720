import { useState } from "preact/hooks";
import { Field, fieldsOf } from "../../design/field.tsx";
import { Note } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { DECIDING_ROLES } from "../api/may-decide.ts";
import { numberOf } from "./bundle-words.ts";

type Bundle = AnswerOf<"GET /v1/bundles/{id}">;

const COMMENT_MAX = 1_000;

type LeftProps = {
  readonly id: string;
  readonly step: NonNullable<Bundle["left"]>[number];
  readonly onDone: () => void;
};

/** A step that a person has to undo by hand; marking it needs a note of how that was done. */
export const Left = ({ id, step, onDone }: LeftProps) => {
  const { index, action, why } = step;
  const [fault, setFault] = useState<string | null>(null);
  const params = { id, index: String(index) };
  const send = async (form: HTMLFormElement): Promise<void> => {
    const { comment = "" } = fieldsOf(form);
    const answer = await call("POST /v1/bundles/{id}/steps/{index}/resolve", { params, body: { comment } });
    setFault(answer.ok ? null : answer.problem.detail);
    if (!answer.ok) return;
    toast.value = { text: `Step ${numberOf(step)} is marked as undone.` };
    onDone();
  };
  return (
    <Note mark="needsundo" role="fail">
      <p>
        <b>
          Step {numberOf(step)}, {action}, could not be undone.
        </b>{" "}
        {why} Undo it by hand, then mark it as undone.
      </p>
      {DECIDING_ROLES.includes(me.value?.member.role ?? "") ? (
        <form
          class="stack tight"
          onSubmit={(event) => {
            event.preventDefault();
            void send(event.currentTarget);
          }}
        >
          <Field label="How it was undone" name="comment" required maxLength={COMMENT_MAX} fault={fault} />
          <div class="row">
            <button class="btn" type="submit">
              Mark as undone
            </button>
          </div>
        </form>
      ) : (
        <p class="meta">An approver, an admin or an owner marks it as undone.</p>
      )}
    </Note>
  );
};
