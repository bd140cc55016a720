import type { Clock, EventLog, Position } from "../../domain/ports.ts";
import { NO_TRACE, toEvents } from "../envelope.ts";
import { IDEMPOTENCY_KEPT_MS, type IdempotencyEvent } from "./idempotency.ts";

export type ExpiredAnswers = {
  /** Erases what was kept for longer than `IDEMPOTENCY_KEPT_MS`; how many keys that were. */
  sweep(isStopping: () => boolean): Promise<number>;
};

/** How far it was looked, in a log of this identity: a copy has other positions, and is looked through again. */
const STREAM = "checkpoint-idempotency";
type Swept = { readonly log: string; readonly position: Position };

const CLAIMED: IdempotencyEvent["type"] = "RequestClaimed";
/** Each one a look at its stream, and seldom an erasure. */
const PAGE = 100;

/**
 * Forgets the answers to calls with an Idempotency-Key. Keys are claimed in the order of the log, so whoever goes through
 * it behind them meets the oldest first; what was erased is not met again.
 */
export const expiredAnswers = (
  log: Pick<EventLog, "readTypes" | "append" | "last" | "erase" | "identity">,
  clock: Clock,
): ExpiredAnswers => {
  let after: Position | null | undefined;

  const isExpired = (at: string): boolean => clock.now() - Date.parse(at) >= IDEMPOTENCY_KEPT_MS;

  const begin = async (identity: string): Promise<Position | null> => {
    const checkpoint = await log.last(STREAM);
    // Only `save` appends to this stream.
    const swept = checkpoint?.data as Swept | undefined;
    return swept?.log === identity ? swept.position : null;
  };

  const save = async (swept: Swept): Promise<void> => {
    const envelope = {
      commandId: `idempotency-sweep/${swept.log}/${swept.position}`,
      account: "",
      actor: { kind: "system", id: "retention" },
      trace: NO_TRACE,
      at: new Date(clock.now()).toISOString(),
    } as const;
    await log.append(STREAM, "any", toEvents([{ type: "IdempotencySwept", data: swept }], envelope));
  };

  return {
    async sweep(isStopping) {
      const identity = await log.identity();
      after ??= await begin(identity);
      let erased = 0;
      let isMore = true;
      while (isMore && !isStopping()) {
        const { events, upTo } = await log.readTypes([CLAIMED], after, PAGE);
        isMore = upTo !== null;
        // Each event of these streams has its time (`IdempotencyEvent`).
        for (const { stream, position, data } of events) {
          isMore &&= isExpired(String(data.at));
          if (!isMore) break;
          const last = await log.last(stream);
          // Claimed again since: that claim is met further behind.
          if (last !== null && isExpired(String(last.data.at))) {
            // What is claimed from here on stands behind it.
            await log.erase(stream, last.revision);
            erased += 1;
          }
          after = position;
        }
        if (isMore) after = upTo;
      }
      if (erased > 0 && after !== null) await save({ log: identity, position: after });
      return erased;
    },
  };
};
