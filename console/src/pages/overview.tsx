import type { ComponentChildren } from "preact";
import { count, duration, exactClock, percent, shortTime } from "../../design/format.ts";
import { Mark, StateMark } from "../../design/mark.tsx";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { type Column, DataTable } from "../../design/table.tsx";
import { Head, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { DECIDING_ROLES } from "../api/may-decide.ts";
import { hrefOf } from "../shell/addresses.ts";
import { waitingForMe } from "../shell/frame-state.ts";
import type { PageProps } from "../shell/page-props.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { type Lane, laneSummary, placedLanes } from "./chart-lanes.ts";
import { RANGES, rangeStart } from "./ranges.ts";

type Stats = AnswerOf<"GET /v1/stats">;
type Series = Stats["series"][number];
type Endpoint = AnswerOf<"GET /v1/endpoints">["data"][number];

const FIGURES = "admitted,delivered,blocked,held,failed,latency_p50_ms,latency_p99_ms";
const WORST = ["open", "disabled", "degraded", "healthy"];
const DEFAULT_RANGE = "24h";

const seriesOf = (stats: Stats, metric: Series["metric"]): Series | undefined =>
  stats.series.find((it) => it.metric === metric && it.rest === 0);

/** A figure leads to the list that adds up to it; the API names the list by its own address. */
const listHref = (series: Series | undefined): string => series?.list?.replace(/^\/v1/, "") ?? "/events";

type SumProps = {
  readonly name: string;
  readonly mark?: ComponentChildren;
  readonly value: ComponentChildren;
  readonly below: string;
  readonly href: string;
};

const Sum = ({ name, mark, value, below, href }: SumProps) => (
  <a href={href}>
    <span>
      {mark}
      {name}
    </span>
    <b>{value}</b>
    <em>{below}</em>
  </a>
);

const Sums = ({ stats }: { readonly stats: Stats }) => {
  const of = (metric: Series["metric"]): number => seriesOf(stats, metric)?.value ?? 0;
  const href = (metric: Series["metric"]): string => listHref(seriesOf(stats, metric));
  const [admitted, delivered, blocked] = [of("admitted"), of("delivered"), of("blocked")];
  const median = seriesOf(stats, "latency_p50_ms")?.value ?? null;
  const slow = seriesOf(stats, "latency_p99_ms")?.value ?? null;
  return (
    <section aria-label="Figures of this range">
      <div class="sums">
        <Sum name="Admitted" value={count(admitted)} below="let through" href={href("admitted")} />
        <Sum
          name="Delivered"
          mark={<Mark name="delivered" role="ok" />}
          value={count(delivered)}
          below={`${percent(delivered, admitted)} of admitted`}
          href={href("delivered")}
        />
        <Sum
          name="Refused"
          mark={<Mark name="refused" role="refuse" />}
          value={count(blocked)}
          below={`${percent(blocked, admitted + blocked)} of both`}
          href={href("blocked")}
        />
        <Sum
          name="Held"
          mark={<Mark name="held" role="wait" />}
          value={count(of("held"))}
          below={waitingForMe.value === 1 ? "1 waits for you" : `${count(waitingForMe.value)} wait for you`}
          href={href("held")}
        />
        <Sum
          name="Failed"
          mark={<Mark name="failed" role="fail" />}
          value={count(of("failed"))}
          below="after their last attempt"
          href={href("failed")}
        />
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
/** The text of a drawing shrinks with it, so a phone has one of its own width. */
const WIDE = { as: "desk", width: 820, left: 64, labels: 6 };
const NARROW = { as: "phone", width: 358, left: 64, labels: 3 };
const AXIS_PX = 24;

const bucketLabel = (at: string, { step, time_zone: zone }: Stats): string =>
  step === "1d" ? (shortTime(at, { zone, now: 0 }).split(",")[0] ?? "") : exactClock(at, { zone }).slice(0, 5);

const Drawing = ({
  stats,
  lanes,
  size,
}: {
  readonly stats: Stats;
  readonly lanes: readonly Lane[];
  readonly size: typeof WIDE;
}) => {
  const placed = placedLanes(lanes, size.left, size.width - size.left);
  const bottom = (placed.at(-1)?.base ?? 0) + AXIS_PX;
  const points = seriesOf(stats, "delivered")?.points ?? [];
  const every = Math.max(1, Math.ceil(points.length / size.labels));
  const summary = lanes.map((it) => laneSummary(it, count)).join(" ");
  return (
    <svg class={`chart ${size.as}`} viewBox={`0 0 ${size.width} ${bottom}`} role="img" aria-label={summary}>
      {placed.map(({ lane, base, most, bars }) => (
        <g key={lane.name}>
          <text class="lane" x="0" y={base - 6}>
            {lane.name}
          </text>
          {most === 0 ? null : (
            <text x={size.left - 4} y={base - lane.heightPx + 8} text-anchor="end">
              {count(most)}
            </text>
          )}
          <line class="axis" x1={size.left} x2={size.width} y1={base} y2={base} />
          {bars.map((bar) => (
            <g key={bar.at}>
              <rect class={lane.colour} x={bar.x} y={bar.y} width={bar.width} height={bar.height} />
              {lane.colour === "area" ? (
                <rect class="top" x={bar.x} y={bar.y} width={bar.width} height={Math.min(2.5, bar.height)} />
              ) : null}
            </g>
          ))}
        </g>
      ))}
      {points.map(({ at }, nth) =>
        nth % every === 0 ? (
          <text key={at} x={size.left + (nth / points.length) * (size.width - size.left)} y={bottom - 6}>
            {bucketLabel(at, stats)}
          </text>
        ) : null,
      )}
    </svg>
  );
};

const Chart = ({ stats }: { readonly stats: Stats }) => {
  const lanes = LANES.map(({ metric, lane }) => ({
    ...lane,
    values: seriesOf(stats, metric)?.points.map((it) => it.value) ?? [],
  }));
  return (
    <Section title="Requests over time" beside={<span class="meta">each lane has its own scale</span>}>
      <Drawing stats={stats} lanes={lanes} size={WIDE} />
      <Drawing stats={stats} lanes={lanes} size={NARROW} />
    </Section>
  );
};

const Gates = ({ stats }: { readonly stats: Stats | null }) => {
  const rows = stats?.series.filter((it) => (it.value ?? 0) > 0) ?? [];
  const most = Math.max(1, ...rows.map((it) => it.value ?? 0));
  const total = rows.reduce((sum, it) => sum + (it.value ?? 0), 0);
  return (
    <Section title="Refusals by gate" beside={<span class="meta">{count(total)}</span>}>
      {rows.length === 0 ? <p class="soft">No request was refused in this range.</p> : null}
      <ul class="barlist">
        {rows.map((it) => {
          const name = (it.key ?? `${it.rest} others`).replaceAll("_", " ");
          return (
            <li key={name}>
              {it.list === null ? <span>{name}</span> : <a href={listHref(it)}>{name}</a>}
              <svg aria-hidden="true">
                <rect width={`${((it.value ?? 0) / most) * 100}%`} height="8" rx="1" />
              </svg>
              <span class="num">{count(it.value ?? 0)}</span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
};

const ENDPOINT_COLUMNS: readonly Column<Endpoint>[] = [
  { name: "Endpoint", as: "a", show: (row) => <b>{row.name}</b> },
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

const worstFirst = (all: readonly Endpoint[]): readonly Endpoint[] => {
  const rank = ({ health }: Endpoint): number => WORST.indexOf(health.state ?? "healthy");
  return [...all].sort((a, b) => rank(a) - rank(b) || (b.health.queued ?? 0) - (a.health.queued ?? 0));
};

type Need = {
  readonly key: string;
  readonly state: string;
  readonly what: string;
  readonly more: string;
  readonly href: string;
  readonly act: string;
};

const endpointNeeds = (endpoints: readonly Endpoint[]): readonly Need[] =>
  endpoints
    .filter(({ health }) => health.state === "open" || health.state === "disabled")
    .map(({ id, name, health }) => ({
      key: id,
      state: health.state ?? "open",
      what: health.state === "open" ? `${name} fails.` : `${name} is disabled.`,
      more: `${count(health.queued ?? 0)} events wait and are kept.`,
      href: hrefOf("/events", { endpoint_id: id, status: "queued" }),
      act: "See what waits",
    }));

const approvalNeeds = (): readonly Need[] =>
  waitingForMe.value === 0 || !DECIDING_ROLES.includes(me.value?.member.role ?? "")
    ? []
    : [
        {
          key: "approvals",
          state: "held",
          what:
            waitingForMe.value === 1 ? "1 approval waits for you." : `${waitingForMe.value} approvals wait for you.`,
          more: "",
          href: "/approvals",
          act: "Decide",
        },
      ];

const NeedsAPerson = ({ endpoints }: { readonly endpoints: readonly Endpoint[] }) => {
  const needs = [...approvalNeeds(), ...endpointNeeds(endpoints)];
  return (
    <Section title="Needs a person">
      {needs.length === 0 ? <p class="soft">Nothing waits for a person.</p> : null}
      <ul class="todo">
        {needs.map(({ key, state, what, more, href, act }, nth) => (
          <li key={key}>
            <Mark
              name={state === "held" ? "held" : state === "open" ? "open" : "suspended"}
              role={state === "held" ? "wait" : "fail"}
            />
            <span>
              <b>{what}</b> <span class="soft">{more}</span>
            </span>
            <a class={nth === 0 ? "btn first" : "btn"} href={href}>
              {act}
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
};

/** What needs a person comes first, then whether all is well, and where not. */
const Overview = ({ query }: PageProps) => {
  const range = RANGES.find(({ value }) => value === query.range)?.value ?? DEFAULT_RANGE;
  const on = { topic: "events", id: "" };
  const from = (): { readonly from?: string } => {
    const start = rangeStart(range, Date.now());
    return start === undefined ? {} : { from: start };
  };
  const stats = useAnswer<Stats>({ key: `all ${range}`, on }, () =>
    call("GET /v1/stats", { query: { metric: FIGURES, by: "all", ...from() } }),
  );
  const gates = useAnswer<Stats>({ key: `gate ${range}`, on }, () =>
    call("GET /v1/stats", { query: { metric: "blocked", by: "gate", ...from() } }),
  );
  const endpoints = useAnswer({ key: "endpoints", on }, () => call("GET /v1/endpoints", { query: { limit: 100 } }));
  const sorted = worstFirst(endpoints.body?.data ?? []);
  return (
    <>
      <Head
        title="Overview"
        meta={
          <>
            {stats.body === null ? null : (
              <span>
                <Time at={stats.body.from} /> to now
              </span>
            )}
            <span>{me.value?.account.time_zone}</span>
          </>
        }
        acts={
          <nav class="seg" aria-label="Range">
            {RANGES.map(({ value, word }) => (
              <a
                key={value}
                href={hrefOf("/overview", { range: value })}
                aria-current={value === range ? "page" : undefined}
              >
                {word.replace("last ", "")}
              </a>
            ))}
          </nav>
        }
      />
      <NeedsAPerson endpoints={sorted} />
      {stats.problem === null ? null : (
        <LoadError what="The figures" failure={stats.problem} since={stats.since} onRetry={stats.again} />
      )}
      {stats.body === null ? (
        <Loading rows={4} />
      ) : (
        <>
          <Sums stats={stats.body} />
          <div class="third wide">
            <Chart stats={stats.body} />
            <Gates stats={gates.body} />
          </div>
        </>
      )}
      {sorted.length === 0 ? null : (
        <Section title="Endpoints, worst first">
          <DataTable
            caption="Endpoints, worst first"
            columns={ENDPOINT_COLUMNS}
            rows={sorted.slice(0, SHOWN_ENDPOINTS)}
            keyOf={(row) => row.id}
          />
        </Section>
      )}
    </>
  );
};

export default Overview;
