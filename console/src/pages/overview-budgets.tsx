import { euro } from "../../design/format.ts";
import { Gauge, GaugeKey } from "../../design/gauge.tsx";
import { Loading } from "../../design/placeholders.tsx";
import { Section } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";

type Policy = AnswerOf<"GET /v1/policies">["data"][number];
type Ledger = AnswerOf<"GET /v1/policies/{id}/ledger">;

const POLICIES_MAX = 100;
/** A ledger is asked for each. */
const SHOWN_MAX = 6;
/** So that they leave a member most of the calls of a minute while events arrive all the time. */
const REFRESH_MS = 10_000;

const OneBudget = ({ policy: { id, name }, budget }: { readonly policy: Policy; readonly budget: number }) => {
  const ledger = useAnswer<Ledger>({ key: id, on: { topic: "events", id: null }, everyMs: REFRESH_MS }, () =>
    call("GET /v1/policies/{id}/ledger", { params: { id } }),
  );
  const { settled_eur: spent = 0, reserved_eur: reserved = 0 } = ledger.body ?? {};
  return (
    <li>
      <div class="row">
        <a href={`/policies/${encodeURIComponent(id)}`}>{name}</a>
        <span class="end num">
          {ledger.body === null ? null : <b>{euro(spent + reserved)}</b>} <span class="soft">of {euro(budget)}</span>
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
};

/** What is spent and set aside today, of each policy with a budget; nothing without one. */
export const Budgets = () => {
  const policies = useAnswer<AnswerOf<"GET /v1/policies">>(
    { key: "budgets", on: { topic: "policies", id: null } },
    () => call("GET /v1/policies", { query: { limit: POLICIES_MAX } }),
  );
  const all = (policies.body?.data ?? []).flatMap((policy) => {
    const { budget_eur_day: budget } = policy;
    return typeof budget === "number" && budget > 0 ? [{ policy, budget }] : [];
  });
  if (policies.body === null && policies.problem === null) return <Loading rows={3} />;
  if (all.length === 0) return null;
  return (
    <Section title="Budgets today" beside={<GaugeKey kinds={["done", "held"]} />}>
      <ul class="lines">
        {all.slice(0, SHOWN_MAX).map((it) => (
          <OneBudget key={it.policy.id} {...it} />
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
