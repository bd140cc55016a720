import { useState } from "preact/hooks";
import { Field } from "../../design/field.tsx";
import { Loading } from "../../design/placeholders.tsx";
import { Secret } from "../../design/secret.tsx";
import { Head } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { go } from "../shell/router.ts";
import { usePolicyChoices } from "./choices.ts";
import { Choice, SendForm } from "./form.tsx";
import { SCOPE_HINT, scopeOf } from "./scope.ts";

type Made = AnswerOf<"POST /v1/agents">;

/** Who may ask, and for what? */
const AgentNew = () => {
  const policies = usePolicyChoices();
  const [made, setMade] = useState<Made | null>(null);
  return (
    <>
      <Head title="New agent" meta={<span>It asks for actions by name, with a key of its own.</span>} />
      {made !== null ? (
        <Secret
          secret={made.key}
          title="This key is shown once."
          text="Countersign keeps only a hash of it. If you lose it, make a new one."
          variable="COUNTERSIGN_AGENT_KEY"
          onDone={() => go(`/agents/${encodeURIComponent(made.id)}`, { isReplaced: true })}
        />
      ) : policies === null ? (
        <Loading rows={3} />
      ) : (
        <SendForm
          label="New agent"
          button="Make the agent"
          send={({ name = "", actions = "", policy_id = null }) =>
            call("POST /v1/agents", { body: { name, policy_id, scope: { actions: scopeOf(actions) } } })
          }
          onDone={setMade}
        >
          {(faultOf) => (
            <>
              <Field label="Name" name="name" required maxLength={100} fault={faultOf("name")} />
              <Field label="What it may ask for" name="actions" required fault={faultOf("scope")} hint={SCOPE_HINT} />
              <Choice
                label="Policy"
                name="policy_id"
                choices={policies}
                hint="It decides on what this agent asks for."
              />
            </>
          )}
        </SendForm>
      )}
    </>
  );
};

export default AgentNew;
