import type { Failure, Timings } from "../domain/delivery/attempt-end.ts";
import type { BundleStep, HoldOutcome, Origin, PayloadHead, Replay } from "../domain/delivery/events.ts";
import type { DeliveryStatus } from "../domain/delivery/status.ts";
import type { Verdict } from "../domain/gate/verdict.ts";
import type { Position } from "../domain/ports/event-log.ts";
import type { ReplayFilter } from "../domain/replay/events.ts";

/** `unknown`: the attempt began and its process ended before it recorded an outcome. */
type AttemptOutcome = "running" | "succeeded" | "failed" | "unknown";

/** Headers and bodies are in `payload-<event>`, which can be erased. */
export type Attempt = {
  readonly number: number;
  readonly trigger: "auto" | "replay";
  readonly started_at: string;
  readonly outcome: AttemptOutcome;
  readonly duration_ms: number | null;
  readonly status_code: number | null;
  readonly failure: Failure | null;
  readonly timings_ms: Timings | null;
  readonly next_attempt_at: string | null;
};

export type Stage = {
  readonly stage:
    | "received"
    | "authenticated"
    | "gated"
    | "admitted"
    | "blocked"
    | "held"
    | "approved"
    | "attempt"
    | "cancelling"
    | "replayed"
    | "delivered"
    | "failed"
    | "payload_erased"
    | "payload_damaged"
    | "duplicate"
    | "delivery_id_reused"
    | HoldOutcome;
  readonly at: string;
  readonly number?: number;
  readonly reason?: string;
  /** Present on a repeated stage. */
  readonly count?: number;
  readonly last_at?: string;
};

export type EventReplay = Replay & { readonly at: string };

/** Money in micro-euros. */
export type EventDocument = {
  readonly account: string;
  readonly status: DeliveryStatus;
  readonly origin: Origin;
  readonly origin_kind: Origin["kind"];
  readonly origin_id: string;
  readonly endpoint_id: string | null;
  readonly type: string;
  readonly delivery_id: string;
  /** The first request's time, so that the event keeps its place in lists. */
  readonly received_at: string;
  readonly payload: {
    readonly revision: number;
    readonly content_type: string;
    readonly size: number;
    readonly sha256: string;
    /** Absent if the whole body is stored. */
    readonly head?: PayloadHead;
    readonly erased_at: string | null;
  };
  readonly verdict: Verdict;
  readonly cost: number | null;
  /** Absent if none was needed. */
  readonly approval_id?: string;
  /** Absent outside a bundle. */
  readonly bundle?: BundleStep;
  /** More than one if a blocked event was sent again. */
  readonly decisions: number;
  readonly duplicates: number;
  /** Requests with this delivery id and another body. */
  readonly reused: number;
  readonly trace_id: string;
  readonly failure: Failure | null;
  /**
   * The record at which the event failed or was blocked: a bulk replay takes the events that stopped before it began.
   */
  readonly stopped_at?: Position;
  /** Absent if a bulk replay may not select the event, because it was erased or is a bundle's step. */
  readonly replayable?: ReplayFilter["status"];
  /** Oldest first; absent if there was none. */
  readonly replays?: readonly EventReplay[];
  /** The first and the last attempts. */
  readonly attempts: readonly Attempt[];
  /** The number of attempts left out between them. */
  readonly attempts_left_out?: number;
  /** The first and the last stages. */
  readonly timeline: readonly Stage[];
  readonly stages_left_out?: number;
};
