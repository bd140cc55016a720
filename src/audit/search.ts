import type { Condition, ViewStore } from "../../domain/ports.ts";
import { type AuditDocument, type AuditHead, audit, recordId } from "../../projections/audit.ts";
import { subjectOf } from "../../projections/streams.ts";

export type AuditFilter = {
  readonly account: string;
  /** ISO-8601 UTC with milliseconds; `to` is not part of the range. */
  readonly from: string | null;
  readonly to: string | null;
  readonly type?: string;
  readonly actor?: string;
  readonly subject?: string;
  /** A stream's whole name, or the bare id of what it is about. */
  readonly stream?: string;
  readonly order: "asc" | "desc";
  /** The index of the last record seen. */
  readonly after: number | null;
};

type Views = Pick<ViewStore, "get" | "getMany" | "page" | "count">;
/** First and behind the last index. */
type Bounds = { readonly low: number; readonly high: number };

const VIEW = audit.schema.name;
/** Records looked at in one go. */
const CHUNK = 500;
/** Of two filters the rarer leads; beyond so many records they count as equally common. */
const RARE_MAX = 2_000;
/** `delivery-evt_…` is a stream's name, `evt_…` and `pol_…-2026-01-31` are ids. */
const STREAM_NAME = /^[a-z]+-/;

// The view's documents are what its projection writes.
const recordOf = (document: unknown): AuditDocument => document as AuditDocument;

/** Halves its way to the first record whose `latest`, which never falls, has reached a time. */
const firstReaching = async (views: Views, account: string, count: number, time: string): Promise<number> => {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const record = recordOf(await views.get(VIEW, recordId(account, middle)));
    if ((record.latest ?? record.recorded_at) >= time) high = middle;
    else low = middle + 1;
  }
  return low;
};

const boundsOf = async (views: Views, filter: AuditFilter, head: AuditHead): Promise<Bounds> => {
  const { account, from, to, order, after } = filter;
  const begin = from === null ? 0 : await firstReaching(views, account, head.count, from);
  const surelyLater = to === null ? null : new Date(Date.parse(to) + head.disorder_ms).toISOString();
  const end = surelyLater === null ? head.count : await firstReaching(views, account, head.count, surelyLater);
  if (after === null) return { low: begin, high: end };
  return order === "asc" ? { low: Math.max(begin, after + 1), high: end } : { low: begin, high: Math.min(end, after) };
};

const matches = ({ from, to, type, actor, subject, stream }: AuditFilter, record: AuditDocument): boolean =>
  (from === null || record.recorded_at >= from) &&
  (to === null || record.recorded_at < to) &&
  (type === undefined || record.type === type) &&
  (actor === undefined || record.actor_id === actor) &&
  (subject === undefined || record.subject === subject) &&
  (stream === undefined || record.stream === stream || record.subject === stream);

const equal = (field: string, value: string | undefined): Condition[] =>
  value === undefined ? [] : [{ field, is: "=", value }];

/** The conditions that lead to the records with the fewest passed by; none: every record is looked at in turn. */
const leadOf = async (views: Views, filter: AuditFilter): Promise<readonly Condition[]> => {
  const { account, type, actor, stream } = filter;
  const subject = filter.subject ?? (stream !== undefined && STREAM_NAME.test(stream) ? subjectOf(stream) : stream);
  // One subject has few records; left to choose, a store may walk through all of a common type instead.
  if (subject !== undefined) return equal("subject", subject);
  const [byType, byActor] = [equal("type", type), equal("actor_id", actor)];
  if (byType.length === 0 || byActor.length === 0) return [...byType, ...byActor];
  const own = equal("account", account);
  const types = await views.count(VIEW, [...own, ...byType], RARE_MAX);
  const actors = await views.count(VIEW, [...own, ...byActor], RARE_MAX);
  if (types === actors) return [...byType, ...byActor];
  return types < actors ? byType : byActor;
};

/** The next records by counting: their ids are known. */
const inTurn = async (views: Views, { account, order }: AuditFilter, { low, high }: Bounds) => {
  const size = Math.min(CHUNK, high - low);
  const indexes = Array.from({ length: size }, (_, i) => (order === "asc" ? low + i : high - 1 - i));
  const ids = indexes.map((index) => recordId(account, index));
  const found = await views.getMany(VIEW, ids);
  return ids.map((id) => recordOf(found.get(id)));
};

const led = async (
  views: Views,
  { account, order }: AuditFilter,
  { low, high }: Bounds,
  lead: readonly Condition[],
) => {
  const where: Condition[] = [
    ...equal("account", account),
    ...lead,
    { field: "index", is: ">=", value: low },
    { field: "index", is: "<", value: high },
  ];
  const found = await views.page(VIEW, { where, sort: { field: "index", order }, limit: CHUNK });
  return found.map(({ document }) => recordOf(document));
};

/** The first `limit` records of an account that a filter lets through, in the filter's order. */
export const searchAudit = async (
  views: Views,
  filter: AuditFilter,
  limit: number,
): Promise<readonly AuditDocument[]> => {
  // Written by the projection under the account's id.
  const head = (await views.get(VIEW, filter.account)) as AuditHead | null;
  if (head === null) return [];
  const matching: AuditDocument[] = [];
  const lead = await leadOf(views, filter);
  let bounds = await boundsOf(views, filter, head);
  while (bounds.low < bounds.high && matching.length < limit) {
    const chunk = lead.length === 0 ? await inTurn(views, filter, bounds) : await led(views, filter, bounds, lead);
    matching.push(...chunk.filter((record) => matches(filter, record)));
    const last = chunk.at(-1);
    if (last === undefined || chunk.length < CHUNK) break;
    bounds = filter.order === "asc" ? { ...bounds, low: last.index + 1 } : { ...bounds, high: last.index };
  }
  return matching.slice(0, limit);
};
