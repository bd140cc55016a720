export type GateName =
  | "scope"
  | "schema"
  | "require_fields"
  /** Appears only where it denies: the payload has a wrong amount where the cost rule looks for one. */
  | "cost"
  | "content"
  | "rate"
  | "loop"
  | "budget"
  | "quota"
  | "approval"
  /** Of a step or an undo: what it belongs to was decided on as a whole. */
  | "bundle";
export type GateOutcome = "allow" | "deny" | "hold";

/** One check. `code` is for machines, kebab-case, "ok" when allowed; `detail` is a sentence for a person. */
export type GateResult = {
  readonly gate: GateName;
  readonly outcome: GateOutcome;
  readonly code: string;
  readonly detail: string;
};

/** Stored with the decision and never computed again. `observed`: violated, but the policy only watches. */
export type Verdict = {
  readonly decision: GateOutcome;
  readonly policy: { readonly id: string; readonly version: number } | null;
  readonly gates: readonly GateResult[];
  readonly observed?: true;
};

export const allowed = (gate: GateName, detail: string): GateResult => ({ gate, outcome: "allow", code: "ok", detail });
export const held = (gate: GateName, code: string, detail: string): GateResult => ({
  gate,
  outcome: "hold",
  code,
  detail,
});
export const denied = (gate: GateName, code: string, detail: string): GateResult => ({
  gate,
  outcome: "deny",
  code,
  detail,
});
