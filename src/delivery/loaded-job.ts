import type { ActiveDelivery, Delivery } from "../../domain/delivery/state.ts";
import type { PresentEndpoint } from "../../domain/endpoint/decider.ts";
import type { Trace } from "../streams/envelope.ts";
import type { StreamState } from "../streams/run-command.ts";
import type { Job } from "./job.ts";

/** A job with its delivery as the log has it, and the trace in which the event came. */
export type LoadedJob = { readonly job: Job; readonly known: StreamState<Delivery>; readonly trace: Trace };

export type ActiveJob = LoadedJob & { readonly known: StreamState<ActiveDelivery> };

export type PreparedJob = ActiveJob & {
  readonly body: Buffer;
  readonly endpoint: PresentEndpoint;
  /** True if the target comes from an approval and the endpoint has another target by now. */
  readonly isFormerTarget: boolean;
  readonly isCircuitOpen: boolean;
};

/** The start of the attempt is in the log. `startedAt` is in ms since 1970. */
export type LeasedJob = PreparedJob & { readonly startedAt: number };
