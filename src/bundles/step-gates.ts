import { action as actionDecider } from "../../domain/action/decider.ts";
import { agent as agentDecider } from "../../domain/agent/decider.ts";
import type { BundleRequest, Step, StepRefusal } from "../../domain/bundle/events.ts";
import { eventOf } from "../../domain/events.ts";
import { type CompiledCost, costGate } from "../../domain/gate/cost.ts";
import { decide, deniedBy } from "../../domain/gate/decide.ts";
import { type GateResult, type PolicyRef, policiesOf } from "../../domain/gate/verdict.ts";
import type { Json } from "../../domain/json.ts";
import type { LoopRule } from "../../domain/ledger/loop.ts";
import { policy as policyDecider } from "../../domain/policy/decider.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { agentStream } from "../accounts/credentials.ts";
import { samenessOf } from "../admission/judge-request.ts";
import { repetitionGate } from "../admission/loop-gate.ts";
import { actionDigest } from "../execute/digest.ts";
import { bytesOf, type Checks, directChecks } from "../gates/checks.ts";
import type { CompiledActions } from "../gates/compiled-action.ts";
import type { CompiledPolicies } from "../gates/compiled-policy.ts";
import type { Ledgers } from "../ledgers/ledgers.ts";
import { stepPlace } from "../ledgers/place-status.ts";
import { actionStream } from "../streams/action-stream.ts";
import type { Fact, Trace } from "../streams/envelope.ts";
import type { Foldable } from "../streams/run-command.ts";
import { pagesOf } from "../streams/stream-pages.ts";

export type StepGatesDeps = {
  readonly log: EventLog;
  readonly policies: CompiledPolicies;
  readonly checks?: Checks;
  readonly actions: CompiledActions;
  readonly ledgers: Pick<Ledgers, "reserve" | "reserveDay" | "release" | "settle">;
  /** The same key as in `JudgeDeps`, so that steps and single requests are counted as the same repetitions. */
  readonly digestKey: Uint8Array;
};

type KnownStep = {
  readonly request: BundleRequest;
  readonly index: number;
  /** The payload in which the results of earlier steps are inserted. */
  readonly payload: Json;
  readonly headers: Readonly<Record<string, string>>;
  readonly isApproved: boolean;
  readonly trace: Trace;
};

/** Null if the step may start, else why not. Rejects with the log's errors. */
export type StepGates = (step: KnownStep) => Promise<StepRefusal | null>;

const READ_PAGE = 500;
const COST_MISSING = "the amount of a step was not when the bundle was decided";

/** Folds a stream up to the first wanted state, such as an earlier version, and ignores what came later. */
const foldUntil = async <S, E extends Fact, W extends S>(
  log: EventLog,
  decider: Foldable<S, E>,
  stream: string,
  isWanted: (state: S) => state is W,
): Promise<W> => {
  let state = decider.initial;
  for await (const page of pagesOf(log, stream, null, READ_PAGE)) {
    for (const event of page) {
      state = decider.evolve(state, eventOf<E>(event));
      if (isWanted(state)) return state;
    }
  }
  throw new Error(`${stream} was never what was decided by`);
};

const refusalOf = ({ code, detail }: GateResult): StepRefusal => ({ code, detail });

/**
 * Asks the gates that depend on results, right before a step starts. The versions of the action and the policies are
 * those of the bundle's verdict; a step that a policy holds starts only if the bundle was approved.
 */
export const stepGates = ({
  log,
  policies,
  checks = directChecks,
  actions,
  ledgers,
  digestKey,
}: StepGatesDeps): StepGates => {
  type Wanted<S, P extends string> = Extract<S, { phase: P }>;

  /** The account is read from the agent's first state, so that it is found for a deleted agent as well. */
  const accountOf = async (agentId: string): Promise<string> => {
    type State = typeof agentDecider.initial;
    const isIt = (state: State): state is Wanted<State, "present"> => state.phase === "present";
    return (await foldUntil(log, agentDecider, agentStream(agentId), isIt)).account;
  };

  const actionAt = async (account: string, name: string, version: number) => {
    type State = typeof actionDecider.initial;
    const isIt = (state: State): state is Wanted<State, "defined"> =>
      state.phase === "defined" && state.version === version;
    return actions.get(await foldUntil(log, actionDecider, actionStream(account, name), isIt));
  };

  const policyAt = async ({ id, version }: { readonly id: string; readonly version: number }) => {
    type State = typeof policyDecider.initial;
    const isIt = (state: State): state is Wanted<State, "published"> =>
      state.phase === "published" && state.version === version;
    const { account, definition } = await foldUntil(log, policyDecider, `policy-${id}`, isIt);
    const { loop = {}, block_on_violation: blocks } = definition;
    return {
      id,
      version,
      definition,
      compiled: policies.get(account, id, version, definition),
      loop,
      blocks: blocks !== false,
    };
  };

  const repeats = (
    { request: { bundle_id, origin }, index, payload, trace }: KnownStep,
    { action: { name: action, version }, endpoint_id: target }: Step,
    account: string,
    policy: { readonly id: string; readonly loop: LoopRule },
  ): Promise<GateResult | null> => {
    const identity = { account, agent: origin.id, action, version, target, payload };
    return repetitionGate(ledgers, {
      ...{ account, trace, policyId: policy.id, loop: policy.loop },
      // The step takes a place of its own: the bundle's place counts only payloads that were known at its verdict.
      holder: stepPlace(bundle_id, index),
      digest: samenessOf(digestKey, actionDigest(digestKey, identity)),
    });
  };

  const byPolicy = async (
    known: KnownStep,
    { step, account, cost }: { readonly step: Step; readonly account: string; readonly cost: CompiledCost | null },
    ref: PolicyRef,
  ): Promise<StepRefusal | null> => {
    const { request, payload, headers, isApproved } = known;
    const { loop, blocks, ...policy } = await policyAt(ref);
    const { compiled } = policy;
    const { origin, cost: costMicro } = request;
    const { gates } = await checks.policy(policy, {
      ...{ account, headers, costMicro, costMissing: COST_MISSING },
      payload: () => payload,
      body: () => bytesOf(payload),
      isStrict: true,
      source: null,
      agent: { id: origin.id, name: origin.name },
      action: step.action.name,
      asks: "with-payload",
    });
    const denied = deniedBy([...costGate(cost === null ? compiled.cost : null, payload, "policy"), ...gates], blocks);
    if (denied !== undefined) return refusalOf(denied);
    const held =
      decide(gates, blocks).decision === "hold" ? gates.find(({ outcome }) => outcome === "hold") : undefined;
    if (held !== undefined && !isApproved) return refusalOf(held);
    const loops = await repeats(known, step, account, { id: ref.id, loop });
    return loops !== null && deniedBy([loops], blocks) !== undefined ? refusalOf(loops) : null;
  };

  return async (known) => {
    const { request, index, payload } = known;
    const step = request.steps[index];
    if (step === undefined) throw new Error(`${request.bundle_id} has no step ${index}`);
    const { name, version } = step.action;
    const account = await accountOf(request.origin.id);
    const action = await actionAt(account, name, version);
    const { cost } = action;
    if (action.schema !== null) {
      const asked = { account, compiled: action, payload: () => payload, body: () => bytesOf(payload) };
      const gate = await checks.schema(asked);
      if (gate.outcome === "deny") return refusalOf(gate);
    }
    const [wrongAmount] = costGate(cost, payload, "action");
    if (wrongAmount !== undefined) return refusalOf(wrongAmount);
    for (const policy of policiesOf(request.verdict)) {
      const refusal =
        policy.steps?.includes(index) === false ? null : await byPolicy(known, { step, account, cost }, policy);
      if (refusal !== null) return refusal;
    }
    return null;
  };
};
