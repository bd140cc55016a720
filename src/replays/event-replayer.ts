import { defined } from "../../domain/defined.ts";
import type { DeliveryRejection, ReplayCommand } from "../../domain/delivery/commands.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import { isReplayedTooOften, wasReplayedBy } from "../../domain/delivery/replay.ts";
import { type Delivery, isActive, requestOf } from "../../domain/delivery/state.ts";
import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import { deniedBy } from "../../domain/gate/decide.ts";
import type { Metadata, Position } from "../../domain/ports/event-log.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { suspensionReason } from "../accounts/agent-suspension.ts";
import { type ClaimDeps, claiming } from "../admission/claim-event.ts";
import { denialProblem } from "../admission/denial-problem.ts";
import { judgement } from "../admission/judge-request.ts";
import { approvalRequests } from "../approvals/approval-requests.ts";
import type { CompiledActions } from "../gates/compiled-action.ts";
import { NO_TRACE, type Trace, toEvents } from "../streams/envelope.ts";
import { payloadDamaged } from "../streams/payload-damage.ts";
import { notFound, type Problem, problem } from "../streams/problems.ts";
import { appendKnown, foldStream, type StreamState } from "../streams/run-command.ts";
import { DECISIONS } from "../traces/execution-spans.ts";
import { spanIdOf } from "../traces/span.ts";
import { renewedPlaces } from "./renewed-places.ts";
import { repeatedRequests } from "./repeated-requests.ts";
import type { ReplayOrder } from "./replay-order.ts";
import { conflict, replayProblem } from "./replay-problems.ts";

export type EventReplayerDeps = ClaimDeps & { readonly actions: CompiledActions };

export type Replayed =
  | { readonly outcome: "replayed"; readonly state: Delivery; readonly position: Position | undefined }
  | { readonly outcome: "blocked"; readonly problem: Problem }
  | { readonly outcome: "refused"; readonly problem: Problem };

const refused = (it: Problem): Replayed => ({ outcome: "refused", problem: it });
const rejected = (rejection: DeliveryRejection, state: Delivery): Replayed => refused(replayProblem(rejection, state));

const TRIES_MAX = 8;

/** Records that end an event. A bulk replay excludes an event whose end is later than its snapshot. */
const ENDS: ReadonlySet<string> = new Set(["EventBlocked", "DeliveryFailed"]);

const traceOf = ({ trace_id, span_id, parent_span_id }: Metadata): Trace => ({
  ...{ trace_id, span_id },
  ...defined({ parent_span_id }),
});

type ReadDelivery = {
  readonly known: StreamState<Delivery>;
  /** Null if the event does not exist. */
  readonly account: string | null;
  readonly trace: Trace;
  /** The position of the event's latest end; null if the event has not ended. */
  readonly endedAt: Position | null;
};

/** Delivers a failed event again under its webhook-id, or asks the current gates again about a blocked one. */
export class EventReplayer {
  readonly #deps: EventReplayerDeps;
  readonly #again: ReturnType<typeof repeatedRequests>;
  readonly #approvals: ReturnType<typeof approvalRequests>;
  readonly #claim: ReturnType<typeof claiming>;
  readonly #claimAlone: ReturnType<typeof claiming>;
  readonly #renewPlaces: ReturnType<typeof renewedPlaces>;

  constructor(deps: EventReplayerDeps) {
    this.#deps = deps;
    this.#again = repeatedRequests(deps);
    this.#approvals = approvalRequests(deps);
    this.#claim = claiming(deps);
    const offer: ClaimDeps["deliver"]["offer"] = (job) => deps.deliver.offer({ ...job, kind: "replay" });
    this.#claimAlone = claiming({ ...deps, deliver: { offer } });
    this.#renewPlaces = renewedPlaces({ ...deps, judge: judgement(deps) });
  }

  /** Rejects with the log's errors. */
  async replay(order: ReplayOrder): Promise<Replayed> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const done = await this.#once(order);
      if (done !== null) return done;
    }
    throw new LogUnavailable(`${order.eventId} is written by too many at once`);
  }

  /** Null if another record was appended to the event's stream meanwhile. */
  async #once(order: ReplayOrder): Promise<Replayed | null> {
    const from = await this.#read(order);
    const { state } = from.known;
    if (from.account !== order.envelope.account || requestOf(state) === null) return refused(notFound());
    const { upTo } = order;
    const isLater = upTo !== undefined && from.endedAt !== null && from.endedAt > (upTo ?? "");
    if (state.phase === "blocked") {
      if (wasReplayedBy(state, order.replay.id)) return this.#decidedAlready(order, from.known);
      if (isReplayedTooOften(state)) return rejected("too-often", state);
      return isLater ? rejected("not-admitted", state) : this.#decideAgain(order, from, state.refused);
    }
    if (isLater && state.phase === "failed") {
      return wasReplayedBy(state, order.replay.id)
        ? this.#replayedAlready(order, from.known)
        : rejected("not-admitted", state);
    }
    return this.#deliverAgain(order, from);
  }

  async #read({ eventId, envelope }: ReplayOrder): Promise<ReadDelivery> {
    let account: string | null = null;
    let trace: Trace = envelope.trace;
    let endedAt: Position | null = null;
    const known = await foldStream(this.#deps.log, delivery, `delivery-${eventId}`, {
      onEvent: ({ meta, type, position }) => {
        account ??= meta.account;
        if (DECISIONS.has(type)) trace = traceOf(meta);
        if (ENDS.has(type)) endedAt = position;
      },
    });
    return { known, account, trace, endedAt };
  }

  async #decideAgain(order: ReplayOrder, { known, trace }: ReadDelivery, last: Request): Promise<Replayed> {
    const { envelope, replay, upTo } = order;
    if (last.bundle !== undefined) return rejected("of-bundle", known.state);
    if (last.origin.kind === "system") return rejected("not-failed", known.state);
    // The decision is a span in the sender's trace. Its id is derived, so that a repeat gives the same span.
    const own = { ...trace, span_id: spanIdOf(replay.id, last.event_id) };
    const askedAt = Date.parse(envelope.at);
    const it = await this.#again(last, { account: envelope.account, replay, trace: own, askedAt });
    if ("problem" in it) return refused(it);
    const claimed = await (upTo === undefined ? this.#claimAlone(it, known) : this.#claim(it, known));
    if (claimed.outcome === "denied") {
      return { outcome: "blocked", problem: denialProblem({ event_id: last.event_id }, claimed.judged) };
    }
    const { state } = claimed.known;
    if (claimed.outcome === "claimed") return { outcome: "replayed", state, position: claimed.position };
    return this.#decidedAlready(order, claimed.known);
  }

  async #replayedAlready({ eventId }: ReplayOrder, known: StreamState<Delivery>): Promise<Replayed> {
    const position = await this.#approvals.recorded(`delivery-${eventId}`, known);
    return { outcome: "replayed", state: known.state, position };
  }

  /** The event was decided meanwhile, by another replay or an earlier try of this one, or it was erased. */
  async #decidedAlready(order: ReplayOrder, known: StreamState<Delivery>): Promise<Replayed> {
    const { state } = known;
    const isOurs = wasReplayedBy(state, order.replay.id);
    if (state.phase !== "blocked") return isOurs ? this.#replayedAlready(order, known) : rejected("in-progress", state);
    if (!isOurs) return rejected("payload-erased", state);
    const { verdict, event_id } = state.refused;
    const judged = { verdict, deniedBy: deniedBy(verdict.gates, true), retryAfterS: null };
    return { outcome: "blocked", problem: denialProblem({ event_id }, judged) };
  }

  /** Null if a record was appended to the event's stream meanwhile; the places reserved for it are then given back. */
  async #deliverAgain(order: ReplayOrder, from: ReadDelivery): Promise<Replayed | null> {
    const { eventId, replay, envelope, upTo } = order;
    const { state, revision } = from.known;
    const command: ReplayCommand = { type: "Replay", replay, places: null, at: envelope.at };
    const first = delivery.decide(command, state);
    if (!first.ok && first.rejection !== "places-needed") return rejected(first.rejection, state);
    if (first.ok && first.events.length === 0) return this.#replayedAlready(order, from.known);
    if (state.phase !== "failed") return rejected("not-admitted", state);
    const hindrance = await this.#hindrance(state.request);
    if (hindrance !== null) return refused(hindrance);
    // For a bulk replay, the deliverer reads the payload when it sends it.
    const content = upTo === undefined ? await this.#deps.payloads.read(eventId, state.request.payload) : null;
    if (content === "damaged") return refused(payloadDamaged());
    const places = first.ok ? null : await this.#renewPlaces(order, state, this.#again);
    if (places !== null && "problem" in places) return refused(places);
    const decision = places === null ? first : delivery.decide({ ...command, places: places.places }, state);
    if (!decision.ok) throw new Error(`${eventId} was not replayed with its places: ${decision.rejection}`);
    // A bulk replay has no request of its own, so its record joins the event's trace.
    const isAlone = envelope.trace.trace_id !== NO_TRACE.trace_id;
    const events = toEvents(decision.events, isAlone ? envelope : { ...envelope, trace: from.trace });
    const appended = await appendKnown(this.#deps.log, `delivery-${eventId}`, revision ?? "absent", events);
    if (appended.outcome === "conflict") {
      await places?.giveBack();
      return null;
    }
    places?.keep();
    const { position } = appended;
    const known = { state: decision.events.reduce(delivery.evolve, state), revision: appended.revision, position };
    this.#offer(order, known, from.trace, content?.body);
    return { outcome: "replayed", state: known.state, position };
  }

  async #hindrance({ endpoint_id, origin, at }: Request): Promise<Problem | null> {
    const { aggregates } = this.#deps;
    const { state } = await aggregates.load(endpointDecider, `endpoint-${endpoint_id}`);
    if (state.phase !== "present") return conflict("The endpoint of the event was deleted.", "endpoint-deleted");
    if (state.disabled !== null) {
      const detail = `The endpoint is disabled: ${state.disabled.reason} Enable it, then replay.`;
      return problem("endpoint-disabled", detail, { extra: { endpoint_id } });
    }
    const stopped = origin.kind === "agent" ? await suspensionReason(aggregates, { origin, at }) : null;
    return stopped === null ? null : conflict(`${stopped} Its earlier requests are not sent.`, "agent-suspended");
  }

  #offer(order: ReplayOrder, known: StreamState<Delivery>, trace: Trace, body: Buffer | undefined): void {
    const { state } = known;
    if (!isActive(state) || state.request.endpoint_id === null) return;
    const { eventId, envelope, upTo } = order;
    const { endpoint_id: endpointId } = state.request;
    // A single replay bypasses an open circuit; a bulk replay does not.
    const kind = upTo === undefined ? "replay" : "due";
    const job = { kind, eventId, account: envelope.account, endpointId, known, trace } as const;
    this.#deps.deliver.offer({ ...job, ...defined({ body }) });
  }
}
