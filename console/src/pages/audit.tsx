import { FilterBar, type FilterValues } from "../../design/filters.tsx";
import { count, shortId } from "../../design/format.ts";
import { ProofMark } from "../../design/mark.tsx";
import { Empty, LoadError, Loading } from "../../design/placeholders.tsx";
import { type Column, DataTable, FreshBar, Pager } from "../../design/table.tsx";
import { Breaking, Copied, Head, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call, callText, me } from "../api/api.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { useList } from "../shell/use-list.ts";
import { ProofPanel } from "./proof-panel.tsx";
import { RANGES, rangeStart } from "./ranges.ts";
import { WithRight } from "./with-right.tsx";

type Row = AnswerOf<"GET /v1/audit">["data"][number];

const FILTER_NAMES = ["q", "type", "actor", "range", "from", "to"];

const FILTERS = [
  { name: "range", label: "Recorded", choices: RANGES, expects: "Choose one of 1 h, 24 h, 7 d and 30 d." },
  { name: "type", label: "Type", choices: [], expects: null },
  { name: "actor", label: "Who", choices: [], expects: null },
];

const queryOf = ({ q, type, actor, range, from, to }: FilterValues) => {
  const start = range === undefined ? from : rangeStart(range, Date.now());
  const given = { subject: q, type, actor, from: start, to };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ""));
};

/** "EventAdmitted" is told as "event admitted". */
const wordsOf = (type: string): string => type.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();

const stateOf = ({ sealed, witnessed }: Row): string => {
  if (witnessed) return "witnessed";
  return sealed ? "sealed" : "recorded";
};

const KINDS: Readonly<Record<string, string>> = {
  member: "Member",
  key: "API key",
  agent: "Agent",
  source: "Source",
  system: "Service",
};

const COLUMNS = (here: (index: number) => string): readonly Column<Row>[] => [
  { name: "Record", as: "hide", show: ({ index }) => <a href={here(index)}>{count(index)}</a> },
  { name: "When", as: "soft b", show: ({ recorded_at: at }) => <Time at={at} as="precise" /> },
  {
    name: "Who",
    as: "a who",
    show: ({ actor }) => (
      <>
        <Breaking text={actor.name ?? actor.id} />
        <span class="sub">{KINDS[actor.kind] ?? actor.kind}</span>
      </>
    ),
  },
  {
    name: "What",
    as: "c0",
    show: ({ index, type, subject, subject_name: name }) => (
      <>
        <a class="name" href={here(index)}>
          {wordsOf(type)}
        </a>
        <span class="sub">{name === null || name === undefined ? shortId(subject) : <Breaking text={name} />}</span>
      </>
    ),
  },
  {
    name: "State",
    as: "d",
    show: (row) => <ProofMark value={stateOf(row)} />,
  },
];

/** What an auditor takes along: the records with their proofs, and a checkpoint to hold against later ones. */
const Keep = () => {
  const checkpoint = useAnswer<string>({ key: "checkpoint", on: null }, () => callText("GET /v1/audit/checkpoint"));
  const key = useAnswer<string>({ key: "key", on: null }, () => callText("GET /v1/audit/key"));
  return (
    <Section title="Take it along">
      <div class="stack tight">
        <p>
          An export has every record with the proof that it is sealed. <code>countersign verify FILE --key KEY</code>{" "}
          checks it without this service, and says which record was changed, removed or put in, if one was. It does not
          say whether a record is true, or whether something was done without a record.
        </p>
        <p class="row">
          <a class="btn" href="/v1/audit/export" download="audit.ndjson">
            Export all records
          </a>
          <a class="btn" href="/v1/audit/export?payloads=1" download="audit-with-payloads.ndjson">
            Export with payloads
          </a>
          <a class="btn" href="/verify.html" download="verify.html">
            Save the verifier
          </a>
        </p>
        {key.body === null ? null : (
          <>
            <h3>The service's key</h3>
            <Copied value={key.body.trim()} />
          </>
        )}
        {checkpoint.body === null ? (
          <p class="soft">{checkpoint.problem?.detail ?? ""}</p>
        ) : (
          <>
            <h3>The newest checkpoint</h3>
            <p class="soft">
              Keep it outside. A later export that does not contain these records was rewritten, and the check says so.
            </p>
            <Copied value={checkpoint.body} />
          </>
        )}
      </div>
    </Section>
  );
};

const indexOf = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;

const Records = ({ params, query }: PageProps) => {
  const selected = indexOf(params.index);
  const set = Object.fromEntries(FILTER_NAMES.flatMap((it) => (query[it] ? [[it, query[it]]] : [])));
  const list = useList<Row>({
    filter: hrefOf("", set),
    topic: null,
    keyOf: ({ index }) => String(index),
    page: (cursor) =>
      call("GET /v1/audit", { query: { ...queryOf(query), limit: 50, ...(cursor === undefined ? {} : { cursor }) } }),
    one: null,
    matches: () => true,
  });
  const here = (index: number): string => hrefOf(`/audit/${index}`, set);
  const change = (values: FilterValues): void => go(hrefOf("/audit", { ...set, ...values }), { isReplaced: true });
  const { state, isLoaded, isLoading, problem, since } = list;
  return (
    <>
      <FilterBar
        label="Filter records"
        hint="Id of an event, approval, policy or person"
        filters={FILTERS}
        values={query}
        onChange={change}
      />
      {problem === null ? null : (
        <LoadError what="The list" failure={problem} since={isLoaded ? since : null} onRetry={list.retry} />
      )}
      <div class={selected === null ? "" : "cols audit"}>
        <div>
          <FreshBar waiting={list.waiting} what="records" onShow={list.showWaiting} />
          {isLoaded && state.rows.length === 0 ? (
            <Empty title="No record matches" text="Remove a filter to see more." />
          ) : null}
          {isLoaded && state.rows.length > 0 ? (
            <DataTable
              caption="Records, newest first"
              columns={COLUMNS(here)}
              rows={state.rows}
              keyOf={({ index }) => String(index)}
              selected={selected === null ? undefined : String(selected)}
              as="folio"
            />
          ) : null}
          {!isLoaded && problem === null ? <Loading rows={8} /> : null}
          {isLoaded ? <Pager shown={state.rows.length} total={null} onMore={list.more} isLoading={isLoading} /> : null}
        </div>
        {selected === null ? null : <ProofPanel index={selected} />}
      </div>
      <Keep />
    </>
  );
};

/** Who did what, and can I prove it? */
const Audit = (props: PageProps) => (
  <>
    <Head title="Audit" meta={<span>Times in {me.value?.account.time_zone}</span>} />
    <WithRight needs="auditor" says="An auditor, an approver, an admin or an owner reads the history.">
      <Records {...props} />
    </WithRight>
  </>
);

export default Audit;
