import { useState } from "preact/hooks";
import { Field, fieldsOf } from "../../design/field.tsx";
import { Loading } from "../../design/placeholders.tsx";
import { Note } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { withHolders } from "../api/holders.ts";
import { mayIt } from "../api/may-decide.ts";
import { useNames } from "../api/names.ts";
import { NOT_ASKED, useAnswer } from "../shell/use-answer.ts";
import { numberOf } from "./bundle-words.ts";
import { MessageText } from "./message-text.tsx";
import { type UndoTried, undoMessage } from "./undo-words.ts";

type Bundle = AnswerOf<"GET /v1/bundles/{id}">;

type LeftProps = {
  readonly id: string;
  readonly step: NonNullable<Bundle["left"]>[number];
  /** The event by which its undo was tried; null if none was sent. */
  readonly undoEvent: string | null;
  readonly onDone: () => void;
};

const COMMENT_MAX = 1_000;

/** Null if no undo was sent, or if what became of it cannot be read; undefined while it is read. */
const useTried = (event: string | null): (UndoTried & { readonly endpoint: string | null }) | null | undefined => {
  const nameOf = useNames();
  // The list of events may learn of the last attempt after the bundle has told it.
  const on = event === null ? null : { topic: "events", id: event };
  const shown = useAnswer<AnswerOf<"GET /v1/events/{id}"> | null>({ key: `undo ${event}`, on }, () =>
    event === null ? Promise.resolve(NOT_ASKED) : call("GET /v1/events/{id}", { params: { id: event } }),
  );
  if (shown.body === null) return event === null || shown.problem !== null ? null : undefined;
  const { endpoint_id: endpoint, attempts, attempts_left_out: leftOut } = shown.body;
  return { to: (endpoint === null ? null : nameOf(endpoint)) ?? "Its endpoint", endpoint, attempts, leftOut };
};

/** A step that a person has to undo by hand; marking it needs a note of how that was done. */
export const Left = ({ id, step, undoEvent, onDone }: LeftProps) => {
  const { index, action, why } = step;
  const [fault, setFault] = useState<string | null>(null);
  const tried = useTried(undoEvent);
  const params = { id, index: String(index) };
  const send = async (form: HTMLFormElement): Promise<void> => {
    const { comment = "" } = fieldsOf(form);
    const answer = await call("POST /v1/bundles/{id}/steps/{index}/resolve", { params, body: { comment } });
    setFault(answer.ok ? null : answer.problem.detail);
    if (!answer.ok) return;
    toast.value = { text: `Step ${numberOf(step)} is marked as undone.` };
    onDone();
  };
  if (tried === undefined) return <Loading rows={2} />;
  return (
    <Note mark="needsundo" role="fail">
      <p class="meta">
        Step {numberOf(step)}, {action}
      </p>
      <p>
        <MessageText message={undoMessage(tried, why)} />
      </p>
      {mayIt("approver") ? (
        <form
          class="stack tight narrow"
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
            {tried === null || tried.endpoint === null ? null : (
              <a class="btn bare" href={`/endpoints/${encodeURIComponent(tried.endpoint)}`}>
                Open the endpoint
              </a>
            )}
          </div>
        </form>
      ) : (
        <p class="meta">{withHolders("An approver, an admin or an owner marks it as undone", "approver")}</p>
      )}
    </Note>
  );
};
