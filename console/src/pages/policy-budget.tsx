import { euro } from "../../design/format.ts";
import { Gauge } from "../../design/gauge.tsx";
import type { AnswerOf } from "../api/api.ts";
import { spentText } from "./cost-text.ts";

export type Ledger = AnswerOf<"GET /v1/policies/{id}/ledger">;

/** "€612.40 spent, €1,240.00 reserved of €2,000.00"; null without a budget. */
export const budgetWords = ({ settled_eur: settled, reserved_eur: reserved, limits }: Ledger): string | null => {
  const budget = limits?.budget_eur_day ?? null;
  return budget === null ? null : `${spentText(settled, reserved)} of ${euro(budget)}`;
};

/** Spent and reserved of today's budget; nothing without one. */
export const BudgetGauge = ({ ledger }: { readonly ledger: Ledger }) => {
  const budget = ledger.limits?.budget_eur_day ?? null;
  if (budget === null) return null;
  const part = (euros: number): number => (budget === 0 ? 0 : euros / budget);
  const isOver = (ledger.available_eur ?? 0) < 0;
  return (
    <Gauge
      parts={[
        { kind: isOver ? "over" : "done", part: part(ledger.settled_eur) },
        { kind: "held", part: part(ledger.reserved_eur) },
      ]}
    />
  );
};
