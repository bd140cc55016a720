import type { Clock } from "../../domain/ports/clock.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { type EndpointDocument, endpoints, healthOf } from "../../projections/endpoints.ts";
import type { Readings } from "./readings.ts";

const VIEW = endpoints.schema.name;
const PAGE = 500;
/** With more endpoints, the figures count only these. */
const ENDPOINTS_MAX = 5_000;
/** The documents are large, and health changes slowly. */
const MAX_AGE_MS = 60_000;

type Counts = Awaited<ReturnType<Readings["endpoints"]>>;

export const endpointsReading = (views: Pick<ViewStore, "page">, clock: Clock): Readings["endpoints"] => {
  let kept: { readonly counts: Counts; readonly at: number } | null = null;

  const counted = async (): Promise<Counts> => {
    const counts = { healthy: 0, degraded: 0, open: 0, disabled: 0 };
    let after: { readonly value: string; readonly id: string } | null = null;
    for (let looked = 0; looked < ENDPOINTS_MAX; looked += PAGE) {
      const page = await views.page(VIEW, {
        where: [],
        sort: { field: "account", order: "asc" },
        limit: PAGE,
        ...(after === null ? {} : { after }),
      });
      for (const { document } of page) {
        // The view's projection wrote it.
        const it = document as unknown as EndpointDocument;
        if (it.deleted === 0) counts[healthOf(it, clock.now()).state] += 1;
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      after = { value: String(last.document.account), id: last.id };
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
