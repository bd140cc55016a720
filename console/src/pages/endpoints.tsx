import { useRef } from "preact/hooks";
import { duration, percent } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import type { Column } from "../../design/table.tsx";
import { Breaking } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { now } from "../shell/clock.ts";
import { useList } from "../shell/use-list.ts";
import { type Rank, stillWorstFirst } from "./endpoint-order.ts";
import { probeText } from "./endpoint-text.ts";
import { Listing } from "./listing.tsx";

type Row = AnswerOf<"GET /v1/endpoints">["data"][number];

export const successOf = (rate: number | null | undefined): string =>
  rate === null || rate === undefined ? "–" : percent(rate, 1);

const ms = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : duration(value);

const Waiting = ({ count }: { readonly count: number }) => (
  <>
    {count}
    <span class="phone"> waiting</span>
  </>
);

const COLUMNS: readonly Column<Row>[] = [
  {
    name: "Endpoint",
    as: "c0",
    show: ({ id, name, url }) => (
      <>
        <a class="name" href={`/endpoints/${encodeURIComponent(id)}`}>
          <Breaking text={name} />
        </a>
        <span class="sub">
          <Breaking text={url} />
        </span>
      </>
    ),
  },
  { name: "State", as: "a", show: ({ health }) => <StateMark value={health.state ?? "healthy"} /> },
  { name: "Success in 1 h", as: "num hide", show: ({ health }) => successOf(health.success_rate_1h) },
  { name: "p50", as: "num hide wide", show: ({ health }) => ms(health.p50_ms) },
  { name: "p99", as: "num hide wide", show: ({ health }) => ms(health.p99_ms) },
  { name: "Waiting", as: "num b", show: ({ health }) => <Waiting count={health.queued ?? 0} /> },
  {
    name: "Next probe",
    as: "soft hide",
    show: ({ health }) => probeText(health, now.value),
  },
];

/** Is it well, and who waits? */
const Endpoints = () => {
  const list = useList<Row>({
    filter: "",
    isKept: true,
    topic: "endpoints",
    keyOf: ({ id }) => id,
    page: (cursor) => call("GET /v1/endpoints", { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } }),
    one: (id) => call("GET /v1/endpoints/{id}", { params: { id } }),
    matches: () => true,
  });
  const seen = useRef(new Map<string, Rank>());
  const { rows } = list.state;
  // One page is never sorted alone: with further pages the order is that of the API, the newest first.
  const ordered = list.more === null ? stillWorstFirst(rows, seen.current) : rows;
  return (
    <Listing
      title="Endpoints"
      list={{ ...list, state: { ...list.state, rows: ordered } }}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      make={{ label: "Add an endpoint", href: "/endpoints/new" }}
      empty={{ title: "No endpoints yet", text: "An endpoint is where events are sent." }}
    />
  );
};

export default Endpoints;
