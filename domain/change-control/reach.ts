import { inAnyScope, inScope } from "../agent/scope.ts";
import type { ApprovalRule } from "../policy/definition.ts";
import type { AgentPart, Configuration } from "./configuration.ts";

/** How a sender reaches a target. `action` is null if the sender is a source. */
export type Way = {
  readonly sender: { readonly kind: "agent" | "source"; readonly id: string };
  readonly action: string | null;
  /** The requested action that `action` undoes; null if `action` itself is requested. */
  readonly undoes: string | null;
  readonly endpoint: string;
  readonly senderPolicy: string | null;
  /** The policies of the action and the endpoint apply to every sender. */
  readonly targetPolicies: readonly string[];
};

export const policiesOf = ({ senderPolicy, targetPolicies }: Way): readonly (string | null)[] => [
  senderPolicy,
  ...targetPolicies,
];

/** For example `action refund.create` or `endpoint end_…`. */
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

const destinationOf = ({ action, endpoint }: Configuration, name: string) => {
  const it = action.get(name);
  const to = it === undefined ? undefined : endpoint.get(it.endpoint_id);
  return it === undefined || to === undefined
    ? null
    : { endpoint: it.endpoint_id, targetPolicies: named([it.policy_id, to.policy_id]), compensation: it.compensation };
};

/** A request for an action also reaches its undo, which is sent without a request. */
const reachedBy = (configuration: Configuration, name: string) => {
  const it = destinationOf(configuration, name);
  if (it === null) return [];
  const undo = it.compensation === null ? null : destinationOf(configuration, it.compensation);
  const undone =
    undo === null
      ? []
      : [{ action: it.compensation, undoes: name, endpoint: undo.endpoint, targetPolicies: it.targetPolicies }];
  return [{ action: name, undoes: null, endpoint: it.endpoint, targetPolicies: it.targetPolicies }, ...undone];
};

export const waysOf = (configuration: Configuration, { kind, id }: Way["sender"]): readonly Way[] => {
  if (kind === "source") {
    const source = configuration.source.get(id);
    const to = configuration.endpoint.get(source?.endpoint_id ?? "");
    if (source === undefined || source.endpoint_id === null || to === undefined) return [];
    const { policy_id: senderPolicy, endpoint_id: endpoint } = source;
    return [
      {
        sender: { kind, id },
        action: null,
        undoes: null,
        endpoint,
        senderPolicy,
        targetPolicies: named([to.policy_id]),
      },
    ];
  }
  const agent = configuration.agent.get(id);
  if (agent === undefined) return [];
  return [...configuration.action.keys()]
    .filter((name) => inScope(agent.scope, name))
    .flatMap((name) => reachedBy(configuration, name))
    .map((reached) => ({ sender: { kind, id }, senderPolicy: agent.policy_id, ...reached }));
};

/** `ofAction` is the action whose policy has the rule; null if it is the policy of an endpoint or a sender. */
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

/** `agents` have one policy: an account may have thousands of agents, so their ways are found together. */
export const sharedWays = (
  configuration: Configuration,
  agents: readonly AgentPart[],
  only: Iterable<string> = configuration.action.keys(),
): readonly Way[] => {
  const isReached = inAnyScope(agents.map(({ scope }) => scope));
  const senderPolicy = agents[0]?.policy_id ?? null;
  return [...only]
    .filter(isReached)
    .flatMap((name) => reachedBy(configuration, name))
    .map((reached) => ({ sender: { kind: "agent", id: "" }, senderPolicy, ...reached }));
};

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

/** The rules that protect each target, from its own policies and the policies of all who can reach it. */
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
  // A policy on an action counts even before any agent can request the action.
  for (const [action, { policy_id }] of configuration.action) {
    const it = destinationOf(configuration, action);
    if (it === null) continue;
    const onEndpoint = it.targetPolicies.filter((id) => id !== policy_id);
    add({ action, endpoint: it.endpoint }, rulesOf(configuration, onEndpoint));
    add({ action, endpoint: it.endpoint }, rulesOf(configuration, [policy_id], action));
  }
  for (const way of underApproval(configuration)) add(way, rulesOf(configuration, [way.senderPolicy]));
  return new Map([...found].map(([target, rules]) => [target, [...rules.values()]]));
};

export const alteredActions = (before: Configuration, after: Configuration): ReadonlySet<string> => {
  if (before.policy === after.policy && before.action === after.action && before.endpoint === after.endpoint) {
    return new Set();
  }
  const isOther = (kind: "policy" | "action" | "endpoint", id: string | null | undefined): boolean =>
    before[kind].get(id ?? "") !== after[kind].get(id ?? "");
  const isAltered = ({ action, endpoint }: Configuration, name: string): boolean => {
    const it = action.get(name);
    if (it === undefined) return false;
    const targetPolicies = [it.policy_id, endpoint.get(it.endpoint_id)?.policy_id];
    return (
      isOther("action", name) ||
      isOther("endpoint", it.endpoint_id) ||
      targetPolicies.some((id) => isOther("policy", id))
    );
  };
  const names = new Set([...before.action.keys(), ...after.action.keys()]);
  const altered = new Set([...names].filter((name) => isAltered(before, name) || isAltered(after, name)));
  const undoes = ({ action }: Configuration, name: string): boolean =>
    altered.has(action.get(name)?.compensation ?? "");
  const leading = [...names].filter((name) => undoes(before, name) || undoes(after, name));
  return new Set([...altered, ...leading]);
};
