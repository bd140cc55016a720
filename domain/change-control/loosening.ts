import type { LoopRule } from "../ledger/loop.ts";
import type { ApprovalRule } from "../policy/definition.ts";
import { sameJson } from "../same-json.ts";
import type { PolicyPart } from "./configuration.ts";

const sameText = (a: string | undefined, b: string | undefined): boolean => a?.trim() === b?.trim();

/** Conditions are compared as text: two that mean the same but are written differently count as different. */
export const isAsStrict = (after: ApprovalRule, before: ApprovalRule): boolean =>
  (after.when === undefined || sameText(after.when, before.when)) &&
  (after.min_approvals ?? 1) >= (before.min_approvals ?? 1) &&
  (after.exclude_requester === true || before.exclude_requester !== true);

export const reads = (
  when: string | undefined,
  name: "agent" | "source" | "action" | "headers" | "cost_eur",
): boolean => when !== undefined && new RegExp(`\\b${name}\\b`).test(when);

const isHigher = (before: number | undefined, after: number | undefined): boolean =>
  before !== undefined && (after === undefined || after > before);

const loopLoosened = (before: LoopRule | undefined, after: LoopRule | undefined): boolean =>
  before !== undefined &&
  (isHigher(before.max_identical, after?.max_identical) ||
    isHigher(before.max_per_run, after?.max_per_run) ||
    isHigher(before.max_depth, after?.max_depth) ||
    // A shorter window forgets repetitions sooner.
    (after?.window_s ?? Number.POSITIVE_INFINITY) < (before.window_s ?? 0));

const conditionsOf = ({ approval, deny = [] }: PolicyPart): readonly (string | undefined)[] => [
  approval?.when,
  ...deny.map(({ when }) => when),
];

/** Only a budget and conditions over `cost_eur` depend on the cost. */
const costMatters = (policy: PolicyPart): boolean =>
  policy.budget_eur_day !== undefined || conditionsOf(policy).some((when) => reads(when, "cost_eur"));

export const looseningsOf = (before: PolicyPart, after: PolicyPart | null): readonly string[] => {
  const approval = after?.approval;
  const found: readonly (readonly [boolean, string])[] = [
    [
      before.approval !== undefined && (approval === undefined || !isAsStrict(approval, before.approval)),
      "fewer approvals, or approvals of fewer requests",
    ],
    [before.protected === true && after?.protected !== true, "no protection"],
    [before.block_on_violation !== false && after?.block_on_violation === false, "it only observes"],
    [isHigher(before.budget_eur_day, after?.budget_eur_day), "a higher budget, or none"],
    [isHigher(before.rate_per_minute, after?.rate_per_minute), "a higher rate, or none"],
    [
      (before.require_fields ?? []).some((field) => !(after?.require_fields ?? []).includes(field)),
      "fewer required fields",
    ],
    [
      (before.deny ?? []).some(({ when }) => !(after?.deny ?? []).some((rule) => sameText(rule.when, when))),
      "a deny rule less",
    ],
    [before.schema !== null && before.schema !== after?.schema, "another schema, or none"],
    [loopLoosened(before.loop, after?.loop), "higher limits of loops, or none"],
    [costMatters(before) && !sameJson(before.cost ?? null, after?.cost ?? null), "another cost"],
  ];
  return found.filter(([is]) => is).map(([, words]) => words);
};
