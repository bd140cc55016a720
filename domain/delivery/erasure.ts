import { accept, type Decider, reject } from "../decider.ts";
import type { Reason } from "../personal/words.ts";
import { erasedWith, isErasedAt } from "./erased.ts";
import type { DeliveryEvent, ErasedUpTo } from "./events.ts";

export type Erasable = {
  readonly decided: boolean;
  /** True once no later request stores the payload again, so that an erasure takes all that the stream holds. */
  readonly claimed: boolean;
  /** When the last sending or hold ended; null while one is under way, and before any decision. */
  readonly endedAt: string | null;
  readonly leaseUntil: string | null;
  readonly erasedAt: string | null;
  readonly erased: ErasedUpTo;
};

export type ErasePayload = {
  readonly type: "ErasePayload";
  readonly eventId: string;
  readonly reason: Reason;
  readonly at: string;
  /** The last revision of the payload's stream to erase, read after all that this decision is based on. */
  readonly upTo: ErasedUpTo;
  readonly endedUpTo?: string;
};

export type ErasureRejection = "absent" | "under-way" | "not-ended";

export const erasure: Decider<Erasable, ErasePayload, DeliveryEvent, ErasureRejection> = {
  initial: { decided: false, claimed: false, endedAt: null, leaseUntil: null, erasedAt: null, erased: null },

  evolve(state, event) {
    switch (event.type) {
      case "EventAdmitted":
      case "EventBlocked":
      case "EventHeld": {
        const { at, endpoint_id } = event.data;
        const isOver = event.type === "EventBlocked" || (event.type === "EventAdmitted" && endpoint_id === null);
        // A blocked event that is sent again stores its payload again, so it is not claimed.
        const claimed = event.type !== "EventBlocked";
        return { ...state, decided: true, claimed, endedAt: isOver ? at : null, leaseUntil: null, erasedAt: null };
      }
      case "EventReleased":
        return { ...state, endedAt: event.data.endpoint_id === null ? event.data.at : null };
      case "HoldEnded":
      case "EventCancelled":
      case "EventDelivered":
      case "DeliveryFailed":
        return { ...state, endedAt: event.data.at, leaseUntil: null };
      case "AdmissionAbandoned":
        // The abandoned request was never decided but may have stored its payload, so retention erases it as well.
        return { ...state, endedAt: event.data.at };
      case "EventReplayed":
        return { ...state, endedAt: null };
      case "AttemptStarted":
        return { ...state, leaseUntil: event.data.lease_until };
      case "AttemptSucceeded":
      case "AttemptFailed":
        return { ...state, leaseUntil: null };
      case "PayloadErased":
        return { ...state, erasedAt: event.data.at, erased: erasedWith(state.erased, event.data) };
      default:
        return state;
    }
  },

  decide({ eventId, reason, at, upTo, endedUpTo }, { decided, endedAt, leaseUntil, erasedAt, erased }) {
    if (!decided && (endedUpTo === undefined || endedAt === null)) return reject("absent");
    // After an erasure before the end, an answer may have been stored, so the erasure is recorded once more.
    const wasOver = endedUpTo === undefined || endedAt === null || erasedAt === null || endedAt <= erasedAt;
    const isCovered = upTo === null || isErasedAt(erased, upTo);
    if (erasedAt !== null && wasOver && isCovered) return accept();
    if (endedUpTo !== undefined && (endedAt === null || endedAt > endedUpTo)) return reject("not-ended");
    if (leaseUntil !== null && leaseUntil > at) return reject("under-way");
    return accept({ type: "PayloadErased", data: { event_id: eventId, reason, up_to: upTo, at } });
  },
};
