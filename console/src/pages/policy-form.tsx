import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Area, Field, fieldsOf, Select } from "../../design/field.tsx";
import type { Definition } from "./policy-definition.ts";
import { parsedDraft, textOf } from "./policy-draft.ts";
import { definitionFrom, faultInForm, fieldText, type LabelledField, labelOf, ruleLabels } from "./policy-fields.ts";
import type { PolicyProblem } from "./policy-problem.ts";

type Fields = {
  readonly definition: Definition;
  readonly faultOf: (path: string) => string | null;
};

const faultsOf =
  (problems: readonly PolicyProblem[]): Fields["faultOf"] =>
  (path) => {
    const pointer = `/${path.replaceAll(".", "/")}`;
    const own = problems.find((it) => it.path === pointer || it.path.startsWith(`${pointer}/`));
    if (own === undefined) return null;
    return `${faultInForm(own.message)}${own.proposal === undefined ? "" : ` Did you mean ${own.proposal}?`}`;
  };

type Labelled = { readonly name: LabelledField } | { readonly name: string; readonly label: string };
type TextProps = { readonly fields: Fields; readonly hint?: string } & Labelled;

const labelIn = (field: Labelled): string => ("label" in field ? field.label : labelOf(field.name));

const Text = ({ fields, hint, ...field }: TextProps) => (
  <Field
    label={labelIn(field)}
    name={field.name}
    value={fieldText(fields.definition, field.name)}
    fault={fields.faultOf(field.name)}
    {...(hint === undefined ? {} : { hint })}
  />
);

/** What fits into a line of a phone. */
const LINE_CHARACTERS = 30;

const rowsFor = (text: string): number => Math.ceil((text.length + 1) / LINE_CHARACTERS) + text.split("\n").length;

/** Wraps, because a condition may be longer than a screen is wide. */
const Condition = ({ fields, hint = "", ...field }: TextProps) => {
  const value = fieldText(fields.definition, field.name);
  return (
    <Area
      label={labelIn(field)}
      name={field.name}
      value={value}
      fault={fields.faultOf(field.name)}
      hint={hint}
      rows={rowsFor(value)}
      isCode
    />
  );
};

const Tick = ({ name, label, isOn }: { readonly name: string; readonly label: string; readonly isOn: boolean }) => (
  <label class="row tight">
    <input type="checkbox" name={name} value="yes" defaultChecked={isOn} /> {label}
  </label>
);

const Group = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <fieldset class="stack tight">
    <legend class="lab">{title}</legend>
    {children}
  </fieldset>
);

const has = (definition: Definition, name: string, member: string): boolean => {
  const value = definition[name];
  return typeof value === "object" && value !== null && member in value;
};

const costKind = (definition: Definition): string => {
  if (has(definition, "cost", "fixed_eur")) return "fixed";
  return definition.cost === undefined ? "" : "pointer";
};

const COSTS = [
  { value: "", word: "No cost" },
  { value: "fixed", word: "The same for every request" },
  { value: "pointer", word: "Read from the payload" },
];

const Cost = ({ fields }: { readonly fields: Fields }) => {
  const kind = costKind(fields.definition);
  return (
    <Group title="Cost">
      <Select
        label={labelOf("cost")}
        name="cost"
        value={kind}
        choices={COSTS}
        hint="An action with a cost of its own counts with that instead."
      />
      {kind === "fixed" ? <Text fields={fields} name="cost.fixed_eur" /> : null}
      {kind === "pointer" ? (
        <>
          <Text fields={fields} name="cost.pointer" hint="Dotted, or a JSON Pointer" />
          <Text fields={fields} name="cost.scale" hint="Empty: 1" />
          <Text fields={fields} name="cost.default_eur" />
          <Tick
            name="cost.numeric_text"
            label={labelOf("cost.numeric_text")}
            isOn={fieldText(fields.definition, "cost.numeric_text") === "true"}
          />
        </>
      ) : null}
    </Group>
  );
};

const SEES = "It sees payload, headers, source, agent, action and cost_eur";

const Rules = ({ fields, onSet }: { readonly fields: Fields; readonly onSet: (definition: Definition) => void }) => {
  const { definition } = fields;
  const rules = Array.isArray(definition.deny) ? definition.deny : [];
  const set = (deny: typeof rules): void => onSet({ ...definition, deny: deny.length === 0 ? undefined : deny });
  return (
    <Group title={labelOf("deny")}>
      {rules.map((_, at) => (
        <div class="stack tight" key={`${at} of ${rules.length}`}>
          <input type="hidden" name={`deny.${at}`} value="yes" />
          <Text fields={fields} label={ruleLabels(at).name} name={`deny.${at}.name`} />
          <Condition fields={fields} label={ruleLabels(at).when} name={`deny.${at}.when`} hint={SEES} />
          <div class="row">
            <button class="btn" type="button" onClick={() => set(rules.filter((__, nth) => nth !== at))}>
              Remove rule {at + 1}
            </button>
          </div>
        </div>
      ))}
      <div class="row">
        <button class="btn" type="button" onClick={() => set([...rules, { name: "", when: "" }])}>
          Add a rule
        </button>
      </div>
    </Group>
  );
};

const ROLES = ["approver", "auditor", "viewer"] as const;
/** The others never decide, so a policy that names one is shown, and none is offered. */
const DECIDES = "approver";

const Approval = ({ fields }: { readonly fields: Fields }) => {
  const { definition } = fields;
  const isOn = definition.approval !== undefined;
  const revealed = fieldText(definition, "approval.reveal").split("\n");
  return (
    <Group title={labelOf("approval")}>
      <Tick name="approval" label="People approve before it is sent" isOn={isOn} />
      {isOn ? (
        <>
          <Condition fields={fields} name="approval.when" hint={`Empty: every request. ${SEES}`} />
          <Text fields={fields} name="approval.min_approvals" hint="Empty: 1" />
          <Text fields={fields} name="approval.expires_after_s" />
          <Tick
            name="approval.exclude_requester"
            label={labelOf("approval.exclude_requester")}
            isOn={fieldText(definition, "approval.exclude_requester") === "true"}
          />
          {ROLES.filter((role) => role === DECIDES || revealed.includes(role)).map((role) => (
            <Tick
              key={role}
              name={`approval.reveal.${role}`}
              label={`The role ${role} may reveal hidden fields while deciding${role === DECIDES ? "" : ", but never decides"}`}
              isOn={revealed.includes(role)}
            />
          ))}
          <Tick
            name="protected"
            label={`${labelOf("protected")}: what weakens this policy waits for its own approvals`}
            isOn={definition.protected === true}
          />
        </>
      ) : null}
    </Group>
  );
};

type FormProps = {
  readonly text: string;
  readonly problems: readonly PolicyProblem[];
  readonly onText: (text: string) => void;
  readonly onOpenText: () => void;
};

/** The draft as a form. What it does not show, such as a schema, stays as it is. */
export const PolicyForm = ({ text, problems, onText, onOpenText }: FormProps) => {
  const form = useRef<HTMLFormElement>(null);
  const definition = parsedDraft(text);
  if (definition === null)
    return (
      <div class="stack tight">
        <p>The text is not JSON at the moment, so it has no form.</p>
        <div class="row">
          <button class="btn" type="button" onClick={onOpenText}>
            Mend the text
          </button>
        </div>
      </div>
    );
  const fields: Fields = { definition, faultOf: faultsOf(problems) };
  const set = (next: Definition): void => onText(textOf(next));
  const onInput = (): void => {
    if (form.current !== null) set(definitionFrom(fieldsOf(form.current), definition));
  };
  return (
    <form
      ref={form}
      class="policy-form"
      aria-label="The draft"
      onInput={onInput}
      onSubmit={(event) => event.preventDefault()}
    >
      <Group title="Name and limits">
        <Text fields={fields} name="name" />
        <Text fields={fields} name="budget_eur_day" hint="Empty: no limit" />
        <Text fields={fields} name="rate_per_minute" hint="Empty: no limit" />
        <Tick
          name="observes"
          label={`${labelOf("block_on_violation")}: record violations, refuse nothing`}
          isOn={definition.block_on_violation === false}
        />
      </Group>
      <Cost fields={fields} />
      <Rules fields={fields} onSet={set} />
      <Approval fields={fields} />
      <Group title="Fields of the payload">
        <Area
          label={`${labelOf("require_fields")}, one on each line`}
          name="require_fields"
          value={fieldText(definition, "require_fields")}
          fault={fields.faultOf("require_fields")}
        />
        <Area
          label={`${labelOf("redact")}, one on each line`}
          name="redact"
          value={fieldText(definition, "redact")}
          fault={fields.faultOf("redact")}
        />
      </Group>
      <Group title={labelOf("loop")}>
        <Text fields={fields} name="loop.max_identical" hint="Together with the time below" />
        <Text fields={fields} name="loop.window_s" />
        <Text fields={fields} name="loop.max_per_run" />
        <Text fields={fields} name="loop.max_depth" />
      </Group>
      {definition.schema === undefined ? null : <p class="soft">The schema of the payload is edited as text.</p>}
    </form>
  );
};
