import { defined } from "../../domain/defined.ts";
import { nearest } from "../../domain/did-you-mean.ts";
import { EUR_MAX, MICRO_PER_EUR } from "../../domain/gate/cost.ts";
import { PATH_LENGTH_MAX, PATH_LEVELS_MAX, parseFieldPath } from "../../domain/gate/field-path.ts";
import type { JsonObject } from "../../domain/json.ts";
import { DEPTH_MAX, IDENTICAL_MAX, type LoopRule, PER_RUN_MAX, WINDOW_S_MAX } from "../../domain/ledger/loop.ts";
import {
  type ApprovalRule,
  type CostRule,
  type DenyRule,
  type PolicyDefinition,
  REVEAL_ROLES,
  type RevealRole,
} from "../../domain/policy/definition.ts";
import { POLICY_FIELDS } from "./policy-fields.ts";

/**
 * `path` is a JSON Pointer into the definition. `name` is a name that nothing has, as it was written, and `proposal` the
 * one that was most likely meant.
 */
export type DefinitionError = {
  readonly path: string;
  readonly message: string;
  readonly name?: string;
  readonly proposal?: string;
};

export type Validated<Definition> =
  | { readonly ok: true; readonly definition: Definition }
  | { readonly ok: false; readonly errors: readonly DefinitionError[] };

const NAME_LENGTH_MAX = 200;
export const FIELDS_MAX = 100;
export const DENY_RULES_MAX = 32;
export const EXPRESSION_BYTES_MAX = 2_048;
/** Requests per minute. The ledger remembers each place for a minute, so an unlimited rate would fill its memory. */
const RATE_MAX = 10_000_000;
const SCALE_MAX = 1_000_000;
/** No process asks more people for one approval; an account has 200 members at most. */
const APPROVALS_MAX = 10;
const EXPIRY_S_MIN = 60;
/** Seconds (30 days). A held request keeps its reservation until its approval expires. */
const EXPIRY_S_MAX = 30 * 86_400;

export type Report = (path: string, message: string, unknown?: Pick<DefinitionError, "name" | "proposal">) => void;
type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isName = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= NAME_LENGTH_MAX;

/** True for euros with at most six decimals: more would be rounded to micro-euros without telling the author. */
const isEuros = (value: unknown): value is number =>
  typeof value === "number" &&
  value >= 0 &&
  value <= EUR_MAX &&
  Math.round(value * MICRO_PER_EUR) / MICRO_PER_EUR === value;

const EUROS = `must be a number of euros from 0 to ${EUR_MAX} with at most 6 decimals`;
const NAME = `must be a text of 1 to ${NAME_LENGTH_MAX} characters`;
const PATH = `must be a field path: dotted (data.object.id) or a JSON Pointer (/data/object/id), at most ${PATH_LENGTH_MAX} characters and ${PATH_LEVELS_MAX} levels`;

const isFieldPath = (value: unknown): value is string => typeof value === "string" && parseFieldPath(value) !== null;

const pointerPart = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** Whoever has mistyped more names has written something else, and comparing them all would take long. */
const PROPOSALS_MAX = 20;

const onlyMembers = (value: Members, names: readonly string[], path: string, report: Report): void => {
  const unknown = Object.keys(value).filter((name) => !names.includes(name));
  for (const [index, name] of unknown.entries()) {
    const proposal = index < PROPOSALS_MAX ? (nearest(name, names) ?? undefined) : undefined;
    report(`${path}/${pointerPart(name)}`, "is not a known field", defined({ name, proposal }));
  }
};

const parsePaths = (value: unknown, path: string, report: Report): readonly string[] => {
  if (!Array.isArray(value) || value.length > FIELDS_MAX) {
    report(path, `must be a list of at most ${FIELDS_MAX} field paths`);
    return [];
  }
  const paths: readonly unknown[] = value;
  paths.forEach((it, index) => {
    if (!isFieldPath(it)) report(`${path}/${index}`, PATH);
    else if (paths.indexOf(it) !== index) report(`${path}/${index}`, "is in the list already");
  });
  return paths.filter(isFieldPath);
};

export const parseCost = (value: unknown, report: Report): CostRule | null => {
  if (!isObject(value) || Object.hasOwn(value, "fixed_eur") === Object.hasOwn(value, "pointer")) {
    report("/cost", "must be an object with either fixed_eur or pointer");
    return null;
  }
  if (Object.hasOwn(value, "fixed_eur")) {
    onlyMembers(value, ["fixed_eur"], "/cost", report);
    if (isEuros(value.fixed_eur)) return { fixed_eur: value.fixed_eur };
    report("/cost/fixed_eur", EUROS);
    return null;
  }
  onlyMembers(value, ["pointer", "scale", "default_eur", "numeric_text"], "/cost", report);
  const { pointer, scale, default_eur: fallback, numeric_text } = value;
  const scaleFits = scale === undefined || (typeof scale === "number" && scale > 0 && scale <= SCALE_MAX);
  const fallbackFits = fallback === undefined || isEuros(fallback);
  const textFits = numeric_text === undefined || typeof numeric_text === "boolean";
  if (!isFieldPath(pointer)) report("/cost/pointer", PATH);
  if (!scaleFits) report("/cost/scale", `must be a number above 0, at most ${SCALE_MAX}`);
  if (!fallbackFits) report("/cost/default_eur", EUROS);
  if (!textFits) report("/cost/numeric_text", "must be true or false");
  if (!isFieldPath(pointer) || !scaleFits || !fallbackFits || !textFits) return null;
  return defined({ pointer, scale, default_eur: fallback, numeric_text });
};

const parseDeny = (value: unknown, report: Report): readonly DenyRule[] => {
  if (!Array.isArray(value) || value.length > DENY_RULES_MAX) {
    report("/deny", `must be a list of at most ${DENY_RULES_MAX} rules {name, when}`);
    return [];
  }
  const rules: DenyRule[] = [];
  for (const [index, rule] of value.entries()) {
    const path = `/deny/${index}`;
    if (!isObject(rule)) {
      report(path, "must be an object {name, when}");
      continue;
    }
    onlyMembers(rule, Object.keys(POLICY_FIELDS.deny.items.properties), path, report);
    const { name, when } = rule;
    if (!isName(name)) report(`${path}/name`, NAME);
    else if (rules.some((earlier) => earlier.name === name)) report(`${path}/name`, "names another rule already");
    if (typeof when !== "string" || when.trim() === "") report(`${path}/when`, "must be a CEL expression");
    if (isName(name) && typeof when === "string") rules.push({ name, when });
  }
  return rules;
};

const isWhole = (value: unknown, min: number, max: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;

const isRevealRole = (value: unknown): value is RevealRole => REVEAL_ROLES.some((role) => role === value);

const isReveal = (value: unknown): value is readonly RevealRole[] =>
  Array.isArray(value) && value.length > 0 && new Set(value).size === value.length && value.every(isRevealRole);

const APPROVAL_FIELDS = Object.keys(POLICY_FIELDS.approval.properties);

const parseApproval = (value: unknown, report: Report): ApprovalRule | null => {
  if (!isObject(value)) {
    report("/approval", `must be an object {${APPROVAL_FIELDS.join(", ")}}`);
    return null;
  }
  onlyMembers(value, APPROVAL_FIELDS, "/approval", report);
  const { when, min_approvals, exclude_requester, reveal, expires_after_s } = value;
  const whenFits = when === undefined || (typeof when === "string" && when.trim() !== "");
  const approvalsFit = min_approvals === undefined || isWhole(min_approvals, 1, APPROVALS_MAX);
  const excludeFits = exclude_requester === undefined || typeof exclude_requester === "boolean";
  const expiryFits = isWhole(expires_after_s, EXPIRY_S_MIN, EXPIRY_S_MAX);
  if (!whenFits) report("/approval/when", "must be a CEL expression");
  if (!approvalsFit) report("/approval/min_approvals", `must be a whole number from 1 to ${APPROVALS_MAX}`);
  if (!excludeFits) report("/approval/exclude_requester", "must be true or false");
  const revealFits = reveal === undefined || isReveal(reveal);
  if (!revealFits) report("/approval/reveal", `must be a list of roles, each once: ${REVEAL_ROLES.join(", ")}`);
  if (!expiryFits) {
    report("/approval/expires_after_s", `must be a whole number of seconds from ${EXPIRY_S_MIN} to ${EXPIRY_S_MAX}`);
  }
  if (!whenFits || !approvalsFit || !excludeFits || !revealFits || !expiryFits) return null;
  return defined({ when, min_approvals, exclude_requester, reveal, expires_after_s });
};

const LOOP_MAX = {
  max_identical: IDENTICAL_MAX,
  window_s: WINDOW_S_MAX,
  max_per_run: PER_RUN_MAX,
  max_depth: DEPTH_MAX,
} as const satisfies Record<keyof LoopRule, number>;

const parseLoop = (value: unknown, report: Report): LoopRule | null => {
  const names = Object.keys(LOOP_MAX) as (keyof LoopRule)[]; // LOOP_MAX has exactly the keys of a rule.
  if (!isObject(value) || names.every((name) => value[name] === undefined)) {
    report("/loop", `must be an object with at least one of ${names.join(", ")}`);
    return null;
  }
  onlyMembers(value, names, "/loop", report);
  const rule: { -readonly [Name in keyof LoopRule]: LoopRule[Name] } = {};
  for (const name of names) {
    const limit = value[name];
    if (isWhole(limit, 1, LOOP_MAX[name])) rule[name] = limit;
    else if (limit !== undefined) report(`/loop/${name}`, `must be a whole number from 1 to ${LOOP_MAX[name]}`);
  }
  if ((value.max_identical === undefined) !== (value.window_s === undefined)) {
    const missing = value.window_s === undefined ? "window_s" : "max_identical";
    report(`/loop/${missing}`, "is needed: max_identical and window_s come together");
  }
  return rule;
};

export const isSchema = (value: unknown): value is JsonObject | boolean =>
  typeof value === "boolean" || isObject(value);

/** Returns all errors, not only the first. Expressions and the schema are checked later, by the compiler. */
export const parseDefinition = (input: unknown): Validated<PolicyDefinition> => {
  const errors: DefinitionError[] = [];
  const report: Report = (path, message, unknown = {}) => errors.push({ path, message, ...unknown });
  if (!isObject(input)) return { ok: false, errors: [{ path: "", message: "must be an object" }] };

  onlyMembers(input, Object.keys(POLICY_FIELDS), "", report);
  const { name, budget_eur_day, rate_per_minute, require_fields, block_on_violation, cost, schema, deny, redact } =
    input;
  const { approval, protected: isProtected } = input;
  if (isProtected !== undefined && typeof isProtected !== "boolean") report("/protected", "must be true or false");
  if (isProtected === true && approval === undefined) {
    report("/protected", "needs an approval rule: its quorum approves what weakens the policy");
  }
  const rateFits = typeof rate_per_minute === "number" && Number.isInteger(rate_per_minute) && rate_per_minute > 0;
  if (!isName(name)) report("/name", NAME);
  if (budget_eur_day !== undefined && !isEuros(budget_eur_day)) report("/budget_eur_day", EUROS);
  if (rate_per_minute !== undefined && !(rateFits && rate_per_minute <= RATE_MAX))
    report("/rate_per_minute", `must be a whole number from 1 to ${RATE_MAX}`);
  if (block_on_violation !== undefined && typeof block_on_violation !== "boolean")
    report("/block_on_violation", "must be true or false");
  if (schema !== undefined && !isSchema(schema)) report("/schema", "must be a JSON Schema: an object, true or false");

  const definition: PolicyDefinition = defined({
    name: isName(name) ? name : "",
    budget_eur_day: isEuros(budget_eur_day) ? budget_eur_day : undefined,
    rate_per_minute: rateFits ? rate_per_minute : undefined,
    require_fields: require_fields === undefined ? undefined : parsePaths(require_fields, "/require_fields", report),
    block_on_violation: typeof block_on_violation === "boolean" ? block_on_violation : undefined,
    cost: cost === undefined ? undefined : (parseCost(cost, report) ?? undefined),
    schema: isSchema(schema) ? schema : undefined,
    deny: deny === undefined ? undefined : parseDeny(deny, report),
    redact: redact === undefined ? undefined : parsePaths(redact, "/redact", report),
    loop: input.loop === undefined ? undefined : (parseLoop(input.loop, report) ?? undefined),
    approval: approval === undefined ? undefined : (parseApproval(approval, report) ?? undefined),
    protected: typeof isProtected === "boolean" ? isProtected : undefined,
  });
  return errors.length === 0 ? { ok: true, definition } : { ok: false, errors };
};
