import { LRUCache } from "lru-cache";
import type { BundleCommand } from "../../domain/bundle/commands.ts";
import { bundle } from "../../domain/bundle/decider.ts";
import { type Next, nextOf } from "../../domain/bundle/next.ts";
import { type Bundle, type RunningBundle, startOf, undoStartOf } from "../../domain/bundle/state.ts";
import type { DeliveryCommand } from "../../domain/delivery/commands.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import { type Delivery, isClaimed, stepEndOf } from "../../domain/delivery/state.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { stoppedBecause } from "../accounts/stopped.ts";
import { UNKNOWN } from "../admission/claim.ts";
import type { Deliverer } from "../delivery/deliverer.ts";
import type { Outcomes } from "../execute/outcomes.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import { type Envelope, NO_TRACE, systemEnvelope, type Trace } from "../streams/envelope.ts";
import { type KeptPayload, type Payloads, payloadStream } from "../streams/payloads.ts";
import { foldStream, runCommand, type StreamState } from "../streams/run-command.ts";
import { hasEnded } from "./answer.ts";
import type { BeginBundle } from "./claiming.ts";
import { contents } from "./contents.ts";
import type { StepGates } from "./step-gates.ts";
import { requestOfStep, requestOfUndo } from "./step-request.ts";
import { turns } from "./turns.ts";

export type BundleRunnerDeps = {
  readonly log: EventLog;
  readonly aggregates: Pick<Aggregates, "load">;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly payloads: Payloads;
  /** Asked again about a step whose payload was made of results. */
  readonly gates: StepGates;
  /** Handed what was admitted. */
  readonly deliver: Pick<Deliverer, "offer" | "isSending">;
  /** Told of each bundle that was written to here. */
  readonly outcomes: Pick<Outcomes<Bundle>, "changed">;
  readonly onError: (error: unknown) => void;
};

export type BundleRunner = {
  /**
   * Does all that can be done for a bundle now, up to a delivery whose end is awaited. May be called at any time, from
   * several nodes: what was done is not done again. Rejects with the log's errors; what is left is then done by the next.
   */
  advance(bundleId: string): Promise<Bundle>;
  /** Told by this process's deliverer: of what ended here, what follows begins at once. */
  delivered(eventId: string, known: StreamState<Delivery>): void;
  /** Finishes what is in hand. */
  stop(): Promise<void>;
};

/** What this process knows of a bundle that runs. */
type Entry = {
  readonly bundleId: string;
  account: string;
  /** Of the request that it came with. */
  trace: Trace;
  known: StreamState<Bundle>;
  /** Of its step or undo that is under way. */
  delivery: { readonly eventId: string; known: StreamState<Delivery>; readonly body?: Buffer } | null;
};

/** More at once would only stand in the way of what is not a bundle's. */
const BUNDLES_AT_ONCE = 32;
/** Known between two of their steps; what is not is read again. */
const ENTRIES_MAX = 5_000;
const JSON_TYPE = "application/json";

type Following = Extract<Next, { do: "admit" | "admit-undo" | "cancel-step" }>;

/**
 * Moves bundles on (`nextOf`), each by one append at a time, written before what it announces is done: `StepStarted` before
 * the step's delivery is admitted, so that whatever is sent is known to have an undo.
 */
export const bundleRunner = (deps: BundleRunnerDeps): BundleRunner => {
  const { log, clock, payloads } = deps;
  const bodies = contents(deps);
  const queue = turns(BUNDLES_AT_ONCE);
  const entries = new LRUCache<string, Entry>({ max: ENTRIES_MAX });
  let stopping = false;

  const now = (): string => new Date(clock.now()).toISOString();

  const envelopeOf = ({ account, trace }: Entry): Envelope =>
    systemEnvelope({
      actor: "bundles",
      // A name of its own: another node that does the same at this moment has to lose.
      commandId: randomId("cmd_", deps.randomness),
      account,
      trace,
      at: now(),
    });

  const tell = async (it: Entry, command: BundleCommand): Promise<void> => {
    const ran = await runCommand(log, {
      decider: bundle,
      stream: bundleStream(it.bundleId),
      from: it.known,
      command,
      envelope: envelopeOf(it),
    });
    it.known = ran.known;
    deps.outcomes.changed(it.bundleId, it.known);
  };

  const tellDelivery = async (it: Entry, eventId: string, from: StreamState<Delivery>, command: DeliveryCommand) => {
    const ran = await runCommand(log, {
      decider: delivery,
      stream: `delivery-${eventId}`,
      from,
      command,
      envelope: envelopeOf(it),
    });
    it.delivery = { eventId, known: ran.known };
    return ran;
  };

  const keep = async (it: Entry, eventId: string, body: Buffer): Promise<KeptPayload> => {
    const incoming = { body, contentType: JSON_TYPE, contentEncoding: "", headers: {} };
    const envelope = envelopeOf(it);
    const first = await payloads.keepFirst(eventId, incoming, envelope);
    return first ?? payloads.keepAgain(eventId, incoming, envelope);
  };

  const started = async (it: Entry, type: "StartStep" | "StartUndo", index: number, eventId: string, body: Buffer) => {
    const { revision, sha256 } = await keep(it, eventId, body);
    const payload = { revision, content_type: JSON_TYPE, size: body.length, sha256 };
    await tell(it, { type, index, payload, at: now() });
    const { state } = it.known;
    const step = "steps" in state ? state.steps[index] : undefined;
    const isStarted = step === undefined || (type === "StartStep" ? startOf(step) : undoStartOf(step)) !== null;
    // Another node has ended the bundle meanwhile, and it may be erased by now: nobody sends this any more.
    if (!isStarted && hasEnded(state)) await log.erase(payloadStream(eventId));
    it.delivery = { eventId, known: UNKNOWN, body };
  };

  const startStep = async (it: Entry, state: RunningBundle, index: number): Promise<void> => {
    const { request } = state;
    const stopped = await stoppedBecause(deps.aggregates, request);
    if (stopped !== null) return tell(it, { type: "Cancel", reason: stopped, at: now() });
    const content = await bodies.ofStep(state, index, it.trace);
    if ("refusal" in content) return tell(it, { type: "RefuseStep", index, refusal: content.refusal, at: now() });
    await started(it, "StartStep", index, request.steps[index]?.event_id ?? "", content.body);
  };

  const startUndo = async (it: Entry, state: RunningBundle, index: number): Promise<void> => {
    const eventId = state.request.steps[index]?.undo_event_id ?? "";
    await started(it, "StartUndo", index, eventId, await bodies.ofUndo(state, index));
  };

  /** The delivery as it is, admitted by this node or by another one. */
  const admitted = async (it: Entry, request: Request, isToBeSent: boolean): Promise<StreamState<Delivery>> => {
    const { event_id: eventId, endpoint_id: endpointId } = request;
    const { known, body } = it.delivery?.eventId === eventId ? it.delivery : { known: UNKNOWN };
    if (isClaimed(known.state)) {
      if (stepEndOf(known.state) !== null) return known;
      const seen = await foldStream(log, delivery, `delivery-${eventId}`, { from: known });
      it.delivery = { eventId, known: seen };
      return seen;
    }
    const ran = await tellDelivery(it, eventId, known, { type: "Admit", request });
    if (ran.outcome === "accepted" && isToBeSent && endpointId !== null) {
      const { account, trace } = it;
      const content = body === undefined ? {} : { body, contentType: JSON_TYPE, contentEncoding: "" };
      const takesBack = request.bundle?.undo === true ? ({ takesBack: true } as const) : {};
      deps.deliver.offer({ eventId, account, endpointId, trace, known: ran.known, ...content, ...takesBack });
    }
    return ran.known;
  };

  /** False while the end of the delivery is awaited. */
  const follow = async (it: Entry, state: RunningBundle, { do: what, index }: Following): Promise<boolean> => {
    const request = what === "admit-undo" ? requestOfUndo(state, index) : requestOfStep(state, index);
    let known = await admitted(it, request, what !== "cancel-step");
    if (what === "cancel-step" && stepEndOf(known.state) === null) {
      const reason = state.rollback?.reason ?? "";
      const { event_id: eventId } = request;
      const command = { type: "Cancel", reason, at: now(), underWay: deps.deliver.isSending(eventId) } as const;
      ({ known } = await tellDelivery(it, eventId, known, command));
    }
    const end = stepEndOf(known.state);
    if (end === null) return false;
    // What the deliverer did not send any more did not fail: the agent was stopped.
    const stopped =
      what === "admit" && end.outcome !== "succeeded" ? await stoppedBecause(deps.aggregates, request) : null;
    if (stopped !== null) await tell(it, { type: "Cancel", reason: stopped, at: now() });
    else await tell(it, { type: what === "admit-undo" ? "EndUndo" : "EndStep", index, ...end, at: now() });
    return true;
  };

  /** False when there is nothing more to do now. */
  const move = async (it: Entry): Promise<boolean> => {
    const { state } = it.known;
    const next = nextOf(state);
    if (state.phase !== "running" || next.do === "wait" || next.do === "nothing") return false;
    if (next.do === "start") await startStep(it, state, next.index);
    else if (next.do === "undo") await startUndo(it, state, next.index);
    else return follow(it, state, next);
    return true;
  };

  const entryOf = (bundleId: string): Entry => {
    const it = entries.get(bundleId) ?? {
      bundleId,
      account: "",
      trace: NO_TRACE,
      known: { state: bundle.initial, revision: null },
      delivery: null,
    };
    entries.set(bundleId, it);
    return it;
  };

  const learnFrom =
    (it: Entry) =>
    ({ type, meta }: RecordedEvent): void => {
      if (type !== "BundleAdmitted" && type !== "BundleHeld") return;
      it.account = meta.account;
      it.trace = { trace_id: meta.trace_id, span_id: meta.span_id };
    };

  const moveOn = async (bundleId: string): Promise<Bundle> => {
    const it = entryOf(bundleId);
    try {
      it.known = await foldStream(log, bundle, bundleStream(bundleId), { from: it.known, onEvent: learnFrom(it) });
      for (;;) {
        const before = it.known.revision;
        if (stopping || !(await move(it))) break;
        if (it.known.revision === before) throw new Error(`${bundleId} does not go on at its revision ${before}`);
      }
    } catch (error) {
      // Whatever is not true of it is read again.
      entries.delete(bundleId);
      throw error;
    }
    const { state } = it.known;
    if (state.phase !== "running" || state.end !== null) entries.delete(bundleId);
    return state;
  };

  const advance = (bundleId: string): Promise<Bundle> => queue.take(bundleId, () => moveOn(bundleId));

  return {
    advance,
    delivered(eventId, known) {
      const { state } = known;
      if (!("request" in state) || stepEndOf(state) === null || state.request.bundle === undefined) return;
      const it = entries.get(state.request.bundle.id);
      if (it?.delivery?.eventId === eventId) it.delivery.known = known;
      advance(state.request.bundle.id).catch(deps.onError);
    },
    async stop() {
      stopping = true;
      await queue.idle();
    },
  };
};

/** What this process admits it starts itself: nothing is waited for. */
export const startingAtOnce =
  (begin: BeginBundle, runner: Pick<BundleRunner, "advance">, onError: (error: unknown) => void): BeginBundle =>
  async (ask) => {
    const begun = await begin(ask);
    if (!("problem" in begun)) runner.advance(begun.bundleId).catch(onError);
    return begun;
  };
