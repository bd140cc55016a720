import type { Origin } from "../../domain/delivery/events.ts";
import type { AppliedPolicy, GateResult, PolicyRef, Verdict } from "../../domain/gate/verdict.ts";
import { closed, count, list, oneOf, optional, orNull, text } from "./json-schema.ts";

const GATES: readonly GateResult["gate"][] = [
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

export const origin_kind = oneOf(KINDS, "What kind of sender it came from; system: a notification.");
export const origin_id = text(
  "The sender's id, src_… or agt_…; what a notification is called, such as approval.requested.",
);

export const ORIGIN = closed<Origin>("Who sent it, as it was then.", {
  kind: origin_kind,
  id: origin_id,
  name: text("What the account called the sender then."),
  type: text("The provider of a source, such as stripe; agent for an agent."),
});

const REF = {
  id: text("The policy's id, pol_…."),
  version: count("The version that was in force; policy-versions.v1 has it."),
};

const GATE = closed<GateResult>("One check.", {
  gate: oneOf(GATES, "Which check."),
  outcome: oneOf(OUTCOMES, "How it ended."),
  code: text("Why, for machines; ok when it was allowed."),
  detail: text("Why, in a sentence for a person."),
  policy: optional(closed<PolicyRef>("Whose gate it is, where several policies were asked.", REF)),
});

const POLICY = closed<NonNullable<Verdict["policy"]>>("The policy it was checked against.", {
  ...REF,
});

const APPLIED = closed<AppliedPolicy>("A policy that was asked.", {
  ...REF,
  steps: optional(list(count("From 0."), "The steps of a bundle that it applies to. Missing: the whole request.")),
});

export const VERDICT = closed<Verdict>("The last decision, as it was made; it is never computed again.", {
  decision: oneOf(OUTCOMES, "What was decided."),
  policy: orNull(POLICY, "the source had no policy."),
  policies: optional(list(APPLIED, "All policies that were asked, where there are several.")),
  gates: list(GATE, "Each check that was made, in its order."),
  observed: optional({
    const: true,
    description: "A gate was violated, and the policy only observes. Missing: nothing was violated, or it was refused.",
  }),
});
