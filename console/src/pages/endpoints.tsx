import { duration } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import type { Column } from "../../design/table.tsx";
import { Breaking, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useList } from "../shell/use-list.ts";
import { Listing } from "./listing.tsx";

type Row = AnswerOf<"GET /v1/endpoints">["data"][number];

export const successOf = (rate: number | null | undefined): string =>
  rate === null || rate === undefined ? "–" : `${Math.floor(rate * 1_000) / 10} %`;

const ms = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : duration(value);

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
  { name: "Waiting", as: "num b", show: ({ health }) => health.queued ?? 0 },
  {
    name: "Next probe",
    as: "soft hide",
    show: ({ health: { next_probe_at: at } }) => (at === null || at === undefined ? "–" : <Time at={at} />),
  },
];

/** Is it well, and who waits? */
const Endpoints = () => {
  const list = useList<Row>({
    filter: "",
    topic: "endpoints",
    keyOf: ({ id }) => id,
    page: (cursor) => call("GET /v1/endpoints", { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } }),
    one: (id) => call("GET /v1/endpoints/{id}", { params: { id } }),
    matches: () => true,
  });
  return (
    <Listing
      title="Endpoints"
      list={list}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={{ title: "No endpoints yet", text: "An endpoint is where events are sent. POST /v1/endpoints makes one." }}
    />
  );
};

export default Endpoints;
