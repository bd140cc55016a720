import { count, duration, euro } from "../../design/format.ts";
import { Mark, StateMark } from "../../design/mark.tsx";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { type Column, DataTable } from "../../design/table.tsx";
import { Breaking, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { hrefOf } from "../shell/addresses.ts";
import { NOT_ASKED, useAnswer } from "../shell/use-answer.ts";
import { hasNoCost } from "./cost-text.ts";
import { EventCost } from "./event-cost.tsx";
import {
  AdmittedSum,
  FailedSum,
  listHref,
  RangeNav,
  RefusedSum,
  type Series,
  type Stats,
  Sum,
  seriesOf,
} from "./figures.tsx";
import { rangeStart } from "./ranges.ts";
import { eventState, whyOf } from "./why.ts";

type Row = AnswerOf<"GET /v1/events">["data"][number];

const METRICS = "admitted,blocked,bundles_blocked,held,failed,spent_eur,reserved_eur,latency_p50_ms";
const SHOWN_EVENTS = 10;
const ON_EVENTS = { topic: "events", id: null } as const;
/** The end of a bundle changes what is told of its steps. */
const ON_STEPS = [ON_EVENTS, { topic: "bundles", id: null }] as const;

type SumsProps = {
  readonly stats: Stats;
  readonly policyId: string | null;
  /** Null while it is not known, and without one. */
  readonly policy: AnswerOf<"GET /v1/policies/{id}"> | null;
};

const Sums = ({ stats, ...under }: SumsProps) => {
  const of = (metric: Series["metric"]): number => seriesOf(stats, metric)?.value ?? 0;
  const href = (metric: Series["metric"]): string => listHref(seriesOf(stats, metric));
  const [spent, reserved] = [of("spent_eur"), of("reserved_eur")];
  const median = seriesOf(stats, "latency_p50_ms")?.value ?? null;
  return (
    <div class="sums">
      <AdmittedSum stats={stats} />
      <RefusedSum stats={stats} />
      <Sum
        name="Held"
        mark={<Mark name="held" role="wait" />}
        value={count(of("held"))}
        below="wait for a person"
        href={href("held")}
      />
      <FailedSum stats={stats} />
      <Sum
        name="Spent"
        value={hasNoCost({ ...under, spent, reserved }) ? "No cost" : euro(spent)}
        below={`${euro(reserved)} reserved for what is not finished`}
        href={href("spent_eur")}
      />
      <Sum
        name="Delivery, median"
        value={median === null ? "–" : duration(median)}
        below={median === null ? "nothing was delivered" : "half are quicker"}
        href={href("latency_p50_ms")}
      />
    </div>
  );
};

type FiguresProps = {
  readonly id: string;
  /** Null if it has none. */
  readonly policyId: string | null;
  readonly range: string;
};

/** What it did in a range, each figure with the list that adds up to it. */
export const AgentFigures = ({ id, policyId, range }: FiguresProps) => {
  const policy = useAnswer<AnswerOf<"GET /v1/policies/{id}"> | null>(
    { key: `policy ${policyId}`, on: { topic: "policies", id: policyId } },
    () =>
      policyId === null ? Promise.resolve(NOT_ASKED) : call("GET /v1/policies/{id}", { params: { id: policyId } }),
  );
  const stats = useAnswer<Stats>({ key: `agent ${id} ${range}`, on: ON_EVENTS }, () =>
    call("GET /v1/stats", {
      query: { metric: METRICS, by: "agent", key: id, from: rangeStart(range, Date.now()) ?? "" },
    }),
  );
  return (
    <Section title="What it did" beside={<RangeNav path={`/agents/${encodeURIComponent(id)}`} range={range} />}>
      {stats.problem === null ? null : (
        <LoadError what="The figures" failure={stats.problem} since={stats.since} onRetry={stats.again} />
      )}
      {stats.body === null ? (
        stats.problem === null ? (
          <Loading rows={2} />
        ) : null
      ) : (
        <Sums stats={stats.body} policyId={policyId} policy={policy.body} />
      )}
    </Section>
  );
};

const COLUMNS: readonly Column<Row>[] = [
  { name: "Received", as: "b nw soft", show: (row) => <Time at={row.received_at} /> },
  {
    name: "Event",
    as: "c0",
    show: ({ id, type, run }) => (
      <>
        <a class="name" href={`/events/${encodeURIComponent(id)}`}>
          <Breaking text={type} />
        </a>
        {run === null ? null : (
          <a class="sub" href={hrefOf("/events", { run })}>
            run <Breaking text={run} />
          </a>
        )}
      </>
    ),
  },
  { name: "State", as: "a", show: (row) => <StateMark {...eventState(row)} /> },
  { name: "Why", as: "soft why", show: (row) => whyOf(row) },
  { name: "Cost", as: "num hide nw", show: EventCost },
];

/** Its newest requests, and the runs to which they belong. */
export const AgentEvents = ({ id }: { readonly id: string }) => {
  const newest = useAnswer<AnswerOf<"GET /v1/events">>({ key: `newest ${id}`, on: ON_STEPS }, () =>
    call("GET /v1/events", { query: { agent_id: id, limit: SHOWN_EVENTS } }),
  );
  const rows = newest.body?.data ?? [];
  return (
    <Section
      title="Its last requests"
      beside={
        <span class="meta">
          <a href={hrefOf("/events", { agent_id: id })}>All of them</a>
        </span>
      }
    >
      {newest.problem === null ? null : (
        <LoadError what="The list" failure={newest.problem} since={newest.since} onRetry={newest.again} />
      )}
      {newest.body === null && newest.problem === null ? <Loading rows={3} /> : null}
      {newest.body !== null && rows.length === 0 ? <p class="soft">It has asked for nothing yet.</p> : null}
      {rows.length === 0 ? null : (
        <DataTable caption="Its last requests" columns={COLUMNS} rows={rows} keyOf={(row) => row.id} />
      )}
    </Section>
  );
};
