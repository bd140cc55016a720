import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { IDEMPOTENCY_KEPT_MS, type IdempotencyEvent } from "../http/idempotency.ts";
import { type AgedLog, agedRecords } from "./aged-records.ts";

export type ExpiredAnswers = {
  /** Erases what was kept for longer than `IDEMPOTENCY_KEPT_MS`; how many keys that were. */
  sweep(isStopping: () => boolean): Promise<number>;
};

const CLAIMED: IdempotencyEvent["type"] = "RequestClaimed";
/** Each one a look at its stream, and seldom an erasure. */
const PAGE = 100;

/** Forgets the answers to calls with an Idempotency-Key. What was erased is not met again. */
export const expiredAnswers = (
  log: AgedLog & Pick<EventLog, "erase">,
  clock: Clock,
  onError: (error: unknown) => void,
): ExpiredAnswers => {
  const claims = agedRecords(log, clock, {
    stream: "checkpoint-idempotency",
    type: "IdempotencySwept",
    types: [CLAIMED],
    ageMs: IDEMPOTENCY_KEPT_MS,
    page: PAGE,
    onError,
  });
  return {
    sweep: (isStopping) =>
      claims.sweep(isStopping, async ({ stream, meta }, isAged) => {
        const last = await log.last(stream);
        if (last === null) return false;
        // A claim's answer carries the time of its request. Any other record is of a later claim, to which the sweep comes later.
        if (last.meta.recorded_at !== meta.recorded_at && !isAged(last)) return false;
        // What is claimed from here on stands behind it.
        await log.erase(stream, last.revision);
        return true;
      }),
  };
};
