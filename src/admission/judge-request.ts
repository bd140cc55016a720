import { createHmac } from "node:crypto";
import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import { costOf, whyCostUnknown } from "../../domain/gate/cost.ts";
import { lengthPrefixed } from "../../infra/crypto/length-prefixed.ts";
import { type Checks, directChecks } from "../gates/checks.ts";
import type { IncomingRequest } from "../gates/incoming-request.ts";
import type { PolicyCheck } from "../gates/policy-gates.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { goOn, type OrPromise } from "../streams/or-promise.ts";
import {
  Judge,
  type JudgeDeps,
  type Judgement,
  type JudgementInput,
  ownGates,
  type Places,
  type PolicyAsked,
  type PolicyUse,
} from "./judge.ts";

/** Hex digest by which ledgers of repetitions are named: requests with the same action digest count as repetitions. */
export const samenessOf = (key: Uint8Array, actionDigest: string): string =>
  createHmac("sha256", key)
    .update(lengthPrefixed([actionDigest]))
    .digest("hex");

const sameness = (
  key: Uint8Array,
  { asked, account, origin, eventType, endpointId, body }: IncomingRequest,
): string => {
  if (asked !== null) return samenessOf(key, asked.action.digest);
  const same = [account, origin.id, eventType, endpointId ?? ""];
  return createHmac("sha256", key).update(lengthPrefixed(same)).update(body).digest("hex");
};

const highest = (costs: readonly (number | null)[]): number | null => {
  const known = costs.filter((cost) => cost !== null);
  return known.length === 0 ? null : Math.max(...known);
};

const costByAction = ({ asked, json }: IncomingRequest): number | null => {
  const ruled = asked?.compiled.cost ?? null;
  const cost = ruled === null ? null : costOf(ruled, json());
  return typeof cost !== "number" ? null : Math.max(cost, asked?.costMicro ?? 0);
};

const checkOne = (checks: Checks, it: IncomingRequest, policy: PolicyAsked): PolicyCheck | Promise<PolicyCheck> => {
  const { asked, json, account, body, isStrict } = it;
  const rule = asked?.compiled.cost ?? null;
  const found = rule === null ? null : costOf(rule, json());
  // Undefined if the action has no cost rule, so that the policy's rule counts; null if the action's rule finds no
  // amount.
  const costMicro = rule === null ? undefined : typeof found === "number" ? found : null;
  const atLeastMicro = asked?.costMicro ?? 0;
  const { id: originId, name, type } = it.origin;
  const question = {
    account,
    isStrict,
    payload: json,
    body: () => body,
    text: it.text,
    headers: it.headers,
    source: asked === null ? { id: originId, name, type } : null,
    agent: asked === null ? null : { id: originId, name },
    action: asked?.action.name ?? null,
    costMicro,
    atLeastMicro,
  };
  if (costMicro !== null) return checks.policy(policy, question);
  return checks.policy(policy, { ...question, costMissing: whyCostUnknown(rule, json(), "action") });
};

/** The policies of the sender, of the action and of the endpoint. The last two apply whoever sends. */
const policiesFor = (
  aggregates: Pick<Aggregates, "load">,
  { account, policyId, asked, endpointId }: Pick<IncomingRequest, "account" | "policyId" | "asked" | "endpointId">,
): OrPromise<readonly PolicyUse[]> =>
  goOn(policyOfEndpoint(aggregates, account, endpointId), (ofEndpoint) => {
    const uses: PolicyUse[] = [];
    for (const id of [policyId, asked?.compiled.policyId ?? null, ofEndpoint]) {
      if (id !== null && !uses.some((use) => use.id === id)) uses.push({ id });
    }
    return uses;
  });

export const policyOfEndpoint = (
  aggregates: Pick<Aggregates, "load">,
  account: string,
  endpointId: string | null,
): OrPromise<string | null> => {
  if (endpointId === null) return null;
  return goOn(aggregates.load(endpointDecider, `endpoint-${endpointId}`), ({ state }) =>
    state.phase === "present" && state.account === account ? state.settings.policy_id : null,
  );
};

/** What a webhook's or an agent's request is judged on. */
export const judgingOf = (
  { aggregates, checks = directChecks, digestKey }: JudgeDeps,
  it: IncomingRequest,
): JudgementInput => {
  const { asked, sample, account, eventId: id, trace } = it;
  return {
    id,
    account,
    trace,
    policies: () => policiesFor(aggregates, it),
    countsForPlan: asked === null && sample === undefined,
    run: asked?.run ?? null,
    places: () => 1,
    identical: () => new Map([[sameness(digestKey, it), 1]]),
    own: () => (asked === null ? [] : ownGates(checks, asked, { account, payload: it.json, body: () => it.body })),
    check: (policy) => checkOne(checks, it, policy),
    cost: (checked) => (checked.length === 0 ? costByAction(it) : highest(checked.map(({ cost }) => cost))),
  };
};

export const judgement = (deps: JudgeDeps): ((it: IncomingRequest, places?: Places) => Promise<Judgement>) => {
  const judge = new Judge(deps);
  return (it, places = "take") => judge.judge(judgingOf(deps, it), places);
};
