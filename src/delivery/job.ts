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
       * - `due`: the delivery's schedule says so; the job waits while the circuit is open.
       * - `ordered`: the endpoint has recovered, and its order goes before the delivery's schedule.
       * - `replay`: a single event that was sent again, which bypasses an open circuit and the order. Bulk replays are `due`.
       * - `undo`: the undo of a bundle's step, or a cancelled delivery. It is tried once even if the endpoint is disabled:
       *   otherwise the bundle would never learn that the step cannot be undone.
       */
      readonly kind: "due" | "ordered" | "replay" | "undo";
    }
  | {
      /** A probe finds out whether an endpoint whose circuit is open has recovered. */
      readonly kind: "probe";
      /** True if the probe is an attempt of the schedule, because another event got through since this one failed. */
      readonly isCounted: boolean;
    };

export type Job = JobKey &
  Kind & {
    readonly trace?: Trace;
    readonly known?: StreamState<Delivery>;
    readonly body?: Buffer;
    readonly contentType?: string;
    readonly contentEncoding?: string;
  };

export const bypassesCircuit = ({ kind }: Job): boolean => kind === "replay" || kind === "undo";

const WAIT_MAX_MS = 2 * DAY_MS;

/** A due time more than two days ahead was recorded while a clock was ahead, so the delivery does not wait for it. */
export const isBeyondAnySchedule = (dueAtMs: number, nowMs: number): boolean => dueAtMs - nowMs > WAIT_MAX_MS;
