import { type Filter, type FilterValues, faultsOf } from "../../design/filter-values.ts";
import { FilterBar } from "../../design/filters.tsx";
import { counted } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import { stateOf } from "../../design/states.ts";
import type { Column } from "../../design/table.tsx";
import { Breaking, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { namesOf, useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useList } from "../shell/use-list.ts";
import { filtersIn, queryOf } from "./bundle-query.ts";
import { bundleCost, refusingGate } from "./bundle-verdict.ts";
import { actionsText, whyInState } from "./bundle-words.ts";
import { Unspent } from "./event-cost.tsx";
import type { ExportColumn } from "./export-text.ts";
import { GATE_FILTER } from "./gate-filter.ts";
import { gateDetail, gateName } from "./gate-words.ts";
import { Listing } from "./listing.tsx";
import { timeFilter } from "./ranges.ts";
import { type FixedView, SavedViews } from "./saved-views.tsx";

type Row = AnswerOf<"GET /v1/bundles">["data"][number];

const STATUSES: readonly Row["status"][] = [
  ...(["rollback_incomplete", "held", "running", "rolling_back"] as const),
  ...(["rolled_back", "committed", "blocked", "cancelled"] as const),
];
const VIEWS: readonly FixedView[] = [
  { name: "All", address: "/bundles" },
  ...["rollback_incomplete", "held", "running", "rolled_back", "committed"].map((value) => ({
    name: stateOf(value).word,
    address: `/bundles?status=${value}`,
  })),
];
const filters = (): readonly Filter[] => [
  timeFilter("Asked"),
  {
    ...{ name: "status", label: "State", expects: "Choose a state from the list.", isSeveral: true },
    choices: STATUSES.map((value) => ({ value, word: stateOf(value).word })),
  },
  { name: "agent_id", label: "Agent", choices: namesOf("agt_"), expects: null },
  { name: "policy_id", label: "Policy", choices: namesOf("pol_"), expects: null },
  GATE_FILTER,
];

const whyOf = (row: Row): string => {
  const refusing = row.status === "blocked" ? refusingGate(row.verdict) : null;
  if (refusing === null) return whyInState(row);
  return `${gateName(refusing.gate.gate)}: ${gateDetail(refusing.gate)}`;
};

const columns = (name: (id: string | null) => string | null): readonly Column<Row>[] => [
  { name: "Asked", as: "b nw soft", show: ({ created_at: at }) => <Time at={at} /> },
  {
    name: "Bundle",
    as: "c0",
    show: (row) => (
      <>
        <a class="name" href={`/bundles/${encodeURIComponent(row.id)}`}>
          <Breaking text={row.name ?? actionsText(row.steps)} />
        </a>
        <span class="sub">
          {name(row.agent_id) ?? "an agent"}, {counted(row.steps.length, "step")}
        </span>
      </>
    ),
  },
  { name: "State", as: "a", show: ({ status }) => <StateMark value={status} /> },
  { name: "Why", as: "soft why", show: whyOf },
  {
    name: "Cost",
    as: "num hide roomy",
    show: (row) => (
      <>
        {bundleCost(row)}
        <Unspent status={row.status} cost_eur={row.cost_eur} attempt_count={0} />
      </>
    ),
  },
];

const exportColumns = (name: (id: string | null) => string | null): readonly ExportColumn<Row>[] => [
  { name: "id", of: ({ id }) => id },
  { name: "asked_at", of: (row) => row.created_at },
  { name: "bundle", of: (row) => row.name },
  { name: "agent", of: (row) => name(row.agent_id) ?? row.agent_id },
  { name: "steps", of: ({ steps }) => steps.length },
  { name: "state", of: ({ status }) => status },
  { name: "why", of: whyOf },
  { name: "cost_eur", of: (row) => row.cost_eur },
];

/** Is anything half done? */
const Bundles = ({ query }: PageProps) => {
  const name = useNames();
  const set = filtersIn(query);
  const offered = filters();
  const address = hrefOf("/bundles", set);
  const change = (values: FilterValues): void => go(hrefOf("/bundles", { ...set, ...values }), { isReplaced: true });
  const page = (cursor: string | undefined, limit: number) =>
    call("GET /v1/bundles", { query: { limit, ...queryOf(set), ...(cursor === undefined ? {} : { cursor }) } });
  const list = useList<Row>({
    filter: address,
    isKept: true,
    isWrong: faultsOf(offered, set).length > 0,
    topic: "bundles",
    keyOf: ({ id }) => id,
    page: (cursor) => page(cursor, 50),
    one: (id) => call("GET /v1/bundles/{id}", { params: { id } }),
    matches: ({ status }) => set.status === undefined || set.status.split(",").includes(status),
  });
  return (
    <Listing
      title="Bundles"
      list={list}
      columns={columns(name)}
      keyOf={({ id }) => id}
      exported={{ columns: exportColumns(name), page: (cursor) => page(cursor, 100) }}
      empty={
        Object.keys(set).length === 0
          ? { title: "No bundles yet", text: "A bundle appears here when an agent asks for several actions as one." }
          : { title: "No bundles match", text: "Remove a filter to see more." }
      }
    >
      <div class="stack tight">
        <SavedViews fixed={VIEWS} address={address} isWrong={list.isWrong} />
        <FilterBar label="Filter bundles" filters={offered} values={set} onChange={change} />
      </div>
    </Listing>
  );
};

export default Bundles;
