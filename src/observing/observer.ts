/**
 * What is told of the path of an event while it is walked, for metrics and log lines. Only what may be seen by everybody who
 * runs the service: an id is of an event or a trace, and no name, address, header or payload is among it. Each call has to
 * be quick and must not throw: it is made in the path.
 */
export type Observer = {
  answered(call: Answered): void;
  decided(decision: Decided): void;
  attempted(attempt: Attempted): void;
  /** A call was refused, and that is recorded: of an account, or of nobody who is known. */
  refused(problem: string, whose: "account" | "nobody"): void;
  /** So many commands were decided by one append to a ledger. */
  reserved(batch: number): void;
  /** From the call to the answer. */
  appended(ms: number, outcome: "appended" | "conflict" | "failed"): void;
};

export type Answered = {
  readonly method: string;
  /** The route's template; null for an address that there is no route for. */
  readonly route: string | null;
  readonly status: number;
  readonly ms: number;
};

export type Decided = {
  readonly trace_id: string;
  /** Of an event or a bundle. */
  readonly id: string;
  readonly origin: "source" | "agent" | "system";
  readonly outcome: "admitted" | "held" | "blocked" | "duplicate";
  /** Of the gate that refused, and of its reason; null when none did. */
  readonly gate: string | null;
  readonly code: string | null;
  /** Since it was received, or somebody had it decided once more. */
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
