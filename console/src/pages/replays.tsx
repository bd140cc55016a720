import { useState } from "preact/hooks";
import { WordedMark } from "../../design/mark.tsx";
import type { Column } from "../../design/table.tsx";
import { Note, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { go } from "../shell/router.ts";
import { useList } from "../shell/use-list.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import type { ExportColumn } from "./export-text.ts";
import { Listing } from "./listing.tsx";
import { planText, replayState, replayWord } from "./replay-text.ts";

type Row = AnswerOf<"GET /v1/replays">["data"][number];
type Filter = Row["filter"];
type Started = AnswerOf<"POST /v1/replays">;
type Plan = Exclude<Started, { readonly status: "running" }>;

const STATUSES = [
  { status: "failed", word: "Failed events" },
  { status: "blocked", word: "Refused events, which pass the gates again" },
] as const;

export const filterText = ({ status }: Filter): string => (status === "failed" ? "Failed events" : "Refused events");

const columns = (name: (id: string | null) => string | null): readonly Column<Row>[] => [
  { name: "Started", as: "b nw soft", show: ({ started_at: at }) => <Time at={at} /> },
  {
    name: "Replay",
    as: "c0",
    show: ({ id, filter }) => (
      <>
        <a class="name" href={`/replays/${encodeURIComponent(id)}`}>
          {filterText(filter)}
        </a>
        <span class="sub">
          {filter.endpoint_id === undefined ? "" : `to ${name(filter.endpoint_id) ?? "an endpoint"} `}
          {filter.source_id === undefined ? "" : `from ${name(filter.source_id) ?? "a source"}`}
        </span>
      </>
    ),
  },
  { name: "State", as: "a", show: (row) => <WordedMark value={replayState(row)} word={replayWord(row)} /> },
];

const exportColumns = (name: (id: string | null) => string | null): readonly ExportColumn<Row>[] => [
  { name: "id", of: ({ id }) => id },
  { name: "started_at", of: (row) => row.started_at },
  { name: "events", of: ({ filter }) => filter.status },
  { name: "from", of: ({ filter }) => name(filter.source_id ?? null) ?? filter.source_id ?? null },
  { name: "to", of: ({ filter }) => name(filter.endpoint_id ?? null) ?? filter.endpoint_id ?? null },
  { name: "state", of: ({ status }) => status },
  { name: "total", of: ({ total }) => total },
  { name: "delivered", of: ({ delivered }) => delivered },
  { name: "failed", of: ({ failed }) => failed },
  { name: "waiting", of: ({ waiting }) => waiting },
  { name: "skipped", of: ({ skipped }) => skipped },
  { name: "ended_at", of: (row) => row.ended_at },
];

/** The plan comes first; nothing is sent before it was read. */
const New = () => {
  const [status, setStatus] = useState<Filter["status"]>("failed");
  const [plan, setPlan] = useState<Plan | null>(null);
  const why = whyNotAdmin();
  if (why !== null) return <p class="soft">Only an admin or an owner can replay events.</p>;
  const filter = { status };
  return (
    <Section title="Replay events">
      <div class="row narrow">
        <select
          class="in"
          aria-label="Which events"
          onChange={(event) => {
            setStatus(event.currentTarget.value === "blocked" ? "blocked" : "failed");
            setPlan(null);
          }}
        >
          {STATUSES.map((it) => (
            <option key={it.status} value={it.status}>
              {it.word}
            </option>
          ))}
        </select>
        <Act
          label="Show the plan"
          act={() => call("POST /v1/replays", { body: { filter, dry_run: true } })}
          done={null}
          // A dry run answers a plan.
          onDone={(made) => setPlan(made as Plan)}
          why={null}
        />
      </div>
      {plan === null ? null : (
        <Note isAlert>
          <p>{planText(plan)}</p>
          <div class="row">
            <Act
              label="Start the replay"
              act={() => call("POST /v1/replays", { body: { filter } })}
              done={null}
              onDone={({ id }) => go(`/replays/${encodeURIComponent(String(id))}`)}
              why={plan.count === 0 ? "Nothing would be sent." : null}
              isFirst
            />
          </div>
        </Note>
      )}
    </Section>
  );
};

/** What will be sent, and what became of it? */
const Replays = () => {
  const name = useNames();
  const page = (cursor: string | undefined, limit: number) =>
    call("GET /v1/replays", { query: { limit, ...(cursor === undefined ? {} : { cursor }) } });
  const list = useList<Row>({
    filter: "",
    isKept: true,
    topic: "replays",
    keyOf: ({ id }) => id,
    page: (cursor) => page(cursor, 50),
    one: (id) => call("GET /v1/replays/{id}", { params: { id } }),
    matches: () => true,
  });
  return (
    <Listing
      title="Replays"
      list={list}
      columns={columns(name)}
      keyOf={({ id }) => id}
      exported={{ columns: exportColumns(name), page: (cursor) => page(cursor, 100) }}
      empty={{ title: "No replays yet", text: "A replay sends events again after their end." }}
    >
      <New />
    </Listing>
  );
};

export default Replays;
