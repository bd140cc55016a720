import type { Clock } from "../../domain/ports/clock.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { endpoints, healthOf } from "../../projections/endpoints.ts";
import { pagesIn } from "../views/typed-documents.ts";
import type { Readings } from "./readings.ts";

const PAGE = 500;
/** At most this many endpoints are read; the others are not counted. */
const ENDPOINTS_MAX = 5_000;
/** The counts are kept this long, because reading the large documents is expensive and health changes slowly. */
const MAX_AGE_MS = 60_000;

type Counts = Awaited<ReturnType<Readings["endpoints"]>>;

export const endpointsReading = (views: Pick<ViewStore, "page">, clock: Clock): Readings["endpoints"] => {
  let kept: { readonly counts: Counts; readonly at: number } | null = null;

  const counted = async (): Promise<Counts> => {
    const counts = { healthy: 0, degraded: 0, open: 0, disabled: 0 };
    let looked = 0;
    const query = { where: [], sort: { field: "account", order: "asc" }, limit: PAGE } as const;
    for await (const page of pagesIn(views, endpoints, query)) {
      for (const { document } of page) {
        if (document.deleted === 0) counts[healthOf(document, clock.now()).state] += 1;
      }
      looked += page.length;
      if (looked >= ENDPOINTS_MAX) break;
    }
    return counts;
  };

  return async () => {
    if (kept === null || Math.abs(clock.now() - kept.at) >= MAX_AGE_MS) {
      kept = { counts: await counted(), at: clock.now() };
    }
    return kept.counts;
  };
};
