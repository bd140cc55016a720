import { accept, type Decider, reject } from "../decider.ts";
import type { BundleEvent } from "./events.ts";

/** What an erasure of the payloads depends on. */
export type ErasableBundle = {
  /** Nothing is sent any more that would be kept behind the erasure. */
  readonly phase: "absent" | "under-way" | "ended";
  readonly erasedAt: string | null;
};

export type EraseBundlePayload = {
  readonly type: "EraseBundlePayload";
  readonly bundleId: string;
  readonly reason: string;
  readonly at: string;
};

export type BundleErasureRejection = "absent" | "under-way";

/** The second decider on a bundle's stream, as that of `domain/delivery/erasure.ts` is on a delivery's. */
export const bundleErasure: Decider<ErasableBundle, EraseBundlePayload, BundleEvent, BundleErasureRejection> = {
  initial: { phase: "absent", erasedAt: null },

  evolve(state, event) {
    switch (event.type) {
      case "BundleAdmitted":
      case "BundleHeld":
        return { phase: "under-way", erasedAt: null };
      case "BundleBlocked":
        // One that comes again brings its payload again.
        return { phase: "ended", erasedAt: null };
      case "BundleHoldEnded":
      case "BundleCommitted":
      case "BundleRolledBack":
      case "RollbackIncomplete":
        return { ...state, phase: "ended" };
      case "BundlePayloadErased":
        return { ...state, erasedAt: event.data.at };
      default:
        return state;
    }
  },

  decide({ bundleId: bundle_id, reason, at }, { phase, erasedAt }) {
    if (phase !== "ended") return reject(phase);
    return erasedAt === null ? accept({ type: "BundlePayloadErased", data: { bundle_id, reason, at } }) : accept();
  },
};
