import { defined } from "../../domain/defined.ts";
import type { GateResult } from "../../domain/gate/verdict.ts";
import { type Problem, type ProblemCode, problem } from "../streams/problems.ts";
import type { Judgement } from "./judge.ts";
import { mayPassLater } from "./limit-results.ts";

const PROBLEM_OF: Readonly<Record<GateResult["gate"], ProblemCode>> = {
  scope: "out-of-scope",
  schema: "gate-schema",
  require_fields: "gate-require-fields",
  cost: "cost-unknown",
  content: "gate-content",
  rate: "gate-rate",
  loop: "gate-loop",
  budget: "gate-budget",
  quota: "gate-quota",
  bytes: "gate-quota",
  // The approval gate denies only if the payload does not let it determine whether a person is needed.
  approval: "gate-content",
  // The bundle gate never denies, so its code is never answered.
  bundle: "forbidden",
};

const isOverHeld = (gate: GateResult | undefined): boolean =>
  gate?.gate === "approval" && gate.code === "limit-reached";

const codeOf = (gate: GateResult | undefined): ProblemCode => {
  if (isOverHeld(gate)) return "limit-reached";
  return gate === undefined ? "gate-content" : PROBLEM_OF[gate.gate];
};

export const denialProblem = (
  name: { readonly event_id: string } | { readonly bundle_id: string },
  { verdict, deniedBy: gate, retryAfterS }: Pick<Judgement, "verdict" | "deniedBy" | "retryAfterS">,
): Problem =>
  problem(codeOf(gate), gate?.detail ?? "Refused by the policy", {
    extra: { ...name, verdict, ...(isOverHeld(gate) ? { limit: "held_approvals" } : {}) },
    ...defined({ retryAfterS: retryAfterS ?? undefined }),
    ...(gate !== undefined && !mayPassLater(gate) ? { retryable: false } : {}),
  });
