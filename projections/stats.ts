import type { AccountEvent } from "../domain/account/events.ts";
import type { BundleEvent } from "../domain/bundle/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { givenBackIn, isDecision } from "./event-fold.ts";
import { documentOf, eventOf, type Projection } from "./projection.ts";
import {
  evolveStatsBundle,
  evolveStatsEvent,
  type StatsAccount,
  type StatsEvent,
  withBundle,
  withZone,
  zoneAt,
} from "./stats-event.ts";
import { type StatsBucket, statsTotals } from "./stats-totals.ts";
import { bundleOf, deliveryOf } from "./streams.ts";

/** The events of steps whose costs a record of their bundle changes, or says to be final. */
const stepsIn = (recorded: RecordedEvent): readonly string[] => {
  const givenBack = givenBackIn(recorded);
  if (givenBack !== null) return [givenBack];
  if (recorded.type !== "BundleCostDetermined") return [];
  return eventOf<Extract<BundleEvent, { type: "BundleCostDetermined" }>>(recorded).data.events ?? [];
};

/** The types of the records by which a bundle is refused, or is not any more. */
const BUNDLE_DECISIONS: ReadonlySet<string> = new Set<BundleEvent["type"]>([
  "BundleAdmitted",
  "BundleBlocked",
  "BundleHeld",
]);

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
 * figure is the number of the events, or of the refused bundles, that a list with the same filter has.
 */
export const stats: Projection<StatsEvent | StatsAccount | StatsBucket> = {
  schema: {
    name: "stats.v3",
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
    if (id !== null) return isDecision(recorded) ? [id, recorded.meta.account] : [id];
    const bundle = bundleOf(recorded);
    if (bundle === null) return [];
    const steps = stepsIn(recorded);
    if (steps.length > 0) return steps;
    return BUNDLE_DECISIONS.has(recorded.type) ? [bundle, recorded.meta.account] : [];
  },

  apply(recorded, documents) {
    const zoned = zoneIn(recorded);
    if (zoned !== null) {
      const { account, zone, isFirst } = zoned;
      const known = isFirst ? null : documentOf<StatsAccount>(documents, account);
      return documents.put(account, known === null ? { time_zone: zone } : withZone(known, recorded.position, zone));
    }
    const event = deliveryOf(recorded);
    const id = event ?? bundleOf(recorded);
    if (id === null) return;
    if (event === null && !BUNDLE_DECISIONS.has(recorded.type)) {
      for (const step of stepsIn(recorded)) {
        const known = documentOf<StatsEvent>(documents, step);
        if (known !== null) documents.put(step, withBundle(known, recorded));
      }
      return;
    }
    const zoneOf = (): string => {
      const zones = documentOf<StatsAccount>(documents, recorded.meta.account);
      return zones === null ? "UTC" : zoneAt(zones, recorded.position);
    };
    const before = documentOf<StatsEvent>(documents, id);
    const after = (event === null ? evolveStatsBundle : evolveStatsEvent)(before, recorded, zoneOf);
    if (after !== before) documents.put(id, after);
  },

  totals: statsTotals,
};
