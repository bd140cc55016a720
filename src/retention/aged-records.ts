import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { LogUnavailable, OutcomeUnknown } from "../../infra/log-errors.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";

/** Resolves with the number of streams that were erased or ended. */
export type Sweep = { sweep(isStopping: () => boolean): Promise<number> };

export type AgedRecords = {
  sweep(isStopping: () => boolean, each: Visit): Promise<number>;
};

type Visit = (record: RecordedEvent, isAged: (other: RecordedEvent) => boolean) => Promise<boolean>;

export type AgedLog = Pick<EventLog, "readTypes" | "append" | "last" | "identity">;

export type Aging = {
  readonly stream: string;
  readonly type: string;
  readonly types: readonly string[];
  readonly ageMs: number;
  readonly page: number;
  readonly onError: (error: unknown) => void;
};

/** `log` is the log's identity: a copied log has another one and other positions, and is swept from its beginning. */
type SweepCheckpoint = { readonly log: string; readonly position: Position };

const SAVE_EVERY = 1_000;
/** Pages of the log after which the place is saved even if they had no such record: else each restart reads them again. */
const PAGES_UNSAVED_MAX = 100;
/** Milliseconds between two pages: an embedded log is read on this thread, which has other work to do. */
const GAP_MS = 10;
const PAGES_AHEAD_MAX = 50;

/**
 * Records stand in the order of writing, so a sweep stops at the first one that is not old enough. A record stamped
 * later than now was written by a node with a wrong clock; it counts as old enough once a later record is.
 */
export const agedRecords = (log: AgedLog, clock: Clock, aging: Aging): AgedRecords => {
  let after: Position | null | undefined;
  let unsaved = 0;
  let pagesUnsaved = 0;
  let agedUpTo: Position | null = null;
  /** All records up to this position that were looked at are stamped later than now; null before the first look. */
  let futureUpTo: Position | null = null;

  const ageOf = ({ meta }: RecordedEvent): number => clock.now() - Date.parse(meta.recorded_at);

  const isAged = (record: RecordedEvent): boolean =>
    ageOf(record) >= aging.ageMs || (agedUpTo !== null && record.position <= agedUpTo);

  const isBeforeAged = async ({ position }: RecordedEvent, isStopping: () => boolean): Promise<boolean> => {
    let from = futureUpTo !== null && futureUpTo > position ? futureUpTo : position;
    for (let pages = 0; pages < PAGES_AHEAD_MAX && !isStopping(); pages += 1) {
      const { events, upTo } = await log.readTypes(aging.types, from, aging.page);
      for (const event of events) {
        if (ageOf(event) >= 0) {
          if (ageOf(event) < aging.ageMs) return false;
          agedUpTo = event.position;
          return true;
        }
        from = event.position;
        futureUpTo = from;
      }
      if (upTo === null) return false;
      from = upTo;
      futureUpTo = from;
      await new Promise((resolve) => setTimeout(resolve, GAP_MS));
    }
    return false;
  };

  const begin = async (identity: string): Promise<Position | null> => {
    const checkpoint = await log.last(aging.stream);
    const swept = checkpoint?.data as SweepCheckpoint | undefined;
    return swept?.log === identity ? swept.position : null;
  };

  const save = async (swept: SweepCheckpoint): Promise<void> => {
    const envelope = systemEnvelope({
      actor: "retention",
      commandId: `${aging.stream}/${swept.log}/${swept.position}`,
      at: new Date(clock.now()).toISOString(),
    });
    await log.append(aging.stream, "any", toEvents([{ type: aging.type, data: swept }], envelope));
    unsaved = 0;
    pagesUnsaved = 0;
  };

  return {
    async sweep(isStopping, each) {
      const identity = await log.identity();
      after ??= await begin(identity);
      let done = 0;
      let isMore = true;
      while (isMore && !isStopping()) {
        const { events, upTo } = await log.readTypes(aging.types, after, aging.page);
        isMore = upTo !== null;
        for (const event of events) {
          isMore &&= isAged(event) || (ageOf(event) < 0 && (await isBeforeAged(event, isStopping)));
          if (!isMore) break;
          try {
            if (await each(event, isAged)) done += 1;
          } catch (error) {
            // An error of the log concerns all records and ends the sweep; any other error concerns this record alone.
            if (error instanceof LogUnavailable || error instanceof OutcomeUnknown) throw error;
            aging.onError(error);
          }
          unsaved += 1;
          after = event.position;
        }
        if (!isMore) break;
        after = upTo;
        pagesUnsaved += 1;
        if ((unsaved >= SAVE_EVERY || pagesUnsaved >= PAGES_UNSAVED_MAX) && after !== null)
          await save({ log: identity, position: after });
        await new Promise((resolve) => setTimeout(resolve, GAP_MS));
      }
      if (done > 0 && unsaved > 0 && after !== null) await save({ log: identity, position: after });
      return done;
    },
  };
};
