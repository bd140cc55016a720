import { roleIncludes } from "../account/events.ts";
import type { ApprovalRule } from "../policy/definition.ts";
import { sameJson } from "../same-json.ts";
import type { ActionPart, AgentPart, Configuration, MemberPart } from "./configuration.ts";
import { isAsStrict, looseningsOf, reads } from "./loosening.ts";
import { type PolicyIds, sightComparison } from "./sight.ts";
import {
  alteredActions,
  byPolicy,
  type Rule,
  requirements,
  rulesOf,
  sharedWays,
  type Target,
  targetsOf,
  type Way,
  wayId,
  waysOf,
} from "./ways.ts";

/** A control that a change weakens: the policy whose approvals are avoided, and a sentence for a person. */
export type Weakening = { readonly policyId: string; readonly why: string };

type Requirements = ReadonlyMap<Target, readonly Rule[]>;
type Sides = {
  readonly before: Configuration;
  readonly after: Configuration;
  readonly showsLess: ReturnType<typeof sightComparison>;
};

type AnyWay = Omit<Way, "sender"> & { readonly sender: { readonly kind: Way["sender"]["kind"] | "anyone" } };

/** A deleted action can be defined again without its guards; a deleted endpoint never comes back. */
const canBeReached = ({ endpoint }: Configuration, target: Target): boolean => {
  const [kind, id = ""] = target.split(" ");
  return kind === "action" || endpoint.has(id);
};

/** Conditions over the cost use the action's own cost rule where there is one. */
const costOfAction = ({ action }: Configuration, name: string | null): ActionPart["cost"] =>
  name === null ? null : (action.get(name)?.cost ?? null);

/** Conditions see no source of an agent's request, and no agent or action of a source's. */
const OF_SENDERS = ["agent", "source", "headers"] as const;

/** A source's requests do not have the cost rule of an action at the same endpoint. */
const costMayDiffer = ({ action, endpoint }: AnyWay, { before, after }: Sides): boolean =>
  action === null
    ? [...before.action.values()].some((it) => it.endpoint_id === endpoint && it.cost !== null)
    : !sameJson(costOfAction(before, action), costOfAction(after, action));

/** Whether `when` may evaluate differently on a new way than on the existing ones. */
const mayDiffer = ({ when }: ApprovalRule, way: AnyWay, sides: Sides): boolean =>
  (way.sender.kind !== "anyone" && OF_SENDERS.some((name) => reads(when, name))) ||
  (reads(when, "action") && (way.action === null || !sides.before.action.has(way.action))) ||
  (reads(when, "cost_eur") && costMayDiffer(way, sides));

/** Whether one of the rules asks of every request at least what `wanted` asks. */
const isCovered = (wanted: Rule, rules: readonly Rule[], way: AnyWay, sides: Sides): boolean =>
  rules.some(({ rule }) => isAsStrict(rule, wanted.rule) && !mayDiffer(rule, way, sides));

const isProtected = ({ policy }: Configuration, id: string): boolean => policy.get(id)?.protected === true;

/** Rules at a target that no rule with the same protection replaces. */
const lost = (before: Requirements, required: Requirements, sides: Sides): readonly Weakening[] =>
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

/** Agents that share a policy are taken together and have no id. */
const wordsOf = ({ sender, action, endpoint, own }: Way): string => {
  const agents = own === null ? "an agent without a policy" : `an agent with policy ${own}`;
  const who = sender.id === "" ? agents : `${sender.kind} ${sender.id}`;
  return `${who} reaches ${action === null ? `endpoint ${endpoint}` : `action ${action}`}`;
};

const LESS = "an approver is shown less of what is asked for";

/** The policies that applied to every sender before, if the way already led to its endpoint. */
const floorsOf = ({ action, endpoint }: Configuration, way: Pick<Way, "action" | "undoes" | "endpoint">): PolicyIds => [
  action.get(way.undoes ?? way.action ?? "")?.policy_id,
  endpoint.get(way.endpoint)?.policy_id,
];

/** Whether approvers see less on a new way than on every existing way to its target. */
const isDarker = (wanted: readonly Rule[], floors: PolicyIds, is: PolicyIds, { showsLess }: Sides): boolean =>
  wanted.length > 0 && wanted.every(({ policyId }) => showsLess([policyId, ...floors], is));

/** Approvers see less of requests that already needed approval. */
const dimmed = (was: PolicyIds, is: PolicyIds, { before, showsLess }: Sides, what: string): readonly Weakening[] => {
  const asked = was.filter((id) => before.policy.get(id ?? "")?.approval !== undefined);
  if (asked.length === 0 || !showsLess(was, is)) return [];
  return asked.map((id) => ({ policyId: id ?? "", why: `${what}: ${LESS}` }));
};

/** `dimmed` for the policies of targets, which count before any sender can reach them. */
const dimmedFloors = (sides: Sides): readonly Weakening[] => {
  const { before, after } = sides;
  const actions = [...after.action].flatMap(([action, { endpoint_id: endpoint }]) => {
    const way = { action, undoes: null, endpoint };
    if (!ledTo(sides, way)) return [];
    return dimmed(floorsOf(before, way), floorsOf(after, way), sides, `action ${action}`);
  });
  const endpoints = [...after.endpoint].flatMap(([id, { policy_id }]) =>
    dimmed([before.endpoint.get(id)?.policy_id], [policy_id], sides, `endpoint ${id}`),
  );
  return [...actions, ...endpoints];
};

const ledTo = ({ before }: Sides, { action, endpoint }: Pick<Way, "action" | "endpoint">): boolean =>
  action !== null && before.action.get(action)?.endpoint_id === endpoint;

const wantedOf = (way: Way, required: Requirements, sides: Sides): readonly Rule[] =>
  targetsOf(way)
    .flatMap((target) => required.get(target) ?? [])
    .filter(({ ofAction }) => ofAction === null || ofAction === way.action || !ledTo(sides, way));

/**
 * Approvals that a new way avoids, measured by what every sender to its target had to pass. Policies on other actions
 * do not guard an action that already led to the endpoint.
 */
const opened = (way: Way, rules: readonly Rule[], required: Requirements, sides: Sides): readonly Weakening[] =>
  wantedOf(way, required, sides)
    .filter((wanted) => !isCovered(wanted, rules, way, sides))
    .map(({ policyId }) => ({ policyId, why: `${wordsOf(way)} without the approvals of ${policyId}` }));

/** `opened` for what approvers see. */
const openedDarker = (way: Way, required: Requirements, sides: Sides): readonly Weakening[] => {
  const wanted = wantedOf(way, required, sides);
  if (!isDarker(wanted, floorsOf(sides.before, way), [way.own, ...way.floors], sides)) return [];
  return wanted.map(({ policyId }) => ({ policyId, why: `${wordsOf(way)}: ${LESS}` }));
};

/** A new action to an endpoint: the endpoint's guards have to hold for every sender that requests it. */
const added = (required: Requirements, sides: Sides): readonly Weakening[] =>
  [...sides.after.action].flatMap(([action, { endpoint_id: endpoint, policy_id }]) => {
    if (ledTo(sides, { action, endpoint })) return [];
    const floors = [policy_id, sides.after.endpoint.get(endpoint)?.policy_id ?? null];
    const way = { sender: { kind: "anyone", id: "" }, action, undoes: null, endpoint, own: null, floors: [] } as const;
    const guards = required.get(`endpoint ${endpoint}`) ?? [];
    const leads = `action ${action} leads to endpoint ${endpoint}`;
    const before = [sides.before.endpoint.get(endpoint)?.policy_id];
    const isHiding = isDarker(guards, before, floors, sides);
    return [
      ...guards
        .filter((wanted) => !isCovered(wanted, rulesOf(sides.after, floors), way, sides))
        .map(({ policyId }) => ({ policyId, why: `${leads} without the approvals of ${policyId}` })),
      ...(isHiding ? guards.map(({ policyId }) => ({ policyId, why: `${leads}: ${LESS}` })) : []),
    ];
  });

/** Whether the sender's name or the cost, which conditions read, has changed. */
const isSeenOtherwise = ({ when }: { readonly when?: string }, way: Way, { before, after }: Sides): boolean => {
  const { kind, id } = way.sender;
  return (
    (reads(when, kind) && before[kind].get(id)?.name !== after[kind].get(id)?.name) ||
    (reads(when, "cost_eur") && !sameJson(costOfAction(before, way.action), costOfAction(after, way.action)))
  );
};

/** On an existing way no policy may be gone or looser, and no condition may see other values. */
const widened = (old: Way, way: Way, required: Requirements, sides: Sides): readonly Weakening[] => {
  const guards = targetsOf(old).flatMap((target) => required.get(target) ?? []);
  const [first] = guards;
  if (first === undefined) return [];
  const ids = new Set([way.own, ...way.floors]);
  const rules = rulesOf(sides.after, [way.own, ...way.floors]);
  return [old.own, ...old.floors].flatMap((id) => {
    const before = id === null ? undefined : sides.before.policy.get(id);
    if (id === null || before === undefined) return [];
    const asked = before.approval;
    const after = ids.has(id) ? (sides.after.policy.get(id) ?? null) : null;
    const isReplaced = asked !== undefined && rules.some(({ rule }) => isAsStrict(rule, asked));
    const words = looseningsOf(before, after).filter((_, index) => !(isReplaced && after === null && index === 0));
    const policyId = asked === undefined ? first.policyId : id;
    const conditions = [asked ?? {}, ...(before.deny ?? [])];
    const differs = after !== null && conditions.some((it) => isSeenOtherwise(it, way, sides));
    return [
      ...words.map((what) => ({ policyId, why: `${wordsOf(way)} with ${what} of policy ${id}` })),
      ...(differs ? [{ policyId, why: `${wordsOf(way)} with another name or cost in the conditions of ${id}` }] : []),
    ];
  });
};

/** On an existing way, rules that asked as much as another policy at the target still have to. */
const uncovered = (old: Way, way: Way, required: Requirements, sides: Sides): readonly Weakening[] => {
  const asksFor = (rules: readonly Rule[], wanted: Rule): boolean =>
    rules.some(({ rule }) => isAsStrict(rule, wanted.rule));
  const was = rulesOf(sides.before, [old.own, ...old.floors]);
  const is = rulesOf(sides.after, [way.own, ...way.floors]);
  return wantedOf(old, required, sides)
    .filter((wanted) => asksFor(was, wanted) && !asksFor(is, wanted))
    .map(({ policyId }) => ({ policyId, why: `${wordsOf(way)} without the approvals of ${policyId}` }));
};

const approves = (part: MemberPart | undefined): boolean => part !== undefined && roleIncludes(part.role, "approver");

/** A further approver: the quorum then needs one fewer of the earlier ones. */
const joined = (required: Requirements, { before, after }: Sides): readonly Weakening[] => {
  const ids = [...after.member].filter(([id, part]) => approves(part) && !approves(before.member.get(id)));
  const policies = new Set([...required.values()].flat().map(({ policyId }) => policyId));
  return ids.flatMap(([id]) =>
    [...policies].map((policyId) => ({ policyId, why: `member ${id} can approve what policy ${policyId} holds` })),
  );
};

const unprotected = (required: Requirements, { before, after }: Sides): readonly Weakening[] =>
  [...new Set([...required.values()].flat().map(({ policyId }) => policyId))]
    .filter((id) => before.policy.get(id)?.protected === true && after.policy.get(id)?.protected !== true)
    .map((policyId) => ({ policyId, why: `policy ${policyId} is not protected any more` }));

/** Ways before and after a change that may differ. */
type WaysToCompare = { readonly old: readonly Way[]; readonly now: readonly Way[]; readonly isIssued: boolean };

/**
 * Changed agents are compared one by one; the others by policy, and only through altered actions: an account may have
 * thousands of agents and actions.
 */
const compared = ({ before, after }: Sides, issued: Way["sender"] | null): readonly WaysToCompare[] => {
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

/** Without any approval rule no control can be weakened. */
const isControlled = ({ policy }: Configuration): boolean =>
  [...policy.values()].some(({ approval }) => approval !== undefined);

/**
 * The controls that a change weakens: a credential reaches a target with fewer approvals or under a wider condition, or
 * approvers see less. `issued`: a sender whose credential is made anew. The caller then holds that credential, so the
 * guards have to be on the target.
 */
export const weakenings = (
  before: Configuration,
  after: Configuration,
  issued: Way["sender"] | null = null,
): readonly Weakening[] => {
  if (!isControlled(before)) return [];
  const required = requirements(before);
  if (required.size === 0) return [];
  const sides = { before, after, showsLess: sightComparison(before, after) };
  const found: Weakening[] = [
    ...lost(required, requirements(after), sides),
    ...joined(required, sides),
    ...added(required, sides),
    ...unprotected(required, sides),
    ...dimmedFloors(sides),
  ];
  for (const { old, now, isIssued } of compared(sides, issued)) {
    const known = new Map(old.map((way) => [wayId(way), way]));
    for (const way of now) {
      const was = known.get(wayId(way));
      if (was !== undefined) {
        found.push(...widened(was, way, required, sides), ...uncovered(was, way, required, sides));
        found.push(...dimmed([was.own, ...was.floors], [way.own, ...way.floors], sides, wordsOf(way)));
      } else found.push(...openedDarker(way, required, sides));
      if (isIssued) found.push(...opened(way, rulesOf(after, way.floors), required, sides));
      else if (was === undefined) found.push(...opened(way, rulesOf(after, [way.own, ...way.floors]), required, sides));
    }
  }
  return [...new Map(found.map((it) => [it.why, it])).values()];
};
