import type { EventLog, Position } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { type AuditHead, audit } from "../../../projections/audit.ts";
import { watchCredential } from "../../accounts/credentials.ts";
import { eventsFrom } from "../../audit/records.ts";
import { eventStream, START_ID, streamIdOf } from "../../feed/event-stream.ts";
import { recordCounts } from "../../feed/record-counts.ts";
import { EVENT_STREAM_HEADERS, EVENT_STREAM_TIMES, type EventStreamTimes } from "../../feed/sent-events.ts";
import { answerSlots } from "../../http/answer-slots.ts";
import { VIEW_WAIT_MS } from "../../http/limits.ts";
import { invalid } from "../../http/listing.ts";
import type { PositionText } from "../../http/position-text.ts";
import {
  type Answer,
  type Call,
  type Handler,
  type JsonSchema,
  positionOf,
  type Route,
  route,
} from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { type Problem, problem } from "../../streams/problems.ts";
import { documentIn } from "../../views/typed-documents.ts";
import type { ViewProgress } from "../../views/view-progress.ts";

export type AuditStreamLimits = EventStreamTimes & { readonly accountMax: number; readonly max: number };

const AUDIT_STREAM_LIMITS: AuditStreamLimits = {
  ...EVENT_STREAM_TIMES,
  /** A consumer needs one stream, but dead connections count until they are detected. */
  accountMax: 10,
  /** Each stream takes a connection and, if its client is slow, about 100 KiB. */
  max: 500,
};

export type AuditStreamDeps = {
  readonly views: Pick<ViewStore, "get" | "getMany" | "position">;
  readonly log: Pick<EventLog, "read" | "readAll" | "head">;
  readonly progress: Pick<ViewProgress, "onProgress" | "waitFor">;
  readonly aggregates: Pick<Aggregates, "watch">;
  readonly positions: Pick<PositionText, "of">;
  readonly onError: (error: unknown) => void;
  readonly limits?: Partial<AuditStreamLimits>;
};

const VIEW = audit.schema.name;
const QUERY = {
  from_index: {
    type: "integer",
    minimum: 0,
    description: "Begin with the record of this index; the first has 0. Left out: with the next new record.",
  },
} as const satisfies Record<string, JsonSchema>;
type Following = { readonly query: typeof QUERY };

const LAST_EVENT_ID = "last-event-id";
const INDEX_IN_ID = /^(\d{1,12})-/;

/**
 * `lastId` is the id of the record before the index `next`. Records up to the position `newerThan` are skipped. The stream
 * has the account's records after `position`; null if it begins with the first record of the log.
 */
type Begin = {
  readonly next: number;
  readonly lastId: string;
  readonly newerThan: Position | null;
  readonly position: Position | null;
};

/** True once the view shows every record of the log; false if it still does not after `VIEW_WAIT_MS`. */
const hasCaughtUp = async ({ views, log, progress }: AuditStreamDeps): Promise<boolean> => {
  const head = await log.head();
  if (head === null) return true;
  const isThere = async (): Promise<boolean> => {
    // The position in the store is asked for, because the projector's own is wrong after the view was dropped.
    const upTo = await views.position(VIEW);
    if (upTo !== null && upTo >= head) return true;
    // The view has caught up as well if only payloads follow, which are no records.
    return (await log.readAll(upTo, 1, "records")).length === 0;
  };
  if (await isThere()) return true;
  await progress.waitFor([VIEW], head, VIEW_WAIT_MS);
  return isThere();
};

const behind = (what: string): Problem =>
  problem("view-behind", `The view does not show the record of this ${what} yet.`, { retryAfterS: 1 });

const countOf = async ({ views }: AuditStreamDeps, account: string): Promise<number> =>
  // The projection stores the number of an account's records under the account's id.
  (await documentIn<AuditHead>(views, audit, account))?.count ?? 0;

/** Begins after the record that the client's last id names; a problem if there is no such record. */
const resumed = async (deps: AuditStreamDeps, account: string, id: string): Promise<Begin | Problem> => {
  if (id === START_ID) return { next: 0, lastId: id, newerThan: null, position: null };
  const unknown = problem("invalid-request", "The Last-Event-ID does not belong to this account's stream.", {
    errors: [{ path: `/${LAST_EVENT_ID}`, message: "must be the id of an event of this stream" }],
  });
  const digits = INDEX_IN_ID.exec(id)?.[1];
  if (digits === undefined) return unknown;
  const index = Number(digits);
  const find = async () => (await eventsFrom(deps, account, index, 1))[0];
  let record = await find();
  if (record === undefined) {
    const isAll = await hasCaughtUp(deps);
    record = await find();
    if (record === undefined && !isAll) return behind("Last-Event-ID");
  }
  return record !== undefined && streamIdOf(index, record) === id
    ? { next: index + 1, lastId: id, newerThan: null, position: record.position }
    : unknown;
};

const beginOf = async (
  deps: AuditStreamDeps,
  { principal: { account }, headers, query }: Call<Following>,
  count: number,
): Promise<Begin | Problem> => {
  const id = headers[LAST_EVENT_ID];
  if (id !== undefined) return resumed(deps, account, id);
  const { from_index: asked } = query;
  const next = asked ?? count;
  // Without `from_index` the stream begins now, so records from before the call that the view shows later are skipped.
  // Views follow records only, so no view would reach the position of a payload at the end of the log.
  const newerThan = asked === undefined ? await deps.log.head("records") : null;
  if (next > count) {
    // The count may be too low, because the view is being rebuilt.
    const isAll = await hasCaughtUp(deps);
    const all = await countOf(deps, account);
    if (next > all && !isAll) return behind("from_index");
    if (next > all) return invalid("from_index", `must be at most ${all}, the number of records`);
  }
  const [before] = next === 0 ? [] : await eventsFrom(deps, account, next - 1, 1);
  const lastId = before === undefined ? START_ID : streamIdOf(next - 1, before);
  return { next, lastId, newerThan, position: newerThan ?? before?.position ?? null };
};

const follow = (deps: AuditStreamDeps): Handler<Following> => {
  const limits = { ...AUDIT_STREAM_LIMITS, ...deps.limits };
  const open = answerSlots("streams", limits);
  const counts = recordCounts(deps.views, deps.progress, deps.onError);

  const answer = async (call: Call<Following>): Promise<Answer | Problem> => {
    const { account } = call.principal;
    const count = await countOf(deps, account);
    const begin = await beginOf(deps, call, count);
    if ("problem" in begin) return begin;
    const body = eventStream({
      ...begin,
      count: counts.follow(account, count),
      read: (index, limit) => eventsFrom(deps, account, index, limit),
      positions: deps.positions,
      isStillAllowed: call.isStillAllowed,
      watchCredential: watchCredential(deps.aggregates, call.principal),
      closing: call.closing,
      times: limits,
      onEnd: () => open.giveBack(call.principal),
    });
    return {
      status: 200,
      headers: EVENT_STREAM_HEADERS,
      body,
      ...positionOf({ position: begin.position ?? undefined }),
    };
  };

  return async (call) => {
    const refusal = open.take(call.principal);
    if (refusal !== null) return refusal;
    let isStreaming = false;
    try {
      const answered = await answer(call);
      isStreaming = !("problem" in answered);
      return answered;
    } finally {
      if (!isStreaming) open.giveBack(call.principal);
    }
  };
};

export const auditStreamRoutes = (deps: AuditStreamDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/audit/stream",
    who: { session: "auditor", key: "auditor" },
    summary: "Follow the account's records as server-sent events",
    tag: "audit",
    query: QUERY,
    headers: {
      [LAST_EVENT_ID]: {
        type: "string",
        description: "The `id` of the last received event: the stream continues after it, without a gap or a repeat.",
      },
    },
    problems: ["view-behind", "overloaded"],
    answers: {
      200: {
        type: "string",
        description:
          "Each event's `data` is a record as CloudEvents 1.0 (JSON), its `event` the type, its `id` the value for Last-Event-ID. " +
          "The header `Countersign-Position` says after which position the stream begins: a list that is read with it as `after` " +
          "shows everything before the stream. The stream ends when its credential is revoked: at once, or within 2 s if another node revoked it.",
      },
    },
    produces: "text/event-stream",
    reads: [VIEW],
    handle: follow(deps),
  }),
];
