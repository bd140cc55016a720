import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { LogUnavailable, OutcomeUnknown } from "../../infra/log-errors.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";

export type AgedRecords = {
  /** Shows each record that has come of age since; how many of them `each` says it has done something about. */
  sweep(isStopping: () => boolean, each: Each): Promise<number>;
};

/** `isAged` judges other records as the sweep judges its own: for instance the last one of the same stream. */
type Each = (record: RecordedEvent, isAged: (other: RecordedEvent) => boolean) => Promise<boolean>;

export type AgedLog = Pick<EventLog, "readTypes" | "append" | "last" | "identity">;

export type Aging = {
  /** Where it is written down how far it was looked. */
  readonly stream: string;
  /** Of that record. */
  readonly type: string;
  readonly types: readonly string[];
  /** Since it was recorded. */
  readonly ageMs: number;
  /** Read at once. */
  readonly page: number;
  readonly onError: (error: unknown) => void;
};

/** How far it was looked, in a log of this identity: a copy has other positions, and is looked through again. */
type Swept = { readonly log: string; readonly position: Position };

/** So many records are looked through again by whoever is started next, if nothing was to be done about them. */
const SAVE_EVERY = 1_000;
/** Between two pages: the engine that is read in this thread lets others have their turn. */
const GAP_MS = 10;
/** A sweep looks so many pages past a record of the future; the next sweep continues from there. */
const PAGES_AHEAD_MAX = 50;

/**
 * Follows the records of some types through the log and shows each when it is old enough. The log has them in the order in
 * which they were written, so the sweep stops at the first one that is too young.
 *
 * A record stamped later than now was written while a node's clock was wrong: its stamp says nothing. It was written before
 * every record after it, so it has come of age when a later record has. Until then it waits, and the sweep with it.
 */
export const agedRecords = (log: AgedLog, clock: Clock, aging: Aging): AgedRecords => {
  let after: Position | null | undefined;
  let unsaved = 0;
  /** Everything up to this position has come of age, because the record at it has; null before the first look ahead. */
  let agedUpTo: Position | null = null;
  /** Between the sweep and this position there are only records of the future; null before the first look ahead. */
  let futureUpTo: Position | null = null;

  const ageOf = ({ meta }: RecordedEvent): number => clock.now() - Date.parse(meta.recorded_at);

  const isAged = (record: RecordedEvent): boolean =>
    ageOf(record) >= aging.ageMs || (agedUpTo !== null && record.position <= agedUpTo);

  /** Looks for a record after the given one whose stamp can be believed: whether that has come of age. */
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
    // Only `save` appends to this stream.
    const swept = checkpoint?.data as Swept | undefined;
    return swept?.log === identity ? swept.position : null;
  };

  const save = async (swept: Swept): Promise<void> => {
    const envelope = systemEnvelope({
      actor: "retention",
      commandId: `${aging.stream}/${swept.log}/${swept.position}`,
      at: new Date(clock.now()).toISOString(),
    });
    await log.append(aging.stream, "any", toEvents([{ type: aging.type, data: swept }], envelope));
    unsaved = 0;
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
            // The log is for all of them; what one alone is to blame for keeps none of the others.
            if (error instanceof LogUnavailable || error instanceof OutcomeUnknown) throw error;
            aging.onError(error);
          }
          unsaved += 1;
          after = event.position;
        }
        if (!isMore) break;
        after = upTo;
        if (unsaved >= SAVE_EVERY && after !== null) await save({ log: identity, position: after });
        await new Promise((resolve) => setTimeout(resolve, GAP_MS));
      }
      if (done > 0 && unsaved > 0 && after !== null) await save({ log: identity, position: after });
      return done;
    },
  };
};
