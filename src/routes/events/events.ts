import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { bundles } from "../../../projections/bundles.ts";
import type { EventDocument } from "../../../projections/event-document.ts";
import { events } from "../../../projections/events.ts";
import { gateDenials } from "../../../projections/gate-denials.ts";
import { replays } from "../../../projections/replays.ts";
import { EVENT_STATUSES } from "../../../projections/schemas/events.ts";
import { type BodyReader, directBodyReader } from "../../bodies/body-reader.ts";
import {
  eventDetail,
  eventSummary,
  timelineWithGaps,
  type VisibleAttempt,
  visibleRequestHeaders,
} from "../../bodies/event-answer.ts";
import type { CallCounts } from "../../calls/call-counts.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { BYTES_REMOVED, object, REASON_BODY, text, time } from "../../http/json-schema.ts";
import { countsOfStatuses, isPage, LISTING_QUERY, listOf } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import { type Answer, type Call, calledBy, READERS, type Route, route } from "../../http/route.ts";
import { redactionSource } from "../../redaction/answer-redaction.ts";
import { type Exchanges, exchangesOf } from "../../streams/exchanges.ts";
import { shownPayload } from "../../streams/payload-ref.ts";
import type { Payloads } from "../../streams/payloads.ts";
import { notFound, type Problem, payloadNotKept } from "../../streams/problems.ts";
import { documentIn, typedDocument } from "../../views/typed-documents.ts";
import { ATTEMPTS_QUERY, attemptsPage } from "./event-attempts.ts";
import { CURL_QUERY, curlCommand, receiverOf } from "./event-curl.ts";
import { erasePayload, readPayload, visiblePayload } from "./event-payload.ts";
import { ATTEMPTS, EVENT_DETAIL, EVENT_SUMMARY, TIMELINE } from "./event-schemas.ts";
import { EVENT_SEARCH_QUERY, searchEvents } from "./event-search.ts";
import { STAGES_MAX, TIMELINE_QUERY, timelinePage } from "./event-timeline.ts";
import { hiddenOfEvent, seesHidden } from "./hidden-fields.ts";
import { withRollbacks } from "./step-rollbacks.ts";

export type EventsDeps = {
  readonly views: Pick<ViewStore, "get" | "getMany" | "page" | "count">;
  readonly log: EventLog;
  readonly payloads: Pick<Payloads, "read">;
  readonly publicUrl: () => string;
  readonly calls: Pick<CallCounts, "payloadRead">;
  readonly bodyReader?: BodyReader;
  readonly personal: Pick<PersonalData, "keep" | "forget" | "shown">;
};

const VIEW = events.schema.name;

type Found = { readonly id: string; readonly event: EventDocument };

const found = async ({ views }: EventsDeps, { principal, params }: Call): Promise<Found | Problem> => {
  const { id = "" } = params;
  // Only events' documents have the member `account`; the view has other documents, one for each account.
  const event = await documentIn<EventDocument>(views, events, id);
  return event === null || event.account !== principal.account ? notFound() : { id, event };
};

const list =
  ({ views, personal }: EventsDeps): Route["handle"] =>
  async ({ principal, query }) => {
    const page = await searchEvents(views, principal.account, query, (document, id) =>
      eventSummary(id, typedDocument<EventDocument>(document)),
    );
    if (!isPage(page)) return page;
    const data = await personal.shown(page.data, principal.account);
    return { status: 200, body: { ...page, data: await withRollbacks(views, principal.account, data) } };
  };

const numbersOf = ({ attempts }: EventDocument): readonly number[] => attempts.map(({ number }) => number);

/** Answers with a command that repeats the last attempt, or makes a first request if there was none. */
const curl = async (deps: EventsDeps, { id, event }: Found, call: Call): Promise<Answer | Problem> => {
  const payload = await visiblePayload(deps, id, event, call);
  if ("problem" in payload) return payload;
  if (payload.isHead) return payloadNotKept(payload.body.length, event.payload.size);
  const { responses } = await exchangesOf(deps.log, id, event.payload.revision, numbersOf(event));
  const sent = [...responses.values()].at(-1)?.request_headers ?? {};
  const to = receiverOf(call.query);
  if (typeof to !== "string") return to;
  const text = curlCommand({ id, payload, sent, to, publicUrl: deps.publicUrl(), at: call.envelope.at });
  return { status: 200, body: Buffer.from(text), headers: { "content-type": "text/plain; charset=utf-8" } };
};

const ofOne =
  (deps: EventsDeps, show: (it: Found, call: Call) => Promise<Answer | Problem>): Route["handle"] =>
  async (call) => {
    const it = await found(deps, call);
    return "problem" in it ? it : show(it, call);
  };

type Exchanged = Pick<Exchanges, "headers"> & { readonly attempts: readonly VisibleAttempt[] };

type Kept = { readonly attempts: EventDocument["attempts"]; readonly responses: Exchanges["responses"] };

/** The requests and answers of attempts, without the fields that are hidden from this reader. */
const visible = async (
  deps: EventsDeps,
  { id, event }: Found,
  { call, kept: { attempts, responses } }: { readonly call: Call; readonly kept: Kept },
): Promise<{ readonly attempts: readonly VisibleAttempt[]; readonly isHiding: boolean } | Problem> => {
  const { bodyReader = directBodyReader } = deps;
  const { principal } = call;
  if (await seesHidden(deps.log, event, principal)) deps.calls.payloadRead(calledBy(call), id);
  const paths = await hiddenOfEvent(deps, event, principal);
  // The payload is read only to find its hidden values in the targets' answers.
  const isCompared = paths.length > 0 && responses.size > 0 && event.payload.erased_at === null;
  const payload = isCompared ? await deps.payloads.read(id, shownPayload(event.payload)) : null;
  const order = { attempts, responses, hiding: redactionSource(paths, payload) };
  const busy = bodyReader.busy(principal.account, "attempts", order);
  if (busy !== null) return busy;
  return { attempts: await bodyReader.run(principal.account, "attempts", order), isHiding: paths.length > 0 };
};

const exchanged = async (deps: EventsDeps, it: Found, call: Call): Promise<Exchanged | Problem> => {
  const { attempts, payload } = it.event;
  const { headers, responses } = await exchangesOf(deps.log, it.id, payload.revision, numbersOf(it.event));
  const shown = await visible(deps, it, { call, kept: { attempts, responses } });
  if ("problem" in shown) return shown;
  return { headers: headers && visibleRequestHeaders(headers, shown.isHiding), attempts: shown.attempts };
};

/** A page of all attempts; without a limit and a cursor the first and the last of them, as the event itself has them. */
const attemptsOf = async (deps: EventsDeps, it: Found, call: Call): Promise<Answer | Problem> => {
  // The schema of the query has checked the types.
  const { limit, cursor } = call.query as { readonly limit?: number; readonly cursor?: string };
  if (limit === undefined && cursor === undefined) {
    const shown = await exchanged(deps, it, call);
    return "problem" in shown ? shown : { status: 200, body: { data: shown.attempts, next_cursor: null } };
  }
  const kept = await attemptsPage(deps.log, it, { limit, cursor });
  if ("problem" in kept) return kept;
  const shown = await visible(deps, it, { call, kept });
  return "problem" in shown ? shown : { status: 200, body: { data: shown.attempts, next_cursor: kept.next_cursor } };
};

export const eventRoutes = (deps: EventsDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/events",
    who: READERS,
    summary: "Search events, newest first",
    tag: "events",
    query: { ...EVENT_SEARCH_QUERY, counts: countsOfStatuses(EVENT_STATUSES), ...LISTING_QUERY },
    answers: { 200: listOf(EVENT_SUMMARY, { hasCounts: true }) },
    reads: [VIEW, bundles.schema.name, gateDenials.schema.name, replays.schema.name],
    handle: list(deps),
  }),
  route({
    method: "GET",
    path: "/v1/events/{id}",
    who: READERS,
    summary: "One event with its verdict, attempts and timeline",
    tag: "events",
    answers: { 200: EVENT_DETAIL },
    reads: [VIEW, bundles.schema.name],
    handle: ofOne(deps, async (it, call) => {
      const shown = await exchanged(deps, it, call);
      if ("problem" in shown) return shown;
      const detail = eventDetail(it.id, it.event, shown.headers, shown.attempts);
      const { replays, timeline, end_reason } = detail;
      const words = await deps.personal.shown({ replays, timeline, end_reason }, it.event.account);
      const [told] = await withRollbacks(deps.views, it.event.account, [detail]);
      return { status: 200, body: { ...detail, ...told, ...words } };
    }),
  }),
  route({
    method: "GET",
    path: "/v1/events/{id}/payload",
    who: READERS,
    summary: "The payload's bytes; for readers below admin without the fields that the policy redacts",
    tag: "events",
    problems: ["payload-damaged"],
    answers: { 200: { type: "string", format: "binary", description: "Its content type is that of the event" } },
    // Most generators of clients know bytes by the first, and a reader of the description needs the second.
    produces: ["application/octet-stream", "*/*"],
    reads: [VIEW],
    handle: ofOne(deps, ({ id, event }, call) => readPayload(deps, id, event, call)),
  }),
  route({
    method: "GET",
    path: "/v1/events/{id}/attempts",
    who: READERS,
    summary:
      "The delivery attempts of an event, with request and response; for readers below admin responses are redacted",
    tag: "events",
    query: ATTEMPTS_QUERY,
    answers: { 200: ATTEMPTS },
    reads: [VIEW],
    handle: ofOne(deps, (it, call) => attemptsOf(deps, it, call)),
  }),
  route({
    method: "GET",
    path: "/v1/events/{id}/timeline",
    who: READERS,
    summary: "What happened to an event, in order",
    tag: "events",
    query: TIMELINE_QUERY,
    answers: { 200: TIMELINE },
    reads: [VIEW],
    handle: ofOne(deps, async (it, { query }) => {
      const { limit, cursor } = query;
      const { account } = it.event;
      if (limit === undefined && cursor === undefined)
        return {
          status: 200,
          body: { data: await deps.personal.shown(timelineWithGaps(it.event), account), next_cursor: null },
        };
      // The schema of the query has checked the types.
      const asked = { limit: Number(limit ?? STAGES_MAX), cursor: cursor as string | undefined };
      const page = await timelinePage(deps.log, it, asked);
      return isPage(page) ? { status: 200, body: await deps.personal.shown(page, account) } : page;
    }),
  }),
  route({
    method: "GET",
    path: "/v1/events/{id}/curl",
    who: READERS,
    summary: "A curl command that repeats the delivery to a receiver on this machine, signed with a test secret",
    tag: "events",
    query: CURL_QUERY,
    problems: ["payload-damaged", "payload-not-kept", "conflict"],
    answers: { 200: { type: "string" } },
    produces: "text/plain",
    reads: [VIEW],
    handle: ofOne(deps, (it, call) => curl(deps, it, call)),
  }),
  route({
    method: "DELETE",
    path: "/v1/events/{id}/payload",
    who: { session: "admin" },
    summary:
      "Erase the payload and what was sent and answered; the record stays. Of a step or undo of a bundle, once that has " +
      "ended: those of the whole bundle",
    tag: "events",
    body: REASON_BODY,
    problems: ["conflict"],
    answers: {
      200: named("ErasedPayload", object({ event_id: text, erased_at: time, bytes_removed: BYTES_REMOVED })),
    },
    handle: (call) => erasePayload(deps, call.params.id ?? "", call),
  }),
];
