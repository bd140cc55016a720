import { roleIncludes } from "../account/events.ts";
import type { ApprovalRule } from "../policy/definition.ts";
import { sameJson } from "../same-json.ts";
import { type PolicyIds, visibilityComparison } from "./approver-visibility.ts";
import type { ActionPart, AgentPart, Configuration, MemberPart } from "./configuration.ts";
import { isAsStrict, looseningsOf, reads } from "./loosening.ts";
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

type Requirements = ReadonlyMap<Target, readonly Rule[]>;
type Sides = {
  readonly before: Configuration;
  readonly after: Configuration;
  readonly showsLess: ReturnType<typeof visibilityComparison>;
};

type AnyWay = Omit<Way, "sender"> & { readonly sender: { readonly kind: Way["sender"]["kind"] | "anyone" } };

/** A deleted action can be defined again without its guards; a deleted endpoint never comes back. */
const canBeReached = ({ endpoint }: Configuration, target: Target): boolean => {
  const [kind, id = ""] = target.split(" ");
  return kind === "action" || endpoint.has(id);
};

const costOfAction = ({ action }: Configuration, name: string | null): ActionPart["cost"] =>
  name === null ? null : (action.get(name)?.cost ?? null);

/** A condition sees no source in an agent's request, and no agent or action in a source's. */
const SENDER_NAMES = ["agent", "source", "headers"] as const;

/** A request of a source is not priced by the cost rule of an action at the same endpoint. */
const costMayDiffer = ({ action, endpoint }: AnyWay, { before, after }: Sides): boolean =>
  action === null
    ? [...before.action.values()].some((it) => it.endpoint_id === endpoint && it.cost !== null)
    : !sameJson(costOfAction(before, action), costOfAction(after, action));

const mayDiffer = ({ when }: ApprovalRule, way: AnyWay, sides: Sides): boolean =>
  (way.sender.kind !== "anyone" && SENDER_NAMES.some((name) => reads(when, name))) ||
  (reads(when, "action") && (way.action === null || !sides.before.action.has(way.action))) ||
  (reads(when, "cost_eur") && costMayDiffer(way, sides));

const isCovered = (wanted: Rule, rules: readonly Rule[], way: AnyWay, sides: Sides): boolean =>
  rules.some(({ rule }) => isAsStrict(rule, wanted.rule) && !mayDiffer(rule, way, sides));

const isProtected = ({ policy }: Configuration, id: string): boolean => policy.get(id)?.protected === true;

const removedRules = (before: Requirements, required: Requirements, sides: Sides): readonly Weakening[] =>
  [...before].flatMap(([target, rules]) => {
    if (!canBeReached(sides.after, target)) return [];
    const now = required.get(target) ?? [];
    return rules
      .filter(({ policyId, rule }, index) => {
        // An unchanged rule of the same policy is still there, unless another one is gone.
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

const hidesMore = (wanted: readonly Rule[], targetPolicies: PolicyIds, is: PolicyIds, { showsLess }: Sides): boolean =>
  wanted.length > 0 && wanted.every(({ policyId }) => showsLess([policyId, ...targetPolicies], is));

const hidingMore = (
  was: PolicyIds,
  is: PolicyIds,
  { before, showsLess }: Sides,
  what: string,
): readonly Weakening[] => {
  const asked = was.filter((id) => before.policy.get(id ?? "")?.approval !== undefined);
  if (asked.length === 0 || !showsLess(was, is)) return [];
  return asked.map((id) => ({ policyId: id ?? "", why: `${what}: ${LESS}` }));
};

/** The policies of targets count even before any sender can reach them. */
const targetsHidingMore = (sides: Sides): readonly Weakening[] => {
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

const alreadyLed = ({ before }: Sides, { action, endpoint }: Pick<Way, "action" | "endpoint">): boolean =>
  action !== null && before.action.get(action)?.endpoint_id === endpoint;

const requiredOn = (way: Way, required: Requirements, sides: Sides): readonly Rule[] =>
  targetsOf(way)
    .flatMap((target) => required.get(target) ?? [])
    .filter(({ ofAction }) => ofAction === null || ofAction === way.action || !alreadyLed(sides, way));

/**
 * A new way must pass what every sender to its target had to pass. Policies on other actions do not guard an action
 * that already led to the endpoint.
 */
const waysWithoutApprovals = (
  way: Way,
  rules: readonly Rule[],
  required: Requirements,
  sides: Sides,
): readonly Weakening[] =>
  requiredOn(way, required, sides)
    .filter((wanted) => !isCovered(wanted, rules, way, sides))
    .map(({ policyId }) => ({ policyId, why: `${sentenceOf(way)} without the approvals of ${policyId}` }));

const waysHidingMore = (way: Way, required: Requirements, sides: Sides): readonly Weakening[] => {
  const wanted = requiredOn(way, required, sides);
  if (!hidesMore(wanted, targetPoliciesOf(sides.before, way), policiesOf(way), sides)) return [];
  return wanted.map(({ policyId }) => ({ policyId, why: `${sentenceOf(way)}: ${LESS}` }));
};

/** The guards of an endpoint have to hold for every sender that requests a new action there. */
const actionsWithoutApprovals = (required: Requirements, sides: Sides): readonly Weakening[] =>
  [...sides.after.action].flatMap(([action, { endpoint_id: endpoint, policy_id }]) => {
    if (alreadyLed(sides, { action, endpoint })) return [];
    const targetPolicies = [policy_id, sides.after.endpoint.get(endpoint)?.policy_id ?? null];
    const way = {
      sender: { kind: "anyone", id: "" },
      action,
      undoes: null,
      endpoint,
      senderPolicy: null,
      targetPolicies: [],
    } as const;
    const guards = required.get(`endpoint ${endpoint}`) ?? [];
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

/** Conditions read the name of the sender and the cost. */
const conditionInputsChanged = ({ when }: { readonly when?: string }, way: Way, { before, after }: Sides): boolean => {
  const { kind, id } = way.sender;
  return (
    (reads(when, kind) && before[kind].get(id)?.name !== after[kind].get(id)?.name) ||
    (reads(when, "cost_eur") && !sameJson(costOfAction(before, way.action), costOfAction(after, way.action)))
  );
};

/** On an existing way no policy may be removed or loosened, and no condition may see other values. */
const loosenedWays = (old: Way, way: Way, required: Requirements, sides: Sides): readonly Weakening[] => {
  const guards = targetsOf(old).flatMap((target) => required.get(target) ?? []);
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

/** Where the rules on an existing way covered those of another policy at the target, they still have to. */
const uncoveredWays = (old: Way, way: Way, required: Requirements, sides: Sides): readonly Weakening[] => {
  const asksFor = (rules: readonly Rule[], wanted: Rule): boolean =>
    rules.some(({ rule }) => isAsStrict(rule, wanted.rule));
  const was = rulesOf(sides.before, policiesOf(old));
  const is = rulesOf(sides.after, policiesOf(way));
  return requiredOn(old, required, sides)
    .filter((wanted) => asksFor(was, wanted) && !asksFor(is, wanted))
    .map(({ policyId }) => ({ policyId, why: `${sentenceOf(way)} without the approvals of ${policyId}` }));
};

const approves = (part: MemberPart | undefined): boolean => part !== undefined && roleIncludes(part.role, "approver");

/** With a further approver, the quorum needs one of the earlier approvers less. */
const newApprovers = (required: Requirements, { before, after }: Sides): readonly Weakening[] => {
  const ids = [...after.member].filter(([id, part]) => approves(part) && !approves(before.member.get(id)));
  const policies = new Set([...required.values()].flat().map(({ policyId }) => policyId));
  return ids.flatMap(([id]) =>
    [...policies].map((policyId) => ({ policyId, why: `member ${id} can approve what policy ${policyId} holds` })),
  );
};

const unprotectedPolicies = (required: Requirements, { before, after }: Sides): readonly Weakening[] =>
  [...new Set([...required.values()].flat().map(({ policyId }) => policyId))]
    .filter((id) => before.policy.get(id)?.protected === true && after.policy.get(id)?.protected !== true)
    .map((policyId) => ({ policyId, why: `policy ${policyId} is not protected any more` }));

type WaysToCompare = { readonly old: readonly Way[]; readonly now: readonly Way[]; readonly isIssued: boolean };

/**
 * An account may have thousands of agents and actions. So only changed agents are compared one by one, the others by
 * policy and only through altered actions.
 */
const waysToCompare = ({ before, after }: Sides, issued: Way["sender"] | null): readonly WaysToCompare[] => {
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

/** An account without approval rules has no control that a change could weaken. */
const isControlled = ({ policy }: Configuration): boolean =>
  [...policy.values()].some(({ approval }) => approval !== undefined);

/**
 * A change weakens a control if a credential reaches a target with fewer approvals or under a wider condition, or if
 * approvers see less. The caller will hold the renewed credential of `issued`, so only the guards on the target count
 * for it.
 */
export const weakenings = (
  before: Configuration,
  after: Configuration,
  issued: Way["sender"] | null = null,
): readonly Weakening[] => {
  if (!isControlled(before)) return [];
  const required = requirements(before);
  if (required.size === 0) return [];
  const sides = { before, after, showsLess: visibilityComparison(before, after) };
  const found: Weakening[] = [
    ...removedRules(required, requirements(after), sides),
    ...newApprovers(required, sides),
    ...actionsWithoutApprovals(required, sides),
    ...unprotectedPolicies(required, sides),
    ...targetsHidingMore(sides),
  ];
  for (const { old, now, isIssued } of waysToCompare(sides, issued)) {
    const known = new Map(old.map((way) => [wayId(way), way]));
    for (const way of now) {
      const was = known.get(wayId(way));
      if (was !== undefined) {
        found.push(...loosenedWays(was, way, required, sides), ...uncoveredWays(was, way, required, sides));
        found.push(...hidingMore(policiesOf(was), policiesOf(way), sides, sentenceOf(way)));
      } else found.push(...waysHidingMore(way, required, sides));
      if (isIssued) found.push(...waysWithoutApprovals(way, rulesOf(after, way.targetPolicies), required, sides));
      else if (was === undefined)
        found.push(...waysWithoutApprovals(way, rulesOf(after, policiesOf(way)), required, sides));
    }
  }
  return [...new Map(found.map((it) => [it.why, it])).values()];
};
