export type GateName =
  | "scope"
  | "schema"
  | "require_fields"
  /** This gate appears only in denials: the payload has a wrong amount. */
  | "cost"
  | "content"
  | "rate"
  | "loop"
  | "budget"
  | "quota"
  /** This gate appears only in denials: the account has stored as many bytes as its plan allows in a day. */
  | "bytes"
  | "approval"
  | "bundle";
export type GateOutcome = "allow" | "deny" | "hold";

export type PolicyRef = { readonly id: string; readonly version: number };

/** `steps`: indexes of the bundle's steps that the policy applies to; absent for the whole request. */
export type AppliedPolicy = PolicyRef & { readonly steps?: readonly number[] };

/** `code` is kebab-case, "ok" if allowed. `policy` is absent if one policy was asked, or if the gate needs none. */
export type GateResult = {
  readonly gate: GateName;
  readonly outcome: GateOutcome;
  readonly code: string;
  readonly detail: string;
  readonly policy?: PolicyRef;
};

/** `observed`: a gate denies, but the policy only observes. `policies` is present if several policies were asked. */
export type Verdict = {
  readonly decision: GateOutcome;
  readonly policy: PolicyRef | null;
  readonly policies?: readonly AppliedPolicy[];
  readonly gates: readonly GateResult[];
  readonly observed?: true;
};

export const policiesOf = ({ policy, policies }: Pick<Verdict, "policy" | "policies">): readonly AppliedPolicy[] =>
  policies ?? (policy === null ? [] : [policy]);

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
