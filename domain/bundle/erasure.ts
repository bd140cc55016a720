import { accept, type Decider, reject } from "../decider.ts";
import { type Erased, erasedWith, isErasedAt } from "../delivery/erased.ts";
import type { ErasedUpTo } from "../delivery/events.ts";
import type { BundleEvent } from "./events.ts";

/** What an erasure of a bundle's payloads depends on. */
export type ErasableBundle = {
  readonly decided: boolean;
  /** Decided for good: no request stores the payload anew, so an erasure takes whatever the streams hold. */
  readonly claimed: boolean;
  /**
   * Since when nothing is sent any more that would be kept behind the erasure, and nobody takes steps back by hand, who
   * needs to see what they were; null while something is, and before anything is known.
   */
  readonly endedAt: string | null;
  /**
   * The events that carry the steps and undos of a claimed bundle. Also those that were never started: a crash before the
   * start leaves a payload.
   */
  readonly events: readonly string[];
  readonly erasedAt: string | null;
  readonly erased: Erased;
};

export type EraseBundlePayload = {
  readonly type: "EraseBundlePayload";
  readonly bundleId: string;
  readonly reason: string;
  readonly at: string;
  /** The last revision of its payload's stream, read behind everything that this is decided on. */
  readonly upTo: ErasedUpTo;
  /** Only if it has ended no later than that; left out where somebody wants it gone. */
  readonly endedUpTo?: string;
};

export type BundleErasureRejection = "absent" | "under-way" | "not-ended";

const withEvents = (state: ErasableBundle, ...ids: readonly string[]): ErasableBundle => ({
  ...state,
  events: [...new Set([...state.events, ...ids])],
});

/**
 * A bundle's payloads go together: as long as it may roll back, an undo is made of what its step was sent and answered.
 * The second decider on a bundle's stream, as that of `domain/delivery/erasure.ts` is on a delivery's.
 */
export const bundleErasure: Decider<ErasableBundle, EraseBundlePayload, BundleEvent, BundleErasureRejection> = {
  initial: { decided: false, claimed: false, endedAt: null, events: [], erasedAt: null, erased: null },

  evolve(state, event) {
    switch (event.type) {
      case "BundleAdmitted":
      case "BundleHeld": {
        const { steps = [] } = event.data;
        const claimed = { ...state, decided: true, claimed: true, endedAt: null, erasedAt: null };
        return withEvents(claimed, ...steps.flatMap(({ event_id, undo_event_id }) => [event_id, undo_event_id]));
      }
      case "BundleBlocked":
        // One that comes again brings its payload again.
        return { ...state, decided: true, endedAt: event.data.at, erasedAt: null };
      case "BundleReleased":
      case "RollbackStarted":
        return { ...state, endedAt: null };
      case "StepStarted":
      case "UndoStarted":
        return withEvents(state, event.data.event_id);
      case "BundleAbandoned":
      case "BundleHoldEnded":
      case "BundleCommitted":
      case "BundleRolledBack":
      case "RollbackIncomplete":
        return { ...state, endedAt: event.data.at };
      case "StepResolved":
        return state.endedAt === null ? state : { ...state, endedAt: event.data.at };
      case "BundlePayloadErased":
        return { ...state, erasedAt: event.data.at, erased: erasedWith(state.erased, event.data) };
      default:
        return state;
    }
  },

  decide({ bundleId: bundle_id, reason, at, upTo, endedUpTo }, { decided, endedAt, erasedAt, erased }) {
    // Of a request that was never decided the payload may be there all the same: retention takes it.
    if (!decided && (endedUpTo === undefined || endedAt === null)) return reject("absent");
    // What was erased before the last step was resolved by hand is recorded once more after that: it ends anew.
    const wasOver = endedUpTo === undefined || endedAt === null || erasedAt === null || endedAt <= erasedAt;
    const isCovered = upTo === null || (erased !== "all" && isErasedAt(erased, upTo));
    if (erasedAt !== null && wasOver && isCovered) return accept();
    if (endedAt === null) return reject("under-way");
    if (endedUpTo !== undefined && endedAt > endedUpTo) return reject("not-ended");
    return accept({ type: "BundlePayloadErased", data: { bundle_id, reason, up_to: upTo, at } });
  },
};
