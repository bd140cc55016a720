import type { Origin } from "../../domain/delivery/events.ts";
import type { AppliedPolicy, GateResult, PolicyRef, Verdict } from "../../domain/gate/verdict.ts";
import { closed, count, list, oneOf, optional, orNull, text } from "./json-schema.ts";

export const GATES: readonly GateResult["gate"][] = [
  "scope",
  "schema",
  "require_fields",
  "cost",
  "content",
  "rate",
  "loop",
  "budget",
  "quota",
  "bytes",
  "approval",
  "bundle",
];
const OUTCOMES: readonly GateResult["outcome"][] = ["allow", "deny", "hold"];
const KINDS: readonly Origin["kind"][] = ["source", "agent", "system"];

export const origin_kind = oneOf(KINDS, "The kind of sender; system: a notification.");
export const origin_id = text("The sender's id, src_… or agt_…; a notification's name, such as approval.requested.");

export const ORIGIN = closed<Origin>("The sender, with its details of that time.", {
  kind: origin_kind,
  id: origin_id,
  name: text("The sender's name at that time."),
  type: text("The provider of a source, such as stripe; agent for an agent."),
});

const REF = {
  id: text("The policy's id, pol_…."),
  version: count("The version that was in force; policy-versions.v1 has it."),
};

const GATE = closed<GateResult>("One check.", {
  gate: oneOf(GATES, "Which check."),
  outcome: oneOf(OUTCOMES, "How it ended."),
  code: text("A code for programs; ok if the gate allows."),
  detail: text("The reason as a sentence."),
  policy: optional(closed<PolicyRef>("The gate's policy, if several apply.", REF)),
});

const POLICY = closed<NonNullable<Verdict["policy"]>>("The policy it was checked against.", {
  ...REF,
});

const APPLIED = closed<AppliedPolicy>("A policy that applies.", {
  ...REF,
  steps: optional(list(count("From 0."), "The steps of a bundle that it applies to. Missing: the whole request.")),
});

export const VERDICT = closed<Verdict>("The last decision as it was made; it is never recomputed.", {
  decision: oneOf(OUTCOMES, "The decision."),
  policy: orNull(POLICY, "the source had no policy."),
  policies: optional(list(APPLIED, "All policies that apply, if there are several.")),
  gates: list(GATE, "The checks in their order."),
  observed: optional({
    const: true,
    description: "A gate was violated, but the policy only observes. Missing: no gate was, or the request was refused.",
  }),
});
