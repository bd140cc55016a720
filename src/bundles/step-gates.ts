import { action as actionDecider } from "../../domain/action/decider.ts";
import { agent as agentDecider } from "../../domain/agent/decider.ts";
import type { BundleRequest, StepRefusal } from "../../domain/bundle/events.ts";
import { decide, refusedBy } from "../../domain/gate/decide.ts";
import type { GateResult } from "../../domain/gate/verdict.ts";
import { policy as policyDecider } from "../../domain/policy/decider.ts";
import type { EventLog, Json, Revision } from "../../domain/ports.ts";
import type { CompiledActions } from "../admission/compiled-action.ts";
import { type CompiledPolicies, schemaGate } from "../admission/compiled-policy.ts";
import { agentStream } from "../credentials.ts";
import type { Fact } from "../envelope.ts";
import { actionStream } from "../routes/actions.ts";
import type { Foldable } from "../run-command.ts";

export type StepGatesDeps = {
  readonly log: EventLog;
  readonly policies: CompiledPolicies;
  readonly actions: CompiledActions;
};

/** A step whose payload is known at last. */
export type KnownStep = {
  readonly request: BundleRequest;
  readonly index: number;
  /** Resolved. */
  readonly payload: Json;
  /** As they were kept with the bundle's payload. */
  readonly headers: Readonly<Record<string, string>>;
  /** People have approved the bundle. */
  readonly isApproved: boolean;
};

/** Null: it may start. Rejects with the log's errors. */
export type StepGates = (step: KnownStep) => Promise<StepRefusal | null>;

const READ_PAGE = 500;

/** What a stream's fold was when it was the wanted one for the first time. */
const foldUntil = async <S, E extends Fact, W extends S>(
  log: EventLog,
  decider: Foldable<S, E>,
  stream: string,
  isWanted: (state: S) => state is W,
): Promise<W> => {
  let state = decider.initial;
  for (let after: Revision | null = null; ; ) {
    const page = await log.read(stream, after, READ_PAGE);
    for (const event of page) {
      // The stream's category says which events are in it.
      state = decider.evolve(state, event as unknown as E);
      if (isWanted(state)) return state;
      after = event.revision;
    }
    if (page.length < READ_PAGE) throw new Error(`${stream} was never what was decided by`);
  }
};

const refusalOf = ({ code, detail }: GateResult): StepRefusal => ({ code, detail });

/**
 * Asks the gates that had to wait for a step's payload, by the action and the policy as they were when the bundle was
 * decided: it was one decision, of which this is the rest. A hold stands for a bundle that people have approved.
 */
export const stepGates = ({ log, policies, actions }: StepGatesDeps): StepGates => {
  type Wanted<S, P extends string> = Extract<S, { phase: P }>;

  /** Of the agent, whatever became of it. */
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
    const { definition } = await foldUntil(log, policyDecider, `policy-${id}`, isIt);
    return { compiled: policies.get(id, version, definition), blocks: definition.block_on_violation !== false };
  };

  return async ({ request, index, payload, headers, isApproved }) => {
    const step = request.steps[index];
    if (step === undefined) throw new Error(`${request.bundle_id} has no step ${index}`);
    const { name, version } = step.action;
    const { schema, work } = await actionAt(await accountOf(request.origin.id), name, version);
    if (schema !== null) {
      work.reset();
      const gate = schemaGate(schema, payload);
      if (gate.outcome === "deny") return refusalOf(gate);
    }
    const { policy: ref } = request.verdict;
    if (ref === null) return null;
    const { compiled, blocks } = await policyAt(ref);
    const { origin, cost: costMicro } = request;
    const { gates } = compiled.check({
      ...{ payload, headers, costMicro },
      ambiguous: false,
      source: null,
      agent: { id: origin.id, name: origin.name },
      action: name,
      asks: "with-payload",
    });
    const denied = refusedBy(gates, blocks);
    if (denied !== undefined) return refusalOf(denied);
    const held =
      decide(gates, blocks).decision === "hold" ? gates.find(({ outcome }) => outcome === "hold") : undefined;
    return held === undefined || isApproved ? null : refusalOf(held);
  };
};
