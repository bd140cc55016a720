import type { ApprovalRule } from "../policy/definition.ts";
import { sameJson } from "../same-json.ts";
import type { visibilityComparison } from "./approver-visibility.ts";
import type { ActionPart, Configuration } from "./configuration.ts";
import { isAsStrict, reads } from "./loosening.ts";
import type { Rule, Target, Way } from "./reach.ts";

/** `required` lists, for each target, the rules that a sender had to pass before the change. */
export type Comparison = {
  readonly before: Configuration;
  readonly after: Configuration;
  readonly required: ReadonlyMap<Target, readonly Rule[]>;
  readonly showsLess: ReturnType<typeof visibilityComparison>;
};

type AnyWay = Pick<Way, "action" | "endpoint"> & {
  readonly sender: { readonly kind: Way["sender"]["kind"] | "anyone" };
};

const costOfAction = ({ action }: Configuration, name: string | null): ActionPart["cost"] =>
  name === null ? null : (action.get(name)?.cost ?? null);

/** A condition that reads one of these may hold the requests of one sender, but not those of another. */
const SENDER_NAMES = ["agent", "source", "headers"] as const;

/** True if the cost that conditions read may change; no action's cost rule prices the requests of a source. */
const costMayDiffer = ({ action, endpoint }: AnyWay, { before, after }: Comparison): boolean =>
  action === null
    ? [...before.action.values()].some(({ endpoint_id, cost }) => endpoint_id === endpoint && cost !== null)
    : !sameJson(costOfAction(before, action), costOfAction(after, action));

const mayDiffer = ({ when }: ApprovalRule, way: AnyWay, it: Comparison): boolean =>
  (way.sender.kind !== "anyone" && SENDER_NAMES.some((name) => reads(when, name))) ||
  (reads(when, "action") && (way.action === null || !it.before.action.has(way.action))) ||
  (reads(when, "cost_eur") && costMayDiffer(way, it));

export const isCovered = (wanted: Rule, rules: readonly Rule[], way: AnyWay, it: Comparison): boolean =>
  rules.some(({ rule }) => isAsStrict(rule, wanted.rule) && !mayDiffer(rule, way, it));

/** A condition may read the sender's name or the cost, so a change of either can alter which requests are held. */
export const conditionInputsChanged = (
  { when }: { readonly when?: string },
  way: Way,
  { before, after }: Comparison,
): boolean => {
  const { kind, id } = way.sender;
  return (
    (reads(when, kind) && before[kind].get(id)?.name !== after[kind].get(id)?.name) ||
    (reads(when, "cost_eur") && !sameJson(costOfAction(before, way.action), costOfAction(after, way.action)))
  );
};
