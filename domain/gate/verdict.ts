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
  /** Appears only where it denies: the account has stored as many bytes in a day as its plan includes. */
  | "bytes"
  | "approval"
  /** Of a step or an undo: what it belongs to was decided on as a whole. */
  | "bundle";
export type GateOutcome = "allow" | "deny" | "hold";

/** One version of a policy. */
export type PolicyRef = { readonly id: string; readonly version: number };

/** A policy that a request had to pass. `steps`: the indexes of a bundle's steps that it applies to; left out: the whole request. */
export type AppliedPolicy = PolicyRef & { readonly steps?: readonly number[] };

/**
 * One check. `code` is for machines, kebab-case, "ok" when allowed; `detail` is a sentence for a person. `policy`: whose
 * gate it is, where several policies were asked; left out where there is one, or where the gate belongs to no policy.
 */
export type GateResult = {
  readonly gate: GateName;
  readonly outcome: GateOutcome;
  readonly code: string;
  readonly detail: string;
  readonly policy?: PolicyRef;
};

/** Stored with the decision and never computed again. `observed`: violated, but the policy only watches. `policies`:
 * all that were asked, where there are several; `policy` is then the first of them. */
export type Verdict = {
  readonly decision: GateOutcome;
  readonly policy: PolicyRef | null;
  readonly policies?: readonly AppliedPolicy[];
  readonly gates: readonly GateResult[];
  readonly observed?: true;
};

/** All policies that a verdict rests on. */
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
