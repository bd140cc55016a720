import type { Clock } from "../../domain/ports/clock.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { deliveryQueue } from "../../projections/delivery-queue.ts";
import type { QueueReading } from "./readings.ts";

const VIEW = deliveryQueue.schema.name;
/** Counting reads each entry of the queue, so a longer queue is reported as this long. */
const DEPTH_MAX = 100_000;
/** Each endpoint costs a query. With more endpoints than this, the oldest event may be older than reported. */
const ENDPOINTS_MAX = 200;

export const queueReading =
  (views: Pick<ViewStore, "page" | "count">, clock: Clock) => async (): Promise<QueueReading> => {
    let oldest = Number.POSITIVE_INFINITY;
    let endpointId = "";
    for (let looked = 0; looked < ENDPOINTS_MAX; looked += 1) {
      const [next] = await views.page(VIEW, {
        where: [{ field: "endpoint_id", is: ">", value: endpointId }],
        sort: { field: "endpoint_id", order: "asc" },
        limit: 1,
      });
      if (next === undefined) break;
      endpointId = String(next.document.endpoint_id);
      const [first] = await views.page(VIEW, {
        where: [{ field: "endpoint_id", is: "=", value: endpointId }],
        sort: { field: "due_at", order: "asc" },
        limit: 1,
      });
      oldest = Math.min(oldest, Date.parse(String(first?.document.admitted_at ?? next.document.admitted_at)));
    }
    const depth = await views.count(VIEW, [], DEPTH_MAX);
    return { depth, oldestS: oldest === Number.POSITIVE_INFINITY ? 0 : Math.max(0, (clock.now() - oldest) / 1_000) };
  };
