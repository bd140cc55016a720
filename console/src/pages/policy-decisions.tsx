import { StateMark } from "../../design/mark.tsx";
import { Empty, LoadError, Loading } from "../../design/placeholders.tsx";
import { type Column, DataTable, FreshBar, Pager } from "../../design/table.tsx";
import { Breaking, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { hrefOf } from "../shell/addresses.ts";
import { useList } from "../shell/use-list.ts";
import { EventCost } from "./event-cost.tsx";
import { eventState, eventTitle, whyOf } from "./why.ts";

type Row = AnswerOf<"GET /v1/events">["data"][number];

const COLUMNS: readonly Column<Row>[] = [
  { name: "Received", as: "b nw soft", show: ({ received_at: at }) => <Time at={at} /> },
  {
    name: "Event",
    as: "c0",
    show: ({ id, type, origin }) => (
      <>
        <a class="name" href={`/events/${encodeURIComponent(id)}`}>
          <Breaking text={eventTitle({ type })} />
        </a>
        <span class="sub">{origin.name}</span>
      </>
    ),
  },
  { name: "State", as: "a", show: (row) => <StateMark {...eventState(row)} /> },
  { name: "Why", as: "soft why", show: (row) => whyOf(row) },
  { name: "Version", as: "num hide", show: ({ verdict }) => verdict.policy?.version ?? "–" },
  { name: "Cost", as: "num hide nw", show: EventCost },
];

/** The events on which the policy decided, newest first. */
export const PolicyDecisions = ({ id }: { readonly id: string }) => {
  const list = useList<Row>({
    filter: id,
    // The end of a bundle changes what is told of its steps.
    topic: "events bundles",
    keyOf: (row) => row.id,
    page: (cursor) =>
      call("GET /v1/events", { query: { policy_id: id, limit: 50, ...(cursor === undefined ? {} : { cursor }) } }),
    one: null,
    some: (ids) => call("GET /v1/events", { query: { ids: ids.join(","), limit: ids.length } }),
    matches: () => true,
  });
  const { state, isLoaded, isLoading, problem, since } = list;
  if (!isLoaded && problem === null) return <Loading rows={8} />;
  return (
    <div>
      <p class="row">
        <a class="btn" href={hrefOf("/events", { policy_id: id })}>
          Filter, save or replay them
        </a>
      </p>
      {problem === null ? null : (
        <LoadError what="The list" failure={problem} since={isLoaded ? since : null} onRetry={list.retry} />
      )}
      <FreshBar waiting={list.waiting} what="decisions" onShow={list.showWaiting} />
      {isLoaded && state.rows.length === 0 ? (
        <Empty title="No decisions yet" text="A request appears here when this policy has decided on it." />
      ) : (
        <DataTable caption="Decisions, newest first" columns={COLUMNS} rows={state.rows} keyOf={(row) => row.id} />
      )}
      {isLoaded ? <Pager shown={state.rows.length} onMore={list.more} isLoading={isLoading} /> : null}
    </div>
  );
};
