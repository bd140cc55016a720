import { useEffect, useRef, useState } from "preact/hooks";
import type { Answered, Problem } from "../api/calls.ts";
import {
  EMPTY_LIST,
  firstPage,
  type ListState,
  type Page,
  refreshed,
  withMore,
  withRow,
  withWaiting,
} from "../api/list.ts";
import { connection, onFrame } from "../live/stream.ts";
import { waitingRows } from "./frame-state.ts";
import { scrollTarget } from "./router.ts";

type ListDeps<Row> = {
  /** Names the filter: another one begins anew. */
  readonly filter: string;
  readonly topic: string;
  readonly keyOf: (row: Row) => string;
  readonly page: (cursor: string | undefined) => Promise<Answered<Page<Row>>>;
  /** One row by its id, and whether the filter still takes it; null if it cannot be read alone. */
  readonly one: ((id: string) => Promise<Answered<Row>>) | null;
  readonly matches: (row: Row) => boolean;
};

export type ShownList<Row> = {
  readonly state: ListState<Row>;
  readonly isLoaded: boolean;
  readonly isLoading: boolean;
  readonly problem: Problem | null;
  /** When what is shown was loaded, ISO 8601; null before that. */
  readonly since: string | null;
  readonly more: (() => void) | null;
  readonly showWaiting: () => void;
  readonly retry: () => void;
};

/** Changes are read together at most this often, however many come. */
const REFRESH_MS = 1_000;
/** Without the stream the first page is read again this often. */
const POLL_MS = 5_000;
/** Of the rows that changed, only so many are read one by one; the others are read when the list is shown again. */
const ONE_BY_ONE_MAX = 10;

/** A list that is live: its rows change in place and new ones wait. A hidden tab reads nothing until it is seen. */
export const useList = <Row>(deps: ListDeps<Row>): ShownList<Row> => {
  const { filter, topic, keyOf } = deps;
  const [state, setState] = useState<ListState<Row>>(EMPTY_LIST);
  const [facts, setFacts] = useState({ isLoaded: false, isLoading: true, problem: null as Problem | null, since: "" });
  const latest = useRef({ deps, state, generation: 0 });
  latest.current.deps = deps;
  latest.current.state = state;

  /** Sets the answer unless the filter was changed meanwhile. */
  const read = async (cursor: string | undefined, put: (page: Page<Row>) => void): Promise<void> => {
    const { generation } = latest.current;
    const answer = await latest.current.deps.page(cursor);
    if (generation !== latest.current.generation) return;
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
    setFacts((before) => ({ ...before, isLoaded: false, isLoading: true, problem: null }));
    void read(undefined, (page) => {
      setState(firstPage(page));
      if (scrollTarget.value !== null) requestAnimationFrame(() => scrollTo(0, scrollTarget.value ?? 0));
      requestAnimationFrame(() => {
        scrollTarget.value = null;
      });
    });
  };
  useEffect(begin, [filter]);
  useEffect(() => {
    const changed = new Set<string>();
    let isDue = false;
    let at = 0;
    const readOne = async (id: string): Promise<void> => {
      const answer = await latest.current.deps.one?.(id);
      if (!answer?.ok) return;
      const matches = latest.current.deps.matches(answer.body);
      setState((before) => withRow(before, answer.body, { keyOf, matches }));
    };
    const tick = setInterval(() => {
      const isPoll = !connection.value.isLive && Date.now() - at >= POLL_MS;
      if (document.visibilityState !== "visible" || !(isDue || isPoll)) return;
      isDue = false;
      at = Date.now();
      const ids = new Set(latest.current.state.rows.map(keyOf));
      const shown = [...changed].filter((id) => ids.has(id)).slice(0, ONE_BY_ONE_MAX);
      changed.clear();
      void read(undefined, (page) => setState((before) => refreshed(before, page, keyOf)));
      for (const id of shown) void readOne(id);
    }, REFRESH_MS);
    const stop = onFrame((frame) => {
      if (frame.topic !== topic) return;
      isDue = true;
      if ("id" in frame) changed.add(frame.id);
    });
    return () => {
      stop();
      clearInterval(tick);
    };
  }, [filter, topic]);
  waitingRows.value = state.waiting.length;
  const { cursor } = state;
  return {
    state,
    ...facts,
    since: facts.since === "" ? null : facts.since,
    more:
      cursor === null
        ? null
        : () => {
            setFacts((before) => ({ ...before, isLoading: true }));
            void read(cursor, (page) => setState((before) => withMore(before, page, keyOf)));
          },
    showWaiting: () => setState((before) => withWaiting(before, keyOf)),
    retry: begin,
  };
};
