import { euro } from "../../design/format.ts";
import { Gauge, GaugeKey } from "../../design/gauge.tsx";
import { Section } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { type Shown, useAnswer } from "../shell/use-answer.ts";
import { spentText } from "./cost-text.ts";
import { BUDGETS_QUERY } from "./overview-query.ts";

type Policies = AnswerOf<"GET /v1/policies">;
type Ledger = NonNullable<Policies["data"][number]["ledger"]>;

const SHOWN_MAX = 6;
/** So that they leave a member most of the calls of a minute while events arrive all the time. */
const REFRESH_MS = 10_000;

type BudgetProps = { readonly id: string; readonly name: string; readonly budget: number; readonly ledger: Ledger };

const OneBudget = ({ id, name, budget, ledger: { settled_eur: spent, reserved_eur: reserved } }: BudgetProps) => (
  <li>
    <div class="row">
      <a href={`/policies/${encodeURIComponent(id)}`}>{name}</a>
      <span class="end num">
        <b>{spentText(spent, reserved)}</b> <span class="soft">of {euro(budget)}</span>
      </span>
    </div>
    <Gauge
      parts={[
        { kind: "done", part: spent / budget },
        { kind: "held", part: reserved / budget },
      ]}
    />
  </li>
);

/** All policies, each that has a budget with its ledger of today. */
export const useBudgets = (): Shown<Policies> =>
  useAnswer<Policies>(
    {
      key: "budgets",
      isKept: true,
      on: [
        { topic: "events", id: null },
        { topic: "policies", id: null },
      ],
      everyMs: REFRESH_MS,
    },
    () => call("GET /v1/policies", { query: BUDGETS_QUERY }),
  );

/** What is spent and set aside today, of each policy with a budget; nothing without one. */
export const Budgets = ({ policies }: { readonly policies: Policies }) => {
  const all = policies.data.flatMap(({ id, name, budget_eur_day: budget, ledger }) =>
    typeof budget === "number" && budget > 0 && ledger !== undefined ? [{ id, name, budget, ledger }] : [],
  );
  if (all.length === 0) return null;
  return (
    <Section title="Budgets today" beside={<GaugeKey kinds={["done", "held"]} />}>
      <ul class="lines">
        {all.slice(0, SHOWN_MAX).map((it) => (
          <OneBudget key={it.id} {...it} />
        ))}
      </ul>
      {all.length > SHOWN_MAX ? (
        <p class="meta">
          <a href="/policies">All {all.length} policies with a budget</a>
        </p>
      ) : null}
    </Section>
  );
};
