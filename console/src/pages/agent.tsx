import { useState } from "preact/hooks";
import { Field, fieldsOf } from "../../design/field.tsx";
import { StateMark } from "../../design/mark.tsx";
import { Secret } from "../../design/secret.tsx";
import { Breaking, Facts, Head, Id, Note, Section, Time } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { Thing } from "./listing.tsx";

type Agent = AnswerOf<"GET /v1/agents/{id}">;

const REASON_MAX = 500;

/** The reason is recorded, so it is asked for in the same form as the act. */
const Suspend = ({ id, name, onDone }: { readonly id: string; readonly name: string; readonly onDone: () => void }) => {
  const [fault, setFault] = useState<string | null>(null);
  const send = async (form: HTMLFormElement): Promise<void> => {
    const { reason = "" } = fieldsOf(form);
    const answer = await call("POST /v1/agents/{id}/suspend", { params: { id }, body: { reason } });
    setFault(answer.ok ? null : answer.problem.detail);
    if (!answer.ok) return;
    toast.value = { text: `${name} is suspended.` };
    onDone();
  };
  return (
    <Section title="Suspend this agent">
      <p>Its key stops at once. Held requests are cancelled, and a delivery that has begun is finished.</p>
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          void send(event.currentTarget);
        }}
      >
        <Field label="Why" name="reason" required maxLength={REASON_MAX} fault={fault} />
        <div class="row">
          <button class="btn danger" type="submit">
            Suspend
          </button>
        </div>
      </form>
    </Section>
  );
};

const Shown = ({ agent, onDone }: { readonly agent: Agent; readonly onDone: () => void }) => {
  const nameOf = useNames();
  const [key, setKey] = useState<string | null>(null);
  const { id, name, status } = agent;
  const params = { id };
  const why = whyNotAdmin();
  return (
    <>
      <Head
        title={<Breaking text={name} />}
        meta={
          <>
            <StateMark value={status} />
            <Id id={id} />
          </>
        }
        acts={
          <>
            {status === "suspended" ? (
              <Act
                label="Resume"
                act={() => call("POST /v1/agents/{id}/resume", { params })}
                done={`${name} may ask again.`}
                onDone={onDone}
                why={why}
                isFirst
              />
            ) : null}
            <Act
              label="Rotate key"
              act={() => call("POST /v1/agents/{id}/key", { params })}
              done={null}
              onDone={(made) => {
                setKey(made.key);
                onDone();
              }}
              why={why}
              ask={{
                question: `Rotate the key of ${name}?`,
                text: "The key that it has now stops at once.",
                keep: "Keep its key",
              }}
            />
          </>
        }
      />
      {key === null ? null : (
        <Secret
          secret={key}
          title="This key is shown once."
          text="Countersign keeps only a hash of it. If you lose it, make a new one."
          variable="COUNTERSIGN_AGENT_KEY"
          onDone={() => setKey(null)}
        />
      )}
      {status === "suspended" ? (
        <Note mark="suspended">
          <p>
            Suspended{agent.suspended_at === null ? "" : " since "}
            {agent.suspended_at === null ? null : <Time at={agent.suspended_at} />}. {agent.suspended_reason ?? ""}
          </p>
        </Note>
      ) : null}
      <Section title="What it may do">
        <Facts
          rows={[
            ["Actions", agent.scope.actions.join(", ")],
            ["Policy", agent.policy_id === null ? "none" : (nameOf(agent.policy_id) ?? <Id id={agent.policy_id} />)],
            ["Key", <code>…{agent.last4}</code>],
            ["Since", <Time at={agent.created_at} />],
          ]}
        />
        <p class="row">
          <a class="btn" href={hrefOf("/events", { agent_id: id })}>
            Its events
          </a>
          <a class="btn" href={hrefOf("/events", { agent_id: id, status: "blocked" })}>
            Refused requests
          </a>
        </p>
      </Section>
      {status === "active" && why === null ? <Suspend id={id} name={name} onDone={onDone} /> : null}
    </>
  );
};

const AgentPage = ({ params }: PageProps) => {
  const id = params.id ?? "";
  const shown = useAnswer<Agent>({ key: id, on: { topic: "agents", id } }, () =>
    call("GET /v1/agents/{id}", { params: { id } }),
  );
  return (
    <Thing what="The agent" shown={shown}>
      {(agent) => <Shown agent={agent} onDone={shown.again} />}
    </Thing>
  );
};

export default AgentPage;
