import { accept, type Decider, reject } from "../decider.ts";
import { type Erased, erasedWith, isErasedAt } from "../delivery/erased.ts";
import type { ErasedUpTo } from "../delivery/events.ts";
import type { BundleEvent } from "./events.ts";

export type ErasableBundle = {
  readonly decided: boolean;
  /** No later request stores the payload again, so an erasure takes all that the streams hold. */
  readonly claimed: boolean;
  /** When the last sending, hold or resolution by hand ended; null while one may follow, and before any decision. */
  readonly endedAt: string | null;
  /**
   * The deliveries of the steps and undos. A crash before a start leaves a payload, so those never started are included.
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
  /** The last revision of the payload's stream, read after all that this decision is based on. */
  readonly upTo: ErasedUpTo;
  /** Refuses unless the bundle ended by this time. Absent: erased whatever becomes of it. */
  readonly endedUpTo?: string;
};

export type BundleErasureRejection = "absent" | "under-way" | "not-ended";

const withEvents = (state: ErasableBundle, ...ids: readonly string[]): ErasableBundle => ({
  ...state,
  events: [...new Set([...state.events, ...ids])],
});

/** A bundle's payloads are erased together: until it ends, an undo is made from what its step was sent and answered. */
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
