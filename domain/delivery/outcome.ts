import type { DeliveryEvent, Failure } from "./events.ts";

/** What the receiver's side of a delivery came to so far. */
export type Outcome = {
  /** The last attempt that has ended, with the status of its answer if there was one. */
  readonly attempt: { readonly number: number; readonly statusCode: number | null } | null;
  /** Of the last attempt, or of the end without one. */
  readonly failure: Failure | null;
};

/** A fold of a delivery's stream for those who answer with it: nothing is decided on it. */
export const outcome = {
  initial: { attempt: null, failure: null } as Outcome, // The type that further events widen it to.
  evolve(state: Outcome, event: DeliveryEvent): Outcome {
    switch (event.type) {
      case "AttemptSucceeded":
        return { attempt: { number: event.data.number, statusCode: event.data.status_code }, failure: null };
      case "AttemptFailed": {
        const { number, status_code: statusCode, failure } = event.data;
        return { attempt: { number, statusCode }, failure };
      }
      case "DeliveryFailed":
        return { ...state, failure: event.data.failure };
      default:
        return state;
    }
  },
};
