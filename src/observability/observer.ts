/** Operators read these reports, so they have no name, address, header or payload. No method is slow or throws. */
export type Observer = {
  answered(call: AnswerReport): void;
  decided(decision: DecisionReport): void;
  attempted(attempt: AttemptReport): void;
  /** `whose` is "nobody" if the account is not known. */
  refused(problem: string, whose: "account" | "nobody"): void;
  reserved(batch: number): void;
  /** `count` appends of one call had this outcome. */
  appended(ms: number, outcome: "appended" | "conflict" | "failed", count: number): void;
};

export type AnswerReport = {
  readonly method: string;
  readonly route: string | null;
  readonly status: number;
  readonly ms: number;
};

export type DecisionReport = {
  readonly trace_id: string;
  /** The id of the event or bundle that was decided. */
  readonly id: string;
  readonly origin: "source" | "agent" | "system";
  readonly outcome: "admitted" | "held" | "blocked" | "duplicate";
  /** The gate that denied the request, and `code` its reason; both are null if no gate denied. */
  readonly gate: string | null;
  readonly code: string | null;
  /** Milliseconds since the request was received or replayed. */
  readonly ms: number;
};

export type AttemptReport = {
  readonly trace_id: string;
  readonly event_id: string;
  readonly endpoint_id: string;
  readonly number: number;
  readonly outcome: string;
  readonly status_code: number | null;
  readonly ms: number;
};
