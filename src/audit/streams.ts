import type { EventLog, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import { parseStreamName } from "../../infra/stream-name.ts";
import type { AuditDocument, AuditHead } from "../../projections/audit.ts";
import { categoryOf } from "../../projections/streams.ts";
import { type AuditFilter, type AuditSources, firstIndex, firstIndexNear, recordAt, type Walk } from "./records.ts";

const CHUNK = 100;

/** A name that no stream can have is no error, because it simply has no records. */
const isStream = (name: string): boolean => {
  try {
    parseStreamName(name);
    return true;
  } catch {
    return false;
  }
};

export const streamsOf = (
  { subject, stream }: Pick<AuditFilter, "subject" | "stream">,
  { categories }: Pick<AuditHead, "categories">,
): readonly string[] | null => {
  if (stream !== undefined && categories.includes(categoryOf(stream))) return [stream].filter(isStream);
  const id = subject ?? stream;
  return id === undefined ? null : categories.map((category) => `${category}-${id}`).filter(isStream);
};

const readOne = async (log: Pick<EventLog, "read">, stream: string, revision: Revision) =>
  (await log.read(stream, revision === 0 ? null : revision - 1, 1))[0];

/** `from` and `upTo` are positions, both inclusive. */
type Range = { readonly order: AuditFilter["order"]; readonly from: string; readonly upTo: string };

const chunkOf = async (
  log: AuditSources["log"],
  stream: string,
  { order, from, upTo }: Range,
): Promise<readonly RecordedEvent[]> => {
  const newest = await log.last(stream);
  if (newest === null || newest.position < from) return [];
  const size = newest.revision + 1;
  const firstAt = (position: string) =>
    firstIndex({ low: 0, high: size }, async (revision) => {
      const event = await readOne(log, stream, revision);
      return event === undefined || event.position >= position;
    });
  const begin = await firstAt(from);
  const found = async (first: Revision) => {
    const events = await log.read(stream, first === 0 ? null : first - 1, CHUNK);
    return events.filter(({ position }) => position >= from && position <= upTo);
  };
  if (order === "asc") return found(begin);
  let end = await firstAt(upTo);
  if (end < size && ((await readOne(log, stream, end))?.position ?? upTo) <= upTo) end += 1;
  const first = Math.max(begin, end - CHUNK);
  return (await found(first)).filter(({ revision }) => revision < end).reverse();
};

/** A record's index is searched for by its position, which rises with the index: no view is indexed by subject. */
export const recordsOfStreams =
  (
    { views, log }: AuditSources,
    { account, order }: Pick<AuditFilter, "account" | "order">,
    streams: readonly string[],
  ): Walk =>
  async (bounds) => {
    const { position: from } = await recordAt(views, account, bounds.low);
    const { position: upTo } = await recordAt(views, account, bounds.high - 1);
    const chunks = await Promise.all(streams.map((stream) => chunkOf(log, stream, { order, from, upTo })));
    const events = chunks
      .flat()
      // The caller may have guessed the id of another account's stream.
      .filter(({ meta }) => meta.account === account)
      .sort((a, b) => (a.position < b.position === (order === "asc") ? -1 : 1))
      // A stream whose chunk was full may have further records, which come before the ones that are cut off here.
      .slice(0, CHUNK);
    const records: AuditDocument[] = [];
    let rest = bounds;
    for (const { position } of events) {
      const end = order === "asc" ? "low" : "high";
      const at = (index: number) => recordAt(views, account, index);
      const index = await firstIndexNear(rest, end, async (probe) => (await at(probe)).position >= position);
      records.push(await at(index));
      rest = order === "asc" ? { ...rest, low: index + 1 } : { ...rest, high: index };
    }
    return records;
  };
