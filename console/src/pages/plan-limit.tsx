import type { Problem } from "../api/calls.ts";

/** Refusals by the account's plan. */
const CODES: readonly string[] = ["plan-limit", "limit-reached"];

/** Leads to where the limits and the larger plans stand, after a refusal by one of them. */
export const PlanLimit = ({ problem }: { readonly problem: Problem | null }) =>
  problem !== null && CODES.includes(problem.code) ? (
    <a class="btn" href="/usage">
      Open usage
    </a>
  ) : null;
