import type { ViewStore } from "../../domain/ports/view-store.ts";
import type { SkipReason } from "../../domain/replay/skips.ts";
import type { EventDocument } from "../../projections/event-document.ts";
import { events } from "../../projections/events.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { typedDocument } from "../views/typed-documents.ts";
import { type Fate, fateOf, type WaitReason } from "./replay-fates.ts";

/** What the replay of one event by its id would do now. */
export type EventPlan = {
  readonly event_id: string;
  readonly status: EventDocument["status"];
  /** Why it would not be replayed; null if it would be. */
  readonly skipped: SkipReason | null;
  /** Where it waits, and for what; null if the endpoint takes deliveries, or the event would not be replayed. */
  readonly waiting: { readonly endpoint_id: string; readonly reason: WaitReason } | null;
};

export type EventPlanDeps = {
  readonly views: Pick<ViewStore, "getMany">;
  readonly aggregates: Pick<Aggregates, "load">;
};

/** An event in another state cannot be replayed until it has failed or was refused. */
const fateNow = async (aggregates: EventPlanDeps["aggregates"], event: EventDocument): Promise<Fate> =>
  event.status === "failed" || event.status === "blocked"
    ? fateOf(aggregates, event.status, event)
    : { skip: "changed" };

/** In the order of the ids; events that the account does not have are left out. */
export const planEvents = async (
  { views, aggregates }: EventPlanDeps,
  account: string,
  ids: readonly string[],
): Promise<readonly EventPlan[]> => {
  const found = await views.getMany(events.schema.name, ids);
  const plans: EventPlan[] = [];
  for (const id of ids) {
    const kept = found.get(id);
    if (kept === undefined) continue;
    const event = typedDocument<EventDocument>(kept);
    if (event.account !== account) continue;
    const fate = await fateNow(aggregates, event);
    const waits = "skip" in fate ? null : fate.waiting;
    plans.push({
      event_id: id,
      status: event.status,
      skipped: "skip" in fate ? fate.skip : null,
      waiting: waits && { endpoint_id: waits.endpointId, reason: waits.reason },
    });
  }
  return plans;
};
