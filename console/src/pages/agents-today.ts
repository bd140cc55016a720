import { type AnswerOf, call } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { todayQuery } from "./agents-query.ts";
import { hasNoCost } from "./cost-text.ts";
import { listHref } from "./figures.tsx";
import { useBudgets } from "./overview-budgets.tsx";
import type { Ledger } from "./policy-budget.tsx";

export type Today = {
  readonly spent: number;
  /** Set aside for what is held or still to be sent. */
  readonly reserved: number;
  readonly isFree: boolean;
  readonly refused: number;
  /** The list of the refused ones. */
  readonly refusedHref: string;
  /** What all agents and sources of its policy have used of the budget; null without a budget. */
  readonly ledger: Ledger | null;
};

type Agent = { readonly id: string; readonly policy_id: string | null };

/** What each agent did since midnight in the account's zone; undefined for one of which it is not known. */
type ByAgent = (agent: Agent) => Today | undefined;

/** Null while it is read. */
export const useToday = (): ByAgent | null => {
  const stats = useAnswer<AnswerOf<"GET /v1/stats">>({ key: "agents today", on: { topic: "events", id: null } }, () =>
    call("GET /v1/stats", { query: todayQuery(Date.now()) }),
  );
  const policies = useBudgets();
  const { body } = stats;
  if (body === null || policies.body === null)
    return stats.problem === null && policies.problem === null ? null : () => undefined;
  const isCut = body.series.some(({ rest }) => rest > 0);
  const of = (metric: string, id: string) => body.series.find((it) => it.metric === metric && it.key === id);
  const known = new Map(policies.body.data.map((it) => [it.id, it]));
  return ({ id, policy_id: policyId }) => {
    // Of more agents than one answer has, those that cost the least are added up as one.
    if (isCut && of("cost_eur", id) === undefined) return undefined;
    const policy = policyId === null ? undefined : known.get(policyId);
    const [spent, reserved] = [of("spent_eur", id)?.value ?? 0, of("reserved_eur", id)?.value ?? 0];
    return {
      ...{ spent, reserved, isFree: hasNoCost({ policyId, policy, spent, reserved }) },
      refused: of("blocked", id)?.value ?? 0,
      refusedHref: listHref(of("blocked", id)),
      ledger: policy?.ledger ?? null,
    };
  };
};
