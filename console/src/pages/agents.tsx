import type { Filter } from "../../design/filter-values.ts";
import { count } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import type { Column } from "../../design/table.tsx";
import { Breaking, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import type { PageProps } from "../shell/page-props.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { useList } from "../shell/use-list.ts";
import { ActionNew } from "./action-new.tsx";
import { ActionsList } from "./actions-list.tsx";
import { AddressCheck } from "./address-check.tsx";
import { AgentTabs } from "./agent-tabs.tsx";
import { type Today, useToday } from "./agents-today.ts";
import { spentText } from "./cost-text.ts";
import { Listing } from "./listing.tsx";
import { BudgetGauge, budgetWords } from "./policy-budget.tsx";
import { scopeText } from "./scope.ts";

type Row = AnswerOf<"GET /v1/agents">["data"][number];

/** When it last asked for something. */
const LastAct = ({ id }: { readonly id: string }) => {
  const newest = useAnswer<AnswerOf<"GET /v1/events">>({ key: id, on: null }, () =>
    call("GET /v1/events", { query: { agent_id: id, limit: 1 } }),
  );
  const at = newest.body?.data[0]?.received_at;
  if (at !== undefined) return <Time at={at} />;
  return <>{newest.body === null ? "" : "none yet"}</>;
};

const Cost = ({ today }: { readonly today: Today | undefined }) => {
  if (today === undefined) return <>–</>;
  const { spent, reserved, isFree, ledger } = today;
  if (isFree) return <>No cost</>;
  const ofAll = ledger === null ? null : budgetWords(ledger);
  if (ledger === null || ofAll === null) return <>{spentText(spent, reserved)}</>;
  // The budget is that of the policy, so the gauge shows what all of its agents and sources have used of it.
  return (
    <>
      {spentText(spent, reserved)}
      <span class="sub">all of its policy: {ofAll}</span>
      <BudgetGauge ledger={ledger} />
    </>
  );
};

type Columns = readonly Column<Row>[];

const columns = (name: (id: string | null) => string | null, today: (row: Row) => Today | undefined): Columns => [
  {
    name: "Agent",
    as: "c0",
    show: (row) => (
      <>
        <a class="name" href={`/agents/${encodeURIComponent(row.id)}`}>
          <Breaking text={row.name} />
        </a>
        <span class="sub">{scopeText(row.scope.actions)}</span>
      </>
    ),
  },
  { name: "State", as: "a", show: ({ status }) => <StateMark value={status} /> },
  {
    name: "Policy",
    as: "soft hide wide",
    show: ({ policy_id: id }) => (id === null ? "none" : (name(id) ?? "its policy")),
  },
  { name: "Last request", as: "soft hide wide", show: ({ id }) => <LastAct id={id} /> },
  { name: "Cost today", as: "budget", show: (row) => <Cost today={today(row)} /> },
  {
    name: "Refused today",
    as: "num hide",
    show: (row) => {
      const it = today(row);
      if (it === undefined) return "–";
      return it.refused === 0 ? 0 : <a href={it.refusedHref}>{count(it.refused)}</a>;
    },
  },
];

/** What may it do? */
const AgentsList = () => {
  const name = useNames();
  const today = useToday();
  const list = useList<Row>({
    filter: "",
    isKept: true,
    topic: "agents",
    keyOf: ({ id }) => id,
    page: (cursor) => call("GET /v1/agents", { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } }),
    one: (id) => call("GET /v1/agents/{id}", { params: { id } }),
    matches: () => true,
  });
  return (
    <Listing
      title="Agents"
      // Drawn with the figures of today, which change the widths of columns.
      list={today === null ? { ...list, isLoaded: false } : list}
      columns={columns(name, today ?? (() => undefined))}
      keyOf={({ id }) => id}
      make={{ label: "Add an agent", href: "/agents/new" }}
      empty={{ title: "No agents yet", text: "An agent asks for actions by name." }}
    >
      <AgentTabs tab="agents" />
    </Listing>
  );
};

const FILTERS: readonly Filter[] = [
  {
    ...{ name: "tab", label: "Tab", expects: "Choose one of Agents and Actions." },
    choices: [
      { value: "agents", word: "Agents" },
      { value: "actions", word: "Actions" },
    ],
  },
  {
    ...{ name: "new", label: "New", expects: "Only an action can be defined here." },
    choices: [{ value: "action", word: "Action" }],
  },
];

const Agents = ({ query }: PageProps) => {
  const isActions = query.tab === "actions" || (query.tab === undefined && query.new !== undefined);
  return (
    <>
      <AddressCheck filters={FILTERS} query={query} />
      {query.new === "action" && isActions ? <ActionNew /> : isActions ? <ActionsList /> : <AgentsList />}
    </>
  );
};

export default Agents;
