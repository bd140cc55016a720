import { count } from "../../design/format.ts";
import { Icon } from "../../design/mark.tsx";
import type { Column } from "../../design/table.tsx";
import { Breaking } from "../../design/text.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import type { Answered } from "../api/calls.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { useList } from "../shell/use-list.ts";
import { Listing } from "./listing.tsx";
import { BudgetGauge, budgetWords } from "./policy-budget.tsx";
import { type Uses, usePolicyUses } from "./policy-uses.ts";
import { limitWords, type Policy } from "./policy-words.ts";
import { thisMinute } from "./ranges.ts";
import { UsedBy } from "./used-by.tsx";

type Stats = AnswerOf<"GET /v1/stats">;

/** What `GET /v1/stats` answers at most. */
const KEYS_MAX = 50;

/** A figure of today, and the list that it counts. */
const Today = ({
  stats,
  metric,
  id,
}: {
  readonly stats: Stats | null;
  readonly metric: string;
  readonly id: string;
}) => {
  if (stats === null) return null;
  const own = stats.series.find((it) => it.metric === metric && it.key === id);
  if (own?.list === undefined || own.list === null || own.value === 0) return <>{count(own?.value ?? 0)}</>;
  return <a href={own.list.replace(/^\/v1/, "")}>{count(own.value ?? 0)}</a>;
};

const Budget = ({ policy: { ledger } }: { readonly policy: Policy }) =>
  ledger === undefined ? (
    <span class="quiet">none</span>
  ) : (
    <>
      {budgetWords(ledger)}
      <BudgetGauge ledger={ledger} />
    </>
  );

const columns = (uses: Uses | null, stats: Stats | null): readonly Column<Policy>[] => [
  {
    name: "Policy",
    as: "c0",
    show: ({ id, name, version, protected: isProtected = false }) => (
      <>
        <a class="name" href={`/policies/${encodeURIComponent(id)}`}>
          <Breaking text={name} />
        </a>
        <span class="sub nw">
          Version {count(version)}
          {isProtected ? (
            <>
              {" · "}
              <Icon name="lock" small /> protected
            </>
          ) : null}
        </span>
      </>
    ),
  },
  {
    name: "What it limits",
    as: "soft why",
    show: (policy) => (
      <>
        {limitWords(policy).join(", ") || "nothing"}
        {policy.block_on_violation === false ? <span class="sub">It only observes, and refuses nothing.</span> : null}
      </>
    ),
  },
  {
    name: "Used by",
    as: "soft hide wide",
    show: ({ id }) => (uses === null ? null : <UsedBy uses={uses.get(id) ?? []} />),
  },
  { name: "Refused today", as: "num hide", show: ({ id }) => <Today stats={stats} metric="blocked" id={id} /> },
  { name: "Held today", as: "num hide roomy", show: ({ id }) => <Today stats={stats} metric="held" id={id} /> },
  { name: "Budget of today", as: "budget", show: (policy) => <Budget policy={policy} /> },
];

/** One row of the list: a policy by itself comes without its ledger. */
const withLedger = async (id: string): Promise<Answered<Policy>> => {
  const params = { id };
  const policy = await call("GET /v1/policies/{id}", { params });
  if (!policy.ok || policy.body.budget_eur_day === undefined) return policy;
  const ledger = await call("GET /v1/policies/{id}/ledger", { params });
  return ledger.ok ? { ok: true, body: { ...policy.body, ledger: ledger.body } } : ledger;
};

/** What may nobody exceed, and how much of it is used? */
const Policies = () => {
  const uses = usePolicyUses().body;
  const stats = useAnswer<Stats>({ key: "today", on: { topic: "events", id: null } }, () =>
    call("GET /v1/stats", {
      query: {
        metric: "blocked,held",
        by: "policy",
        step: "1d",
        limit: KEYS_MAX,
        ...thisMinute(Date.now()),
      },
    }),
  );
  const list = useList<Policy>({
    filter: "",
    isKept: true,
    topic: "policies",
    keyOf: ({ id }) => id,
    page: (cursor) =>
      call("GET /v1/policies", { query: { limit: 50, ledger: "today", ...(cursor === undefined ? {} : { cursor }) } }),
    one: withLedger,
    matches: () => true,
  });
  return (
    <Listing
      title="Policies"
      meta={<span>Days begin at midnight in {me.value?.account.time_zone}</span>}
      list={list}
      columns={columns(uses, stats.body)}
      keyOf={({ id }) => id}
      make={{ label: "Write a policy", href: "/policies/new" }}
      empty={{
        title: "No policies yet",
        text: "A policy limits what sources and agents may do: budgets, rates, rules that refuse, approvals.",
      }}
    />
  );
};

export default Policies;
