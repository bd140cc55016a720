import { inAnyScope, inScope } from "../agent/scope.ts";
import type { ApprovalRule } from "../policy/definition.ts";
import type { AgentPart, Configuration } from "./configuration.ts";

/** A path from a sender to a target. `action` is null for a source. */
export type Way = {
  readonly sender: { readonly kind: "agent" | "source"; readonly id: string };
  readonly action: string | null;
  /** The requested action if `action` is its undo; else null. */
  readonly undoes: string | null;
  readonly endpoint: string;
  /** The sender's policy; null for none. */
  readonly own: string | null;
  /** The policies of the action and the endpoint, which apply to every sender. */
  readonly floors: readonly string[];
};

/** An action or an endpoint, as `action refund.create`. */
export type Target = string;

export const targetsOf = ({ action, endpoint }: Pick<Way, "action" | "endpoint">): readonly Target[] => [
  ...(action === null ? [] : [`action ${action}`]),
  `endpoint ${endpoint}`,
];

export const wayId = ({ sender, action, undoes, endpoint }: Way): string =>
  JSON.stringify([sender.kind, sender.id, action, undoes, endpoint]);

const named = (ids: readonly (string | null | undefined)[]): readonly string[] => [
  ...new Set(ids.filter((id) => id !== null && id !== undefined)),
];

/** Null if the action or its endpoint does not exist. */
const behind = ({ action, endpoint }: Configuration, name: string) => {
  const it = action.get(name);
  const to = it === undefined ? undefined : endpoint.get(it.endpoint_id);
  return it === undefined || to === undefined
    ? null
    : { endpoint: it.endpoint_id, floors: named([it.policy_id, to.policy_id]), compensation: it.compensation };
};

/** The action itself and its undo, which is sent without a request. */
const reachedBy = (configuration: Configuration, name: string) => {
  const it = behind(configuration, name);
  if (it === null) return [];
  const undo = it.compensation === null ? null : behind(configuration, it.compensation);
  const undone =
    undo === null ? [] : [{ action: it.compensation, undoes: name, endpoint: undo.endpoint, floors: it.floors }];
  return [{ action: name, undoes: null, endpoint: it.endpoint, floors: it.floors }, ...undone];
};

export const waysOf = (configuration: Configuration, { kind, id }: Way["sender"]): readonly Way[] => {
  if (kind === "source") {
    const source = configuration.source.get(id);
    const to = configuration.endpoint.get(source?.endpoint_id ?? "");
    if (source === undefined || source.endpoint_id === null || to === undefined) return [];
    const { policy_id: own, endpoint_id: endpoint } = source;
    return [{ sender: { kind, id }, action: null, undoes: null, endpoint, own, floors: named([to.policy_id]) }];
  }
  const agent = configuration.agent.get(id);
  if (agent === undefined) return [];
  return [...configuration.action.keys()]
    .filter((name) => inScope(agent.scope, name))
    .flatMap((name) => reachedBy(configuration, name))
    .map((reached) => ({ sender: { kind, id }, own: agent.policy_id, ...reached }));
};

/** A rule that asks for approvals. `ofAction`: the action that its policy is on; else null. */
export type Rule = { readonly policyId: string; readonly rule: ApprovalRule; readonly ofAction: string | null };

export const rulesOf = (
  { policy }: Configuration,
  ids: readonly (string | null)[],
  ofAction: string | null = null,
): readonly Rule[] =>
  ids.flatMap((policyId) => {
    const rule = policyId === null ? undefined : policy.get(policyId)?.approval;
    return policyId === null || rule === undefined ? [] : [{ policyId, rule, ofAction }];
  });

const hasApproval = ({ policy }: Configuration, id: string | null): boolean =>
  id !== null && policy.get(id)?.approval !== undefined;

export const byPolicy = (agents: Iterable<AgentPart>): ReadonlyMap<string | null, readonly AgentPart[]> => {
  const found = new Map<string | null, AgentPart[]>();
  for (const agent of agents) {
    const same = found.get(agent.policy_id);
    if (same === undefined) found.set(agent.policy_id, [agent]);
    else same.push(agent);
  }
  return found;
};

/** The ways of agents with one policy, taken together without naming one. `only`: through these actions. */
export const sharedWays = (
  configuration: Configuration,
  agents: readonly AgentPart[],
  only: Iterable<string> = configuration.action.keys(),
): readonly Way[] => {
  const isReached = inAnyScope(agents.map(({ scope }) => scope));
  const own = agents[0]?.policy_id ?? null;
  return [...only]
    .filter(isReached)
    .flatMap((name) => reachedBy(configuration, name))
    .map((reached) => ({ sender: { kind: "agent", id: "" }, own, ...reached }));
};

/** The ways on which the sender's own policy asks for approvals. */
const underApproval = (configuration: Configuration): readonly Way[] => {
  const agents = [...byPolicy(configuration.agent.values())].filter(([id]) => hasApproval(configuration, id));
  const sources = new Map<string, Way["sender"]>();
  for (const [id, { policy_id, endpoint_id }] of configuration.source) {
    if (hasApproval(configuration, policy_id)) {
      sources.set(JSON.stringify([policy_id, endpoint_id]), { kind: "source", id });
    }
  }
  return [
    ...agents.flatMap(([, same]) => sharedWays(configuration, same)),
    ...[...sources.values()].flatMap((sender) => waysOf(configuration, sender)),
  ];
};

/** The rules that apply to every sender, for each target that has any. */
export const requirements = (configuration: Configuration): ReadonlyMap<Target, readonly Rule[]> => {
  const found = new Map<Target, Map<string, Rule>>();
  const add = (way: Pick<Way, "action" | "endpoint">, rules: readonly Rule[]): void => {
    for (const target of rules.length === 0 ? [] : targetsOf(way)) {
      const known = found.get(target) ?? new Map<string, Rule>();
      found.set(target, known);
      for (const rule of rules) known.set(`${rule.policyId} ${rule.ofAction ?? ""}`, rule);
    }
  };
  for (const [endpoint, { policy_id }] of configuration.endpoint) {
    add({ action: null, endpoint }, rulesOf(configuration, [policy_id]));
  }
  // A policy on an action counts before any agent can request the action.
  for (const [action, { policy_id }] of configuration.action) {
    const it = behind(configuration, action);
    if (it === null) continue;
    const onEndpoint = it.floors.filter((id) => id !== policy_id);
    add({ action, endpoint: it.endpoint }, rulesOf(configuration, onEndpoint));
    add({ action, endpoint: it.endpoint }, rulesOf(configuration, [policy_id], action));
  }
  for (const way of underApproval(configuration)) add(way, rulesOf(configuration, [way.own]));
  return new Map([...found].map(([target, rules]) => [target, [...rules.values()]]));
};

/** The actions whose ways a change may have altered. */
export const alteredActions = (before: Configuration, after: Configuration): ReadonlySet<string> => {
  if (before.policy === after.policy && before.action === after.action && before.endpoint === after.endpoint) {
    return new Set();
  }
  const isOther = (kind: "policy" | "action" | "endpoint", id: string | null | undefined): boolean =>
    before[kind].get(id ?? "") !== after[kind].get(id ?? "");
  const isAltered = ({ action, endpoint }: Configuration, name: string): boolean => {
    const it = action.get(name);
    if (it === undefined) return false;
    const floors = [it.policy_id, endpoint.get(it.endpoint_id)?.policy_id];
    return isOther("action", name) || isOther("endpoint", it.endpoint_id) || floors.some((id) => isOther("policy", id));
  };
  const names = new Set([...before.action.keys(), ...after.action.keys()]);
  const altered = new Set([...names].filter((name) => isAltered(before, name) || isAltered(after, name)));
  const undoes = ({ action }: Configuration, name: string): boolean =>
    altered.has(action.get(name)?.compensation ?? "");
  const leading = [...names].filter((name) => undoes(before, name) || undoes(after, name));
  return new Set([...altered, ...leading]);
};
