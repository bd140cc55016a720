import type { AccountEvent } from "../domain/account/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { isDecision } from "./event-fold.ts";
import { documentOf, eventOf, type Projection } from "./projection.ts";
import { evolveStatsEvent, type StatsAccount, type StatsEvent, withZone, zoneAt } from "./stats-event.ts";
import { type StatsBucket, statsTotals } from "./stats-totals.ts";
import { deliveryOf } from "./streams.ts";

type OfAccount = Extract<AccountEvent, { type: "AccountOpened" | "AccountChanged" }>;

/** The record of the account's first zone, or of another one; null for any other record. */
const zoneIn = (
  recorded: RecordedEvent,
): { readonly account: string; readonly zone: string; readonly isFirst: boolean } | null => {
  if (recorded.type !== "AccountOpened" && recorded.type !== "AccountChanged") return null;
  const event = eventOf<OfAccount>(recorded);
  const isFirst = event.type === "AccountOpened";
  const zone = event.type === "AccountOpened" ? event.data.time_zone : event.data.changes.time_zone;
  return zone === undefined ? null : { account: event.data.account, zone, isFirst };
};

/**
 * Sums of an account's requests by the time at which they were received, and of what became of them so far: so each
 * figure is the number of the events that a list with the same filter has.
 */
export const stats: Projection<StatsEvent | StatsAccount | StatsBucket> = {
  schema: {
    name: "stats.v2",
    fields: { series: "text", key: "text", at: "text" },
    indexes: [["series", "at"]],
    packing: {
      members: { account: "word", by: "word", step: "word", series: "word", key: "word", at: "time" },
    },
  },

  idsOf(recorded) {
    const zoned = zoneIn(recorded);
    if (zoned !== null) return [zoned.account];
    const id = deliveryOf(recorded);
    if (id === null) return [];
    return isDecision(recorded) ? [id, recorded.meta.account] : [id];
  },

  apply(recorded, documents) {
    const zoned = zoneIn(recorded);
    if (zoned !== null) {
      const { account, zone, isFirst } = zoned;
      const known = isFirst ? null : documentOf<StatsAccount>(documents, account);
      return documents.put(account, known === null ? { time_zone: zone } : withZone(known, recorded.position, zone));
    }
    const id = deliveryOf(recorded);
    if (id === null) return;
    const zoneOf = (): string => {
      const zones = documentOf<StatsAccount>(documents, recorded.meta.account);
      return zones === null ? "UTC" : zoneAt(zones, recorded.position);
    };
    const before = documentOf<StatsEvent>(documents, id);
    const after = evolveStatsEvent(before, recorded, zoneOf);
    if (after !== before) documents.put(id, after);
  },

  totals: statsTotals,
};
