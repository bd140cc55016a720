import { useState } from "preact/hooks";
import { Field, fieldsOf } from "../../design/field.tsx";
import { Section } from "../../design/text.tsx";
import { call } from "../api/api.ts";
import { AskWhy } from "./ask-why.tsx";

type AskProps = {
  readonly id: string;
  /** The address, or the id of a member who was removed. */
  readonly name: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

export const AskErasure = ({ id, name, onDone, onClose }: AskProps) => (
  <AskWhy
    question={`Erase the data of ${name}?`}
    act="Erase the data"
    keep="Keep it"
    send={(reason) => call("DELETE /v1/members/{id}", { params: { id }, query: { erase: "1" }, body: { reason } })}
    done={`The data of ${name} is erased.`}
    onDone={onDone}
    onClose={onClose}
  >
    A member is removed first. Their address, where their sessions came from and what they wrote are gone for good. The
    records of what they decided stay, and so do their proofs.
  </AskWhy>
);

/** No list has removed members, so the owner gives the id, which the audit shows. */
export const EraseRemoved = ({ onDone }: { readonly onDone: () => void }) => {
  const [id, setId] = useState<string | null>(null);
  return (
    <Section title="Erase the data of a person who has left">
      <div class="stack tight">
        <p>
          <a href="/audit?type=MemberRemoved">The audit shows who was removed</a>, and their ids.
        </p>
        <form
          class="ask stack"
          aria-label="Erase the data of a person who has left"
          onSubmit={(event) => {
            event.preventDefault();
            setId((fieldsOf(event.currentTarget).member ?? "").trim());
          }}
        >
          <Field
            label="Member id"
            name="member"
            autocomplete="off"
            maxLength={64}
            required
            hint="It begins with mem_."
          />
          <button class="btn" type="submit">
            Erase their data…
          </button>
        </form>
      </div>
      {id === null ? null : <AskErasure id={id} name={id} onDone={onDone} onClose={() => setId(null)} />}
    </Section>
  );
};
