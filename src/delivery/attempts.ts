import type { DeliveryCommand } from "../../domain/delivery/commands.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Failure } from "../../domain/delivery/events.ts";
import { replayIdOf, triggerOf } from "../../domain/delivery/replay.ts";
import { type ActiveDelivery, type Delivery, isActive, isAdmitted } from "../../domain/delivery/state.ts";
import { type Endpoint, endpoint as endpointDecider, type PresentEndpoint } from "../../domain/endpoint/decider.ts";
import { targetOf } from "../../domain/endpoint/target.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { HttpSender, SendOutcome } from "../../domain/ports/sender.ts";
import { stoppedBecause } from "../accounts/stopped.ts";
import { type HoldingAgain, holdingAgain } from "../approvals/holding-again.ts";
import { systemTimers, type Timers } from "../following/timers.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Trace } from "../streams/envelope.ts";
import type { Payloads } from "../streams/payloads.ts";
import { foldStream, type StreamState } from "../streams/run-command.ts";
import { asApproved } from "./approved-target.ts";
import { DeliveryWriter, persistently, type Recalled } from "./delivery-writer.ts";
import type { Job } from "./job.ts";
import { type KeepingResponsesDeps, keepingResponses } from "./kept-responses.ts";
import type { Outbound } from "./outbound.ts";
import {
  type Answered,
  answerOf,
  DAMAGED,
  DELETED,
  type EndAttempt,
  ERASED,
  endOf,
  RETARGETED,
  UNMADE,
} from "./outcome.ts";
import { isInTime, type Node, startCommand } from "./start-command.ts";

export type AttemptDeps = KeepingResponsesDeps &
  Node & {
    readonly log: EventLog;
    readonly aggregates: Aggregates;
    readonly clock: Clock;
    readonly timers?: Timers;
    readonly randomness: Randomness;
    readonly payloads: Payloads;
    readonly sender: HttpSender;
    readonly outbound: Outbound;
    readonly onError: (error: unknown) => void;
  };

export type RecordedAttempt = { readonly known: StreamState<Delivery>; readonly response: Promise<void> };

export type SentAttempt = {
  readonly outcome: "sent";
  readonly answered: Answered;
  /** False if the answer came from a former target, or our resolver failed: it says nothing about the endpoint. */
  readonly concernsEndpoint: boolean;
  readonly end: EndAttempt;
  readonly trace: Trace;
  record(): Promise<RecordedAttempt>;
};

export type Begun =
  | { readonly outcome: "skipped" }
  | { readonly outcome: "unsent"; readonly known: StreamState<Delivery> }
  | SentAttempt;

const SKIPPED: Begun = { outcome: "skipped" };

type Waiting = Recalled & { readonly known: StreamState<ActiveDelivery> };

type Prepared = Waiting & {
  readonly body: Buffer;
  readonly endpoint: PresentEndpoint;
  readonly isElsewhere: boolean;
  readonly whileOpen: boolean;
};

type Leased = Prepared & { readonly startedAt: number };

const iso = (ms: number): string => new Date(ms).toISOString();

const waitingOf = ({ job, known: { state, revision, position }, trace }: Recalled): Waiting | null =>
  isActive(state) ? { job, known: { state, revision, position }, trace } : null;

const bypassesTurns = ({ job, known }: Waiting): boolean =>
  job.kind === "undo" || (job.kind === "replay" && triggerOf(known.state) === "replay");

/** Makes single attempts: lease, request and outcome, each appended at the revision that the previous append made. */
export class Attempts {
  readonly #deps: AttemptDeps;
  readonly #timers: Timers;
  readonly #keepResponse: ReturnType<typeof keepingResponses>;
  readonly #again: HoldingAgain;
  readonly #writer: DeliveryWriter;

  constructor(deps: AttemptDeps) {
    this.#deps = deps;
    this.#timers = deps.timers ?? systemTimers;
    this.#keepResponse = keepingResponses(deps);
    this.#again = holdingAgain(deps);
    this.#writer = new DeliveryWriter(deps);
  }

  async begin(job: Job, endpoint: Endpoint): Promise<Begun> {
    const recalled = await this.#recall(job);
    if (recalled === null || !isAdmitted(recalled.known.state)) return SKIPPED;
    const waiting = waitingOf(recalled);
    if (waiting === null || !this.#isStartable(waiting)) return { outcome: "unsent", known: recalled.known };
    const prepared = await this.#prepare(waiting, endpoint);
    if ("outcome" in prepared) return prepared;
    const leased = await this.#lease(prepared);
    return "outcome" in leased ? leased : this.#send(leased);
  }

  async #recall(job: Job): Promise<Recalled | null> {
    let { known, trace } = job;
    if (known === undefined) {
      trace = undefined;
      known = await foldStream(this.#deps.log, delivery, `delivery-${job.eventId}`, {
        onEvent: ({ type, meta }) => {
          // The event may have been blocked in an earlier trace.
          if (trace === undefined || type === "EventAdmitted" || type === "EventHeld")
            trace = { trace_id: meta.trace_id, span_id: meta.span_id };
        },
      });
    }
    return trace === undefined ? null : { job, known, trace };
  }

  /** The view lags, so the delivery may be leased or over. This is asked before the payload is read. */
  #isStartable({ job, known: { state } }: Waiting): boolean {
    const nowMs = this.#deps.clock.now();
    const command = startCommand(job, state, this.#deps, { nowMs, timeoutMs: 0, whileOpen: false });
    const start = delivery.decide(command, state);
    return start.ok || start.rejection === "payload-erased" || start.rejection === "target-changed";
  }

  async #prepare(waiting: Waiting, endpoint: Endpoint): Promise<Prepared | Begun> {
    const { log, aggregates, clock } = this.#deps;
    const { request } = waiting.known.state;
    const stopped = request.origin.kind === "agent" ? await stoppedBecause(aggregates, request) : null;
    if (stopped !== null) return this.#end(waiting, { type: "Cancel", reason: stopped, at: iso(clock.now()) });
    if (endpoint.phase !== "present") return this.#giveUp(waiting, DELETED);
    const whileOpen = endpoint.circuit.state === "open";
    const needsTurn = whileOpen && !bypassesTurns(waiting);
    if (waiting.job.kind === "probe" ? !whileOpen : needsTurn) return SKIPPED;
    const body = await this.#body(waiting);
    if (!(body instanceof Uint8Array)) return this.#giveUp(waiting, body);
    const present = needsTurn ? await this.#takeTurn(waiting) : endpoint;
    if (present === null) return SKIPPED;
    const approved = await asApproved(log, request, present);
    const { job, known, trace } = waiting;
    return { job, known, trace, body, endpoint: approved, isElsewhere: approved !== present, whileOpen };
  }

  async #body({ job, known }: Waiting): Promise<Buffer | Failure> {
    if (job.body !== undefined) return job.body;
    const kept = await this.#deps.payloads.read(job.eventId, known.state.request.payload);
    return kept === "damaged" ? DAMAGED : (kept?.body ?? ERASED);
  }

  /** Returns null if another node has the turn to probe the endpoint. */
  async #takeTurn({ job, trace }: Waiting): Promise<PresentEndpoint | null> {
    const { eventId, account, endpointId } = job;
    const { aggregates, clock } = this.#deps;
    const command = { type: "ProbeEndpoint", account, eventId, at: iso(clock.now()) } as const;
    const envelope = this.#writer.envelope(account, trace);
    const done = await aggregates.handle(endpointDecider, `endpoint-${endpointId}`, command, envelope);
    return done.outcome === "accepted" && done.state.phase === "present" ? done.state : null;
  }

  /** `AttemptStarted` at the expected revision is the lease, and marks that a request may have been sent. */
  async #lease(prepared: Prepared): Promise<Leased | Begun> {
    const { job, trace, body, endpoint, isElsewhere, whileOpen } = prepared;
    const { request } = prepared.known.state;
    const { clock } = this.#deps;
    const [startedAt, steadyMs] = [clock.now(), this.#timers.now()];
    const at = { nowMs: startedAt, timeoutMs: endpoint.settings.timeout_ms, whileOpen };
    const command = startCommand(job, prepared.known.state, this.#deps, at);
    const ran = await this.#writer.run(
      prepared,
      request.bound === undefined ? command : { ...command, target: targetOf(endpoint) },
    );
    const { known } = ran;
    if (ran.outcome === "rejected" && ran.rejection === "target-changed")
      return this.#retargeted({ job, known, trace });
    if (ran.outcome === "rejected" && ran.rejection === "payload-erased")
      return this.#giveUp({ job, known, trace }, ERASED);
    const passedMs = [clock.now() - startedAt, this.#timers.now() - steadyMs] as const;
    if (ran.outcome !== "accepted" || !isActive(known.state) || !isInTime(passedMs, this.#deps))
      return { outcome: "unsent", known };
    const { state, revision, position } = known;
    return { job, known: { state, revision, position }, trace, body, endpoint, isElsewhere, whileOpen, startedAt };
  }

  async #send(leased: Leased): Promise<SentAttempt> {
    const { job, body, endpoint, isElsewhere, known, trace, startedAt } = leased;
    const { state } = known;
    const { clock, randomness } = this.#deps;
    const headers = this.#headers(leased);
    const { url, timeout_ms: timeoutMs } = endpoint.settings;
    const { account } = job;
    const sent = headers === null ? UNMADE : await this.#deps.sender.send({ account, url, headers, body, timeoutMs });
    const answered = answerOf(sent, startedAt, clock.now());
    const end = endOf({ job, state, endpoint, isElsewhere, sent, answered }, () => randomness.number());
    return {
      outcome: "sent",
      answered,
      concernsEndpoint: !isElsewhere && (sent.outcome === "answered" || sent.resolverFailed !== true),
      end,
      trace,
      record: () => this.#record(leased, end, sent, headers ?? {}),
    };
  }

  /** Returns null if the request cannot be made; the attempt then fails, so that the event has an end. */
  #headers({ job, body, endpoint, known: { state }, trace, startedAt: nowMs }: Leased): Record<string, string> | null {
    const { request, attempts: number } = state;
    const { contentType = request.payload.content_type } = job;
    const contentEncoding = job.contentEncoding ?? request.payload.content_encoding ?? "";
    const content = { contentType, contentEncoding, body };
    try {
      return this.#deps.outbound.headers({ job, endpoint, number, ...content, trace, nowMs, request });
    } catch (error) {
      this.#deps.onError(error);
      return null;
    }
  }

  async #record(
    { job, known, trace }: Leased,
    end: EndAttempt,
    sent: SendOutcome,
    headers: Record<string, string>,
  ): Promise<RecordedAttempt> {
    const keep = this.#keepResponse(job, known, { sent, headers }, this.#writer.envelope(job.account, trace));
    const { onError } = this.#deps;
    // An agent gets its target's response as soon as the outcome is known, so the response is stored before.
    const isAgents = known.state.request.origin.kind === "agent";
    if (isAgents) await persistently(keep).catch(onError);
    const response = isAgents ? Promise.resolve() : keep().catch(onError);
    const ran = await persistently(() => this.#writer.run({ job, known, trace }, end));
    return { known: ran.known, response };
  }

  /** The log refuses this while another node has the lease: the backlog offers the event again afterwards. */
  #giveUp(waiting: Recalled, failure: Failure): Promise<Begun> {
    const { node, othersAreGone, clock } = this.#deps;
    const { state } = waiting.known;
    const inReplay = isActive(state) ? replayIdOf(state) : null;
    return this.#end(waiting, { type: "GiveUp", failure, inReplay, node, othersAreGone, at: iso(clock.now()) });
  }

  /** People are asked about the new target. A bundle was approved as a whole, so its step fails and it rolls back. */
  async #retargeted(rejected: Recalled): Promise<Begun> {
    const { job, known, trace } = rejected;
    const { node, othersAreGone } = this.#deps;
    const { state } = known;
    if (isActive(state) && state.request.bundle !== undefined) return this.#giveUp(rejected, RETARGETED);
    const finder = { account: job.account, trace, node, othersAreGone };
    return { outcome: "unsent", known: await this.#again.event(job.eventId, finder) };
  }

  async #end(waiting: Recalled, command: DeliveryCommand): Promise<Begun> {
    const ran = await persistently(() => this.#writer.run(waiting, command));
    return { outcome: "unsent", known: ran.known };
  }
}
