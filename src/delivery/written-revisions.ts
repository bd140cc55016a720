import { LRUCache } from "lru-cache";
import type { StreamState } from "../streams/run-command.ts";

const DELIVERIES_MAX = 20_000;

/** The newest revisions of deliveries that this process wrote, because the view that lists what waits lags a little. */
export class WrittenRevisions {
  readonly #byEvent = new LRUCache<string, number>({ max: DELIVERIES_MAX });

  note(eventId: string, { revision }: StreamState<unknown>): void {
    this.#byEvent.set(eventId, revision ?? 0);
  }

  /** Whether a view that shows the delivery at this revision has all that this process wrote. */
  isFresh(eventId: string, revision: number): boolean {
    return (this.#byEvent.get(eventId) ?? -1) <= revision;
  }
}
