import type { Request } from "../../domain/delivery/events.ts";
import type { GateResult } from "../../domain/gate/verdict.ts";
import { type Problem, type ProblemCode, problem } from "../problems.ts";
import type { Judged } from "./judge.ts";
import { mayPassLater } from "./ledger-gates.ts";

const PROBLEM_OF: Readonly<Record<GateResult["gate"], ProblemCode>> = {
  scope: "out-of-scope",
  schema: "gate-schema",
  require_fields: "gate-require-fields",
  content: "gate-content",
  rate: "gate-rate",
  loop: "gate-loop",
  budget: "gate-budget",
  quota: "gate-quota",
  approval: "forbidden",
  // Never denies: what it stands for was decided before.
  bundle: "forbidden",
};

/** What the gate that refused a request says to whoever sent it. */
export const refusal = (
  { verdict, event_id }: Pick<Request, "verdict" | "event_id">,
  { refusedBy: gate, retryAfterS }: Pick<Judged, "refusedBy" | "retryAfterS">,
): Problem =>
  problem(gate === undefined ? "gate-content" : PROBLEM_OF[gate.gate], gate?.detail ?? "Refused by the policy", {
    // A verdict is plain JSON by its type.
    extra: { event_id, verdict: verdict as never },
    ...(retryAfterS === null ? {} : { retryAfterS }),
    // The gate asks for another request, not for patience.
    ...(gate !== undefined && !mayPassLater(gate) ? { retryable: false } : {}),
  });
