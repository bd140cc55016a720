/**
 * Follows events through the service, for metrics and log lines. Every operator may read these, so they carry ids of events,
 * endpoints and traces, and no name, address, header or payload. The calls are part of the path: they are quick and never
 * throw.
 */
export type Observer = {
  answered(call: Answered): void;
  decided(decision: Decided): void;
  attempted(attempt: Attempted): void;
  /** A refused call was recorded; "nobody": its account is not known. */
  refused(problem: string, whose: "account" | "nobody"): void;
  /** `batch` commands were decided by one append to a ledger. */
  reserved(batch: number): void;
  appended(ms: number, outcome: "appended" | "conflict" | "failed"): void;
};

export type Answered = {
  readonly method: string;
  /** The route's template; null if no route matches. */
  readonly route: string | null;
  readonly status: number;
  readonly ms: number;
};

export type Decided = {
  readonly trace_id: string;
  /** The id of an event or a bundle. */
  readonly id: string;
  readonly origin: "source" | "agent" | "system";
  readonly outcome: "admitted" | "held" | "blocked" | "duplicate";
  /** The gate that refused, and the code of its reason; null if none did. */
  readonly gate: string | null;
  readonly code: string | null;
  /** Since it was received or replayed. */
  readonly ms: number;
};

export type Attempted = {
  readonly trace_id: string;
  readonly event_id: string;
  readonly endpoint_id: string;
  readonly number: number;
  /** "succeeded", or how it failed. */
  readonly outcome: string;
  readonly status_code: number | null;
  readonly ms: number;
};
