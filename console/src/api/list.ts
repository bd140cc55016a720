/** A list as people read it: rows change in place, and new ones wait until they are asked for. Pure: the store draws it. */

export type Page<Row> = { readonly data: readonly Row[]; readonly next_cursor: string | null };

export type ListState<Row> = {
  readonly rows: readonly Row[];
  readonly cursor: string | null;
  /** New rows, newest first, that wait behind the bar. */
  readonly waiting: readonly Row[];
  /** Keys of rows that no longer match the filter. */
  readonly left: ReadonlySet<string>;
};

/** What a tab keeps; older rows are fetched again by the cursor if they are wanted. */
export const ROWS_MAX = 2_000;

export const EMPTY_LIST: ListState<never> = { rows: [], cursor: null, waiting: [], left: new Set() };

export const firstPage = <Row>({ data, next_cursor }: Page<Row>): ListState<Row> => ({
  ...EMPTY_LIST,
  rows: data,
  cursor: next_cursor,
});

type KeyOf<Row> = (row: Row) => string;

export const withMore = <Row>(state: ListState<Row>, page: Page<Row>, keyOf: KeyOf<Row>): ListState<Row> => {
  const there = new Set(state.rows.map(keyOf));
  const rows = [...state.rows, ...page.data.filter((row) => !there.has(keyOf(row)))];
  // With the most that is kept, there is no further page: a narrower filter finds more quickly.
  const isFull = rows.length >= ROWS_MAX;
  return { ...state, rows: rows.slice(0, ROWS_MAX), cursor: isFull ? null : page.next_cursor };
};

/** The first page read again: rows that are shown change in place, unknown ones wait. */
export const refreshed = <Row>(state: ListState<Row>, page: Page<Row>, keyOf: KeyOf<Row>): ListState<Row> => {
  const newest = new Map(page.data.map((row) => [keyOf(row), row] as const));
  const shown = new Set(state.rows.map(keyOf));
  const waiting = page.data.filter((row) => !shown.has(keyOf(row)));
  const known = new Set(waiting.map(keyOf));
  return {
    ...state,
    rows: state.rows.map((row) => newest.get(keyOf(row)) ?? row),
    waiting: [...waiting, ...state.waiting.filter((row) => !known.has(keyOf(row)))].slice(0, ROWS_MAX),
    left: new Set([...state.left].filter((key) => !newest.has(key))),
  };
};

/** One row read by itself; null if it no longer exists. `matches` says whether the filter still takes it. */
export const withRow = <Row>(
  state: ListState<Row>,
  row: Row,
  { keyOf, matches }: { readonly keyOf: KeyOf<Row>; readonly matches: boolean },
): ListState<Row> => {
  const key = keyOf(row);
  const left = new Set(state.left);
  if (matches) left.delete(key);
  else left.add(key);
  return { ...state, rows: state.rows.map((it) => (keyOf(it) === key ? row : it)), left };
};

/** Shows what waits, and lets rows go that no longer match. */
export const withWaiting = <Row>(state: ListState<Row>, keyOf: KeyOf<Row>): ListState<Row> => ({
  ...state,
  rows: [...state.waiting, ...state.rows.filter((row) => !state.left.has(keyOf(row)))].slice(0, ROWS_MAX),
  waiting: [],
  left: new Set(),
});
