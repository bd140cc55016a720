import type { DeliveryEvent, Failure } from "./events.ts";

/** The latest result of a delivery. */
export type Outcome = {
  /** The last attempt that has ended; `statusCode` is null if there was no answer. */
  readonly attempt: { readonly number: number; readonly statusCode: number | null } | null;
  readonly failure: Failure | null;
};

/** For answers only: nothing is decided on it. */
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
