import { useState } from "preact/hooks";
import { Field } from "../../design/field.tsx";
import { Loading } from "../../design/placeholders.tsx";
import { Secret } from "../../design/secret.tsx";
import { Head } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { go } from "../shell/router.ts";
import { usePolicyChoices } from "./choices.ts";
import { Choice, SendForm } from "./form.tsx";

type Made = AnswerOf<"POST /v1/endpoints">;

/** Where are events sent? */
const EndpointNew = () => {
  const policies = usePolicyChoices();
  const [made, setMade] = useState<Made | null>(null);
  return (
    <>
      <Head
        title="New endpoint"
        meta={<span>Events are posted to it, signed, and repeated until it takes them.</span>}
      />
      {made !== null ? (
        <Secret
          secret={made.signing_secret}
          title="This signing secret is shown once."
          text="Your application checks with it that a request came from here. If you lose it, make a new one."
          variable="COUNTERSIGN_SIGNING_SECRET"
          onDone={() => go(`/endpoints/${encodeURIComponent(made.id)}`, { isReplaced: true })}
        />
      ) : policies === null ? (
        <Loading rows={3} />
      ) : (
        <SendForm
          label="New endpoint"
          button="Make the endpoint"
          send={({ name = "", url = "", policy_id = null }) =>
            call("POST /v1/endpoints", { body: { name, url, policy_id } })
          }
          onDone={setMade}
        >
          {(faultOf) => (
            <>
              <Field label="Name" name="name" required maxLength={100} fault={faultOf("name")} />
              <Field label="Address" name="url" type="url" required fault={faultOf("url")} hint="http or https" />
              <Choice
                label="Policy"
                name="policy_id"
                choices={policies}
                hint="Every request to this endpoint has to pass it, from every agent and source."
              />
            </>
          )}
        </SendForm>
      )}
    </>
  );
};

export default EndpointNew;
