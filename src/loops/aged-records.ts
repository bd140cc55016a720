import type { Clock, EventLog, Position, RecordedEvent } from "../../domain/ports.ts";
import { LogUnavailable, OutcomeUnknown } from "../../infra/log-errors.ts";
import { NO_TRACE, toEvents } from "../envelope.ts";

export type AgedRecords = {
  /** Shows each record that has come of age since; how many of them `each` says it has done something about. */
  sweep(isStopping: () => boolean, each: (record: RecordedEvent) => Promise<boolean>): Promise<number>;
};

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

/**
 * Goes through the records of some types behind the log, when each is old enough: they are recorded in the order of the log,
 * so whoever does meets the oldest first.
 */
export const agedRecords = (log: AgedLog, clock: Clock, aging: Aging): AgedRecords => {
  let after: Position | null | undefined;
  let unsaved = 0;

  const isOfAge = ({ meta }: RecordedEvent): boolean => clock.now() - Date.parse(meta.recorded_at) >= aging.ageMs;

  const begin = async (identity: string): Promise<Position | null> => {
    const checkpoint = await log.last(aging.stream);
    // Only `save` appends to this stream.
    const swept = checkpoint?.data as Swept | undefined;
    return swept?.log === identity ? swept.position : null;
  };

  const save = async (swept: Swept): Promise<void> => {
    const envelope = {
      commandId: `${aging.stream}/${swept.log}/${swept.position}`,
      account: "",
      actor: { kind: "system", id: "retention" },
      trace: NO_TRACE,
      at: new Date(clock.now()).toISOString(),
    } as const;
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
          isMore &&= isOfAge(event);
          if (!isMore) break;
          try {
            if (await each(event)) done += 1;
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
