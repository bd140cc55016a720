import { accept, type Decider, reject } from "../decider.ts";
import type { BundleEvent } from "./events.ts";

/** What an erasure of a bundle's payloads depends on. */
export type ErasableBundle = {
  /** Since when it neither goes on nor waits for people; null while it does, and before anything is known. */
  readonly endedAt: string | null;
  /** The events that carry its steps and their undos, as far as they were started. */
  readonly events: readonly string[];
  readonly erasedAt: string | null;
};

export type EraseBundlePayload = {
  readonly type: "EraseBundlePayload";
  readonly bundleId: string;
  readonly reason: string;
  readonly at: string;
  /** Only if it has ended, and no later than that. */
  readonly endedUpTo: string;
};

export type BundleErasureRejection = "not-ended";

/**
 * A bundle's payloads go together: as long as it may roll back, an undo is made of what its step was sent and answered.
 * The second decider on a bundle's stream.
 */
export const bundleErasure: Decider<ErasableBundle, EraseBundlePayload, BundleEvent, BundleErasureRejection> = {
  initial: { endedAt: null, events: [], erasedAt: null },

  evolve(state, event) {
    switch (event.type) {
      case "BundleAdmitted":
      case "BundleHeld":
        return { ...state, endedAt: null, erasedAt: null };
      case "BundleBlocked":
        return { ...state, endedAt: event.data.at, erasedAt: null };
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
      // Who takes steps back by hand needs to see what they were.
      case "StepResolved":
        return { ...state, endedAt: event.data.at };
      case "PayloadErased":
        return { ...state, erasedAt: event.data.at };
      default:
        return state;
    }
  },

  decide({ bundleId, reason, at, endedUpTo }, { endedAt, erasedAt }) {
    if (erasedAt !== null) return accept();
    if (endedAt === null || endedAt > endedUpTo) return reject("not-ended");
    return accept({ type: "PayloadErased", data: { bundle_id: bundleId, reason, at } });
  },
};
