import { useContext, useState } from "preact/hooks";
import { type Filter, type FilterValues, faultOf, faultsOf } from "../../design/filter-values.ts";
import { AddressFaults, FilterBar } from "../../design/filters.tsx";
import { count, duration, shortId } from "../../design/format.ts";
import { Icon, Mark, ProofMark } from "../../design/mark.tsx";
import { Empty, LoadError, Loading } from "../../design/placeholders.tsx";
import { type Column, DataTable, FreshBar, Pager } from "../../design/table.tsx";
import { Breaking, ClockContext, Head, Time, Zone } from "../../design/text.tsx";
import { WholeLists } from "../../design/virtual-rows.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { namesOf, useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import { useCrumbName } from "../shell/crumb-name.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { type Coverage, proofOf, useCoverage } from "../shell/use-coverage.ts";
import { useList } from "../shell/use-list.ts";
import { Keep } from "./audit-keep.tsx";
import { queryOf } from "./audit-query.ts";
import { useColumns } from "./columns.tsx";
import { Export } from "./export.tsx";
import type { ExportColumn } from "./export-text.ts";
import { WrongFilter } from "./listing.tsx";
import { ProofPanel } from "./proof-panel.tsx";
import { filtersOf, timeFilter } from "./ranges.ts";
import type { NameOf } from "./record-parts.ts";
import { knownTypes } from "./record-sentences.ts";
import { toldOf, wordsOf } from "./record-text.ts";
import { SavedViews } from "./saved-views.tsx";
import { WithRight } from "./with-right.tsx";

type Row = AnswerOf<"GET /v1/audit">["data"][number];

/** An address of the API calls the search by its own name. */
const FILTER_NAMES = ["q", "type", "actor", "range", "from", "to", "order"];

const ORDERS = [
  { value: "asc", word: "Oldest first" },
  { value: "desc", word: "Newest first" },
] as const;
const ORDER: Filter = { name: "order", label: "Order", choices: ORDERS, expects: "Choose one of the two orders." };

const TYPES = knownTypes().map((value) => ({ value, word: wordsOf(value) }));

type Choice = { readonly value: string; readonly word: string };

/** Members are in no list that each role may read; the directory has their names, without their addresses. */
const useMembers = (): readonly Choice[] => {
  const { body } = useAnswer({ key: "members", on: null }, () =>
    call("GET /v1/directory", { query: { kinds: "member" } }),
  );
  const all = Object.entries(body ?? {}).map(([value, { name }]) => ({ value, word: name ?? shortId(value) }));
  return all.map(({ value, word }) => ({
    value,
    word: all.some((it) => it.value !== value && it.word === word) ? `${word} (${shortId(value)})` : word,
  }));
};

const filters = (rows: readonly Row[], members: readonly Choice[], query: FilterValues): readonly Filter[] => {
  const actors = new Map(rows.map(({ actor }) => [actor.id, actor.name ?? actor.id] as const));
  const people = [...members, ...namesOf("agt_"), ...namesOf("src_")].filter(({ value }) => !actors.has(value));
  return [
    {
      ...{ name: "actor", label: "Who", expects: null },
      choices: [...[...actors].map(([value, word]) => ({ value, word })), ...people],
    },
    {
      ...{ name: "type", label: "What", expects: "Choose from the list what was done." },
      choices: TYPES,
    },
    timeFilter("When"),
    // The buttons at the end of the bar show the order.
    ...(faultOf(ORDER, query) === null ? [] : [ORDER]),
  ];
};

const KINDS: Readonly<Record<string, string>> = {
  member: "Member",
  key: "API key",
  agent: "Agent",
  source: "Source",
};

/** Whoever has sent no credential that is accepted, as an actor of records. */
const VISITOR = "public";

/** A part of the service has no name of its own: it acts as the service. */
const actorOf = ({ actor: { kind, id, name } }: Row): readonly [name: string, kind: string] => {
  if (kind !== "system") return [name ?? id, KINDS[kind] ?? kind];
  return id === VISITOR ? ["A visitor", "Not signed in"] : ["Countersign", `Service, ${wordsOf(id)}`];
};

const Told = ({ row, nameOf, href }: { readonly row: Row; readonly nameOf: NameOf; readonly href: string }) => {
  const { before, name, after, note } = toldOf(row, nameOf);
  return (
    <>
      <a class="told" href={href}>
        {before}
        <b>
          <Breaking text={name} />
        </b>
        {after}
      </a>
      <span class="sub">{note}</span>
    </>
  );
};

/** The proved record as a row: a list may not have it. */
const rowOf = (leaf: string, nameOf: NameOf): Row => {
  // What was proved is a leaf.
  const record = JSON.parse(leaf) as Row;
  const { actor } = record;
  return { ...record, personal: {}, actor: { ...actor, name: nameOf(actor.id) } };
};

type AloneProps = { readonly row: Row; readonly nameOf: NameOf; readonly isListed: boolean };

/** What the record says: on a phone always, as the list is not drawn there, else if the list does not have it. */
const Alone = ({ row, nameOf, isListed }: AloneProps) => {
  const { before, name, after } = toldOf(row, nameOf);
  return (
    <p class={isListed ? "under" : ""}>
      <b>{actorOf(row)[0]}</b> {before}
      <b>
        <Breaking text={name} />
      </b>
      {after}, <Time at={row.recorded_at} as="precise" />
    </p>
  );
};

type ColumnsProps = {
  readonly here: (index: number) => string;
  readonly nameOf: NameOf;
  readonly coverage: Coverage | null;
};

const columns = ({ here, nameOf, coverage }: ColumnsProps): readonly Column<Row>[] => [
  { name: "Record", as: "hide", show: ({ index }) => count(index) },
  { name: "When", as: "soft b nw", show: ({ recorded_at: at }) => <Time at={at} as="precise" /> },
  {
    name: "Who",
    as: "a who",
    show(row) {
      const [name, kind] = actorOf(row);
      return (
        <>
          <b>
            <Breaking text={name} />
          </b>
          <span class="sub">{kind}</span>
        </>
      );
    },
  },
  { name: "What", as: "told", isKept: true, show: (row) => <Told row={row} nameOf={nameOf} href={here(row.index)} /> },
  { name: "State", as: "d", show: (row) => <ProofMark value={proofOf(row, coverage)} /> },
];

const exportColumns = (nameOf: NameOf, coverage: Coverage | null): readonly ExportColumn<Row>[] => [
  { name: "record", of: ({ index }) => index },
  { name: "recorded_at", of: (row) => row.recorded_at },
  { name: "who", of: (row) => actorOf(row)[0] },
  { name: "kind", of: ({ actor }) => actor.kind },
  {
    name: "what",
    of(row) {
      const { before, name, after } = toldOf(row, nameOf);
      return `${before}${name}${after}`;
    },
  },
  { name: "type", of: ({ type }) => type },
  { name: "subject", of: ({ subject }) => subject },
  { name: "state", of: (row) => proofOf(row, coverage) },
  { name: "leaf_hash", of: (row) => row.leaf_hash },
];

/** How many records there are, how far they are sealed, and how old the newest checkpoint is. */
const Covered = ({ coverage }: { readonly coverage: Coverage | null }) => {
  const { now } = useContext(ClockContext);
  // Keeps the place of what is to come.
  if (coverage === null)
    return (
      <>
        <span class="unseen">1,000 records</span>
        <span class="unseen">Sealed: all</span>
        <span class="unseen">newest checkpoint 1 s ago</span>
      </>
    );
  const { records, sealed, witnessed, newest_sealed_at: at } = coverage;
  const upTo = (size: number): string => (size >= records ? "all" : `up to ${count(size - 1)}`);
  return (
    <>
      <span>{records === 1 ? "1 record" : `${count(records)} records`}</span>
      <span class="st inked">
        <Mark name="sSealed" />
        {sealed === 0 ? "None sealed yet" : `Sealed: ${upTo(sealed)}`}
      </span>
      {witnessed === 0 ? null : (
        <span class="st inked">
          <Mark name="sWitnessed" />
          Witnessed: {upTo(witnessed)}
        </span>
      )}
      {at === null ? null : (
        <span title={at}>newest checkpoint {duration(Math.max(1_000, now - Date.parse(at)))} ago</span>
      )}
    </>
  );
};

const VIEWS = [
  { name: "All", address: "/audit" },
  { name: "Decisions", address: "/audit?type=VoteCast" },
  { name: "Policies", address: "/audit?type=PolicyPublished" },
];

const indexOf = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;

const NO_RECORD = "Not a record";

/** Of an address that names no record; without `records`, how many there are is not known yet. */
const indexFilter = (records: number | undefined): Filter => ({
  ...{ name: "index", label: "Record", choices: [] },
  expects: `Write the number of a record${records ? `, from 0 to ${count(records - 1)}` : ", such as 48206"}.`,
});

const NoRecord = ({ isSearch }: { readonly isSearch: boolean }) => (
  <Empty
    title="No record matches"
    text={
      isSearch
        ? "The search takes the whole id of a thing or a person. For a name, choose it in Who, or open the thing and copy its id."
        : "Remove a filter to see more."
    }
  />
);

const Records = ({ params, query: given }: PageProps) => {
  const query = given.subject === undefined ? given : { q: given.subject, ...given };
  const names = useNames();
  const members = useMembers();
  const isReturning = useContext(WholeLists);
  const account = me.value?.account;
  const nameOf: NameOf = (id) => (id !== null && id === account?.id ? account.name : names(id));
  const set = filtersOf(FILTER_NAMES, query);
  const isWrong = faultsOf(filters([], [], query), query).length > 0;
  const isOldestFirst = query.order === "asc";
  const page = (cursor: string | undefined, limit: number) =>
    call("GET /v1/audit", { query: { ...queryOf(query), limit, ...(cursor === undefined ? {} : { cursor }) } });
  const list = useList<Row>({
    filter: hrefOf("", set),
    isKept: true,
    isWrong,
    topic: null,
    keyOf: ({ index }) => String(index),
    page: (cursor) => page(cursor, 50),
    one: null,
    matches: () => true,
  });
  const { state, isLoaded, isLoading, problem, since } = list;
  // Records that came after a last page wait like others, and belong at the end.
  const rows = isOldestFirst ? state.rows.toSorted((a, b) => a.index - b.index) : state.rows;
  const coverage = useCoverage(Math.max(-1, ...rows.map(({ index }) => index)));
  const wanted = indexOf(params.index);
  // A record of the list may be newer than the count.
  const isThere =
    wanted !== null && (coverage === null || wanted < coverage.records || rows.some(({ index }) => index === wanted));
  const selected = isThere ? wanted : null;
  useCrumbName(selected === null ? (params.index === undefined ? null : NO_RECORD) : `Record ${count(selected)}`);
  const open = rows.find(({ index }) => index === selected);
  const [isExporting, setExporting] = useState(false);
  const here = (index: number | string): string => hrefOf(`/audit/${encodeURIComponent(index)}`, set);
  const { shown, menu } = useColumns("Audit", columns({ here, nameOf, coverage }));
  const change = (values: FilterValues): void => go(hrefOf("/audit", { ...set, ...values }), { isReplaced: true });
  return (
    <>
      <Head
        title="Audit"
        meta={
          <>
            <Covered coverage={coverage} />
            <Zone />
          </>
        }
        acts={
          isWrong ? undefined : (
            <>
              {menu}
              <button class="btn" type="button" onClick={() => setExporting(true)}>
                <Icon name="down" small />
                Export…
              </button>
            </>
          )
        }
      />
      <div class="stack tight">
        {params.index === undefined || isThere ? null : (
          <AddressFaults
            filters={[indexFilter(coverage?.records)]}
            values={{ index: params.index }}
            onChange={({ index }) =>
              go(index === undefined ? hrefOf("/audit", set) : here(index), { isReplaced: true })
            }
          />
        )}
        <SavedViews fixed={VIEWS} address={hrefOf("/audit", set)} isWrong={isWrong} />
        <FilterBar
          label="Filter records"
          hint="Id of a thing or a person"
          filters={filters(state.rows, members, query)}
          values={query}
          onChange={change}
        >
          <span class="end seg" role="group" aria-label="Order">
            {ORDERS.map(({ value, word }) => (
              <button
                key={word}
                type="button"
                aria-pressed={isOldestFirst === (value === "asc")}
                onClick={() => change({ order: value === "asc" ? value : undefined })}
              >
                {word}
              </button>
            ))}
          </span>
        </FilterBar>
      </div>
      {problem === null ? null : (
        <LoadError what="The list" failure={problem} since={isLoaded ? since : null} onRetry={list.retry} />
      )}
      <div class={selected === null ? "" : "cols audit"}>
        <div>
          <FreshBar waiting={list.waiting} what="records" onShow={list.showWaiting} />
          {isLoaded && rows.length === 0 ? <NoRecord isSearch={query.q !== undefined} /> : null}
          {isLoaded && rows.length > 0 ? (
            // On a narrow screen the panel stands below the rows, and would move while they come.
            <WholeLists.Provider value={isReturning || selected !== null}>
              <DataTable
                caption={`Records, ${isOldestFirst ? "oldest" : "newest"} first`}
                columns={shown}
                rows={rows}
                keyOf={({ index }) => String(index)}
                selected={selected === null ? undefined : String(selected)}
                as="folio records"
              />
            </WholeLists.Provider>
          ) : null}
          {isWrong ? <WrongFilter /> : !isLoaded && problem === null ? <Loading rows={8} /> : null}
          {isLoaded ? <Pager shown={rows.length} onMore={list.more} isLoading={isLoading} /> : null}
        </div>
        {selected === null || (!isLoaded && !isWrong && problem === null) ? null : (
          <ProofPanel
            index={selected}
            back={hrefOf("/audit", set)}
            about={(leaf) => {
              if (open !== undefined) return <Alone row={open} nameOf={nameOf} isListed />;
              return leaf === null ? null : <Alone row={rowOf(leaf, nameOf)} nameOf={nameOf} isListed={false} />;
            }}
          />
        )}
      </div>
      <Keep />
      {isExporting ? (
        <Export
          what="records"
          which="All that match the filter"
          columns={exportColumns(nameOf, coverage)}
          page={(cursor) => page(cursor, 100)}
          onClose={() => setExporting(false)}
        />
      ) : null}
    </>
  );
};

/** Who did what, and can I prove it? */
const Audit = (props: PageProps) => (
  <WithRight
    needs="auditor"
    says="An auditor, an approver, an admin or an owner reads the history"
    head={<Head title="Audit" />}
  >
    <Records {...props} />
  </WithRight>
);

export default Audit;
