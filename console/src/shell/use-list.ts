import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { mayRead } from "../api/api.ts";
import type { Answered, Problem } from "../api/calls.ts";
import { keptAnswers } from "../api/kept-answers.ts";
import {
  EMPTY_LIST,
  firstPage,
  type ListState,
  type Page,
  refreshed,
  returned,
  withAsked,
  withMore,
  withWaiting,
} from "../api/list.ts";
import { namesRead } from "../api/names.ts";
import { readOrder } from "../api/read-order.ts";
import { connection, onFrame } from "../live/stream.ts";
import { waitingRows } from "./frame-state.ts";
import { keysOnScreen } from "./keys-on-screen.ts";
import { place, scrollTarget } from "./router.ts";
import { useRecovery } from "./use-recovery.ts";

type ListDeps<Row> = {
  /** Names the filter: another one begins anew. */
  readonly filter: string;
  /** True if the address has a value that the filter does not take: nothing is asked for, and nothing is listed. */
  readonly isWrong?: boolean;
  /** One or several, separated by spaces. Null: whatever changes, as the audit has a record of everything. */
  readonly topic: string | null;
  readonly keyOf: (row: Row) => string;
  readonly page: (cursor: string | undefined) => Promise<Answered<Page<Row>>>;
  /** One row by its id; null if it cannot be read alone. */
  readonly one: ((id: string) => Promise<Answered<Row>>) | null;
  /** Several rows by their ids, in place of `one`; the answer lacks those that are gone. */
  readonly some?: (ids: readonly string[]) => Promise<Answered<Page<Row>>>;
  readonly matches: (row: Row) => boolean;
  /** Shown again as it was when the reader returns to the page, until it is read; not for what somebody decides by. */
  readonly isKept?: true;
};

type Kept<Row> = { readonly state: ListState<Row>; readonly since: string };

/** Of a list that is shown again, no more than its first page is kept. */
const KEPT_ROWS = 100;

export type ShownList<Row> = {
  readonly state: ListState<Row>;
  readonly isLoaded: boolean;
  readonly isLoading: boolean;
  readonly isWrong: boolean;
  readonly problem: Problem | null;
  /** When what is shown was loaded, ISO 8601; null before that. */
  readonly since: string | null;
  readonly more: (() => void) | null;
  /** How many rows wait, such as "12" or "50+"; empty if none do. */
  readonly waiting: string;
  readonly showWaiting: () => void;
  readonly retry: () => void;
};

/** Changes are read together at most this often, however many come. */
const REFRESH_MS = 1_000;
/** Without the stream the first page is read again this often. */
const POLL_MS = 5_000;
/** Of the rows on the screen that changed, so many are read at a time; the others are read at the next. */
const ONE_BY_ONE_MAX = 10;
const SOME_MAX = 100;
const NOT_FOUND = 404;

/** The rows that the ids name, and the ids for which there is an answer; null if nothing was answered. */
const rowsOf = async <Row>(
  { one, some }: ListDeps<Row>,
  ids: readonly string[],
): Promise<{ readonly asked: readonly string[]; readonly rows: readonly Row[] } | null> => {
  if (some !== undefined) {
    const answer = await some(ids);
    return answer.ok ? { asked: ids, rows: answer.body.data } : null;
  }
  const answers = await Promise.all(ids.map(async (id) => ({ id, answer: await one?.(id) })));
  const asked = answers.filter(({ answer }) => answer?.ok || (answer && answer.problem.status === NOT_FOUND));
  return { asked: asked.map(({ id }) => id), rows: asked.flatMap(({ answer }) => (answer?.ok ? [answer.body] : [])) };
};

/** A list that is live: its rows change in place and new ones wait. A hidden tab reads nothing until it is seen. */
export const useList = <Row>(deps: ListDeps<Row>): ShownList<Row> => {
  const { filter, topic, keyOf, isKept, isWrong = false } = deps;
  // One address may have two lists, each in its tab.
  const name = `${place.peek().path} ${topic} list ${filter}`;
  const kept = (): Kept<Row> | null => (isKept === true ? keptAnswers.of<Kept<Row>>(name) : null);
  const [state, setState] = useState<ListState<Row>>(() => kept()?.state ?? EMPTY_LIST);
  const [facts, setFacts] = useState(() => ({
    isLoaded: kept() !== null,
    isLoading: true,
    problem: null as Problem | null,
    since: kept()?.since ?? "",
  }));
  const latest = useRef({ deps, state, generation: 0, order: readOrder() });
  Object.assign(latest.current, { deps, state });

  /** Sets the answer unless the filter was changed meanwhile, or a later read of the first page was answered before. */
  const read = async (cursor: string | undefined, put: (page: Page<Row>) => void): Promise<void> => {
    const { generation, order, deps: given } = latest.current;
    if (given.isWrong) return;
    const nth = cursor === undefined ? order.ask() : null;
    const [answer] = await Promise.all([given.page(cursor), namesRead()]);
    if (generation !== latest.current.generation || (nth !== null && order.isOvertaken(nth))) return;
    if (answer.ok) put(answer.body);
    setFacts((before) => ({
      isLoaded: before.isLoaded || answer.ok,
      isLoading: false,
      problem: answer.ok ? null : answer.problem,
      since: answer.ok ? new Date().toISOString() : before.since,
    }));
  };
  const begin = (): void => {
    latest.current.generation += 1;
    const before = isWrong ? null : kept();
    if (isWrong) setState(EMPTY_LIST);
    setFacts({ isLoaded: before !== null, isLoading: !isWrong, problem: null, since: before?.since ?? "" });
    if (before !== null) setState(before.state);
    void read(undefined, (page) => {
      if (isKept === true && page.data.length <= KEPT_ROWS)
        keptAnswers.keep(name, { state: firstPage(page), since: new Date().toISOString() });
      setState(before === null ? firstPage(page) : (now) => returned(now, page, keyOf));
      if (scrollTarget.value !== null) requestAnimationFrame(() => scrollTo(0, scrollTarget.value ?? 0));
      requestAnimationFrame(() => {
        scrollTarget.value = null;
      });
    });
  };
  // Asked for before the page is painted, which takes long on a slow machine.
  useLayoutEffect(begin, [filter]);
  const put = (page: Page<Row>): void =>
    setState((it) => (facts.isLoaded ? refreshed(it, page, keyOf) : firstPage(page)));
  useRecovery(facts.problem, () => read(undefined, put));
  // Before the page is painted as well: from the read on, no change may be missed.
  useLayoutEffect(() => {
    // What is shown and may have changed is read as soon as it is on the screen.
    const stale = new Set<string>();
    let isDue = false;
    let at = Date.now();
    const readSome = async (ids: readonly string[]): Promise<void> => {
      const { generation, deps: given } = latest.current;
      const answer = await rowsOf(given, ids);
      if (answer === null || generation !== latest.current.generation) return;
      setState((before) => withAsked(before, answer.asked, { rows: answer.rows, keyOf, matches: given.matches }));
    };
    const markAll = (): void => {
      isDue = true;
      for (const row of latest.current.state.rows) stale.add(keyOf(row));
    };
    const tick = setInterval(() => {
      const { isLive } = connection.value;
      if (!mayRead()) return;
      if (!isLive && Date.now() - at >= POLL_MS) markAll();
      if (isDue) {
        isDue = false;
        at = Date.now();
        void read(undefined, (page) => setState((before) => refreshed(before, page, keyOf)));
      }
      const { some, one } = latest.current.deps;
      if (some === undefined && one === null) return;
      const here = keysOnScreen().filter((key) => stale.has(key));
      const asked = here.slice(0, some === undefined ? ONE_BY_ONE_MAX : SOME_MAX);
      for (const key of asked) stale.delete(key);
      if (asked.length > 0) void readSome(asked);
    }, REFRESH_MS);
    const stop = onFrame((frame) => {
      if (topic !== null && frame.topic !== null && !topic.includes(frame.topic)) return;
      if (!("id" in frame)) return markAll();
      isDue = true;
      if (latest.current.state.rows.some((row) => keyOf(row) === frame.id)) stale.add(frame.id);
    });
    return () => {
      stop();
      clearInterval(tick);
    };
  }, [filter, topic]);
  const waiting = state.waiting.length === 0 ? "" : `${state.waiting.length}${state.hasGap ? "+" : ""}`;
  waitingRows.value = waiting;
  const { cursor } = state;
  return {
    state,
    ...{ ...facts, isWrong },
    since: facts.since === "" ? null : facts.since,
    waiting,
    more:
      cursor === null
        ? null
        : () => {
            setFacts((before) => ({ ...before, isLoading: true }));
            void read(cursor, (page) => setState((before) => withMore(before, page, keyOf)));
          },
    // With a gap, what waits does not reach down to the rows that are shown.
    showWaiting: () =>
      state.hasGap
        ? void read(undefined, (page) => setState(firstPage(page)))
        : setState((before) => withWaiting(before, keyOf)),
    retry: begin,
  };
};
