import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { IDEMPOTENCY_KEPT_MS, type IdempotencyEvent } from "../http/idempotency.ts";
import { type AgedLog, agedRecords, type Sweep } from "./aged-records.ts";

const CLAIMED: IdempotencyEvent["type"] = "RequestClaimed";
const PAGE = 100;

export const expiredAnswers = (
  log: AgedLog & Pick<EventLog, "erase">,
  clock: Clock,
  onError: (error: unknown) => void,
): Sweep => {
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
        // A last record of another time belongs to a later claim of the same key, which is swept when it is old enough.
        if (last.meta.recorded_at !== meta.recorded_at && !isAged(last)) return false;
        await log.erase(stream, last.revision);
        return true;
      }),
  };
};
