import { DAY_MS } from "../../domain/calendar.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import type { Trace } from "../streams/envelope.ts";
import type { StreamState } from "../streams/run-command.ts";

export type JobKey = {
  readonly eventId: string;
  readonly account: string;
  readonly endpointId: string;
};

type Kind =
  | {
      /**
       * - `due`: its schedule says so; it waits while the circuit is open.
       * - `ordered`: its turn in the order of admission comes before its schedule, once the endpoint has recovered.
       * - `replay`: this one event was sent again, so it bypasses an open circuit and the order. An event of a bulk
       *   replay is `due`.
       * - `undo`: it takes a bundle's step back, or was cancelled. It is tried once even if the endpoint is disabled:
       *   otherwise the bundle would never learn that the step cannot be undone.
       */
      readonly kind: "due" | "ordered" | "replay" | "undo";
    }
  | {
      /** It finds out whether an endpoint whose circuit is open has recovered. */
      readonly kind: "probe";
      /** Its schedule counts this attempt: since the event failed, another one got through. */
      readonly isCounted: boolean;
    };

/** A delivery to attempt. The log has all that is left out; what the admission hands over saves reading it. */
export type Job = JobKey &
  Kind & {
    readonly trace?: Trace;
    readonly known?: StreamState<Delivery>;
    readonly body?: Buffer;
    readonly contentType?: string;
    readonly contentEncoding?: string;
  };

export const bypassesCircuit = ({ kind }: Job): boolean => kind === "replay" || kind === "undo";

/** No schedule and no Retry-After asks for more. */
const WAIT_MAX_MS = 2 * DAY_MS;

/** A due time that far ahead was recorded while a clock was ahead, so the delivery does not wait for it. */
export const isBeyondAnySchedule = (dueAtMs: number, nowMs: number): boolean => dueAtMs - nowMs > WAIT_MAX_MS;
