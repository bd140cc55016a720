import type { Failure } from "./attempt-end.ts";
import type { DeliveryEvent } from "./events.ts";

export type Outcome = {
  readonly attempt: { readonly number: number; readonly statusCode: number | null } | null;
  readonly failure: Failure | null;
};

/** This fold is for answers only: nothing is decided on it. */
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
