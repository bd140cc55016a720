import { iso } from "../../domain/calendar.ts";
import type { Failure } from "../../domain/delivery/attempt-end.ts";
import type { DeliveryCommand } from "../../domain/delivery/commands.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import { replayIdOf, triggerOf } from "../../domain/delivery/replay.ts";
import { type Delivery, isActive, isAdmitted } from "../../domain/delivery/state.ts";
import { type Endpoint, endpoint as endpointDecider, type PresentEndpoint } from "../../domain/endpoint/decider.ts";
import { targetOf } from "../../domain/endpoint/target.ts";
import type { NewEvent } from "../../domain/ports/event-log.ts";
import { suspensionReason } from "../accounts/agent-suspension.ts";
import { type ApprovalRenewal, approvalRenewal } from "../approvals/approval-renewal.ts";
import { systemTimers, type Timers } from "../following/timers.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { Recorder } from "../streams/envelope.ts";
import type { Payloads } from "../streams/payloads.ts";
import { appendKnown, foldStream, type StreamState } from "../streams/run-command.ts";
import type { LeasableJob } from "./admission-lease.ts";
import { withApprovedTarget } from "./approved-target.ts";
import { AttemptSender, type AttemptSenderDeps, type SentAttempt } from "./attempt-sender.ts";
import { DeliveryWriter, withRetries } from "./delivery-writer.ts";
import type { Job } from "./job.ts";
import type { ActiveJob, LeasedJob, LoadedJob, PreparedJob } from "./loaded-job.ts";
import { ENDPOINT_DELETED, PAYLOAD_DAMAGED, PAYLOAD_ERASED, TARGET_CHANGED } from "./outcome.ts";
import { isInTime, type Node, startCommand } from "./start-command.ts";

export type AttemptDeps = AttemptSenderDeps &
  Node & {
    readonly aggregates: Aggregates;
    readonly timers?: Timers;
    readonly payloads: Payloads;
  };

/** "skipped": the delivery has to wait. "unsent": nothing was sent, and `known` says what became of the delivery. */
export type NotSent =
  | { readonly outcome: "skipped" }
  | { readonly outcome: "unsent"; readonly known: StreamState<Delivery> };

/** When the start was decided: `startedAt` in ms since 1970, `steadyMs` by the timers. */
type StartTimes = { readonly startedAt: number; readonly steadyMs: number };

/** A start that is decided and not yet recorded; `state` is the delivery's after it. */
export type DecidedStart = {
  readonly job: LeasableJob;
  readonly endpoint: PresentEndpoint;
  readonly records: readonly NewEvent[];
  readonly state: Delivery;
  readonly times: StartTimes;
};

const SKIPPED: NotSent = { outcome: "skipped" };

const activeOf = ({ job, known: { state, revision, position }, trace }: LoadedJob): ActiveJob | null =>
  isActive(state) ? { job, known: { state, revision, position }, trace } : null;

const bypassesTurns = ({ job, known }: ActiveJob): boolean =>
  job.kind === "undo" || (job.kind === "replay" && triggerOf(known.state) === "replay");

/** Makes single attempts: takes the lease, sends, and records the outcome at the revision that the lease made. */
export class Attempts {
  readonly #deps: AttemptDeps;
  readonly #timers: Timers;
  readonly #renewal: ApprovalRenewal;
  readonly #writer: DeliveryWriter;
  readonly #sender: AttemptSender;
  readonly #recorder: Recorder;

  constructor(deps: AttemptDeps) {
    this.#deps = deps;
    this.#timers = deps.timers ?? systemTimers;
    this.#renewal = approvalRenewal(deps);
    this.#writer = new DeliveryWriter(deps);
    this.#sender = new AttemptSender(deps);
    this.#recorder = new Recorder(deps.randomness);
  }

  /** Resolves when the receiver's answer has come, before the outcome is recorded. Rejects with the log's errors. */
  async begin(job: Job, endpoint: Endpoint): Promise<NotSent | SentAttempt> {
    const loaded = await this.#load(job);
    if (loaded === null || !isAdmitted(loaded.known.state)) return SKIPPED;
    const active = activeOf(loaded);
    if (active === null || !this.#isStartable(active)) return { outcome: "unsent", known: loaded.known };
    const prepared = await this.#prepare(active, endpoint);
    if ("outcome" in prepared) return prepared;
    const leased = await this.#lease(prepared);
    return "outcome" in leased ? leased : this.#sender.send(leased);
  }

  /**
   * Starts and sends a job with all that it needs, as `begin` would. Undefined if another node has written to the
   * delivery, so that it has to be read.
   */
  async beginAtHand(start: DecidedStart, from: StreamState<Delivery>): Promise<NotSent | SentAttempt | undefined> {
    const { job, records } = start;
    const appended = await appendKnown(this.#deps.log, `delivery-${job.eventId}`, from.revision ?? "absent", records);
    if (appended.outcome === "conflict") return undefined;
    return this.sendStarted(start, { revision: appended.revision, position: appended.position });
  }

  /**
   * Decides on the start of a delivery whose state is known and its endpoint takes deliveries. Null if more would have to be read: an agent may be
   * suspended, and an approved delivery is bound to a target.
   */
  start(job: LeasableJob, known: Delivery, endpoint: PresentEndpoint): DecidedStart | null {
    if (!isActive(known) || known.request.origin.kind === "agent" || known.request.bound !== undefined) return null;
    const times = this.#times();
    const start = { nowMs: times.startedAt, timeoutMs: endpoint.settings.timeout_ms, isCircuitOpen: false };
    const decision = delivery.decide(startCommand(job, known, this.#deps, start), known);
    if (!decision.ok) return null;
    const state = decision.events.reduce(delivery.evolve, known);
    const records = this.#recorder.toEvents(decision.events, this.#writer.envelope(job.account, job.trace));
    return { job, endpoint, records, state, times };
  }

  /** Sends what was decided by `start`, once it is recorded. */
  async sendStarted(started: DecidedStart, appended: Omit<StreamState<Delivery>, "state">) {
    const { job, endpoint, state, times } = started;
    const { revision, position } = appended;
    if (!isActive(state) || !this.#isInTime(times))
      return { outcome: "unsent", known: { state, revision, position } } as const;
    const { body, trace } = job;
    const { startedAt } = times;
    return this.#sender.send({
      job,
      known: { state, revision, position },
      trace,
      body,
      endpoint,
      startedAt,
      isFormerTarget: false,
      isCircuitOpen: false,
    });
  }

  async #load(job: Job): Promise<LoadedJob | null> {
    let { known, trace } = job;
    if (known === undefined) {
      trace = undefined;
      known = await foldStream(this.#deps.log, delivery, `delivery-${job.eventId}`, {
        onEvent: ({ type, meta }) => {
          // The trace is that of the admission or hold, because the event may have been blocked in an earlier trace.
          if (trace === undefined || type === "EventAdmitted" || type === "EventHeld")
            trace = { trace_id: meta.trace_id, span_id: meta.span_id };
        },
      });
    }
    return trace === undefined ? null : { job, known, trace };
  }

  /** False if the delivery is leased or over, which a lagging view does not show. Asked before the payload is read. */
  #isStartable({ job, known: { state } }: ActiveJob): boolean {
    const nowMs = this.#deps.clock.now();
    const command = startCommand(job, state, this.#deps, { nowMs, timeoutMs: 0, isCircuitOpen: false });
    const start = delivery.decide(command, state);
    return start.ok || start.rejection === "payload-erased" || start.rejection === "target-changed";
  }

  async #prepare(active: ActiveJob, endpoint: Endpoint): Promise<PreparedJob | NotSent> {
    const { log, aggregates, clock } = this.#deps;
    const { request } = active.known.state;
    const stopped = request.origin.kind === "agent" ? await suspensionReason(aggregates, request) : null;
    if (stopped !== null) return this.#end(active, { type: "Cancel", reason: stopped, at: iso(clock.now()) });
    if (endpoint.phase !== "present") return this.#giveUp(active, ENDPOINT_DELETED);
    const isCircuitOpen = endpoint.circuit.state === "open";
    const needsTurn = isCircuitOpen && !bypassesTurns(active);
    // The circuit may have changed since the job was found on disk, so that the job's kind does not fit.
    if (needsTurn !== (active.job.kind === "probe")) return SKIPPED;
    const body = await this.#body(active);
    if (!(body instanceof Uint8Array)) return this.#giveUp(active, body);
    const present = needsTurn ? await this.#takeTurn(active) : endpoint;
    if (present === null) return SKIPPED;
    const approved = await withApprovedTarget(log, request, present);
    return { ...active, body, endpoint: approved, isFormerTarget: approved !== present, isCircuitOpen };
  }

  async #body({ job, known }: ActiveJob): Promise<Buffer | Failure> {
    if (job.body !== undefined) return job.body;
    const kept = await this.#deps.payloads.read(job.eventId, known.state.request.payload);
    return kept === "damaged" ? PAYLOAD_DAMAGED : (kept?.body ?? PAYLOAD_ERASED);
  }

  /** Returns null if another node has the turn to probe the endpoint. */
  async #takeTurn({ job, trace }: ActiveJob): Promise<PresentEndpoint | null> {
    const { eventId, account, endpointId } = job;
    const { aggregates, clock } = this.#deps;
    const command = { type: "ProbeEndpoint", account, eventId, at: iso(clock.now()) } as const;
    const envelope = this.#writer.envelope(account, trace);
    const done = await aggregates.handle(endpointDecider, `endpoint-${endpointId}`, command, envelope);
    return done.outcome === "accepted" && done.state.phase === "present" ? done.state : null;
  }

  /** `AttemptStarted` at the expected revision is the lease, and marks that a request may have been sent. */
  async #lease(prepared: PreparedJob): Promise<LeasedJob | NotSent> {
    const { job, trace, endpoint, isCircuitOpen } = prepared;
    const { state } = prepared.known;
    const times = this.#times();
    const { startedAt } = times;
    const start = { nowMs: startedAt, timeoutMs: endpoint.settings.timeout_ms, isCircuitOpen };
    const command = startCommand(job, state, this.#deps, start);
    const bound = state.request.bound === undefined ? command : { ...command, target: targetOf(endpoint) };
    const ran = await this.#writer.run(prepared, bound);
    const loaded = { job, known: ran.known, trace };
    if (ran.outcome === "rejected" && ran.rejection === "target-changed") return this.#askAgain(loaded);
    if (ran.outcome === "rejected" && ran.rejection === "payload-erased") return this.#giveUp(loaded, PAYLOAD_ERASED);
    const active = activeOf(loaded);
    if (ran.outcome !== "accepted" || active === null || !this.#isInTime(times))
      return { outcome: "unsent", known: ran.known };
    return { ...prepared, ...active, startedAt };
  }

  #times(): StartTimes {
    return { startedAt: this.#deps.clock.now(), steadyMs: this.#timers.now() };
  }

  #isInTime({ startedAt, steadyMs }: StartTimes): boolean {
    return isInTime([this.#deps.clock.now() - startedAt, this.#timers.now() - steadyMs], this.#deps);
  }

  /** Ends the delivery as failed. Rejected while another node has the lease: the backlog offers the event later. */
  #giveUp(loaded: LoadedJob, failure: Failure): Promise<NotSent> {
    const { node, othersAreGone, clock } = this.#deps;
    const { state } = loaded.known;
    const inReplay = isActive(state) ? replayIdOf(state) : null;
    return this.#end(loaded, { type: "GiveUp", failure, inReplay, node, othersAreGone, at: iso(clock.now()) });
  }

  /**
   * People are asked about the new target. A bundle's approval covers all of it, so its step fails and it rolls back.
   */
  async #askAgain(loaded: LoadedJob): Promise<NotSent> {
    const { job, known, trace } = loaded;
    const { node, othersAreGone } = this.#deps;
    if (isActive(known.state) && known.state.request.bundle !== undefined) return this.#giveUp(loaded, TARGET_CHANGED);
    const finder = { account: job.account, trace, node, othersAreGone };
    return { outcome: "unsent", known: await this.#renewal.event(job.eventId, finder) };
  }

  async #end(loaded: LoadedJob, command: DeliveryCommand): Promise<NotSent> {
    const ran = await withRetries(() => this.#writer.run(loaded, command));
    return { outcome: "unsent", known: ran.known };
  }
}
