import { defined } from "../../domain/defined.ts";
import type { DeliveryRejection, ReplayCommand } from "../../domain/delivery/commands.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import { isReplayedTooOften, REPLAYS_MAX, wasReplayedBy } from "../../domain/delivery/replay.ts";
import { type Delivery, isActive, requestOf } from "../../domain/delivery/state.ts";
import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import { refusedBy } from "../../domain/gate/decide.ts";
import type { Metadata, Position } from "../../domain/ports/event-log.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { stoppedBecause } from "../accounts/stopped.ts";
import { type ClaimDeps, claiming } from "../admission/claim.ts";
import { judgement } from "../admission/judge-request.ts";
import { refusal } from "../admission/refusal.ts";
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

export type ReplayingDeps = ClaimDeps & { readonly actions: CompiledActions };

export type Replayed =
  | { readonly outcome: "replayed"; readonly state: Delivery; readonly position: Position | undefined }
  | { readonly outcome: "blocked"; readonly problem: Problem }
  | { readonly outcome: "refused"; readonly problem: Problem };

export type Replaying = (order: ReplayOrder) => Promise<Replayed>;

const refused = (it: Problem): Replayed => ({ outcome: "refused", problem: it });
const conflict = (detail: string): Problem => problem("conflict", detail);

const why = (rejection: DeliveryRejection, state: Delivery): Problem => {
  switch (rejection) {
    case "already-delivered":
      return problem("already-delivered", "The event was delivered already.");
    case "in-progress":
      return state.phase === "held"
        ? problem("in-progress", "The event is held: approve or reject it.", { retryable: false })
        : problem("in-progress", "The event is being delivered: it can be replayed once it has failed.");
    case "of-bundle":
      return conflict("The event is a step of a bundle: request the bundle again.");
    case "payload-erased":
      return conflict("Its payload was erased, so there is nothing to send. Its sender can send it as a new event.");
    case "too-often":
      return conflict(`The event was replayed ${REPLAYS_MAX} times: its sender can send it as a new event.`);
    case "not-failed":
      return state.phase === "stopped"
        ? conflict(`The event was ${state.outcome}: its sender can send it as a new event.`)
        : conflict("The event was only recorded: give its source an endpoint to have later events delivered.");
    default:
      return conflict("The event changed meanwhile: read it again.");
  }
};

const TRIES_MAX = 8;

/** An end after the snapshot of a bulk replay excludes the event from it. */
const ENDS: ReadonlySet<string> = new Set(["EventBlocked", "DeliveryFailed"]);

const placeOf = ({ trace_id, span_id, parent_span_id }: Metadata): Trace => ({
  ...{ trace_id, span_id },
  ...defined({ parent_span_id }),
});

type Recalled = {
  readonly known: StreamState<Delivery>;
  readonly account: string | null;
  readonly trace: Trace;
  readonly endedAt: Position | null;
};

/** Delivers a failed event again under its webhook-id, or has the current gates decide a blocked one again. */
export const replaying = (deps: ReplayingDeps): Replaying => {
  const { log, aggregates } = deps;
  const again = repeatedRequests(deps);
  const approvals = approvalRequests(deps);
  const claim = claiming(deps);
  const claimAlone = claiming({ ...deps, deliver: { offer: (job) => deps.deliver.offer({ ...job, kind: "replay" }) } });
  const takePlaces = renewedPlaces({ ...deps, judge: judgement(deps) });

  const recall = async ({ eventId, envelope }: ReplayOrder): Promise<Recalled> => {
    let account: string | null = null;
    let trace: Trace = envelope.trace;
    let endedAt: Position | null = null;
    const known = await foldStream(log, delivery, `delivery-${eventId}`, {
      onEvent: ({ meta, type, position }) => {
        account ??= meta.account;
        if (DECISIONS.has(type)) trace = placeOf(meta);
        if (ENDS.has(type)) endedAt = position;
      },
    });
    return { known, account, trace, endedAt };
  };

  const decideAgain = async (order: ReplayOrder, { known, trace }: Recalled, last: Request): Promise<Replayed> => {
    const { envelope, replay, upTo } = order;
    if (last.bundle !== undefined) return refused(why("of-bundle", known.state));
    if (last.origin.kind === "system") return refused(why("not-failed", known.state));
    // The decision is a span in the sender's trace. Its id is derived, so that a repeat gives the same span.
    const own = { ...trace, span_id: spanIdOf(replay.id, last.event_id) };
    const it = await again(last, { account: envelope.account, replay, trace: own, askedAt: Date.parse(envelope.at) });
    if ("problem" in it) return refused(it);
    const claimed = await (upTo === undefined ? claimAlone : claim)(it, known);
    if (claimed.outcome === "refused") {
      return { outcome: "blocked", problem: refusal({ event_id: last.event_id }, claimed.judged) };
    }
    const { state } = claimed.known;
    if (claimed.outcome === "claimed") return { outcome: "replayed", state, position: claimed.position };
    return taken(order, claimed.known);
  };

  const repeated = async ({ eventId }: ReplayOrder, known: StreamState<Delivery>): Promise<Replayed> => {
    const position = await approvals.recorded(`delivery-${eventId}`, known);
    return { outcome: "replayed", state: known.state, position };
  };

  /** Another replay, or an earlier try of this one, decided the event meanwhile, or the event was erased. */
  const taken = async (order: ReplayOrder, known: StreamState<Delivery>): Promise<Replayed> => {
    const { state } = known;
    const { id } = order.replay;
    if (state.phase === "blocked") {
      if (!wasReplayedBy(state, id)) return refused(why("payload-erased", state));
      const { verdict, event_id } = state.refused;
      const judged = { verdict, refusedBy: refusedBy(verdict.gates, true), retryAfterS: null };
      return { outcome: "blocked", problem: refusal({ event_id }, judged) };
    }
    return wasReplayedBy(state, id) ? repeated(order, known) : refused(why("in-progress", state));
  };

  const hindrance = async ({ endpoint_id, origin, at }: Request): Promise<Problem | null> => {
    const { state } = await aggregates.load(endpointDecider, `endpoint-${endpoint_id}`);
    if (state.phase !== "present") return conflict("The endpoint of the event was deleted.");
    if (state.disabled !== null) {
      const detail = `The endpoint is disabled: ${state.disabled.reason} Enable it, then replay.`;
      return problem("endpoint-disabled", detail, { extra: { endpoint_id } });
    }
    const stopped = origin.kind === "agent" ? await stoppedBecause(aggregates, { origin, at }) : null;
    return stopped === null ? null : conflict(`${stopped} Its earlier requests are not sent.`);
  };

  const offer = (order: ReplayOrder, known: StreamState<Delivery>, trace: Trace, body: Buffer | null): void => {
    const { state } = known;
    if (!isActive(state) || state.request.endpoint_id === null) return;
    const { eventId, envelope } = order;
    const { endpoint_id: endpointId } = state.request;
    // A single replay bypasses an open circuit; a bulk replay does not.
    const kind = order.upTo === undefined ? "replay" : "due";
    const job = { kind, eventId, account: envelope.account, endpointId, known, trace } as const;
    deps.deliver.offer(body === null ? job : { ...job, body });
  };

  /** Null if the event was written to meanwhile; the places reserved for it are then given back. */
  const deliverAgain = async (order: ReplayOrder, from: Recalled): Promise<Replayed | null> => {
    const { eventId, replay, envelope, upTo } = order;
    const { state, revision } = from.known;
    const command: ReplayCommand = { type: "Replay", replay, places: null, at: envelope.at };
    const first = delivery.decide(command, state);
    if (!first.ok && first.rejection !== "places-needed") return refused(why(first.rejection, state));
    if (first.ok && first.events.length === 0) return repeated(order, from.known);
    if (state.phase !== "failed") return refused(why("not-admitted", state));
    const hindered = await hindrance(state.request);
    if (hindered !== null) return refused(hindered);
    // A bulk replay reads a payload only when it is sent.
    const content = upTo === undefined ? await deps.payloads.read(eventId, state.request.payload) : null;
    if (content === "damaged") return refused(payloadDamaged());
    const places = first.ok ? null : await takePlaces(order, state, again);
    if (places !== null && "problem" in places) return refused(places);
    const decision = places === null ? first : delivery.decide({ ...command, places: places.places }, state);
    if (!decision.ok) throw new Error(`${eventId} was not replayed with its places: ${decision.rejection}`);
    // A bulk replay has no request of its own, so its record joins the event's trace.
    const isAlone = envelope.trace.trace_id !== NO_TRACE.trace_id;
    const events = toEvents(decision.events, isAlone ? envelope : { ...envelope, trace: from.trace });
    const appended = await appendKnown(log, `delivery-${eventId}`, revision ?? "absent", events);
    if (appended.outcome === "conflict") {
      await places?.giveBack();
      return null;
    }
    places?.keep();
    const { position } = appended;
    const known = { state: decision.events.reduce(delivery.evolve, state), revision: appended.revision, position };
    offer(order, known, from.trace, content?.body ?? null);
    return { outcome: "replayed", state: known.state, position };
  };

  /** Null if the event was written to meanwhile. */
  const once = async (order: ReplayOrder): Promise<Replayed | null> => {
    const from = await recall(order);
    const { state } = from.known;
    if (from.account !== order.envelope.account || requestOf(state) === null) return refused(notFound());
    const { upTo } = order;
    const isLater = upTo !== undefined && from.endedAt !== null && from.endedAt > (upTo ?? "");
    if (state.phase === "blocked") {
      if (wasReplayedBy(state, order.replay.id)) return taken(order, from.known);
      if (isReplayedTooOften(state)) return refused(why("too-often", state));
      return isLater ? refused(why("not-admitted", state)) : decideAgain(order, from, state.refused);
    }
    if (isLater && state.phase === "failed") {
      return wasReplayedBy(state, order.replay.id) ? repeated(order, from.known) : refused(why("not-admitted", state));
    }
    return deliverAgain(order, from);
  };

  return async (order) => {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const done = await once(order);
      if (done !== null) return done;
    }
    throw new LogUnavailable(`${order.eventId} is written by too many at once`);
  };
};
