import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Filter, type FilterValues, faultsOf } from "../../design/filter-values.ts";
import { FilterBar } from "../../design/filters.tsx";
import { countdown, euro, isToday, listTotal } from "../../design/format.ts";
import { useKeys } from "../../design/keys.ts";
import { Icon, StateMark } from "../../design/mark.tsx";
import { Empty, LoadError, Loading } from "../../design/placeholders.tsx";
import { stateOf } from "../../design/states.ts";
import { FreshBar, Pager } from "../../design/table.tsx";
import { Head, Time, Zone } from "../../design/text.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { withHolders } from "../api/holders.ts";
import { isExcluded, mayIt } from "../api/may-decide.ts";
import { hrefOf } from "../shell/addresses.ts";
import { now } from "../shell/clock.ts";
import { isDeciding, waitingForMe } from "../shell/frame-state.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { useList } from "../shell/use-list.ts";
import { AddressCheck } from "./address-check.tsx";
import { filtersIn, isByExpiry, queueQuery, type Wanted, wantedIn } from "./approval-query.ts";
import { DecisionCard } from "./decision-card.tsx";
import { titleOf } from "./decision-parts.tsx";
import { Export } from "./export.tsx";
import type { ExportColumn } from "./export-text.ts";
import { WrongFilter } from "./listing.tsx";
import { timeFilter } from "./ranges.ts";
import { SavedViews } from "./saved-views.tsx";

type Row = AnswerOf<"GET /v1/approvals">["data"][number];

const TABS = [
  { title: "For you", value: "me" },
  { title: "Everyone’s", value: "all" },
  { title: "Decided", value: "decided" },
  { title: "History", value: "any" },
] as const;

const STATUSES = ["pending", "approved,consumed", "rejected", "expired", "cancelled,void"];

/** The filters of the history; the other lists are short. */
const FILTERS: readonly Filter[] = [
  timeFilter("Asked for"),
  {
    ...{ name: "status", label: "State", expects: "Choose a state from the list." },
    choices: STATUSES.map((value) => ({ value, word: stateOf(value.split(",")[0] ?? value).word })),
  },
];
const LIST: Filter = {
  ...{ name: "for", label: "List", choices: TABS.map(({ title, value }) => ({ value, word: title })) },
  expects: "Choose one of For you, Everyone’s, Decided and History.",
};
const ONLY_HISTORY = "Only the history is filtered. Remove the filter, or choose History.";
/** In the address of another list than the history no value of them is taken. */
const NO_FILTERS: readonly Filter[] = [
  ...["status", "range"].map((name) => ({ name, label: "Filter", choices: [], expects: ONLY_HISTORY })),
  ...["from", "to"].map((name) => ({ name, label: "Time", choices: [], expects: ONLY_HISTORY })),
];
/** What the address asks for, and what of it is not taken. */
const askedIn = (query: FilterValues) => {
  const wanted = wantedIn(query);
  const filters = [LIST, ...(wanted === "any" ? FILTERS : NO_FILTERS)];
  const set = filtersIn(query);
  /** The same list with other filters. */
  const hrefWith = (values: FilterValues, path = "/approvals"): string =>
    hrefOf(path, { for: wanted === "any" ? wanted : query.for, ...set, ...values });
  return { wanted, filters, set, hrefWith, isWrong: faultsOf(filters, query).length > 0 };
};

const EXPORTED: readonly ExportColumn<Row>[] = [
  { name: "id", of: ({ id }) => id },
  { name: "asked_at", of: (row) => row.requested_at },
  { name: "asked_by", of: (row) => row.requested_by.name },
  { name: "what", of: titleOf },
  { name: "cost_eur", of: (row) => row.cost_eur },
  { name: "state", of: ({ status }) => status },
  { name: "decided_at", of: (row) => row.decided_at },
  { name: "votes", of: ({ votes }) => votes.map(({ email, decision }) => `${email}: ${decision}`).join("; ") },
  { name: "reason", of: ({ reason }) => reason },
];

/** With fewer requests left in the loaded part of the list, the next part is loaded. */
const OTHERS_MIN = 5;
/** Less than this before it expires, the time is drawn in the colour of what needs a person. */
const SOON_MS = 15 * 60_000;

const needsOf = ({ votes, min_approvals: needed }: Row): string => {
  const given = votes.filter((it) => it.decision === "approve").length;
  return given > 0 ? `${given} of ${needed} approved` : `needs ${needed} ${needed === 1 ? "approval" : "approvals"}`;
};

const Clock = ({ row }: { readonly row: Row }) => {
  if (row.status !== "pending")
    return <span class="clock">{row.decided_at === null ? "" : <Time at={row.decided_at} />}</span>;
  const left = Date.parse(row.expires_at) - now.value;
  return <span class={`clock ${left < SOON_MS ? "soon" : ""}`}>{countdown(left)}</span>;
};

const Entry = ({ row, href, isHere }: { readonly row: Row; readonly href: string; readonly isHere: boolean }) => (
  <li>
    <a href={href} data-key={row.id} aria-current={isHere ? "true" : undefined}>
      <b>{titleOf(row)}</b>
      <Clock row={row} />
      <span class="meta">
        {row.status === "pending" ? null : (
          <>
            <StateMark value={row.status} />{" "}
          </>
        )}
        <bdi>{row.requested_by.name}</bdi>
        {row.cost_eur === null ? "" : ` · ${euro(row.cost_eur)}`} ·{" "}
        {row.status === "pending" ? needsOf(row) : (row.reason ?? row.action ?? "")}
      </span>
    </a>
  </li>
);

/** The API gives so many in one page; more are counted as "100+". */
const COUNTED_MAX = 100;
const COUNT_MS = 5_000;

const countOf = (count: number): string => (count >= COUNTED_MAX ? `${COUNTED_MAX}+` : String(count));

/** How many wait for this member, for anybody, and how many this member decided today; null before they are known. */
const useCounts = (): Readonly<Record<Wanted, string | null>> => {
  const on = { topic: "approvals", id: null };
  const read = (which: "all" | "decided") => () =>
    call("GET /v1/approvals", { query: { for: which, limit: COUNTED_MAX } });
  const all = useAnswer({ key: "all", on, everyMs: COUNT_MS }, read("all")).body?.data ?? null;
  const decided = useAnswer({ key: "decided", on, everyMs: COUNT_MS }, read("decided")).body?.data ?? null;
  const { id, zone } = { id: me.value?.member.id, zone: me.value?.account.time_zone ?? "UTC" };
  const today = useMemo(() => {
    const clock = { zone, now: Date.now() };
    return decided?.filter(({ votes }) => votes.some((it) => it.member_id === id && isToday(it.at, clock))).length;
  }, [decided]);
  return {
    me: waitingForMe.value === null ? null : countOf(waitingForMe.value),
    all: all === null ? null : countOf(all.length),
    decided: today === undefined ? null : `${countOf(today)} today`,
    any: null,
  };
};

/** How many there are, by the list that is shown; `waits` is the number in its tab. */
const countText = (
  wanted: Wanted,
  { count, total, waits }: { readonly count: number; readonly total: number | undefined; readonly waits: string },
): string => {
  if (wanted === "any") return `${listTotal(total ?? count)} match`;
  if (wanted === "decided") return count === 0 ? "Nothing was decided by you" : `${count} decided by you`;
  const whom = wanted === "me" ? " for you" : "";
  if (waits === "0") return `Nothing waits${whom}`;
  return `${waits} ${waits === "1" ? "waits" : "wait"}${whom}`;
};

/** Whether a row still belongs to the list that is shown; one that does not stays, with what became of it. */
const belongs = (row: Row, wanted: Wanted, { status }: FilterValues): boolean => {
  const who = me.value;
  if (wanted === "any") return status === undefined || status.split(",").includes(row.status);
  if (wanted === "decided") return who !== null && row.votes.some((it) => it.member_id === who.member.id);
  return row.status === "pending" && (wanted === "all" || (who !== null && !isExcluded(row, who)));
};

const Nothing = ({ wanted }: { readonly wanted: Wanted }) =>
  wanted === "any" ? (
    <Empty title="No approvals match" text="Remove a filter, or look at the whole history.">
      <a class="btn" href={hrefOf("/approvals", { for: "any" })}>
        The whole history
      </a>
    </Empty>
  ) : wanted === "decided" ? (
    <Empty title="You have decided nothing yet" text="The audit has the decisions of everybody.">
      <a class="btn" href={hrefOf("/audit", { type: "VoteCast" })}>
        Everybody’s decisions
      </a>
    </Empty>
  ) : (
    <Empty
      title={wanted === "me" ? "Nothing waits for you" : "Nothing is here"}
      text={
        wanted === "me" && !mayIt("approver")
          ? withHolders("Your role does not decide; approvers do", "approver")
          : "A request that a policy holds for people appears here at once."
      }
    />
  );

/** The keys that this member has use for. */
const Keys = () => (
  <span class="keys desk">
    <kbd>J</kbd> <kbd>K</kbd> next
    {mayIt("approver") ? (
      <>
        {" "}
        · <kbd>A</kbd> approve · <kbd>R</kbd> reject · <kbd>C</kbd> comment
      </>
    ) : null}
  </span>
);

const byExpiry = (rows: readonly Row[]): readonly Row[] =>
  [...rows].sort((a, b) => Date.parse(a.expires_at) - Date.parse(b.expires_at));

/** The rows of one of the lists, how many of the history match, and its pages for a file. */
const useQueue = ({ wanted, set, hrefWith, isWrong }: ReturnType<typeof askedIn>) => {
  const [total, setTotal] = useState<number | undefined>(undefined);
  const page = async (cursor: string | undefined, limit: number) => {
    const answer = await call("GET /v1/approvals", {
      query: { ...queueQuery({ ...set, for: wanted }), limit, ...(cursor === undefined ? {} : { cursor }) },
    });
    if (answer.ok) setTotal(answer.body.total);
    return answer;
  };
  const list = useList<Row>({
    filter: hrefWith({}),
    isWrong,
    topic: "approvals",
    keyOf: (row) => row.id,
    page: (cursor) => page(cursor, 50),
    one: null,
    // A read of one approval shows its payload and is recorded, but a reader of the list has not opened it.
    some: (ids) => call("GET /v1/approvals", { query: { ids: ids.join(","), titles: "true", limit: ids.length } }),
    matches: (row) => belongs(row, wanted, set),
  });
  // New rows come to the top of a list, but among those that wait each has its place: its expiry never changes.
  const rows = useMemo(() => (isByExpiry(wanted) ? byExpiry(list.state.rows) : list.state.rows), [list.state, wanted]);
  return { list, rows, page, total };
};

/** The list beside the card, or before it on a narrow window: lets a person decide well and quickly. */
const Approvals = ({ params, query }: PageProps) => {
  const asked = askedIn(query);
  const { wanted, filters, set, hrefWith, isWrong } = asked;
  const open = params.id;
  const { list, rows, page, total } = useQueue(asked);
  const counts = useCounts();
  const [isExporting, setExporting] = useState(false);
  const { state, isLoaded, isLoading, problem, since } = list;
  /** The card beside the list stays when its request is decided, so that the outcome is told there. */
  const [kept, setKept] = useState<{ readonly list: string; readonly id: string } | null>(null);
  const keptId = kept?.list === hrefWith({}) ? kept.id : undefined;
  const count = rows.filter((row) => belongs(row, wanted, set)).length;
  const shown = open ?? keptId ?? rows[0]?.id;
  useEffect(() => {
    if (isLoaded && shown !== undefined) setKept({ list: hrefWith({}), id: shown });
  }, [isLoaded, shown, hrefWith({})]);
  // Before anything is painted, as on a phone the head goes and all that stands below it would move.
  useLayoutEffect(() => {
    isDeciding.value = open !== undefined;
    return () => {
      isDeciding.value = false;
    };
  }, [open]);
  const hrefTo = (id: string): string => hrefWith({}, `/approvals/${encodeURIComponent(id)}`);
  const move = (by: number): void => {
    const at = rows.findIndex((row) => row.id === shown);
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    if (next !== undefined) go(hrefTo(next.id), { isReplaced: open !== undefined });
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  /** The list hears of a decision a little later, and must not offer once more what was just decided. */
  const left = useRef(new Set<string>());
  const isOther = (row: Row): boolean => row.id !== shown && row.status === "pending" && !left.current.has(row.id);
  const others = rows.filter(isOther);
  const next = others[0];
  // Who has decided all that was in the list and asks for the next one sees what waits behind the bar.
  const isNews = next === undefined && state.waiting.some(isOther);
  const [isGoingOn, setGoingOn] = useState(false);
  // A member who decides many does not have to ask for the next page of the list.
  const isShort = isByExpiry(wanted) && others.length < OTHERS_MIN && list.more !== null && !isLoading;
  useEffect(() => {
    if (isShort) list.more?.();
  }, [isShort]);
  const goOn = (): void => {
    if (next === undefined) {
      setGoingOn(true);
      list.showWaiting();
      return;
    }
    if (shown !== undefined) left.current.add(shown);
    setGoingOn(false);
    go(hrefTo(next.id));
  };
  useEffect(() => setGoingOn(false), [shown]);
  useEffect(() => {
    if (isGoingOn && next !== undefined) goOn();
  }, [isGoingOn, next?.id]);
  return (
    <>
      <Head
        title="Approvals"
        meta={
          <>
            <span class={isLoaded ? "" : "unseen"}>
              {countText(wanted, { count, total, waits: counts[wanted] ?? String(count) })}
            </span>
            <Zone />
          </>
        }
        acts={
          <>
            <Keys />
            {isWrong ? null : (
              <button class="btn desk" type="button" onClick={() => setExporting(true)}>
                <Icon name="down" small />
                Export…
              </button>
            )}
          </>
        }
      />
      <div class="stack tight">
        <SavedViews
          fixed={TABS.map(({ title, value }) => ({
            name: title,
            address: hrefOf("/approvals", { for: value === "me" ? undefined : value }),
            count: counts[value] ?? undefined,
          }))}
          address={hrefWith({})}
          isWrong={isWrong}
        />
        {wanted === "any" && open === undefined ? (
          <FilterBar
            label="Filter approvals"
            filters={FILTERS}
            values={set}
            onChange={(values) => go(hrefWith(values), { isReplaced: true })}
          />
        ) : (
          <AddressCheck filters={filters} query={query} />
        )}
        {isWrong && open === undefined ? <WrongFilter /> : null}
        {problem === null ? null : (
          <LoadError what="The list" failure={problem} since={isLoaded ? since : null} onRetry={list.retry} />
        )}
        {!isLoaded && !isWrong && problem === null ? <Loading /> : null}
        {isLoaded && rows.length === 0 && shown === undefined ? <Nothing wanted={wanted} /> : null}
        {(isLoaded && (rows.length > 0 || shown !== undefined)) || (isWrong && open !== undefined) ? (
          <div class={`inbox ${open === undefined ? "" : "one"}`}>
            <nav class="queue" aria-label="Requests">
              <FreshBar waiting={list.waiting} what="requests" onShow={list.showWaiting} />
              <ul>
                {rows.map((row) => (
                  <Entry key={row.id} row={row} href={hrefTo(row.id)} isHere={row.id === shown} />
                ))}
              </ul>
              {list.more === null ? null : <Pager shown={rows.length} onMore={list.more} isLoading={isLoading} />}
            </nav>
            {shown === undefined ? null : (
              <DecisionCard
                key={shown}
                id={shown}
                isAlone={open !== undefined}
                onNext={next === undefined && !isNews ? null : goOn}
              />
            )}
          </div>
        ) : null}
      </div>
      {isExporting ? (
        <Export
          what="approvals"
          which="All of this list"
          columns={EXPORTED}
          page={(cursor) => page(cursor, 100)}
          onClose={() => setExporting(false)}
        />
      ) : null}
    </>
  );
};

export default Approvals;
