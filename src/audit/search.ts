import type { Condition } from "../../domain/ports/view-store.ts";
import { type AuditDocument, type AuditHead, audit, recordId } from "../../projections/audit.ts";
import { comparable } from "../http/time-range.ts";
import { documentIn } from "../views/typed-documents.ts";
import {
  type AuditFilter,
  type AuditSources,
  type Bounds,
  eventOf,
  firstIndex,
  recordAt,
  recordOf,
  type Walk,
} from "./records.ts";
import { recordsOfStreams, streamsOf } from "./streams.ts";

type Views = AuditSources["views"];

const VIEW = audit.schema.name;
const CHUNK = 500;
/** Counting of records stops here. Of a type and an actor, the rarer is searched for; if both have more, both are. */
const RARE_MAX = 2_000;

const boundsOf = async (views: Views, filter: AuditFilter, head: AuditHead): Promise<Bounds> => {
  const { account, from, to, order, after } = filter;
  const whole = { low: 0, high: head.count };
  const reaching = (time: string): Promise<number> =>
    firstIndex(whole, async (index) => {
      const { latest, recorded_at } = await recordAt(views, account, index);
      return (latest ?? recorded_at) >= time;
    });
  const low = from === null ? 0 : await reaching(from);
  const high = to === null ? head.count : await reaching(comparable(Date.parse(to) + head.disorder_ms));
  if (after === null) return { low, high };
  return order === "asc" ? { low: Math.max(low, after + 1), high } : { low, high: Math.min(high, after) };
};

export const matchesFilter = (
  { from, to, type, actor, subject, stream }: Omit<AuditFilter, "order" | "after">,
  record: AuditDocument,
): boolean =>
  (from === null || record.recorded_at >= from) &&
  (to === null || record.recorded_at < to) &&
  (type === undefined || record.type === type) &&
  (actor === undefined || record.actor_id === actor) &&
  (subject === undefined || record.subject === subject) &&
  (stream === undefined || record.stream === stream || record.subject === stream);

const equal = (field: string, value: string | undefined): Condition[] =>
  value === undefined ? [] : [{ field, is: "=", value }];

/** The conditions that the store is asked for. With both, it might read all records of the more common one. */
const leadOf = async (views: Views, { account, type, actor }: AuditFilter): Promise<readonly Condition[]> => {
  const [byType, byActor] = [equal("type", type), equal("actor_id", actor)];
  if (byType.length === 0 || byActor.length === 0) return [...byType, ...byActor];
  const own = equal("account", account);
  const types = await views.count(VIEW, [...own, ...byType], RARE_MAX);
  const actors = await views.count(VIEW, [...own, ...byActor], RARE_MAX);
  if (types === actors) return [...byType, ...byActor];
  return types < actors ? byType : byActor;
};

const inTurn =
  (views: Views, { account, order }: AuditFilter): Walk =>
  async ({ low, high }) => {
    const size = Math.max(0, Math.min(CHUNK, high - low));
    const ids = Array.from({ length: size }, (_, i) => recordId(account, order === "asc" ? low + i : high - 1 - i));
    const found = await views.getMany(VIEW, ids);
    return ids.map((id) => recordOf(found.get(id)));
  };

const led =
  (views: Views, { account, order }: AuditFilter, lead: readonly Condition[]): Walk =>
  async ({ low, high }) => {
    const where: Condition[] = [
      ...equal("account", account),
      ...lead,
      { field: "index", is: ">=", value: low },
      { field: "index", is: "<", value: high },
    ];
    const found = await views.page(VIEW, { where, sort: { field: "index", order }, limit: CHUNK });
    return found.map(({ document }) => recordOf(document));
  };

const walkOf = async (from: AuditSources, filter: AuditFilter, head: AuditHead): Promise<Walk> => {
  const streams = streamsOf(filter, head);
  if (streams !== null) return recordsOfStreams(from, filter, streams);
  const lead = await leadOf(from.views, filter);
  return lead.length === 0 ? inTurn(from.views, filter) : led(from.views, filter, lead);
};

export const searchAudit = async (
  from: AuditSources,
  filter: AuditFilter,
  limit: number,
): Promise<readonly AuditDocument[]> => {
  const head = await documentIn<AuditHead>(from.views, audit, filter.account);
  if (head === null) return [];
  const matching: AuditDocument[] = [];
  const walk = await walkOf(from, filter, head);
  let bounds = await boundsOf(from.views, filter, head);
  while (bounds.low < bounds.high && matching.length < limit) {
    const records = await walk(bounds);
    const last = records.at(-1);
    if (last === undefined) break;
    matching.push(...records.filter((record) => matchesFilter(filter, record)));
    bounds = filter.order === "asc" ? { ...bounds, low: last.index + 1 } : { ...bounds, high: last.index };
  }
  return matching.slice(0, limit);
};

/** Of one subject, so many records are looked at for the one with an id. */
const LOOKED_AT_MAX = 10_000;

/** The index of the record with this id among those about a subject; null if it is not one of them. */
export const indexOfRecord = async (
  from: AuditSources,
  { account, id, subject }: { readonly account: string; readonly id: string; readonly subject: string },
): Promise<number | null> => {
  let after: number | null = null;
  for (let looked = 0; looked < LOOKED_AT_MAX; looked += CHUNK) {
    const filter = { account, from: null, to: null, subject, order: "desc", after } as const;
    const records: readonly AuditDocument[] = await searchAudit(from, filter, CHUNK);
    const events = await Promise.all(records.map((record) => eventOf(from.log, record)));
    const found = events.findIndex((event) => event.id === id);
    if (found !== -1) return records[found]?.index ?? null;
    if (records.length < CHUNK) return null;
    after = records.at(-1)?.index ?? null;
  }
  return null;
};
