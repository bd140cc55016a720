import { useState } from "preact/hooks";
import { Area, Field } from "../../design/field.tsx";
import { Loading } from "../../design/placeholders.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { type CostKind, costKindOf, definitionOf, labelLines } from "./action-definition.ts";
import { useEndpointChoices, usePolicyChoices } from "./choices.ts";
import { Choice, type FaultOf, SendForm } from "./form.tsx";

type Action = AnswerOf<"GET /v1/actions/{name}">;

const COSTS: readonly { readonly value: CostKind; readonly word: string }[] = [
  { value: "none", word: "No cost" },
  { value: "fixed", word: "The same each time" },
  { value: "field", word: "A field of the request" },
];
const UNDO = [
  { value: "irreversible", word: "Nothing can undo it" },
  { value: "compensable", word: "Another action undoes it" },
  { value: "reversible", word: "There is nothing to undo" },
];
const ACTIONS_MAX = 100;

type PartProps = { readonly action: Action | null; readonly faultOf: FaultOf };

const written = (value: number | undefined): string => (value === undefined ? "" : String(value));

const CostPart = ({ action, faultOf }: PartProps) => {
  const [kind, setKind] = useState<CostKind>(costKindOf(action?.cost));
  const { fixed_eur: fixed, pointer = "", scale, default_eur: missing, numeric_text: isText } = action?.cost ?? {};
  return (
    <>
      <Choice
        label="Cost"
        name="cost"
        value={kind}
        choices={COSTS}
        onChoose={(value) => setKind(COSTS.find((it) => it.value === value)?.value ?? "none")}
        hint="It counts in place of the policy's cost. Without it, the policy's cost counts."
      />
      {kind === "fixed" ? (
        <Field label="Euros each time" name="fixed_eur" value={written(fixed)} required fault={faultOf("cost")} />
      ) : null}
      {kind === "field" ? (
        <>
          <Field
            label="Field with the amount"
            name="pointer"
            value={pointer}
            required
            fault={faultOf("cost")}
            hint="Such as amount, or order.total"
          />
          <Field
            label="One unit in euros"
            name="scale"
            value={written(scale)}
            hint="0.01 if the field counts cents; empty if it counts euros"
          />
          <Field
            label="Euros if the field is missing"
            name="default_eur"
            value={written(missing)}
            hint="Empty: a request without it is refused"
          />
          <label>
            <input type="checkbox" name="numeric_text" value="yes" defaultChecked={isText === true} /> The amount may be
            text, such as "12.50"
          </label>
        </>
      ) : null}
    </>
  );
};

const UndoPart = ({ action, faultOf }: PartProps) => {
  const [undo, setUndo] = useState<string>(action?.reversibility ?? "irreversible");
  const known = useAnswer<AnswerOf<"GET /v1/actions">>({ key: "actions", on: null }, () =>
    call("GET /v1/actions", { query: { limit: ACTIONS_MAX } }),
  );
  const names = (known.body?.data ?? []).map(({ name }) => name).filter((name) => name !== action?.name);
  const value = action?.compensation ?? "";
  return (
    <>
      <Choice
        label="Undo"
        name="reversibility"
        value={undo}
        choices={UNDO}
        onChoose={setUndo}
        hint="People read it before they approve, and a bundle rolls back by it."
      />
      {undo === "irreversible" ? null : (
        <Field
          label="Action that undoes it"
          name="compensation"
          value={value}
          required={undo === "compensable"}
          list={names}
          fault={faultOf("compensation") ?? faultOf("reversibility")}
          {...(undo === "reversible" ? { hint: "Empty: a roll back sends nothing for it" } : {})}
        />
      )}
    </>
  );
};

type FormProps = {
  /** Null for a new one. */
  readonly action: Action | null;
  readonly onDone: (name: string) => void;
};

/** What an action is: where it is sent, what people read before they approve it, what it costs, and how it is undone. */
export const ActionForm = ({ action, onDone }: FormProps) => {
  const endpoints = useEndpointChoices();
  const policies = usePolicyChoices();
  if (endpoints === null || policies === null) return <Loading rows={6} />;
  const send = async (fields: Readonly<Record<string, string>>) => {
    const written = definitionOf(fields);
    const name = action?.name ?? fields.name ?? "";
    if (!written.ok) return written;
    const answer = await call("PUT /v1/actions/{name}", { params: { name }, body: written.body });
    // A held change has no name of its own.
    return answer.ok ? { ok: true as const, body: { name, ...answer.body } } : answer;
  };
  return (
    <SendForm
      label={action === null ? "New action" : "Change it"}
      button={action === null ? "Make the action" : "Save"}
      send={send}
      done={action === null ? "The action is made." : "The action is changed."}
      onDone={({ name }) => onDone(name)}
    >
      {(faultOf) => (
        <>
          {action === null ? (
            <Field
              label="Name"
              name="name"
              required
              maxLength={100}
              fault={faultOf("name")}
              hint="Lower-case parts separated by dots, such as refund.create"
            />
          ) : null}
          <Choice label="Endpoint" name="endpoint_id" value={action?.endpoint_id ?? ""} choices={endpoints} />
          <Field
            label="Sentence that people approve"
            name="title"
            value={action?.title ?? ""}
            maxLength={200}
            fault={faultOf("title")}
            hint="Such as: Refund {/amount|eur} to {/customer/name}"
          />
          <Area
            label="Names of its fields"
            name="labels"
            value={labelLines(action?.labels)}
            fault={faultOf("labels")}
            hint="One a line, such as: /customer/name: Customer"
          />
          <CostPart action={action} faultOf={faultOf} />
          <UndoPart action={action} faultOf={faultOf} />
          <Choice
            label="Policy"
            name="policy_id"
            value={action?.policy_id ?? ""}
            choices={policies}
            hint="Every request for it has to pass it, from every agent and source."
          />
          <Area
            label="Schema of the request"
            name="schema"
            value={action?.schema === undefined ? "" : JSON.stringify(action.schema, null, 2)}
            rows={8}
            isCode
            fault={faultOf("schema")}
            hint="A JSON Schema; what does not fit it is refused. Empty: anything is taken"
          />
        </>
      )}
    </SendForm>
  );
};
