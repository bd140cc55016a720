import type { AccountEvent } from "../domain/account/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { isDecision } from "./event-fold.ts";
import { documentOf, eventOf, type Projection } from "./projection.ts";
import { evolveStatsEvent, type StatsAccount, type StatsEvent } from "./stats-event.ts";
import { type StatsBucket, statsTotals } from "./stats-totals.ts";
import { deliveryOf } from "./streams.ts";

type Opened = Extract<AccountEvent, { type: "AccountOpened" }>;

const openedIn = (recorded: RecordedEvent): Opened["data"] | null =>
  recorded.type === "AccountOpened" ? eventOf<Opened>(recorded).data : null;

/**
 * Sums of an account's requests by the time at which they were received, and of what became of them so far: so each
 * figure is the number of the events that a list with the same filter has.
 */
export const stats: Projection<StatsEvent | StatsAccount | StatsBucket> = {
  schema: {
    name: "stats.v1",
    fields: { series: "text", key: "text", at: "text" },
    indexes: [["series", "at"]],
    packing: {
      members: { account: "word", by: "word", step: "word", series: "word", key: "word", at: "time" },
    },
  },

  idsOf(recorded) {
    const opened = openedIn(recorded);
    if (opened !== null) return [opened.account];
    const id = deliveryOf(recorded);
    if (id === null) return [];
    return isDecision(recorded) ? [id, recorded.meta.account] : [id];
  },

  apply(recorded, documents) {
    const opened = openedIn(recorded);
    if (opened !== null) return documents.put(opened.account, { time_zone: opened.time_zone });
    const id = deliveryOf(recorded);
    if (id === null) return;
    const zoneOf = (): string => documentOf<StatsAccount>(documents, recorded.meta.account)?.time_zone ?? "UTC";
    const before = documentOf<StatsEvent>(documents, id);
    const after = evolveStatsEvent(before, recorded, zoneOf);
    if (after !== before) documents.put(id, after);
  },

  totals: statsTotals,
};
