import { useEffect, useState } from "preact/hooks";
import { type Filter, type FilterValues, faultsOf } from "../../design/filter-values.ts";
import { FilterBar } from "../../design/filters.tsx";
import { count, listTotal } from "../../design/format.ts";
import { Icon, StateMark } from "../../design/mark.tsx";
import { Empty, LoadError, Loading } from "../../design/placeholders.tsx";
import { stateOf } from "../../design/states.ts";
import { type Column, DataTable, FreshBar, Pager } from "../../design/table.tsx";
import { Breaking, Head, Time, Zone } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { withHolders } from "../api/holders.ts";
import { ROWS_MAX } from "../api/list.ts";
import { namesOf, useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { type ShownList, useList } from "../shell/use-list.ts";
import { whyNotAdmin } from "./act.tsx";
import { useColumns } from "./columns.tsx";
import { isWaiting } from "./endpoint-text.ts";
import { EventCost } from "./event-cost.tsx";
import { WITH_NOTIFICATIONS } from "./event-origins.ts";
import { COUNTED, COUNTS_QUERY, FILTER_NAMES, queryOf } from "./event-query.ts";
import { Selection } from "./event-selection.tsx";
import { Export } from "./export.tsx";
import type { ExportColumn } from "./export-text.ts";
import { GATE_FILTER } from "./gate-filter.ts";
import { WrongFilter } from "./listing.tsx";
import { filtersOf, timeFilter } from "./ranges.ts";
import { planOfList } from "./replay-filter.ts";
import { type FixedView, SavedViews } from "./saved-views.tsx";
import { shownOf } from "./shown-of.ts";
import { useStopped } from "./stopped-endpoints.ts";
import { eventState, eventTitle, whyOf } from "./why.ts";

type Row = AnswerOf<"GET /v1/events">["data"][number];

type StoppedOf = ReturnType<typeof useStopped>;

const STATUSES = [
  ...["delivered", "held", "blocked", "failed", "retrying", "queued", "delivering"],
  ...["recorded", "rejected", "expired", "cancelled"],
];
const VIEWS: readonly FixedView[] = [
  { name: "All", address: "/events" },
  ...COUNTED.map((value) => ({ name: stateOf(value).word, address: `/events?status=${value}` })),
];
const ORIGINS: Filter = {
  ...{ name: "origin", label: "Origin", expects: "Choose an origin from the list.", isSeveral: true },
  choices: [
    { value: "source", word: "Sources" },
    { value: "agent", word: "Agents" },
    { value: "system", word: "Notifications" },
  ],
};
const filters = ({ origin }: FilterValues): readonly Filter[] => [
  timeFilter("Received"),
  {
    ...{ name: "status", label: "State", expects: "Choose a state from the list.", isSeveral: true },
    choices: STATUSES.map((value) => ({ value, word: stateOf(value).word })),
  },
  { name: "endpoint_id", label: "Endpoint", choices: namesOf("end_"), expects: null },
  { name: "source_id", label: "Source", choices: namesOf("src_"), expects: null },
  { name: "agent_id", label: "Agent", choices: namesOf("agt_"), expects: null },
  { name: "policy_id", label: "Policy", choices: namesOf("pol_"), expects: null },
  GATE_FILTER,
  { name: "action", label: "Action", choices: [], expects: null },
  { name: "run", label: "Run", choices: [], expects: null },
  { name: "replay", label: "Replay", choices: [], expects: null },
  // Whether notifications are shown is told in the head.
  ...(origin === undefined || origin === WITH_NOTIFICATIONS ? [] : [ORIGINS]),
];

const columns = (
  name: (id: string | null) => string | null,
  selected: (id: string) => string,
  stoppedOf: StoppedOf,
): readonly Column<Row>[] => [
  { name: "Received", as: "b nw soft", show: (row) => <Time at={row.received_at} /> },
  {
    name: "Event",
    as: "c0",
    isKept: true,
    show: (row) => (
      <>
        <a class="name" href={selected(row.id)}>
          <Breaking text={eventTitle(row)} />
        </a>
        <span class="sub">
          {row.sample ? "Sample from " : ""}
          {row.origin.name}
          {row.endpoint_id === null ? "" : ` → ${name(row.endpoint_id) ?? "its endpoint"}`}
        </span>
      </>
    ),
  },
  { name: "State", as: "a", show: (row) => <StateMark {...eventState(row)} /> },
  { name: "Why", as: "soft why", show: (row) => whyOf(row, { stopped: stoppedOf(row.endpoint_id) }) },
  { name: "Cost", as: "num hide nw", show: EventCost },
  { name: "Attempts", as: "num hide wide", show: (row) => (row.attempt_count === 0 ? "–" : row.attempt_count) },
];

const exportColumns = (
  name: (id: string | null) => string | null,
  stoppedOf: StoppedOf,
): readonly ExportColumn<Row>[] => [
  { name: "id", of: ({ id }) => id },
  { name: "received_at", of: (row) => row.received_at },
  { name: "origin", of: ({ origin }) => origin.kind },
  { name: "from", of: ({ origin }) => origin.name },
  { name: "type", of: ({ type }) => type },
  { name: "to", of: (row) => name(row.endpoint_id) ?? row.endpoint_id },
  { name: "state", of: ({ status }) => status },
  { name: "why", of: (row) => whyOf(row, { stopped: stoppedOf(row.endpoint_id) }) },
  { name: "cost_eur", of: (row) => row.cost_eur },
  { name: "attempts", of: (row) => row.attempt_count },
  { name: "run", of: ({ run }) => run },
  { name: "rollback", of: ({ bundle }) => bundle?.rollback ?? null },
];

const toggled = (picked: ReadonlySet<string>, id: string): ReadonlySet<string> =>
  new Set(picked.has(id) ? [...picked].filter((it) => it !== id) : [...picked, id]);

const COUNT_MS = 10_000;
/** Of whatever stands for an id in the address, no more is shown. */
const ID_LENGTH = 40;

/** The fixed views with their counts; that of all events stands in the head. */
const useViews = (): readonly FixedView[] => {
  const on = { topic: "events", id: null };
  const counts = useAnswer({ key: "counts", on, everyMs: COUNT_MS }, () =>
    call("GET /v1/events", { query: COUNTS_QUERY }),
  ).body?.counts;
  return VIEWS.map((it, nth) => {
    const total = counts?.[COUNTED[nth - 1] ?? ""];
    return total === undefined ? it : { ...it, count: listTotal(total) };
  });
};

/** How many match without one of the filters. */
const Without = ({ name, query }: { readonly name: string; readonly query: FilterValues }) => {
  const rest = { ...query, [name]: undefined };
  const shown = useAnswer({ key: hrefOf(name, rest), on: null }, () =>
    call("GET /v1/events", { query: { ...queryOf(rest), limit: 1 } }),
  );
  const filter = filters(query).find((it) => it.name === name);
  const value = query[name] ?? "";
  const words = value.split(",").map((one) => filter?.choices.find((it) => it.value === one)?.word ?? one);
  const total = shown.body?.total;
  return (
    <li>
      <a href={hrefOf("/events", rest)}>
        Without{" "}
        <i>
          {filter?.label ?? (name === "q" ? "Search" : name)}: {words.join(", ")}
        </i>
      </a>
      {typeof total === "number" ? ` there ${total === 1 ? "is 1" : `are ${listTotal(total)}`}.` : ""}
    </li>
  );
};

const Nothing = ({ set, query }: { readonly set: readonly string[]; readonly query: FilterValues }) =>
  set.length > 0 ? (
    <Empty title="No events match" text="Remove a filter, or look at all events.">
      <ul class="stack tight">
        {set.map((name) => (
          <Without key={name} name={name} query={query} />
        ))}
      </ul>
      <a class="btn" href="/events">
        All events
      </a>
    </Empty>
  ) : (
    <Empty
      title="Nothing has arrived yet"
      text="An event appears here when a source or an agent sends its first request."
    >
      {whyNotAdmin() === null ? (
        <a class="btn first" href="/sources/new">
          Add a source
        </a>
      ) : (
        <span class="soft">{withHolders("Only an admin or an owner can add a source", "admin")}</span>
      )}
    </Empty>
  );

/** The selected event is on a later page, is of another filter, or is none at all. */
const Elsewhere = ({ id, query }: { readonly id: string; readonly query: FilterValues }) => (
  <p class="row">
    <span class="meta">
      The event <code class="wrap">{id.slice(0, ID_LENGTH)}</code>, which the address selects, is not among these rows.
    </span>
    <a class="btn bare" href={`/events/${encodeURIComponent(id)}`}>
      Open it
    </a>
    <a class="btn bare" href={hrefOf("/events", { ...query, at: undefined })}>
      Select none
    </a>
  </p>
);

/** What a text, a gate or a replay finds is not counted by the service: the rows that were read tell how many there are at least. */
const leastOf = ({ state: { rows, left, waiting }, more }: ShownList<Row>): string => {
  const read = count(rows.length - left.size + waiting.length);
  return more === null && rows.length < ROWS_MAX ? read : `More than ${read}`;
};

const pagerWords = ({ state: { rows, left } }: ShownList<Row>, total: number | null) =>
  total === null ? {} : { words: shownOf({ shown: rows.length, left: left.size, total }) };

/** Finds requests: where is it, and what became of it? */
const Events = ({ query }: PageProps) => {
  const name = useNames();
  const views = useViews();
  const set = filtersOf(FILTER_NAMES, query);
  const filter = hrefOf("", set);
  const offered = filters(query);
  const isWrong = faultsOf(offered, query).length > 0;
  const [total, setTotal] = useState<number | null>(null);
  const list = useList<Row>({
    filter,
    isKept: true,
    isWrong,
    // The end of a bundle changes what is told of its steps.
    topic: "events bundles",
    keyOf: (row) => row.id,
    page: async (cursor) => {
      const page = cursor === undefined ? {} : { cursor };
      const answer = await call("GET /v1/events", { query: { ...queryOf(query), ...page } });
      if (answer.ok) setTotal(answer.body.total ?? null);
      return answer;
    },
    one: null,
    some: (ids) => call("GET /v1/events", { query: { ids: ids.join(","), limit: ids.length } }),
    matches: (row) => query.status === undefined || query.status.split(",").includes(row.status),
  });
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [exporting, setExporting] = useState<"filter" | "picked" | null>(null);
  useEffect(() => setPicked(new Set()), [filter]);
  const stoppedOf = useStopped(list.state.rows.some(({ status }) => isWaiting(status)));
  const chosen = list.state.rows.filter(({ id }) => picked.has(id));
  const change = (values: FilterValues): void =>
    go(hrefOf("/events", { ...query, at: undefined, ...values }), { isReplaced: true });
  const { state, isLoaded, isLoading, problem, since } = list;
  const matching = total !== null ? listTotal(total) : isLoaded && problem === null ? leastOf(list) : null;
  const plan = whyNotAdmin() === null && !isWrong ? planOfList(query) : null;
  const { shown, menu } = useColumns(
    "Events",
    columns(name, (id) => `/events/${encodeURIComponent(id)}`, stoppedOf),
  );
  return (
    <>
      <Head
        title="Events"
        acts={
          <>
            {plan === null ? null : (
              <a class="btn" href={plan}>
                Replay all that match…
              </a>
            )}
            {menu}
            {isWrong ? null : (
              <button class="btn" type="button" onClick={() => setExporting("filter")}>
                <Icon name="down" small />
                Export
              </button>
            )}
          </>
        }
        meta={
          <>
            {isWrong ? null : <span class={matching === null ? "unseen" : ""}>{matching ?? "1,000"} match</span>}
            <Zone />
            {query.origin === undefined ? (
              <span>
                Notifications are hidden.{" "}
                <a href={hrefOf("/events", { ...query, origin: WITH_NOTIFICATIONS })}>Show them</a>
              </span>
            ) : null}
          </>
        }
      />
      <div class="stack tight">
        <SavedViews fixed={views} address={hrefOf("/events", set)} isWrong={isWrong} />
        <FilterBar
          label="Filter events"
          hint="Type, delivery id, or what refused it"
          filters={offered}
          values={query}
          onChange={change}
        />
      </div>
      {problem === null ? null : (
        <LoadError what="The list" failure={problem} since={isLoaded ? since : null} onRetry={list.retry} />
      )}
      {isWrong ? (
        <WrongFilter />
      ) : isLoaded && state.rows.length === 0 && state.waiting.length === 0 ? (
        <Nothing set={Object.keys(set)} query={query} />
      ) : (
        <div>
          {isLoaded && query.at !== undefined && state.rows.every(({ id }) => id !== query.at) ? (
            <Elsewhere id={query.at} query={query} />
          ) : null}
          <FreshBar waiting={list.waiting} what="events" onShow={list.showWaiting} />
          {isLoaded ? (
            <DataTable
              caption="Events, newest first"
              columns={shown}
              rows={state.rows}
              keyOf={(row) => row.id}
              selected={query.at}
              onSelect={(at) => go(hrefOf("/events", { ...query, at }), { isReplaced: true })}
              isLeft={(row) => state.left.has(row.id)}
              picked={picked}
              onPick={(id) => setPicked(toggled(picked, id))}
            />
          ) : problem === null ? (
            <Loading rows={10} />
          ) : null}
          {chosen.length === 0 ? null : (
            <Selection rows={chosen} onExport={() => setExporting("picked")} onClear={() => setPicked(new Set())} />
          )}
          {isLoaded ? (
            <Pager shown={state.rows.length} {...pagerWords(list, total)} onMore={list.more} isLoading={isLoading} />
          ) : null}
        </div>
      )}
      {exporting === null ? null : (
        <Export
          what="events"
          which={exporting === "picked" ? `The ${chosen.length} selected` : "All that match the filter"}
          columns={exportColumns(name, stoppedOf)}
          page={(cursor) =>
            exporting === "picked"
              ? Promise.resolve({ ok: true, body: { data: chosen, next_cursor: null } })
              : call("GET /v1/events", {
                  query: { ...queryOf(query), total: "false", limit: 100, ...(cursor === undefined ? {} : { cursor }) },
                })
          }
          onClose={() => setExporting(null)}
        />
      )}
    </>
  );
};

export default Events;
