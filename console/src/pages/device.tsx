import { useEffect, useState } from "preact/hooks";
import { Field, fieldsOf } from "../../design/field.tsx";
import { Facts, Head, Note, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { Act } from "./act.tsx";
import { RIGHTS, roleWord } from "./settings-text.ts";

type Pending = AnswerOf<"POST /v1/auth/device/request">;
type Outcome = "approved" | "denied";

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  approved: "The command line is logged in. You can close this page; Settings lists its session and can end it.",
  denied: "The command line was refused, and its code is worthless.",
};

type DecisionProps = { readonly pending: Pending; readonly onDecided: (outcome: Outcome) => void };

/** Deny stands first and Allow is never focused, so that no habitual key lets a stranger in. */
const Decision = ({ pending, onDecided }: DecisionProps) => {
  const { user_code, device_name, ip, user_agent, expires_at } = pending;
  const who = me.value?.member;
  const body = { user_code };
  return (
    <Section title="A command line wants to log in as you">
      <Facts
        rows={[
          ["Code", <code>{user_code}</code>],
          ["It calls itself", device_name],
          ["Its network address", ip],
          ["Its program", user_agent],
          ["The code ends", <Time at={expires_at} />],
          [
            "It will be able to",
            `${RIGHTS[who?.role ?? ""] ?? "read"}, as ${who?.email} (${roleWord(who?.role ?? "")})`,
          ],
        ]}
      />
      <Note mark="info">
        <p>
          Allow it only if you have just run <code>countersign login</code> yourself and it shows this code. Nobody who
          sends you a code needs you to allow it.
        </p>
      </Note>
      <div class="row">
        <Act
          label="Deny"
          act={() => call("POST /v1/auth/device/deny", { body })}
          done={null}
          onDone={() => onDecided("denied")}
          why={null}
        />
        <Act
          label="Allow"
          act={() => call("POST /v1/auth/device/approve", { body })}
          done={null}
          onDone={() => onDecided("approved")}
          why={null}
        />
      </div>
    </Section>
  );
};

const CodeForm = ({ fault, onCode }: { readonly fault: string | null; readonly onCode: (code: string) => void }) => (
  <Section title="Enter the code that your command line shows">
    <form
      class="stack tight narrow"
      aria-label="Code of a command line"
      onSubmit={(event) => {
        event.preventDefault();
        onCode(fieldsOf(event.currentTarget).user_code ?? "");
      }}
    >
      <Field
        label="Code"
        name="user_code"
        autocomplete="off"
        maxLength={32}
        fault={fault}
        hint="Such as BCDF-GHJK"
        required
      />
      <div class="row">
        <button class="btn first" type="submit">
          Go on
        </button>
      </div>
    </form>
  </Section>
);

/** Lets a command line in (RFC 8628). Its code comes in the address's fragment, which no server is sent, or is typed. */
const Device = () => {
  const [pending, setPending] = useState<Pending | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const ask = async (user_code: string): Promise<void> => {
    const answer = await call("POST /v1/auth/device/request", { body: { user_code } });
    setPending(answer.ok ? answer.body : null);
    setFault(answer.ok ? null : answer.problem.detail);
  };
  useEffect(() => {
    const code = location.hash.slice(1);
    if (code === "") return;
    history.replaceState(history.state, "", location.pathname);
    void ask(code);
  }, []);
  return (
    <>
      <Head title="Sign in a command line" meta={<span>{me.value?.account.name}</span>} />
      {outcome === null ? null : (
        <Note
          role={outcome === "approved" ? "ok" : "mute"}
          mark={outcome === "approved" ? "delivered" : "info"}
          isAlert
        >
          <p>{OUTCOMES[outcome]}</p>
        </Note>
      )}
      {outcome !== null ? null : pending === null ? (
        <CodeForm fault={fault} onCode={(code) => void ask(code)} />
      ) : (
        <Decision pending={pending} onDecided={setOutcome} />
      )}
    </>
  );
};

export default Device;
