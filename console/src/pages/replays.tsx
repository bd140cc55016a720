import { type Filter, type FilterValues, faultsOf } from "../../design/filter-values.ts";
import { FilterBar } from "../../design/filters.tsx";
import { StateMark } from "../../design/mark.tsx";
import { LoadError } from "../../design/placeholders.tsx";
import type { Column } from "../../design/table.tsx";
import { Note, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { withHolders } from "../api/holders.ts";
import { namesOf, useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { NOT_ASKED, useAnswer } from "../shell/use-answer.ts";
import { useList } from "../shell/use-list.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import type { ExportColumn } from "./export-text.ts";
import { Listing } from "./listing.tsx";
import { timeFilter } from "./ranges.ts";
import { faultOfPlan, planHref, planIn, type ReplayFilter, replayFilterOf } from "./replay-filter.ts";
import { namedWaits, planText, replayState, replayWord, WORDS } from "./replay-text.ts";
import { type FixedView, SavedViews } from "./saved-views.tsx";

type Row = AnswerOf<"GET /v1/replays">["data"][number];
type Started = AnswerOf<"POST /v1/replays">;
type Plan = Exclude<Started, { readonly status: "running" }>;

const STATUSES = [
  { status: "failed", word: "Failed events" },
  { status: "blocked", word: "Refused events, which pass the gates again" },
] as const;

export const filterText = ({ status }: ReplayFilter): string =>
  status === "failed" ? "Failed events" : "Refused events";

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
  { name: "State", as: "a", show: (row) => <StateMark value={replayState(row)} word={replayWord(row)} /> },
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

const filters = (): readonly Filter[] => [
  timeFilter("Received"),
  { name: "endpoint_id", label: "Endpoint", choices: namesOf("end_"), expects: null },
  { name: "source_id", label: "Source", choices: namesOf("src_"), expects: null },
];

const VIEWS: readonly FixedView[] = [
  { name: "All", address: "/replays" },
  ...Object.entries(WORDS).map(([status, name]) => ({ name, address: `/replays?status=${status}` })),
];
const LIST_FILTERS: readonly Filter[] = [
  {
    ...{ name: "status", label: "State", expects: "Choose a state from the list.", isSeveral: true },
    choices: Object.entries(WORDS).map(([value, word]) => ({ value, word })),
  },
];

/** Keeps the place of a plan, so that the list below it does not move when it comes. */
const PlanToCome = () => (
  <div class="unseen" aria-hidden="true">
    <Note>
      <p>Sends 1 event now.</p>
      <div class="row">
        <span class="btn">Start the replay</span>
      </div>
    </Note>
  </div>
);

/** The plan comes first; nothing is sent before it was read. It is made for the filter that is in the address. */
const New = ({ query }: Pick<PageProps, "query">) => {
  const name = useNames();
  const asked = planIn(query);
  const values = asked ?? {};
  const fault = faultOfPlan(query);
  const offered = filters();
  const planned = fault === null && faultsOf(offered, values).length === 0 ? asked : null;
  const { status } = replayFilterOf(values);
  const plan = useAnswer<Plan | null>({ key: query.new ?? "", on: null }, async () => {
    if (planned === null || whyNotAdmin() !== null) return NOT_ASKED;
    const answer = await call("POST /v1/replays", { body: { filter: replayFilterOf(planned), dry_run: true } });
    // A dry run answers a plan.
    return answer.ok ? { ok: true, body: answer.body as Plan } : answer;
  });
  if (whyNotAdmin() !== null)
    return <p class="soft">{withHolders("Only an admin or an owner can replay events", "admin")}</p>;
  const change = (changed: FilterValues): void =>
    go(planHref({ ...values, status, ...changed }, query), { isReplaced: true });
  return (
    <Section title="Replay events">
      <div class="stack tight">
        <div class="row narrow">
          <select
            class="in"
            aria-label="Which events"
            value={status}
            onChange={(event) => change({ status: event.currentTarget.value })}
          >
            {STATUSES.map((it) => (
              <option key={it.status} value={it.status}>
                {it.word}
              </option>
            ))}
          </select>
          <button class="btn" type="button" onClick={() => (planned === null ? change({}) : plan.again())}>
            Show the plan
          </button>
        </div>
        <FilterBar label="Filter the events to replay" filters={offered} values={values} onChange={change} />
        {fault === null ? null : (
          <Note isAlert>
            <p>{fault}</p>
          </Note>
        )}
        {plan.problem === null ? null : (
          <LoadError what="The plan" failure={plan.problem} since={null} onRetry={plan.again} />
        )}
        {planned !== null && plan.body === null && plan.problem === null ? <PlanToCome /> : null}
        {plan.body === null || plan.problem !== null ? null : (
          <Note isAlert>
            <p>{planText(plan.body, namedWaits(plan.body.waiting_at, name))}</p>
            <div class="row">
              <Act
                label="Start the replay"
                act={() => call("POST /v1/replays", { body: { filter: replayFilterOf(values) } })}
                done={null}
                onDone={({ id }) => go(`/replays/${encodeURIComponent(String(id))}`)}
                why={plan.body.count === 0 ? "Nothing would be sent." : null}
                isFirst
              />
            </div>
          </Note>
        )}
      </div>
    </Section>
  );
};

/** What will be sent, and what became of it? */
const Replays = ({ query }: PageProps) => {
  const name = useNames();
  const set: { readonly status?: string } = query.status ? { status: query.status } : {};
  const address = hrefOf("/replays", set);
  const change = (values: FilterValues): void => go(hrefOf("/replays", { ...query, ...values }), { isReplaced: true });
  const page = (cursor: string | undefined, limit: number) =>
    call("GET /v1/replays", { query: { limit, ...set, ...(cursor === undefined ? {} : { cursor }) } });
  const list = useList<Row>({
    filter: address,
    isKept: true,
    isWrong: faultsOf(LIST_FILTERS, set).length > 0,
    // An endpoint that takes deliveries again changes how many events of a replay wait.
    topic: "replays endpoints",
    keyOf: ({ id }) => id,
    page: (cursor) => page(cursor, 50),
    one: (id) => call("GET /v1/replays/{id}", { params: { id } }),
    matches: ({ status }) => set.status === undefined || set.status.split(",").includes(status),
  });
  return (
    <Listing
      title="Replays"
      list={list}
      columns={columns(name)}
      keyOf={({ id }) => id}
      exported={{ columns: exportColumns(name), page: (cursor) => page(cursor, 100) }}
      empty={
        set.status === undefined
          ? {
              title: "No replays yet",
              text: "A replay sends events again after their end. What is sent again from an event's own page is told there.",
            }
          : { title: "No replays match", text: "Remove a filter to see more." }
      }
    >
      <New query={query} />
      <div class="stack tight">
        <SavedViews fixed={VIEWS} address={address} isWrong={list.isWrong} />
        <FilterBar label="Filter replays" filters={LIST_FILTERS} values={set} onChange={change} />
      </div>
    </Listing>
  );
};

export default Replays;
