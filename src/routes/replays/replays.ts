import { defined } from "../../../domain/defined.ts";
import type { Replayer } from "../../../domain/delivery/events.ts";
import { statusOf } from "../../../domain/delivery/status.ts";
import type { Words } from "../../../domain/personal/words.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { replay as replayDecider } from "../../../domain/replay/decider.ts";
import type { ReplayFilter } from "../../../domain/replay/events.ts";
import { RUNNING_MAX } from "../../../domain/replay/places.ts";
import { derivedId } from "../../../infra/crypto/ids.ts";
import { endpoints as endpointsView } from "../../../projections/endpoints.ts";
import { events } from "../../../projections/events.ts";
import { countIn } from "../../../projections/replay-skips.ts";
import { type ReplayDocument, replays } from "../../../projections/replays.ts";
import type { CallCounts } from "../../calls/call-counts.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { isPage, listOf, pageOf } from "../../http/listing.ts";
import {
  ADMINS,
  calledBy,
  type Handler,
  type Input,
  type Principal,
  positionOf,
  READERS,
  type Route,
  route,
} from "../../http/route.ts";
import { GATE_PROBLEMS } from "../../http/route-problems.ts";
import { valuesOf } from "../../http/several-values.ts";
import { timeRangeOf } from "../../http/time-range.ts";
import { withStatuses } from "../../http/with-statuses.ts";
import type { StartBulkReplay } from "../../replays/bulk-replay-start.ts";
import type { BulkReplayer } from "../../replays/bulk-replayer.ts";
import { planEvents } from "../../replays/event-plans.ts";
import type { EventReplayer } from "../../replays/event-replayer.ts";
import { type PlanDeps, planReplay, type ReplayPlan, type WaitingAt } from "../../replays/plan.ts";
import { hindranceOf } from "../../replays/replay-fates.ts";
import { isReplayId, replayStream } from "../../replays/stream.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import type { Envelope } from "../../streams/envelope.ts";
import { isEventId } from "../../streams/event-id.ts";
import { notFound, type Problem, problem } from "../../streams/problems.ts";
import { documentIn } from "../../views/typed-documents.ts";
import {
  CANCELLED,
  LIST_QUERY,
  NEW_REPLAY,
  PLAN,
  PLANNED_EVENTS,
  PLANNED_EVENTS_QUERY,
  RATE_PER_SECOND,
  REASON_BODY,
  REPLAY,
  REPLAYED_EVENT,
  STARTED,
} from "./replay-schemas.ts";

export type ReplayRoutesDeps = Pick<PlanDeps, "progress"> & {
  readonly log: Pick<EventLog, "identity" | "head" | "last">;
  readonly views: Pick<ViewStore, "get" | "getMany" | "page" | "count" | "position">;
  readonly aggregates: Aggregates;
  readonly replayer: Pick<EventReplayer, "replay">;
  readonly startBulkReplay: StartBulkReplay;
  readonly bulkReplayer: Pick<BulkReplayer, "begin">;
  readonly calls: Pick<CallCounts, "replayTried">;
  readonly personal: Pick<PersonalData, "keep" | "forget" | "shown">;
};

/** The commitment of the reason that the caller gave; null without one. */
const reasonOf = async (
  { personal }: ReplayRoutesDeps,
  stream: string,
  { reason }: { readonly reason?: string },
  envelope: Envelope,
): Promise<Words | null> => (reason === undefined ? null : personal.keep(stream, reason, envelope));

/** Of a call that was refused, so that no record names the reason. */
const forget = async ({ personal }: ReplayRoutesDeps, reason: Words | null): Promise<void> => {
  if (reason !== null) await personal.forget(reason);
};

type Handle<I extends Input = object> = (deps: ReplayRoutesDeps) => Handler<I>;

const VIEW = replays.schema.name;

/** The most events of a replay, as counting more would take too long; larger sets can be replayed in parts, by time. */
const EVENTS_MAX = 100_000;

const replayerOf = ({ kind, id }: Principal): Replayer => {
  // An agent never gets here, because the routes accept no agents.
  if (kind === "agent") throw new Error("an agent replays nothing");
  return { kind, id };
};

const replayEvent: Handle<{ body: typeof REASON_BODY; params: "id" }> = (deps) => async (call) => {
  const { params, principal, envelope } = call;
  const { id: eventId } = params;
  if (!isEventId(eventId)) return notFound();
  const id = derivedId("rpl_", envelope.commandId, eventId);
  // Nothing is kept for the event of another account.
  if ((await deps.log.last(`delivery-${eventId}`))?.meta.account !== principal.account) return notFound();
  const reason = await reasonOf(deps, `delivery-${eventId}`, call.body, envelope);
  const replay = { id, by: replayerOf(principal), reason };
  const done = await deps.replayer.replay({ eventId, replay, envelope });
  // The record of a blocked replay names the reason.
  if (done.outcome === "refused") await forget(deps, reason);
  if (done.outcome !== "replayed") return done.problem;
  const { state, position } = done;
  const approval = state.phase === "held" ? { approval_id: state.approval.approval_id } : {};
  return {
    status: 202,
    body: { event_id: eventId, replay_id: id, status: statusOf(state), ...approval },
    ...positionOf({ position }),
  };
};

/** Normalises the filter's times; a time without a zone is a problem. */
const filterOf = (given: ReplayFilter): ReplayFilter | Problem => {
  const range = timeRangeOf(given);
  if ("problem" in range) {
    return { ...range, errors: (range.errors ?? []).map((it) => ({ ...it, path: `/filter${it.path}` })) };
  }
  const { from: _from, to: _to, ...rest } = given;
  const { from, to } = range;
  return { ...rest, ...defined({ from: from ?? undefined, to: to ?? undefined }) };
};

/** The expected duration in s: of the replay's own rate and its endpoints' rates, the slowest one decides. */
const estimatedS = async ({ views }: ReplayRoutesDeps, plan: ReplayPlan, rate: number): Promise<number> => {
  const ids = [...plan.endpoints.keys()].filter((id) => id !== null);
  const found = await views.getMany(endpointsView.schema.name, ids);
  const ofEndpoints = ids.map((id) => {
    const limit = found.get(id)?.rate_per_second;
    return typeof limit === "number" ? (plan.endpoints.get(id) ?? 0) / limit : 0;
  });
  return Math.ceil(Math.max(plan.count / rate, ...ofEndpoints));
};

const begin: Handle<{ body: typeof NEW_REPLAY }> = (deps) => async (call) => {
  const { principal, envelope } = call;
  const { filter: given, dry_run = false, rate_per_second: rate = RATE_PER_SECOND } = call.body;
  const filter = filterOf(given);
  if ("problem" in filter) return filter;
  const plan = await planReplay(deps, principal.account, filter, EVENTS_MAX);
  if (plan === "view-behind") {
    const detail = "The list of events is not complete at the moment: what the filter chooses cannot be counted yet.";
    return problem("view-behind", detail, { retryAfterS: 1 });
  }
  if (plan === "too-many") {
    const message = `would walk through more than ${EVENTS_MAX} events: choose fewer, as by from and to`;
    return problem("invalid-request", `The filter ${message}.`, { errors: [{ path: "/filter", message }] });
  }
  const { count, oldest, newest, upTo, skipped, excluded } = plan;
  const waiting_at = [...plan.waiting.values()];
  const waiting = countIn(waiting_at);
  if (dry_run) {
    const endpoints = [...plan.endpoints].map(([id, ofThis]) => ({ id, count: ofThis }));
    deps.calls.replayTried(calledBy(call), { filter, events: count });
    const estimated_s = await estimatedS(deps, plan, rate);
    return { status: 200, body: { count, waiting, waiting_at, skipped, oldest, newest, endpoints, estimated_s } };
  }
  const id = derivedId("rpl_", envelope.commandId);
  const { account } = principal;
  const all = count + countIn(skipped);
  const about = { replay_id: id, account, filter, total: all, excluded, rate_per_second: rate };
  const replay = {
    ...about,
    by: replayerOf(principal),
    reason: await reasonOf(deps, replayStream(id), call.body, envelope),
    up_to: upTo,
    log: await deps.log.identity(),
  };
  const started = await deps.startBulkReplay({ replay, at: envelope.at }, envelope);
  if (started === "full" || started.outcome === "rejected") await forget(deps, replay.reason);
  if (started === "full") {
    const detail = `${RUNNING_MAX} replays of the account are running: wait until one has ended, or cancel one.`;
    return problem("conflict", detail);
  }
  if (started.outcome === "rejected" || started.state.phase === "absent") return notFound();
  deps.bulkReplayer.begin(id, account);
  const { total } = started.state.started;
  const headers = { location: `/v1/replays/${id}` };
  return { status: 202, headers, body: { id, status: "running", total, waiting, skipped }, ...positionOf(started) };
};

const planned: Handle<{ query: typeof PLANNED_EVENTS_QUERY }> =
  (deps) =>
  async ({ principal, query }) => ({
    status: 200,
    body: { data: await planEvents(deps, principal.account, valuesOf(query.event_ids)) },
  });

/** Which replayed events wait is decided by the endpoints' streams at the moment, as an open circuit may close. */
const waitingAt = async ({ aggregates }: ReplayRoutesDeps, document: ReplayDocument): Promise<readonly WaitingAt[]> => {
  const at = await Promise.all(
    Object.entries(document.open).map(async ([endpoint_id, count]) => {
      const reason = await hindranceOf(aggregates, endpoint_id);
      return reason === null || reason === "endpoint-deleted" ? [] : [{ endpoint_id, reason, count }];
    }),
  );
  return at.flat();
};

const show = async (deps: ReplayRoutesDeps, id: string, document: ReplayDocument) => {
  const { account, excluded: _known, open: _open, replayed, ...rest } = document;
  const waiting_at = await waitingAt(deps, document);
  const { reason, cancelled } = await deps.personal.shown({ reason: rest.reason, cancelled: rest.cancelled }, account);
  return { id, ...rest, reason, cancelled, done: replayed + rest.skipped, waiting: countIn(waiting_at), waiting_at };
};

const list: Handle<{ query: typeof LIST_QUERY }> =
  (deps) =>
  async ({ principal, query }) => {
    const where = [{ field: "account", is: "=", value: principal.account }] as const;
    const sort = { field: "started_at", order: "desc" } as const;
    const views = withStatuses(deps.views, valuesOf(query.status), { lead: "account" });
    const page = await pageOf(views, { view: VIEW, where, sort }, query, (document: ReplayDocument, id) =>
      show(deps, id, document),
    );
    return isPage(page) ? { status: 200, body: { ...page, data: await Promise.all(page.data) } } : page;
  };

const get: Handle<{ params: "id" }> =
  (deps) =>
  async ({ principal, params }) => {
    const { id } = params;
    const document = await documentIn(deps.views, replays, id);
    if (document === null || document.account !== principal.account) return notFound();
    return { status: 200, body: await show(deps, id, document) };
  };

const cancel: Handle<{ body: typeof REASON_BODY; params: "id" }> = (deps) => async (call) => {
  const { principal, params, envelope } = call;
  const { id } = params;
  if (!isReplayId(id)) return notFound();
  const by = replayerOf(principal);
  const { account } = principal;
  const { state } = await deps.aggregates.load(replayDecider, replayStream(id), 0);
  if (state.phase === "absent" || state.started.account !== account) return notFound();
  const reason = await reasonOf(deps, replayStream(id), call.body, envelope);
  const command = { type: "CancelReplay", account, by, reason, at: envelope.at } as const;
  const done = await deps.aggregates.handle(replayDecider, replayStream(id), command, envelope);
  if (done.outcome === "rejected") {
    await forget(deps, reason);
    return done.rejection === "ended"
      ? problem("conflict", "The replay has ended: there is nothing left to stop.")
      : notFound();
  }
  return { status: 200, body: { id, status: "cancelled" }, ...positionOf(done) };
};

export const replayRoutes = (deps: ReplayRoutesDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/events/{id}/replay",
    who: ADMINS,
    summary: "Send a failed event again under its webhook-id, or decide a blocked one again",
    tag: "replays",
    body: REASON_BODY,
    bodyOptional: true,
    problems: [
      "already-delivered",
      "in-progress",
      "conflict",
      "source-paused",
      "agent-suspended",
      "unknown-action",
      "endpoint-disabled",
      "payload-damaged",
      "payload-not-kept",
      ...GATE_PROBLEMS,
    ],
    answers: { 202: REPLAYED_EVENT },
    handle: replayEvent(deps),
  }),
  route({
    method: "POST",
    path: "/v1/replays",
    who: ADMINS,
    summary: "Replay all events that match a filter, or preview that (dry run)",
    tag: "replays",
    body: NEW_REPLAY,
    problems: ["conflict", "not-found"],
    answers: { 200: PLAN, 202: STARTED },
    reads: [events.schema.name],
    handle: begin(deps),
  }),
  route({
    method: "GET",
    path: "/v1/replays",
    who: READERS,
    summary: "List the replays, newest first",
    tag: "replays",
    query: LIST_QUERY,
    answers: { 200: listOf(REPLAY) },
    reads: [VIEW],
    handle: list(deps),
  }),
  route({
    method: "GET",
    path: "/v1/replays/plan",
    who: READERS,
    summary: "Preview the replays of single events: which would be sent, wait or be skipped",
    tag: "replays",
    query: PLANNED_EVENTS_QUERY,
    queryRequired: ["event_ids"],
    answers: { 200: PLANNED_EVENTS },
    reads: [events.schema.name],
    handle: planned(deps),
  }),
  route({
    method: "GET",
    path: "/v1/replays/{id}",
    who: READERS,
    summary: "Show the progress of a replay",
    tag: "replays",
    answers: { 200: REPLAY },
    reads: [VIEW],
    handle: get(deps),
  }),
  route({
    method: "POST",
    path: "/v1/replays/{id}/cancel",
    who: ADMINS,
    summary: "Stop a replay; what it has already resent is not undone",
    tag: "replays",
    body: REASON_BODY,
    bodyOptional: true,
    problems: ["conflict"],
    answers: { 200: CANCELLED },
    always: true,
    handle: cancel(deps),
  }),
];
