import { accept, type Decider, reject } from "../decider.ts";
import { type Erased, erasedWith, isErasedAt } from "../delivery/erased.ts";
import type { ErasedUpTo } from "../delivery/events.ts";
import type { BundleEvent } from "./events.ts";

/** What an erasure of a bundle's payloads depends on. */
export type ErasableBundle = {
  readonly decided: boolean;
  /**
   * Since when nothing is sent any more that would be kept behind the erasure, and nobody takes steps back by hand, who
   * needs to see what they were; null while something is, and before anything is known.
   */
  readonly endedAt: string | null;
  /** The events that carry its steps and their undos, as far as they were started. */
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

/**
 * A bundle's payloads go together: as long as it may roll back, an undo is made of what its step was sent and answered.
 * The second decider on a bundle's stream, as that of `domain/delivery/erasure.ts` is on a delivery's.
 */
export const bundleErasure: Decider<ErasableBundle, EraseBundlePayload, BundleEvent, BundleErasureRejection> = {
  initial: { decided: false, endedAt: null, events: [], erasedAt: null, erased: null },

  evolve(state, event) {
    switch (event.type) {
      case "BundleAdmitted":
      case "BundleHeld":
        return { ...state, decided: true, endedAt: null, erasedAt: null };
      case "BundleBlocked":
        // One that comes again brings its payload again.
        return { ...state, decided: true, endedAt: event.data.at, erasedAt: null };
      case "BundleReleased":
      case "RollbackStarted":
        return { ...state, endedAt: null };
      case "StepStarted":
      case "UndoStarted":
        return { ...state, events: [...state.events, event.data.event_id] };
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
    const isCovered = upTo === null || (erased !== "all" && isErasedAt(erased, upTo));
    if (erasedAt !== null && isCovered) return accept();
    if (endedAt === null) return reject("under-way");
    if (endedUpTo !== undefined && endedAt > endedUpTo) return reject("not-ended");
    return accept({ type: "BundlePayloadErased", data: { bundle_id, reason, up_to: upTo, at } });
  },
};
