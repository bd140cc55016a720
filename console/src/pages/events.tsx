import { useState } from "preact/hooks";
import { FilterBar, type FilterValues } from "../../design/filters.tsx";
import { euro, listTotal } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import { Empty, LoadError, Loading } from "../../design/placeholders.tsx";
import { stateOf } from "../../design/states.ts";
import { type Column, DataTable, FreshBar, Pager } from "../../design/table.tsx";
import { Breaking, Head, Time } from "../../design/text.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { namesOf, useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useList } from "../shell/use-list.ts";
import { RANGES, rangeStart } from "./ranges.ts";
import { eventTitle, whyOf } from "./why.ts";

type Row = AnswerOf<"GET /v1/events">["data"][number];
type EventQuery = Required<Parameters<typeof call<"GET /v1/events">>>[1]["query"];

const STATUSES = [
  ...["delivered", "held", "blocked", "failed", "retrying", "queued", "delivering"],
  ...["recorded", "rejected", "expired", "cancelled"],
];
const VIEWS = [
  { title: "All", status: "" },
  { title: "Held", status: "held" },
  { title: "Refused", status: "blocked" },
  { title: "Retrying", status: "retrying" },
  { title: "Failed", status: "failed" },
] as const;
const FILTER_NAMES = [
  ...["status", "origin", "endpoint_id", "source_id", "agent_id", "policy_id", "action", "run", "gate"],
  ...["range", "from", "to", "q"],
];
/** The service's own notifications to endpoints are events, too; they are shown on request. */
const WITHOUT_NOTIFICATIONS = "source,agent";
const WITH_NOTIFICATIONS = "source,agent,system";

const filters = () => [
  { name: "range", label: "Received", choices: RANGES, expects: "Choose one of 1 h, 24 h, 7 d and 30 d." },
  {
    ...{ name: "status", label: "State", expects: "Choose a state from the list." },
    choices: STATUSES.map((value) => ({ value, word: stateOf(value).word })),
  },
  { name: "endpoint_id", label: "Endpoint", choices: namesOf("end_"), expects: null },
  { name: "source_id", label: "Source", choices: namesOf("src_"), expects: null },
  { name: "agent_id", label: "Agent", choices: namesOf("agt_"), expects: null },
  { name: "action", label: "Action", choices: [], expects: null },
  { name: "run", label: "Run", choices: [], expects: null },
];

/** What the API is asked for; `range` is relative and stays so in the address. */
const queryOf = (query: FilterValues): EventQuery => {
  const { range, from, ...rest } = Object.fromEntries(
    FILTER_NAMES.flatMap((name) => (query[name] ? [[name, query[name]] as [string, string]] : [])),
  );
  const start = range === undefined ? from : rangeStart(range, Date.now());
  // The service checks the values, and its problem names the one that it does not take.
  const origin = rest.origin ?? WITHOUT_NOTIFICATIONS;
  return { ...rest, origin, ...(start === undefined ? {} : { from: start }), limit: 50, total: "true" } as EventQuery;
};

const columns = (
  name: (id: string | null) => string | null,
  selected: (id: string) => string,
): readonly Column<Row>[] => [
  { name: "Received", as: "b nw soft", show: (row) => <Time at={row.received_at} /> },
  {
    name: "Event",
    as: "c0",
    show: (row) => (
      <>
        <a class="name" href={selected(row.id)}>
          <Breaking text={eventTitle(row)} />
        </a>
        <span class="sub">
          {row.origin.name}
          {row.endpoint_id === null ? "" : ` → ${name(row.endpoint_id) ?? "its endpoint"}`}
        </span>
      </>
    ),
  },
  {
    name: "State",
    as: "a",
    show: (row) => <StateMark value={row.payload.erased_at === null ? row.status : "erased"} />,
  },
  { name: "Why", as: "soft why", show: (row) => whyOf(row) },
  { name: "Cost", as: "num hide nw", show: (row) => (row.cost_eur === null ? "–" : euro(row.cost_eur)) },
  { name: "Attempts", as: "num hide wide", show: (row) => (row.attempt_count === 0 ? "–" : row.attempt_count) },
];

const Nothing = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No events match" text="Remove a filter, or look at all events.">
      <a class="btn" href="/events">
        All events
      </a>
    </Empty>
  ) : (
    <Empty
      title="Nothing has arrived yet"
      text="An event appears here when a source or an agent sends its first request."
    />
  );

/** Finds requests: where is it, and what became of it? */
const Events = ({ query }: PageProps) => {
  const name = useNames();
  const set = Object.fromEntries(FILTER_NAMES.flatMap((it) => (query[it] ? [[it, query[it]]] : [])));
  const filter = hrefOf("", set);
  const [total, setTotal] = useState<string | null>(null);
  const list = useList<Row>({
    filter,
    topic: "events",
    keyOf: (row) => row.id,
    page: async (cursor) => {
      const page = cursor === undefined ? {} : { cursor };
      const answer = await call("GET /v1/events", { query: { ...queryOf(query), ...page } });
      if (answer.ok && typeof answer.body.total === "number") setTotal(listTotal(answer.body.total));
      return answer;
    },
    one: null,
    some: (ids) => call("GET /v1/events", { query: { ids: ids.join(","), limit: 100 } }),
    matches: (row) => query.status === undefined || query.status.split(",").includes(row.status),
  });
  const change = (values: FilterValues): void =>
    go(hrefOf("/events", { ...query, at: undefined, ...values }), { isReplaced: true });
  const { state, isLoaded, isLoading, problem, since } = list;
  return (
    <>
      <Head
        title="Events"
        meta={
          <>
            {total === null ? null : <span>{total} match</span>}
            <span>Times in {me.value?.account.time_zone}</span>
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
        <nav class="tabs" aria-label="Views">
          {VIEWS.map(({ title, status }) => (
            <a
              key={title}
              href={hrefOf("/events", { status })}
              aria-current={(query.status ?? "") === status ? "page" : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        <FilterBar
          label="Filter events"
          hint="Type, delivery id, or what refused it"
          filters={filters()}
          values={query}
          onChange={change}
        />
      </div>
      {problem === null ? null : (
        <LoadError what="The list" failure={problem} since={isLoaded ? since : null} onRetry={list.retry} />
      )}
      {isLoaded && state.rows.length === 0 && state.waiting.length === 0 ? (
        <Nothing isFiltered={filter !== ""} />
      ) : (
        <div>
          <FreshBar waiting={list.waiting} what="events" onShow={list.showWaiting} />
          {isLoaded ? (
            <DataTable
              caption="Events, newest first"
              columns={columns(name, (id) => `/events/${encodeURIComponent(id)}`)}
              rows={state.rows}
              keyOf={(row) => row.id}
              selected={query.at}
              onSelect={(at) => go(hrefOf("/events", { ...query, at }), { isReplaced: true })}
              isLeft={(row) => state.left.has(row.id)}
            />
          ) : problem === null ? (
            <Loading rows={10} />
          ) : null}
          {isLoaded ? <Pager shown={state.rows.length} total={total} onMore={list.more} isLoading={isLoading} /> : null}
        </div>
      )}
    </>
  );
};

export default Events;
