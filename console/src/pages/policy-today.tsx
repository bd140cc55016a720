import { count, counted, dayText, euro } from "../../design/format.ts";
import { GaugeKey } from "../../design/gauge.tsx";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { Facts, Section } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { settledText } from "./cost-text.ts";
import { BudgetGauge, budgetWords, type Ledger } from "./policy-budget.tsx";
import { limitWords, type Policy } from "./policy-words.ts";
import { thisMinute } from "./ranges.ts";

type Stats = AnswerOf<"GET /v1/stats">;

const WORDS = [
  ["admitted", "Let through"],
  ["blocked", "Refused"],
  ["held", "Held"],
] as const;

const Counts = ({ stats }: { readonly stats: Stats }) => (
  <div class="sums four">
    {WORDS.map(([metric, word]) => {
      const own = stats.series.find((it) => it.metric === metric);
      return (
        <a key={metric} href={own?.list?.replace(/^\/v1/, "") ?? "/events"}>
          <span>{word}</span>
          <b>{count(own?.value ?? 0)}</b>
          <em>today</em>
        </a>
      );
    })}
  </div>
);

/** The ledger of today by which the next request is judged, and what the policy decided. */
export const PolicyToday = ({ policy }: { readonly policy: Policy }) => {
  const { id } = policy;
  const on = { topic: "events", id: null };
  const ledger = useAnswer<Ledger>({ key: `ledger ${id}`, on }, () =>
    call("GET /v1/policies/{id}/ledger", { params: { id } }),
  );
  const stats = useAnswer<Stats>({ key: `today ${id}`, on }, () =>
    call("GET /v1/stats", {
      query: {
        ...{ metric: "admitted,blocked,held", by: "policy", key: id, step: "1d" },
        ...thisMinute(Date.now()),
      },
    }),
  );
  const { body, problem } = ledger;
  if (body === null || (stats.body === null && stats.problem === null))
    return problem === null ? (
      <Loading rows={4} />
    ) : (
      <LoadError what="The ledger" failure={problem} since={null} onRetry={ledger.again} />
    );
  return (
    <>
      {stats.body === null ? null : <Counts stats={stats.body} />}
      <Section
        title="Budget"
        beside={
          <span class="meta">
            {dayText(body.day)}, ends at midnight in {body.time_zone}
          </span>
        }
      >
        <div class="stack tight">
          <p>
            <b>{budgetWords(body) ?? "This policy has no budget."}</b>
          </p>
          <BudgetGauge ledger={body} />
          {body.available_eur === null ? null : <GaugeKey kinds={["done", "held"]} />}
          <Facts
            rows={[
              ["Spent", settledText(body.settled_eur, body.requests.settled)],
              ["Reserved", `${euro(body.reserved_eur)} in ${counted(body.requests.reserved, "request")}`],
              ["Left", body.available_eur === null ? "" : euro(body.available_eur)],
              ["Spent beyond what was reserved", body.overrun_eur === 0 ? "" : euro(body.overrun_eur)],
            ]}
          />
        </div>
      </Section>
      <Section title="Limits in force">
        <p>{limitWords(policy).join(", ") || "It limits nothing."}</p>
      </Section>
    </>
  );
};
