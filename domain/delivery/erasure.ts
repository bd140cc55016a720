import { accept, type Decider, reject } from "../decider.ts";
import type { DeliveryEvent } from "./events.ts";

/** What an erasure of the payload depends on. */
export type Erasable = {
  readonly decided: boolean;
  /** Set during an attempt: its answer would be kept behind the erasure. */
  readonly leaseUntil: string | null;
  readonly erasedAt: string | null;
};

export type ErasePayload = {
  readonly type: "ErasePayload";
  readonly eventId: string;
  readonly reason: string;
  readonly at: string;
};

export type ErasureRejection = "absent" | "under-way";

/** The second decider on a delivery's stream: who reads it for one purpose need not know the other's state. */
export const erasure: Decider<Erasable, ErasePayload, DeliveryEvent, ErasureRejection> = {
  initial: { decided: false, leaseUntil: null, erasedAt: null },

  evolve(state, event) {
    switch (event.type) {
      case "EventAdmitted":
      case "EventBlocked":
      case "EventHeld":
        // A blocked event that comes again brings its payload again.
        return { decided: true, leaseUntil: null, erasedAt: null };
      case "AttemptStarted":
        return { ...state, leaseUntil: event.data.lease_until };
      case "AttemptSucceeded":
      case "AttemptFailed":
        return { ...state, leaseUntil: null };
      case "PayloadErased":
        return { ...state, erasedAt: event.data.at };
      default:
        return state;
    }
  },

  decide({ eventId, reason, at }, { decided, leaseUntil, erasedAt }) {
    if (!decided) return reject("absent");
    if (erasedAt !== null) return accept();
    if (leaseUntil !== null && leaseUntil > at) return reject("under-way");
    return accept({ type: "PayloadErased", data: { event_id: eventId, reason, at } });
  },
};
