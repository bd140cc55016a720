import { LRUCache } from "lru-cache";
import type { StreamState } from "../streams/run-command.ts";

const DELIVERIES_MAX = 20_000;

/** What this process has written to deliveries, because the view that lists waiting deliveries lags behind. */
export class WrittenRevisions {
  readonly #byEvent = new LRUCache<string, number>({ max: DELIVERIES_MAX });

  note(eventId: string, { revision }: StreamState<unknown>): void {
    this.#byEvent.set(eventId, revision ?? 0);
  }

  isFresh(eventId: string, revision: number): boolean {
    return (this.#byEvent.peek(eventId) ?? -1) <= revision;
  }
}
