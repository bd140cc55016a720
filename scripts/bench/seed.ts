import { randomBytes, randomUUID } from "node:crypto";
import type { Metadata, NewEvent } from "../../domain/ports/event-log.ts";
import { base32 } from "../../infra/crypto/ids.ts";
import { openWriting } from "../../infra/sqlite/event-log-schema.ts";
import { type EventText, eventLogWriter } from "../../infra/sqlite/event-log-writer.ts";
import { metadataText } from "../../infra/sqlite/metadata-text.ts";
import { type LogLocation, openLog } from "../../src/engine/open-engines.ts";
import { answerParent } from "./child.ts";
import { monotonicMs } from "./clock.ts";
import { inParallel } from "./parallel.ts";
import { type Template, Templates } from "./seed-text.ts";

export type SeedStream = {
  readonly category: string;
  readonly events: readonly { readonly type: string; readonly data: string; readonly meta: string }[];
};

export type SeedOrder = {
  readonly place: LogLocation;
  readonly count: number;
  readonly eventId: string;
  readonly deliveryKey: string;
  readonly receivedAt: string;
  readonly streams: readonly SeedStream[];
};

export type SeedOutcome = { readonly records: number; readonly perS: number };

/** The seeded webhooks are spread evenly over this time (ms), which ends now. */
const SPAN_MS = 24 * 3_600_000;
/** Appends at once to a server, its usual number. */
const AT_ONCE = 64;
/** Webhooks in a transaction of the embedded log. */
const GROUP = 1_024;
/** Pages of the WAL after which it is copied into the file, which then is no longer than the WAL's usual 64 MiB. */
const CHECKPOINT_PAGES = 16_384;

type Copy = { readonly category: string; readonly key: string; readonly events: readonly EventText[] };

/** Makes the streams of the n-th webhook from those of a delivered one; `metaOf` gives the form in which metadata are kept. */
const copying = (order: SeedOrder, metaOf: (meta: string) => string): ((n: number) => readonly Copy[]) => {
  const templates = new Templates(order);
  const streams = order.streams.map(({ category, events }) => ({
    category,
    events: events.map(({ type, data, meta }) => ({
      type,
      data: templates.add(data),
      meta: templates.add(metaOf(meta)),
    })),
  }));
  const original = Date.parse(order.receivedAt);
  const times = templates.times.map((time) => Date.parse(time) - original);
  const firstAt = Date.now() - SPAN_MS;
  return (n) => {
    const id = `evt_${base32(randomBytes(20))}`;
    const receivedAt = firstAt + (SPAN_MS * n) / order.count;
    const shifted = times.map((after) => new Date(receivedAt + after).toISOString());
    const copied = (template: Template): string => template(id, `seed-${n}`, shifted);
    return streams.map(({ category, events }) => ({
      category,
      key: id,
      events: events.map(({ type, data, meta }) => ({
        id: randomUUID(),
        type,
        data: copied(data),
        meta: copied(meta),
      })),
    }));
  };
};

/** Uses the log's own writer without its thread, as handing ten million webhooks over takes longer than to write them. */
const seedFile = (path: string, count: number, copiesOf: (n: number) => readonly Copy[]): void => {
  const db = openWriting({ path });
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const writer = eventLogWriter(db);
  for (let from = 0; from < count; from += GROUP) {
    const webhooks = Array.from({ length: Math.min(GROUP, count - from) }, (_, n) => copiesOf(from + n));
    const group = writer.commit(webhooks.flat().map((copy) => ({ kind: "append", expected: "absent", ...copy })));
    if (group.result !== "committed") throw new Error(`seeding ${path}: ${group.reason}`);
  }
  db.close();
};

const seedServer = async (
  place: LogLocation,
  count: number,
  copiesOf: (n: number) => readonly Copy[],
): Promise<void> => {
  const log = await openLog(place);
  await inParallel(count, AT_ONCE, async (n) => {
    for (const { category, key, events } of copiesOf(n)) {
      // The texts are copies of records of this log, so they have the shape of its events.
      const parsed = events.map(
        ({ id, type, data, meta }) => ({ id, type, data: JSON.parse(data), meta: JSON.parse(meta) }) as NewEvent,
      );
      await log.append(`${category}-${key}`, "absent", parsed);
    }
  });
  await log.close();
};

/** Copies a delivered webhook's streams into the log, because a million over HTTP take minutes. */
const seed = async (order: SeedOrder): Promise<SeedOutcome> => {
  const { place, count, streams } = order;
  const isFile = place.engine === "sqlite";
  const copiesOf = copying(order, (meta) => (isFile ? metadataText(JSON.parse(meta) as Metadata) : meta));
  const from = monotonicMs();
  if (place.engine === "sqlite") seedFile(place.path, count, copiesOf);
  else await seedServer(place, count, copiesOf);
  const records = count * streams.reduce((sum, { events }) => sum + events.length, 0);
  return { records, perS: records / ((monotonicMs() - from) / 1_000) };
};

answerParent<SeedOrder, SeedOutcome>(seed);
