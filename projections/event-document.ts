import type { Failure, Timings } from "../domain/delivery/attempt-end.ts";
import type { BundleStep, HoldOutcome, Origin, Replay, Sample } from "../domain/delivery/events.ts";
import type { DeliveryStatus } from "../domain/delivery/status.ts";
import type { Verdict } from "../domain/gate/verdict.ts";
import type { Reason } from "../domain/personal/words.ts";
import type { Position } from "../domain/ports/event-log.ts";
import type { ReplayFilter } from "../domain/replay/events.ts";

/** `unknown` means that the attempt's process ended before it recorded an outcome. */
type AttemptOutcome = "running" | "succeeded" | "failed" | "unknown";

/** `sha256` is the commitment in the record: hex SHA-256 over a salt and the bytes. */
export type PayloadHead = { readonly size: number; readonly sha256: string };

/** An attempt's headers and bodies are not here but in `payload-<event>`, which can be erased. */
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
  readonly reason?: Reason;
  /** How often the stage was repeated, and (`last_at`) when last; absent for a stage that happens once. */
  readonly count?: number;
  readonly last_at?: string;
};

export type EventReplay = Replay & { readonly at: string };

/** Amounts of money are in micro-euros. */
export type EventDocument = {
  readonly account: string;
  readonly status: DeliveryStatus;
  readonly origin: Origin;
  readonly origin_kind: Origin["kind"];
  readonly origin_id: string;
  readonly endpoint_id: string | null;
  /** The policy that decided; absent without one. */
  readonly policy_id?: string;
  /** The agent's own id of the task to which the request belongs; absent if it gave none. */
  readonly run_id?: string;
  readonly type: string;
  /** Absent if a sender sent the event. */
  readonly sample?: Sample;
  readonly delivery_id: string;
  /** When the first request came, so that an event that is sent again keeps its place in lists. */
  readonly received_at: string;
  readonly payload: {
    readonly revision: number;
    readonly content_type: string;
    readonly size: number;
    readonly sha256: string;
    /** The stored beginning of a body that is not stored whole; absent if the whole body is stored. */
    readonly head?: PayloadHead;
    readonly erased_at: string | null;
  };
  readonly verdict: Verdict;
  readonly cost: number | null;
  /** Absent if the event needed no approval. */
  readonly approval_id?: string;
  /** Absent if the event is not part of a bundle. */
  readonly bundle?: BundleStep;
  /** Number of decisions: more than one if a blocked event was sent again. */
  readonly decisions: number;
  readonly duplicates: number;
  /** Number of requests that had this delivery id but another body. */
  readonly reused: number;
  readonly trace_id: string;
  readonly failure: Failure | null;
  /**
   * The record at which the event failed or was blocked. A bulk replay takes only events that stopped before it began.
   */
  readonly stopped_at?: Position;
  /** The status by which a bulk replay selects the event; absent if the event is erased or a bundle's step. */
  readonly replayable?: ReplayFilter["status"];
  /** The replays, the oldest first; absent if there was none. */
  readonly replays?: readonly EventReplay[];
  /** The first attempts and the last; those between may be left out. */
  readonly attempts: readonly Attempt[];
  /** Number of attempts that are left out between the first and the last. */
  readonly attempts_left_out?: number;
  /** The first stages and the last; those between may be left out. */
  readonly timeline: readonly Stage[];
  readonly stages_left_out?: number;
};
