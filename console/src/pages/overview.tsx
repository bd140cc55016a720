import { useEffect, useState } from "preact/hooks";
import { type Filter, type FilterValues, faultOf } from "../../design/filter-values.ts";
import { count, counted, DAY_MS, duration, percent } from "../../design/format.ts";
import { Mark, StateMark } from "../../design/mark.tsx";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { type Column, DataTable } from "../../design/table.tsx";
import { Breaking, Head, Section, Time, Zone } from "../../design/text.tsx";
import { InTurns } from "../../design/virtual-rows.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { hrefOf, placeOfUrl } from "../shell/addresses.ts";
import { waitingForMe } from "../shell/frame-state.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { NOT_ASKED, useAnswer } from "../shell/use-answer.ts";
import { whyNotAdmin } from "./act.tsx";
import { AddressCheck } from "./address-check.tsx";
import type { Lane } from "./chart-lanes.ts";
import { worstFirst } from "./endpoint-order.ts";
import {
  AdmittedSum,
  Bar,
  FailedSum,
  listHref,
  RangeNav,
  RefusedSum,
  type Series,
  type Stats,
  Sum,
  seriesOf,
} from "./figures.tsx";
import { gateName } from "./gate-words.ts";
import { bucketLabel, LanesChart } from "./lanes-chart.tsx";
import { ApprovalsInRange } from "./overview-approvals.tsx";
import { Budgets, useBudgets } from "./overview-budgets.tsx";
import { NeedsAPerson } from "./overview-needs.tsx";
import { ENDPOINTS_QUERY, figuresQueries, spanIn } from "./overview-query.ts";
import { timeFilter } from "./ranges.ts";

type Endpoint = AnswerOf<"GET /v1/endpoints">["data"][number];

/** `count` is null as long as it is not known, and for a role that does not decide. */
const waitingText = (count: number | null): string =>
  count === null ? "requests" : `requests; ${counted(count, "approval")} ${count === 1 ? "waits" : "wait"} for you`;

const Sums = ({ stats }: { readonly stats: Stats }) => {
  const of = (metric: Series["metric"]): number => seriesOf(stats, metric)?.value ?? 0;
  const href = (metric: Series["metric"]): string => listHref(seriesOf(stats, metric));
  const [delivered, waiting] = [of("delivered"), of("waiting")];
  const median = seriesOf(stats, "latency_p50_ms")?.value ?? null;
  const slow = seriesOf(stats, "latency_p99_ms")?.value ?? null;
  return (
    <section aria-label="Figures of this range">
      <div class="sums">
        <AdmittedSum stats={stats} />
        <Sum
          name="Delivered"
          mark={<Mark name="delivered" role="ok" />}
          value={count(delivered)}
          below={`${percent(delivered, of("admitted"))} of admitted${waiting === 0 ? "" : `, ${count(waiting)} ${waiting === 1 ? "waits" : "wait"}`}`}
          href={href("delivered")}
        />
        <RefusedSum stats={stats} />
        <Sum
          name="Held"
          mark={<Mark name="held" role="wait" />}
          value={count(of("held"))}
          below={waitingText(waitingForMe.value)}
          href={href("held")}
        />
        <FailedSum stats={stats} />
        <Sum
          name="Delivery, median"
          value={median === null ? "–" : duration(median)}
          below={slow === null ? "nothing was delivered" : `p99 ${duration(slow)}`}
          href={href("delivered")}
        />
      </div>
    </section>
  );
};

const LANES: readonly { readonly metric: Series["metric"]; readonly lane: Omit<Lane, "values"> }[] = [
  { metric: "delivered", lane: { name: "Delivered", colour: "area", heightPx: 96 } },
  { metric: "blocked", lane: { name: "Refused", colour: "c-refuse", heightPx: 30 } },
  { metric: "held", lane: { name: "Held", colour: "c-wait", heightPx: 24 } },
  { metric: "failed", lane: { name: "Failed", colour: "c-fail", heightPx: 30 } },
];
const Chart = ({ stats }: { readonly stats: Stats }) => {
  const lanes = LANES.map(({ metric, lane }) => ({
    ...lane,
    values: seriesOf(stats, metric)?.points.map((it) => it.value) ?? [],
  }));
  const starts = (seriesOf(stats, "delivered")?.points ?? []).map(({ at }) => at);
  const labels = starts.map((at) => bucketLabel(at, stats));
  const endOf = (bucket: number): string => starts[bucket + 1] ?? stats.to;
  /** The list of a figure, cut to one bucket. */
  const hrefAt = (lane: number, bucket: number): string | null => {
    const metric = LANES[lane]?.metric;
    const [from, list] = [starts[bucket], metric === undefined ? null : seriesOf(stats, metric)?.list];
    if (from === undefined || typeof list !== "string") return null;
    const { path, query } = placeOfUrl(new URL(list, location.href));
    return hrefOf(path.replace(/^\/v1/, ""), { ...query, from, to: endOf(bucket) });
  };
  return (
    <Section title="Requests over time" beside={<span class="meta">Each lane has its own scale</span>}>
      <LanesChart
        lanes={lanes}
        labels={labels}
        hrefAt={hrefAt}
        onRange={(first, last) => go(hrefOf("/overview", { from: starts[first], to: endOf(last) }))}
      />
    </Section>
  );
};

type BarsProps = {
  readonly title: string;
  readonly none: string;
  readonly stats: Stats | null;
  /** What a key is called. */
  readonly nameOf: (key: string) => string;
  readonly as?: "wait";
  /** What has none of these keys. */
  readonly more?: { readonly name: string; readonly value: number; readonly href: string };
};

/** A bar and a figure for each key, with the list that adds up to it. */
const Bars = ({ title, none, stats, nameOf, as, more }: BarsProps) => {
  const rows = stats?.series.filter((it) => (it.value ?? 0) > 0) ?? [];
  const others = more !== undefined && more.value > 0 ? [more] : [];
  const values = [...rows, ...others].map((it) => it.value ?? 0);
  const most = Math.max(1, ...values);
  const total = values.reduce((sum, it) => sum + it, 0);
  return (
    <Section title={title} beside={<span class="meta">{count(total)}</span>}>
      {stats !== null && values.length === 0 ? <p class="soft">{none}</p> : null}
      <ul class={`barlist ${as ?? ""}`}>
        {rows.map((it) => {
          const about = it.key === null ? `${it.rest} others` : nameOf(it.key);
          const name = it.metric === "bundles_blocked" ? `${about}, bundles` : about;
          const href = it.list === null ? null : listHref(it);
          return <Bar key={name} name={name} href={href} value={it.value ?? 0} most={most} />;
        })}
        {others.map((it) => (
          <Bar key={it.name} {...it} most={most} />
        ))}
      </ul>
    </Section>
  );
};

/** What sources sent has no action: all that is held, without the requests for actions. */
const heldOfSources = (all: Stats, byAction: Stats | null) => {
  const ofActions = byAction?.series.reduce((sum, it) => sum + (it.value ?? 0), 0) ?? 0;
  const held = seriesOf(all, "held");
  return {
    name: "Events of sources",
    value: byAction === null ? 0 : Math.max(0, (held?.value ?? 0) - ofActions),
    href: listHref(held).replace(/origin=[^&]*/, "origin=source"),
  };
};

const ENDPOINT_COLUMNS: readonly Column<Endpoint>[] = [
  {
    name: "Endpoint",
    as: "a",
    show: (row) => (
      <a class="name" href={`/endpoints/${encodeURIComponent(row.id)}`}>
        <Breaking text={row.name} />
      </a>
    ),
  },
  { name: "State", as: "b", show: (row) => <StateMark value={row.health.state ?? "unknown"} /> },
  {
    name: "Success, 1 h",
    as: "num hide",
    show: ({ health: { success_rate_1h: rate } }) => (typeof rate === "number" ? percent(rate, 1) : "–"),
  },
  {
    name: "p99",
    as: "num hide",
    show: ({ health: { p99_ms: ms } }) => (typeof ms === "number" ? duration(ms) : "–"),
  },
  {
    name: "Waiting",
    as: "num c soft",
    show: (row) => (
      <>
        {count(row.health.queued ?? 0)}
        <span class="phone"> waiting</span>
      </>
    ),
  },
];
const SHOWN_ENDPOINTS = 6;

/** Leads a new account to its first event; nothing of it is drawn once an event has arrived. */
const Beginning = ({ onLoaded }: { readonly onLoaded: () => void }) => {
  const sources = useAnswer<AnswerOf<"GET /v1/sources">>({ key: "sources", on: { topic: "sources", id: null } }, () =>
    call("GET /v1/sources", { query: { limit: 1 } }),
  );
  const events = useAnswer<AnswerOf<"GET /v1/events">>({ key: "newest", on: { topic: "events", id: null } }, () =>
    call("GET /v1/events", { query: { limit: 1 } }),
  );
  const isLoaded = [sources, events].every((it) => it.body !== null || it.problem !== null);
  useEffect(() => {
    if (isLoaded) onLoaded();
  }, [isLoaded]);
  if (sources.body === null || events.body === null || events.body.data.length > 0 || whyNotAdmin() !== null)
    return null;
  const source = sources.body.data[0];
  return (
    <Section title="Begin here">
      <p>
        {source === undefined
          ? "A source is where events come from. Its set-up takes four steps: the provider, the endpoint that receives, the address, and a first event."
          : `${source.name} waits for its first event.`}
      </p>
      <p class="row">
        <a
          class="btn first"
          href={hrefOf(
            "/sources/new",
            source === undefined ? {} : { source: source.id, step: source.endpoint_id === null ? "2" : "3" },
          )}
        >
          {source === undefined ? "Add a source" : "Go on with its set-up"}
        </a>
        <a class="btn" href="/agents/new">
          Add an agent
        </a>
      </p>
    </Section>
  );
};

/** Longer ranges have more days than one answer of the API. */
const DAYS_MAX = 1_500;

const checkSpan = ({ from, to }: FilterValues): string | null => {
  if (from === undefined) return to === undefined ? null : "Name the beginning, too.";
  const end = to === undefined ? Date.now() : Date.parse(to);
  // Of both ends, a part of a day counts as a day.
  return end - Date.parse(from) > (DAYS_MAX - 2) * DAY_MS ? "Choose a shorter time, of at most four years." : null;
};

/** What the figures of Overview are about, as its address names it. */
const SPAN_FILTER: Filter = { ...timeFilter("Time"), check: checkSpan };

/** What needs a person comes first, then whether all is well, and where not. */
const Overview = ({ query }: PageProps) => {
  const span = spanIn(query);
  const range = span.range ?? `${span.from} ${span.to}`;
  const isWrong = faultOf(SPAN_FILTER, query) !== null;
  const on = { topic: "events", id: null };
  const queries = () => figuresQueries(span, Date.now());
  const figures = (which: "all" | "gates" | "held") =>
    useAnswer<Stats | null>({ key: `${which} ${isWrong ? "" : range}`, on, isKept: true }, async () =>
      isWrong ? NOT_ASKED : call("GET /v1/stats", { query: queries()[which] }),
    );
  const [stats, gates, held] = [figures("all"), figures("gates"), figures("held")];
  const endpoints = useAnswer({ key: "endpoints", on, isKept: true }, () =>
    call("GET /v1/endpoints", { query: ENDPOINTS_QUERY }),
  );
  const budgets = useBudgets();
  const sorted = worstFirst(endpoints.body?.data ?? []);
  // All is asked for at once and drawn together, because a part that comes later would move those below it.
  const [isLoaded, setLoaded] = useState(false);
  const [hasBegun, setBegun] = useState(false);
  const needed = [...(isWrong ? [] : [stats, gates, held]), endpoints, budgets];
  const isRead = needed.every((it) => it.body !== null || it.problem !== null);
  // In an account in which something happened, nothing more needs to be asked.
  const isQuiet = isRead && !isWrong && (stats.body?.series ?? []).every((it) => (it.value ?? 0) === 0);
  const isReady = isLoaded && isRead && (hasBegun || !isQuiet);
  return (
    <>
      <Head
        title="Overview"
        meta={
          <>
            {stats.body === null ? null : (
              <span>
                <Time at={stats.body.from} /> to {span.to === undefined ? "now" : <Time at={stats.body.to} />}
              </span>
            )}
            <Zone />
          </>
        }
        acts={<RangeNav path="/overview" range={isWrong ? null : span.range} />}
      />
      <AddressCheck filters={[SPAN_FILTER]} query={query} />
      {isQuiet ? <Beginning onLoaded={() => setBegun(true)} /> : null}
      <NeedsAPerson isShown={isReady} onLoaded={() => setLoaded(true)} />
      {stats.problem === null ? null : (
        <LoadError what="The figures" failure={stats.problem} since={stats.since} onRetry={stats.again} />
      )}
      {isReady ? null : <Loading rows={8} />}
      {isReady ? (
        <InTurns>
          {stats.body === null ? null : <Sums stats={stats.body} />}
          {stats.body === null ? null : (
            <div class="third wide">
              <Chart stats={stats.body} />
              <div class="stack">
                <Bars
                  title="Refusals by gate"
                  none="No request was refused in this range."
                  stats={gates.body}
                  nameOf={gateName}
                />
                <Bars
                  title="Waiting for approval, by action"
                  none="No request of this range waits for an approval."
                  stats={held.body}
                  nameOf={(action) => action}
                  as="wait"
                  more={heldOfSources(stats.body, held.body)}
                />
              </div>
            </div>
          )}
          <div class="half wide">
            {budgets.body === null ? null : <Budgets policies={budgets.body} />}
            {sorted.length === 0 ? null : (
              <Section
                title="Endpoints, worst first"
                beside={
                  <span class="meta">
                    <a href="/endpoints">All of them</a>
                  </span>
                }
              >
                <DataTable
                  caption="Endpoints, worst first"
                  columns={ENDPOINT_COLUMNS}
                  rows={sorted.slice(0, SHOWN_ENDPOINTS)}
                  keyOf={(row) => row.id}
                  as="even"
                />
              </Section>
            )}
          </div>
          {stats.body === null ? null : <ApprovalsInRange from={stats.body.from} to={stats.body.to} />}
        </InTurns>
      ) : null}
    </>
  );
};

export default Overview;
