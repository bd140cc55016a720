import { useState } from "preact/hooks";
import { Field, fieldsOf } from "../../design/field.tsx";
import { StateMark } from "../../design/mark.tsx";
import type { Column } from "../../design/table.tsx";
import { Section, Time } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { useRows } from "../shell/use-rows.ts";
import { Act } from "./act.tsx";
import { RowsTable, SettingsFrame } from "./settings-frame.tsx";
import { deviceOf } from "./settings-text.ts";

type Session = AnswerOf<"GET /v1/auth/sessions">["data"][number];

type Faults = { readonly current: string | null; readonly next: string | null };
const NO_FAULTS: Faults = { current: null, next: null };

const Password = ({ onChanged }: { readonly onChanged: () => void }) => {
  const [faults, setFaults] = useState<Faults>(NO_FAULTS);
  const [isBusy, setBusy] = useState(false);
  const send = async (form: HTMLFormElement): Promise<void> => {
    if (isBusy) return;
    const { current_password = "", new_password = "" } = fieldsOf(form);
    setBusy(true);
    const answer = await call("POST /v1/auth/password", { body: { current_password, new_password } });
    setBusy(false);
    if (!answer.ok) {
      const { code, detail } = answer.problem;
      return setFaults(
        code === "invalid-credentials"
          ? { current: "This is not your present password.", next: null }
          : { current: null, next: detail },
      );
    }
    setFaults(NO_FAULTS);
    form.reset();
    toast.value = { text: "Your password is changed. Your other sessions have ended." };
    onChanged();
  };
  return (
    <Section title="Change your password" beside={<span class="meta">This ends your other sessions</span>}>
      <form
        class="ask stack"
        aria-label="Change your password"
        onSubmit={(event) => {
          event.preventDefault();
          void send(event.currentTarget);
        }}
      >
        <input
          class="vh"
          type="email"
          autocomplete="username"
          value={me.value?.member.email}
          readOnly
          tabIndex={-1}
          aria-hidden="true"
        />
        <Field
          label="Present password"
          name="current_password"
          type="password"
          autocomplete="current-password"
          fault={faults.current}
          required
        />
        <Field
          label="New password"
          name="new_password"
          type="password"
          autocomplete="new-password"
          minLength={10}
          hint="At least 10 characters. Several words are easier to remember than one."
          fault={faults.next}
          required
        />
        <button class="btn first" type="submit" disabled={isBusy}>
          Change the password
        </button>
      </form>
    </Section>
  );
};

const columns = (onGone: () => void): readonly Column<Session>[] => [
  {
    name: "Where",
    as: "a",
    show: ({ user_agent, ip, made_by }) => (
      <>
        <b title={user_agent ?? undefined}>{made_by === "command-line" ? "Command line" : deviceOf(user_agent)}</b>
        <span class="sub">{ip === null ? "address erased" : ip}</span>
      </>
    ),
  },
  {
    name: "State",
    as: "b",
    show: ({ current }) => <StateMark value="active" word={current ? "This session" : "Open"} />,
  },
  {
    name: "Signed in",
    as: "soft c",
    show: ({ created_at: at }) => (
      <>
        <span class="phone">Since </span>
        <Time at={at} />
      </>
    ),
  },
  { name: "Ends", as: "soft hide", show: ({ expires_at: at }) => <Time at={at} /> },
  {
    name: "Acts",
    as: "acts",
    show: ({ id, current }) =>
      current ? null : (
        <div class="row">
          <Act
            label="End"
            act={() => call("DELETE /v1/auth/sessions/{id}", { params: { id } })}
            done="The session has ended."
            onDone={onGone}
            why={null}
          />
        </div>
      ),
  },
];

const Sessions = () => {
  const list = useRows<Session>({
    keyOf: ({ id }) => id,
    page: (cursor) =>
      call("GET /v1/auth/sessions", { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } }),
  });
  return (
    <SettingsFrame name="sessions" meta={<span>{me.value?.member.email}</span>}>
      <Section title="Your sessions">
        <RowsTable
          caption="Your sessions"
          list={list}
          columns={columns(list.again)}
          keyOf={({ id }) => id}
          empty="You have no open session."
        />
        {list.rows.length < 2 ? null : (
          <p class="pager">
            <Act
              label="End all others"
              act={() => call("DELETE /v1/auth/sessions")}
              done="All your other sessions have ended."
              onDone={list.again}
              why={null}
              ask={{
                question: "End all your other sessions?",
                text: "Each of them has to sign in again. This session goes on.",
                keep: "Keep them",
              }}
            />
          </p>
        )}
      </Section>
      <Password onChanged={list.again} />
    </SettingsFrame>
  );
};

export default Sessions;
