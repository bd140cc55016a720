import { randomBytes, randomUUID } from "node:crypto";
import type { NewEvent } from "../../domain/ports/event-log.ts";
import { base32 } from "../../infra/crypto/ids.ts";
import { type LogLocation, openLog } from "../../src/engine/open-engines.ts";
import { answerParent } from "./child.ts";
import { monotonicMs } from "./clock.ts";
import { inParallel } from "./parallel.ts";

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
/** Appends at once: SQLite's writer makes large groups of them, while a server gets its usual number. */
const AT_ONCE = { sqlite: 2_000, eventstoredb: 64 } as const;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** Copies a delivered webhook's streams through the log's adapter, because a million over HTTP take minutes. */
const seed = async (order: SeedOrder): Promise<SeedOutcome> => {
  const { place, count, eventId, deliveryKey, receivedAt, streams } = order;
  const log = await openLog(place);
  const firstAt = Date.now() - SPAN_MS;
  const original = Date.parse(receivedAt);
  const from = monotonicMs();
  let records = 0;

  const append = async (n: number): Promise<void> => {
    const id = `evt_${base32(randomBytes(20))}`;
    const shift = firstAt + (SPAN_MS * n) / count - original;
    const times = new Map<string, string>();
    const shifted = (time: string): string => {
      const known = times.get(time) ?? new Date(Date.parse(time) + shift).toISOString();
      times.set(time, known);
      return known;
    };
    const changed = (text: string): unknown =>
      JSON.parse(text.replaceAll(eventId, id).replaceAll(deliveryKey, `seed-${n}`).replace(TIME, shifted));
    for (const { category, events } of streams) {
      const copies = events.map(
        ({ type, data, meta }) => ({ id: randomUUID(), type, data: changed(data), meta: changed(meta) }) as NewEvent,
      );
      await log.append(`${category}-${id}`, "absent", copies);
      records += copies.length;
    }
  };

  await inParallel(count, AT_ONCE[place.engine], append);
  await log.close();
  return { records, perS: records / ((monotonicMs() - from) / 1_000) };
};

answerParent<SeedOrder, SeedOutcome>(seed);
