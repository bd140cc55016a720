import { roleIncludes } from "../account/events.ts";
import { type PolicyIds, visibilityComparison } from "./approver-visibility.ts";
import type { AgentPart, Configuration, MemberPart } from "./configuration.ts";
import { type Comparison, conditionInputsChanged, isCovered } from "./coverage.ts";
import { isAsStrict, looseningsOf } from "./loosening.ts";
import {
  alteredActions,
  byPolicy,
  policiesOf,
  type Rule,
  requirements,
  rulesOf,
  sharedWays,
  type Target,
  targetsOf,
  type Way,
  wayId,
  waysOf,
} from "./reach.ts";

/** `policyId` is the policy whose approvals are avoided; `why` is a sentence for a person. */
export type Weakening = { readonly policyId: string; readonly why: string };

/** False if no request can reach the target ever again: a deleted action can be defined anew, an endpoint cannot. */
const canBeReached = ({ endpoint }: Configuration, target: Target): boolean => {
  const [kind, id = ""] = target.split(" ");
  return kind === "action" || endpoint.has(id);
};

const isProtected = ({ policy }: Configuration, id: string): boolean => policy.get(id)?.protected === true;

const removedRules = (sides: Comparison): readonly Weakening[] => {
  const rulesAfter = requirements(sides.after);
  return [...sides.required].flatMap(([target, rules]) => {
    if (!canBeReached(sides.after, target)) return [];
    const now = rulesAfter.get(target) ?? [];
    return rules
      .filter(({ policyId, rule }, index) => {
        // A rule that stands unchanged at its place still guards the target, if its policy is protected as before.
        if (now[index]?.rule === rule && now[index].policyId === policyId) {
          if (isProtected(sides.before, policyId) === isProtected(sides.after, policyId)) return false;
        }
        const needsProtection = isProtected(sides.before, policyId);
        return !now.some(
          (it) => isAsStrict(it.rule, rule) && (!needsProtection || isProtected(sides.after, it.policyId)),
        );
      })
      .map(({ policyId }) => ({ policyId, why: `the approvals of ${policyId} no longer guard the ${target}` }));
  });
};

const sentenceOf = ({ sender, action, endpoint, senderPolicy }: Way): string => {
  const agents = senderPolicy === null ? "an agent without a policy" : `an agent with policy ${senderPolicy}`;
  const who = sender.id === "" ? agents : `${sender.kind} ${sender.id}`;
  return `${who} reaches ${action === null ? `endpoint ${endpoint}` : `action ${action}`}`;
};

const LESS = "an approver is shown less of what is asked for";

const targetPoliciesOf = (
  { action, endpoint }: Configuration,
  way: Pick<Way, "action" | "undoes" | "endpoint">,
): PolicyIds => [action.get(way.undoes ?? way.action ?? "")?.policy_id, endpoint.get(way.endpoint)?.policy_id];

const hidesMore = (
  wanted: readonly Rule[],
  targetPolicies: PolicyIds,
  is: PolicyIds,
  { showsLess }: Comparison,
): boolean => wanted.length > 0 && wanted.every(({ policyId }) => showsLess([policyId, ...targetPolicies], is));

const hidingMore = (
  was: PolicyIds,
  is: PolicyIds,
  { before, showsLess }: Comparison,
  what: string,
): readonly Weakening[] => {
  const asked = was.filter((id) => before.policy.get(id ?? "")?.approval !== undefined);
  if (asked.length === 0 || !showsLess(was, is)) return [];
  return asked.map((id) => ({ policyId: id ?? "", why: `${what}: ${LESS}` }));
};

/** The policies of targets count even before any sender can reach them. */
const targetsHidingMore = (sides: Comparison): readonly Weakening[] => {
  const { before, after } = sides;
  const actions = [...after.action].flatMap(([action, { endpoint_id: endpoint }]) => {
    const way = { action, undoes: null, endpoint };
    if (!alreadyLed(sides, way)) return [];
    return hidingMore(targetPoliciesOf(before, way), targetPoliciesOf(after, way), sides, `action ${action}`);
  });
  const endpoints = [...after.endpoint].flatMap(([id, { policy_id }]) =>
    hidingMore([before.endpoint.get(id)?.policy_id], [policy_id], sides, `endpoint ${id}`),
  );
  return [...actions, ...endpoints];
};

const alreadyLed = ({ before }: Comparison, { action, endpoint }: Pick<Way, "action" | "endpoint">): boolean =>
  action !== null && before.action.get(action)?.endpoint_id === endpoint;

const requiredOn = (way: Way, sides: Comparison): readonly Rule[] =>
  targetsOf(way)
    .flatMap((target) => sides.required.get(target) ?? [])
    .filter(({ ofAction }) => ofAction === null || ofAction === way.action || !alreadyLed(sides, way));

/**
 * A new way must pass the rules that every sender to its target had to pass. Policies on other actions do not guard an
 * action that already led to the endpoint.
 */
const waysWithoutApprovals = (way: Way, rules: readonly Rule[], sides: Comparison): readonly Weakening[] =>
  requiredOn(way, sides)
    .filter((wanted) => !isCovered(wanted, rules, way, sides))
    .map(({ policyId }) => ({ policyId, why: `${sentenceOf(way)} without the approvals of ${policyId}` }));

const waysHidingMore = (way: Way, sides: Comparison): readonly Weakening[] => {
  const wanted = requiredOn(way, sides);
  if (!hidesMore(wanted, targetPoliciesOf(sides.before, way), policiesOf(way), sides)) return [];
  return wanted.map(({ policyId }) => ({ policyId, why: `${sentenceOf(way)}: ${LESS}` }));
};

/** An action that is led to an endpoint must bring the approvals that guard the endpoint, whoever requests it. */
const actionsWithoutApprovals = (sides: Comparison): readonly Weakening[] =>
  [...sides.after.action].flatMap(([action, { endpoint_id: endpoint, policy_id }]) => {
    if (alreadyLed(sides, { action, endpoint })) return [];
    const targetPolicies = [policy_id, sides.after.endpoint.get(endpoint)?.policy_id ?? null];
    const way = { sender: { kind: "anyone" }, action, endpoint } as const;
    const guards = sides.required.get(`endpoint ${endpoint}`) ?? [];
    const leads = `action ${action} leads to endpoint ${endpoint}`;
    const before = [sides.before.endpoint.get(endpoint)?.policy_id];
    const isHiding = hidesMore(guards, before, targetPolicies, sides);
    return [
      ...guards
        .filter((wanted) => !isCovered(wanted, rulesOf(sides.after, targetPolicies), way, sides))
        .map(({ policyId }) => ({ policyId, why: `${leads} without the approvals of ${policyId}` })),
      ...(isHiding ? guards.map(({ policyId }) => ({ policyId, why: `${leads}: ${LESS}` })) : []),
    ];
  });

/** On an existing way no policy may be removed or loosened, and no condition may read other values than before. */
const loosenedWays = (old: Way, way: Way, sides: Comparison): readonly Weakening[] => {
  const guards = targetsOf(old).flatMap((target) => sides.required.get(target) ?? []);
  const [first] = guards;
  if (first === undefined) return [];
  const ids = new Set(policiesOf(way));
  const rules = rulesOf(sides.after, policiesOf(way));
  return policiesOf(old).flatMap((id) => {
    const before = id === null ? undefined : sides.before.policy.get(id);
    if (id === null || before === undefined) return [];
    const asked = before.approval;
    const after = ids.has(id) ? (sides.after.policy.get(id) ?? null) : null;
    const isReplaced = asked !== undefined && rules.some(({ rule }) => isAsStrict(rule, asked));
    const words = looseningsOf(before, after).filter((_, index) => !(isReplaced && after === null && index === 0));
    const policyId = asked === undefined ? first.policyId : id;
    const conditions = [asked ?? {}, ...(before.deny ?? [])];
    const differs = after !== null && conditions.some((it) => conditionInputsChanged(it, way, sides));
    return [
      ...words.map((what) => ({ policyId, why: `${sentenceOf(way)} with ${what} of policy ${id}` })),
      ...(differs
        ? [{ policyId, why: `${sentenceOf(way)} with another name or cost in the conditions of ${id}` }]
        : []),
    ];
  });
};

/** Rules on an existing way that met another policy's approvals at the target have to meet them after the change. */
const uncoveredWays = (old: Way, way: Way, sides: Comparison): readonly Weakening[] => {
  const asksFor = (rules: readonly Rule[], wanted: Rule): boolean =>
    rules.some(({ rule }) => isAsStrict(rule, wanted.rule));
  const was = rulesOf(sides.before, policiesOf(old));
  const is = rulesOf(sides.after, policiesOf(way));
  return requiredOn(old, sides)
    .filter((wanted) => asksFor(was, wanted) && !asksFor(is, wanted))
    .map(({ policyId }) => ({ policyId, why: `${sentenceOf(way)} without the approvals of ${policyId}` }));
};

const approves = (part: MemberPart | undefined): boolean => part !== undefined && roleIncludes(part.role, "approver");

const guarding = (required: Comparison["required"]): readonly string[] => [
  ...new Set([...required.values()].flat().map(({ policyId }) => policyId)),
];

/** A further approver weakens each guarding policy, as its quorum needs one of the earlier approvers less. */
const newApprovers = ({ before, after, required }: Comparison): readonly Weakening[] => {
  const ids = [...after.member].filter(([id, part]) => approves(part) && !approves(before.member.get(id)));
  return ids.flatMap(([id]) =>
    guarding(required).map((policyId) => ({ policyId, why: `member ${id} can approve what policy ${policyId} holds` })),
  );
};

const unprotectedPolicies = ({ before, after, required }: Comparison): readonly Weakening[] =>
  guarding(required)
    .filter((id) => before.policy.get(id)?.protected === true && after.policy.get(id)?.protected !== true)
    .map((policyId) => ({ policyId, why: `policy ${policyId} is not protected any more` }));

type WaysToCompare = { readonly old: readonly Way[]; readonly now: readonly Way[]; readonly isIssued: boolean };

/**
 * An account may have thousands of agents and actions. So only changed agents are compared one by one, the others by
 * policy and only through altered actions.
 */
const waysToCompare = ({ before, after }: Comparison, issued: Way["sender"] | null): readonly WaysToCompare[] => {
  const isIssued = (kind: Way["sender"]["kind"], id: string): boolean => issued?.kind === kind && issued.id === id;
  const isOwn = ([id, part]: readonly [string, AgentPart]): boolean =>
    isIssued("agent", id) || before.agent.get(id) !== part;
  const ofSender = (kind: Way["sender"]["kind"], id: string): WaysToCompare => ({
    old: waysOf(before, { kind, id }),
    now: waysOf(after, { kind, id }),
    isIssued: isIssued(kind, id),
  });
  const altered = alteredActions(before, after);
  const others = [...after.agent].filter((it) => !isOwn(it)).map(([, part]) => part);
  return [
    ...[...after.agent].filter(isOwn).map(([id]) => ofSender("agent", id)),
    ...[...after.source.keys()].map((id) => ofSender("source", id)),
    ...[...byPolicy(others)].map(([policyId, agents]) => {
      const isAltered = before.policy.get(policyId ?? "") !== after.policy.get(policyId ?? "");
      const ways = (configuration: Configuration) => sharedWays(configuration, agents, isAltered ? undefined : altered);
      return { old: ways(before), now: ways(after), isIssued: false };
    }),
  ];
};

/**
 * A change weakens a control if a credential reaches a target with fewer approvals or under a wider condition, or if
 * approvers see less. Whoever makes the change gets the credential of `issued`, so for its ways only the rules on the
 * target count.
 */
export const weakenings = (
  before: Configuration,
  after: Configuration,
  issued: Way["sender"] | null = null,
): readonly Weakening[] => {
  const required = requirements(before);
  if (required.size === 0) return [];
  const sides = { before, after, required, showsLess: visibilityComparison(before, after) };
  const found: Weakening[] = [
    ...removedRules(sides),
    ...newApprovers(sides),
    ...actionsWithoutApprovals(sides),
    ...unprotectedPolicies(sides),
    ...targetsHidingMore(sides),
  ];
  for (const { old, now, isIssued } of waysToCompare(sides, issued)) {
    const known = new Map(old.map((way) => [wayId(way), way]));
    for (const way of now) {
      const was = known.get(wayId(way));
      if (was !== undefined) {
        found.push(...loosenedWays(was, way, sides), ...uncoveredWays(was, way, sides));
        found.push(...hidingMore(policiesOf(was), policiesOf(way), sides, sentenceOf(way)));
      } else found.push(...waysHidingMore(way, sides));
      if (isIssued) found.push(...waysWithoutApprovals(way, rulesOf(after, way.targetPolicies), sides));
      else if (was === undefined) found.push(...waysWithoutApprovals(way, rulesOf(after, policiesOf(way)), sides));
    }
  }
  return [...new Map(found.map((it) => [it.why, it])).values()];
};
