import { useState } from "preact/hooks";
import { Field } from "../../design/field.tsx";
import { faultOf } from "../../design/filter-values.ts";
import { duration } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import { Loading } from "../../design/placeholders.tsx";
import { Secret } from "../../design/secret.tsx";
import { Breaking, Facts, Head, Id, Note, Section, Time, Zone } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { now } from "../shell/clock.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { AddressCheck } from "./address-check.tsx";
import { AdminsOnly } from "./admins-only.tsx";
import { AgentEvents, AgentFigures } from "./agent-figures.tsx";
import { Suspend } from "./agent-suspend.tsx";
import { usePolicyChoices } from "./choices.ts";
import { Choice, SendForm } from "./form.tsx";
import { Thing } from "./listing.tsx";
import { rangeIn } from "./overview-query.ts";
import { RANGE_FILTER } from "./ranges.ts";
import { SCOPE_HINT, scopeOf, scopeText } from "./scope.ts";

type Agent = AnswerOf<"GET /v1/agents/{id}">;

const Change = ({ agent, onDone }: { readonly agent: Agent; readonly onDone: () => void }) => {
  const policies = usePolicyChoices();
  if (policies === null) return <Loading rows={4} />;
  return (
    <Section title="Change it">
      <SendForm
        label="Change it"
        button="Save"
        send={({ name = "", actions = "", policy_id = null }) =>
          call("PATCH /v1/agents/{id}", {
            params: { id: agent.id },
            body: { name, policy_id, scope: { actions: scopeOf(actions) } },
          })
        }
        done="The agent is changed."
        onDone={onDone}
      >
        {(faultOf) => (
          <>
            <Field label="Name" name="name" value={agent.name} required maxLength={100} fault={faultOf("name")} />
            <Field
              label="What it may ask for"
              name="actions"
              value={agent.scope.actions.join(", ")}
              fault={faultOf("scope")}
              hint={SCOPE_HINT}
            />
            <Choice label="Policy" name="policy_id" value={agent.policy_id ?? ""} choices={policies} />
          </>
        )}
      </SendForm>
    </Section>
  );
};

const MayDo = ({ agent }: { readonly agent: Agent }) => {
  const nameOf = useNames();
  const { policy_id: policy, key_since: since } = agent;
  return (
    <Section title="What it may do">
      <Facts
        rows={[
          ["Actions", scopeText(agent.scope.actions)],
          [
            "Policy",
            policy === null ? (
              "none"
            ) : (
              <a href={`/policies/${encodeURIComponent(policy)}`}>{nameOf(policy) ?? "its policy"}</a>
            ),
          ],
          [
            "Key",
            <>
              <code>…{agent.last4}</code>
              {since === undefined ? null : (
                <span class="quiet" title={since}>
                  {" "}
                  {duration(Math.max(0, now.value - Date.parse(since)))} old
                </span>
              )}
            </>,
          ],
          ["Since", <Time at={agent.created_at} />],
        ]}
      />
    </Section>
  );
};

type ShownProps = { readonly agent: Agent; readonly query: PageProps["query"]; readonly onDone: () => void };

const Shown = ({ agent, query, onDone }: ShownProps) => {
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
            <Zone />
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
            ) : (
              <Suspend id={id} name={name} onDone={onDone} why={why} />
            )}
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
      {faultOf(RANGE_FILTER, query) === null ? (
        <AgentFigures id={id} policyId={agent.policy_id} range={rangeIn(query)} />
      ) : (
        <AddressCheck filters={[RANGE_FILTER]} query={query} />
      )}
      <AgentEvents id={id} />
      <MayDo agent={agent} />
      <AdminsOnly to="change or delete it">
        <Change agent={agent} onDone={onDone} />
        <Section title="Delete this agent">
          <p>Its key stops at once and for good. What it did stays in the history.</p>
          <div class="row">
            <Act
              label="Delete"
              act={() => call("DELETE /v1/agents/{id}", { params })}
              done={`${name} is deleted.`}
              onDone={() => go("/agents", { isReplaced: true })}
              why={why}
              ask={{
                question: `Delete ${name}?`,
                text: "Its key stops at once, and it cannot be brought back. To stop it for a time, suspend it.",
                keep: "Keep it",
              }}
            />
          </div>
        </Section>
      </AdminsOnly>
    </>
  );
};

const AgentPage = ({ params, query }: PageProps) => {
  const id = params.id ?? "";
  const shown = useAnswer<Agent>({ key: id, on: { topic: "agents", id } }, () =>
    call("GET /v1/agents/{id}", { params: { id } }),
  );
  return (
    <Thing what="The agent" shown={shown}>
      {(agent) => <Shown agent={agent} query={query} onDone={shown.again} />}
    </Thing>
  );
};

export default AgentPage;
