import { accept, type Decider, reject } from "../decider.ts";
import { erasedWith, isErasedAt } from "../delivery/erased.ts";
import type { ErasedUpTo } from "../delivery/events.ts";
import type { Reason } from "../personal/words.ts";
import type { BundleEvent } from "./events.ts";

export type ErasableBundle = {
  readonly decided: boolean;
  /** True once no later request stores the payload again, so that an erasure takes all that the streams hold. */
  readonly claimed: boolean;
  /** When the bundle ended or its last step was resolved by hand; null while something may be sent or held. */
  readonly endedAt: string | null;
  /** Event ids of all steps and undos, even if never started: a crash before a start leaves a payload there. */
  readonly events: readonly string[];
  readonly erasedAt: string | null;
  readonly erased: ErasedUpTo;
};

export type EraseBundlePayload = {
  readonly type: "EraseBundlePayload";
  readonly bundleId: string;
  readonly reason: Reason;
  readonly at: string;
  /** The last revision of the payload's stream to erase, read after all that this decision is based on. */
  readonly upTo: ErasedUpTo;
  /** The bundle must have ended by this time (ISO-8601 UTC); absent: it must have ended, no matter when. */
  readonly endedUpTo?: string;
};

export type BundleErasureRejection = "absent" | "under-way" | "not-ended";

const withEvents = (state: ErasableBundle, ...ids: readonly string[]): ErasableBundle => ({
  ...state,
  events: [...new Set([...state.events, ...ids])],
});

/** A bundle's payloads are erased together: until the bundle ends, an undo may use its step's payload and answer. */
export const bundleErasure: Decider<ErasableBundle, EraseBundlePayload, BundleEvent, BundleErasureRejection> = {
  initial: { decided: false, claimed: false, endedAt: null, events: [], erasedAt: null, erased: null },

  evolve(state, event) {
    switch (event.type) {
      case "BundleAdmitted":
      case "BundleHeld": {
        const { steps } = event.data;
        const claimed = { ...state, decided: true, claimed: true, endedAt: null, erasedAt: null };
        return withEvents(claimed, ...steps.flatMap(({ event_id, undo_event_id }) => [event_id, undo_event_id]));
      }
      case "BundleBlocked":
        // A blocked bundle that is sent again stores its payload again, so an earlier erasure no longer counts.
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
    // An abandoned request was never decided but may have stored its payload, so retention erases it as well.
    if (!decided && (endedUpTo === undefined || endedAt === null)) return reject("absent");
    // A step resolved by hand moves the bundle's end, so an erasure from before that end is recorded once more.
    const wasOver = endedUpTo === undefined || endedAt === null || erasedAt === null || endedAt <= erasedAt;
    const isCovered = upTo === null || isErasedAt(erased, upTo);
    if (erasedAt !== null && wasOver && isCovered) return accept();
    if (endedAt === null) return reject("under-way");
    if (endedUpTo !== undefined && endedAt > endedUpTo) return reject("not-ended");
    return accept({ type: "BundlePayloadErased", data: { bundle_id, reason, up_to: upTo, at } });
  },
};
