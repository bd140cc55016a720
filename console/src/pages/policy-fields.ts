import { faultSentence } from "./fault-sentence.ts";
import type { Definition, Json } from "./policy-definition.ts";

/** The form's fields as texts by name with their labels, and the definition that they make. Pure. */

type Texts = Readonly<Record<string, string>>;

/** What is no number is kept as it was written: the service says what it has to be. */
const numberOf = (text: string | undefined): Json | undefined => {
  const given = text?.trim() ?? "";
  if (given === "") return undefined;
  return /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : given;
};

const linesOf = (text: string | undefined): readonly string[] | undefined => {
  const lines = (text ?? "").split("\n").flatMap((it) => (it.trim() === "" ? [] : [it.trim()]));
  return lines.length === 0 ? undefined : lines;
};

const without = (members: Definition): Readonly<Record<string, Json>> =>
  Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

const filled = (members: Definition): Json | undefined => {
  const set = without(members);
  return Object.keys(set).length === 0 ? undefined : set;
};

const costOf = (texts: Texts): Json | undefined => {
  if (texts.cost === "fixed") return filled({ fixed_eur: numberOf(texts["cost.fixed_eur"]) ?? 0 });
  if (texts.cost !== "pointer") return undefined;
  return filled({
    pointer: texts["cost.pointer"] ?? "",
    scale: numberOf(texts["cost.scale"]),
    default_eur: numberOf(texts["cost.default_eur"]),
    numeric_text: texts["cost.numeric_text"] === undefined ? undefined : true,
  });
};

const ROLES = ["approver", "auditor", "viewer"] as const;

/** An hour: an approval needs an end, and the form has no field for it before approval is asked for. */
const EXPIRES_AT_FIRST_S = 3_600;

/** A form sends its own line ends. */
const conditionOf = (text: string | undefined): string => (text ?? "").replaceAll("\r\n", "\n");

const approvalOf = (texts: Texts, isNew: boolean): Json | undefined => {
  if (texts.approval === undefined) return undefined;
  const reveal = ROLES.filter((role) => texts[`approval.reveal.${role}`] !== undefined);
  return without({
    when: conditionOf(texts["approval.when"]).trim() || undefined,
    min_approvals: numberOf(texts["approval.min_approvals"]),
    exclude_requester: texts["approval.exclude_requester"] === undefined ? undefined : true,
    reveal: reveal.length === 0 ? undefined : reveal,
    expires_after_s: isNew ? EXPIRES_AT_FIRST_S : numberOf(texts["approval.expires_after_s"]),
  });
};

const denyOf = (texts: Texts): Json | undefined => {
  const rules: Json[] = [];
  for (let at = 0; `deny.${at}` in texts; at += 1)
    rules.push({ name: texts[`deny.${at}.name`] ?? "", when: conditionOf(texts[`deny.${at}.when`]) });
  return rules.length === 0 ? undefined : rules;
};

/** `before` gives the order of the members, and what the form does not show. */
export const definitionFrom = (texts: Texts, before: Definition): Definition => {
  const shown: Definition = {
    name: texts.name ?? "",
    budget_eur_day: numberOf(texts.budget_eur_day),
    rate_per_minute: numberOf(texts.rate_per_minute),
    require_fields: linesOf(texts.require_fields),
    block_on_violation: texts.observes === undefined ? undefined : false,
    cost: costOf(texts),
    deny: denyOf(texts),
    redact: linesOf(texts.redact),
    loop: filled({
      max_identical: numberOf(texts["loop.max_identical"]),
      window_s: numberOf(texts["loop.window_s"]),
      max_per_run: numberOf(texts["loop.max_per_run"]),
      max_depth: numberOf(texts["loop.max_depth"]),
    }),
    approval: approvalOf(texts, before.approval === undefined),
    protected: texts.protected === undefined ? undefined : true,
  };
  const names = [...new Set([...Object.keys(before), ...Object.keys(shown)])];
  return without(Object.fromEntries(names.map((name) => [name, name in shown ? shown[name] : before[name]])));
};

const textFor = (value: Json | undefined): string => (value === undefined || value === null ? "" : String(value));

/** The value at a path such as `approval.when`, as a field shows it. */
export const fieldText = (definition: Definition, path: string): string => {
  let value: Json | undefined = definition as Json;
  for (const name of path.split(".")) {
    const members = value as Readonly<Record<string, Json>> | null | undefined; // Lists have their places as names.
    value = typeof members === "object" && members !== null ? members[name] : undefined;
  }
  return Array.isArray(value) ? value.map(textFor).join("\n") : textFor(value);
};

/** By the fields' names, which are paths in the definition; a group has its title. */
const LABELS = {
  name: "Name",
  budget_eur_day: "Budget, euros a day",
  rate_per_minute: "Requests a minute",
  block_on_violation: "Only observe",
  cost: "What a request costs",
  "cost.fixed_eur": "Euros",
  "cost.pointer": "Field of the amount",
  "cost.scale": "Euros for each unit",
  "cost.default_eur": "Euros if the field is missing",
  "cost.numeric_text": "The amount may be a text",
  deny: "Rules that refuse",
  approval: "Approval",
  "approval.when": "Only when",
  "approval.min_approvals": "Approvals needed",
  "approval.expires_after_s": "Expires after, in seconds",
  "approval.reveal": "Roles that may reveal hidden fields",
  "approval.exclude_requester": "The person who asked cannot approve",
  protected: "Protected",
  require_fields: "Required",
  redact: "Hidden from all below admin",
  loop: "Loops",
  "loop.max_identical": "Identical requests",
  "loop.window_s": "Within so many seconds",
  "loop.max_per_run": "Requests of one run",
  "loop.max_depth": "Depth of agents that call agents",
} as const;

export type LabelledField = keyof typeof LABELS;
export const labelOf = (name: LabelledField): string => LABELS[name];

/** True if the form has a word for the value at these names. */
export const hasLabel = (path: readonly string[]): boolean =>
  path.every((name) => !name.includes(".")) && Object.hasOwn(LABELS, path.join("."));

/** The form's words for the names on the way to a value, such as `Approval › Only when`; a name without a word stays. */
export const wordsOf = (path: readonly string[]): string =>
  path
    .map((name, at) => {
      const way = path.slice(0, at + 1);
      if (hasLabel(way)) return labelOf(way.join(".") as LabelledField);
      return path[0] === "deny" && at === 2 && name === "when" ? "Refuses when" : name;
    })
    .join(" › ");

/** Names of the definition that a sentence may have; the others are plain words as well. */
const NAMED = new Map(
  Object.entries(LABELS).flatMap(([path, label]) => {
    const name = path.split(".").at(-1) ?? path;
    return name.includes("_") ? [[name, label] as const] : [];
  }),
);

/** What the service says of a value, as a sentence in the form's words. */
export const faultInForm = (message: string): string =>
  faultSentence(message).replace(/[a-z]+(?:_[a-z]+)+/g, (name) => {
    const label = NAMED.get(name);
    return label === undefined ? name : `“${label}”`;
  });

export const ruleLabels = (at: number) => ({ name: `Name of rule ${at + 1}`, when: `Rule ${at + 1} refuses when` });

/** Each of these lists fields of the payload. */
const FIELD_LISTS: readonly string[] = ["require_fields", "redact"] satisfies readonly LabelledField[];

/** What the form calls the value at a JSON Pointer; the pointer itself if the form has no field for it. */
export const nameInForm = (pointer: string): string => {
  if (pointer === "") return "The policy";
  // A member with a dot in its name is none of the form's.
  if (pointer.includes(".")) return pointer;
  const name = pointer.slice(1).replaceAll("/", ".");
  if (Object.hasOwn(LABELS, name)) return labelOf(name as LabelledField);
  if (/^approval\.reveal\.\d+$/.test(name)) return labelOf("approval.reveal");
  const [, list = "", at = "", member] = /^(\w+)\.(\d+)(?:\.(\w+))?$/.exec(name) ?? [];
  if (FIELD_LISTS.includes(list) && member === undefined)
    return `${labelOf(list as LabelledField)}, field ${Number(at) + 1}`;
  if (list !== "deny") return pointer;
  if (member === undefined) return `Rule ${Number(at) + 1}`;
  return member === "name" || member === "when" ? ruleLabels(Number(at))[member] : pointer;
};
