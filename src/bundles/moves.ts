import type { BundleCommand } from "../../domain/bundle/commands.ts";
import { bundle } from "../../domain/bundle/decider.ts";
import { type Next, nextOf } from "../../domain/bundle/next.ts";
import { type Bundle, type RunningBundle, startOf, undoStartOf } from "../../domain/bundle/state.ts";
import type { DeliveryCommand } from "../../domain/delivery/commands.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import { type Delivery, isClaimed, stepEndOf } from "../../domain/delivery/state.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { suspensionReason } from "../accounts/agent-suspension.ts";
import { UNKNOWN } from "../admission/claim-event.ts";
import type { Deliverer } from "../delivery/deliverer.ts";
import type { Outcomes } from "../execute/outcome-waits.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import { type Envelope, systemEnvelope, type Trace } from "../streams/envelope.ts";
import { type KeptPayload, payloadRef } from "../streams/payload-ref.ts";
import { type Incoming, type Payloads, payloadStream } from "../streams/payloads.ts";
import { foldStream, runCommand, type StreamState } from "../streams/run-command.ts";
import { hasEnded } from "./answer.ts";
import { type Contents, contents } from "./contents.ts";
import type { StepGates } from "./step-gates.ts";
import { requestOfStep, requestOfUndo } from "./step-request.ts";

export type BundleMovesDeps = {
  readonly log: EventLog;
  readonly aggregates: Pick<Aggregates, "load">;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly payloads: Payloads;
  readonly gates: StepGates;
  readonly deliver: Pick<Deliverer, "offer" | "isSending">;
  readonly outcomes: Pick<Outcomes<Bundle>, "changed">;
};

export type BundleEntry = {
  readonly bundleId: string;
  account: string;
  trace: Trace;
  known: StreamState<Bundle>;
  delivery: { readonly eventId: string; known: StreamState<Delivery>; readonly body?: Buffer } | null;
};

const JSON_TYPE = "application/json";

type FollowedDelivery = Extract<Next, { do: "admit" | "admit-undo" | "cancel-step" }>;

type DeliveryRun = {
  readonly eventId: string;
  readonly from: StreamState<Delivery>;
  readonly command: DeliveryCommand;
};

type Start = {
  readonly type: "StartStep" | "StartUndo";
  readonly index: number;
  readonly eventId: string;
  readonly body: Buffer;
};

/**
 * Executes the next move of a bundle (`nextOf`), one append at a time. `StepStarted` is written before the step's
 * delivery is admitted, so that everything that may have been sent has an undo.
 */
export class BundleMoves {
  readonly #deps: BundleMovesDeps;
  readonly #bodies: Contents;

  constructor(deps: BundleMovesDeps) {
    this.#deps = deps;
    this.#bodies = contents(deps);
  }

  /** Resolves with false if the bundle has nothing to do now. */
  async move(it: BundleEntry): Promise<boolean> {
    const { state } = it.known;
    const next = nextOf(state);
    if (state.phase !== "running" || next.do === "wait" || next.do === "nothing") return false;
    if (next.do === "start") await this.#startStep(it, state, next.index);
    else if (next.do === "undo") await this.#startUndo(it, state, next.index);
    else return this.#follow(it, state, next);
    return true;
  }

  async #startStep(it: BundleEntry, state: RunningBundle, index: number): Promise<void> {
    const { request } = state;
    const stopped = await suspensionReason(this.#deps.aggregates, request);
    if (stopped !== null) return this.#run(it, { type: "Cancel", reason: stopped, at: this.#now() });
    const content = await this.#bodies.ofStep(state, index, it.trace);
    if ("refusal" in content) {
      return this.#run(it, { type: "RefuseStep", index, refusal: content.refusal, at: this.#now() });
    }
    const eventId = request.steps[index]?.event_id ?? "";
    await this.#start(it, { type: "StartStep", index, eventId, body: content.body });
  }

  async #startUndo(it: BundleEntry, state: RunningBundle, index: number): Promise<void> {
    const eventId = state.request.steps[index]?.undo_event_id ?? "";
    await this.#start(it, { type: "StartUndo", index, eventId, body: await this.#bodies.ofUndo(state, index) });
  }

  async #start(it: BundleEntry, { type, index, eventId, body }: Start): Promise<void> {
    const incoming = { body, contentType: JSON_TYPE, contentEncoding: "", headers: {} };
    const payload = payloadRef(await this.#store(it, eventId, incoming), incoming);
    await this.#run(it, { type, index, payload, at: this.#now() });
    const { state } = it.known;
    const step = "steps" in state ? state.steps[index] : undefined;
    const isStarted = step === undefined || (type === "StartStep" ? startOf(step) : undoStartOf(step)) !== null;
    // Another node has ended the bundle, so the payload is never sent. The bundle's erasure may have missed it.
    if (!isStarted && hasEnded(state)) await this.#deps.log.erase(payloadStream(eventId));
    it.delivery = { eventId, known: UNKNOWN, body };
  }

  async #store(it: BundleEntry, eventId: string, incoming: Incoming): Promise<KeptPayload> {
    const envelope = this.#envelopeOf(it);
    const first = await this.#deps.payloads.keepFirst(eventId, incoming, envelope);
    return first ?? this.#deps.payloads.keepAgain(eventId, incoming, envelope);
  }

  /** Resolves with false while the delivery has not ended. */
  async #follow(it: BundleEntry, state: RunningBundle, { do: what, index }: FollowedDelivery): Promise<boolean> {
    const request = what === "admit-undo" ? requestOfUndo(state, index) : requestOfStep(state, index);
    let known = await this.#admit(it, request, what !== "cancel-step");
    if (what === "cancel-step" && stepEndOf(known.state) === null) {
      const reason = state.rollback?.reason ?? "";
      const { event_id: eventId } = request;
      const underWay = this.#deps.deliver.isSending(eventId);
      const command = { type: "Cancel", reason, at: this.#now(), underWay } as const;
      ({ known } = await this.#runDelivery(it, { eventId, from: known, command }));
    }
    const end = stepEndOf(known.state);
    if (end === null) return false;
    // If its agent is suspended, a delivery is cancelled before it is sent, which is not a failure of the step.
    const stopped =
      what === "admit" && end.outcome !== "succeeded" ? await suspensionReason(this.#deps.aggregates, request) : null;
    if (stopped !== null) await this.#run(it, { type: "Cancel", reason: stopped, at: this.#now() });
    else await this.#run(it, { type: what === "admit-undo" ? "EndUndo" : "EndStep", index, ...end, at: this.#now() });
    return true;
  }

  async #admit(it: BundleEntry, request: Request, isToBeSent: boolean): Promise<StreamState<Delivery>> {
    const { event_id: eventId, endpoint_id: endpointId } = request;
    const { known, body } = it.delivery?.eventId === eventId ? it.delivery : { known: UNKNOWN };
    if (isClaimed(known.state)) {
      if (stepEndOf(known.state) !== null) return known;
      const latest = await foldStream(this.#deps.log, delivery, `delivery-${eventId}`, { from: known });
      it.delivery = { eventId, known: latest };
      return latest;
    }
    const ran = await this.#runDelivery(it, { eventId, from: known, command: { type: "Admit", request } });
    if (ran.outcome === "accepted" && isToBeSent && endpointId !== null) {
      const { account, trace } = it;
      const content = body === undefined ? null : { body, contentType: JSON_TYPE, contentEncoding: "" };
      const kind = request.bundle?.undo === true ? "undo" : "due";
      this.#deps.deliver.offer({ kind, eventId, account, endpointId, trace, known: ran.known, ...content });
    }
    return ran.known;
  }

  async #run(it: BundleEntry, command: BundleCommand): Promise<void> {
    const ran = await runCommand(this.#deps.log, {
      decider: bundle,
      stream: bundleStream(it.bundleId),
      from: it.known,
      command,
      envelope: this.#envelopeOf(it),
    });
    it.known = ran.known;
    this.#deps.outcomes.changed(it.bundleId, it.known);
  }

  async #runDelivery(it: BundleEntry, { eventId, from, command }: DeliveryRun) {
    const ran = await runCommand(this.#deps.log, {
      decider: delivery,
      stream: `delivery-${eventId}`,
      from,
      command,
      envelope: this.#envelopeOf(it),
    });
    it.delivery = { eventId, known: ran.known };
    return ran;
  }

  #envelopeOf({ account, trace }: BundleEntry): Envelope {
    return systemEnvelope({
      actor: "bundles",
      // The id is random, so that of two nodes that make the same move one gets a conflict.
      commandId: randomId("cmd_", this.#deps.randomness),
      account,
      trace,
      at: this.#now(),
    });
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}
