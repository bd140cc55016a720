/** A list as people read it: rows change in place, and new ones wait until they are asked for. Pure: the store draws it. */

export type Page<Row> = { readonly data: readonly Row[]; readonly next_cursor: string | null };

export type ListState<Row> = {
  readonly rows: readonly Row[];
  readonly cursor: string | null;
  /** New rows, newest first, that wait behind the bar. */
  readonly waiting: readonly Row[];
  /** True if more came than was read: between those that wait and those that are shown there are others. */
  readonly hasGap: boolean;
  /** Keys of rows that no longer match the filter. */
  readonly left: ReadonlySet<string>;
};

/** What a tab keeps; older rows are fetched again by the cursor if they are wanted. */
export const ROWS_MAX = 2_000;

/** So many new rows wait at most; of more, the list is read anew once they are asked for. */
export const WAITING_MAX = 500;

export const EMPTY_LIST: ListState<never> = { rows: [], cursor: null, waiting: [], hasGap: false, left: new Set() };

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
  const fresh = page.data.filter((row) => !shown.has(keyOf(row)));
  const known = new Set(fresh.map(keyOf));
  const before = state.waiting.filter((row) => !known.has(keyOf(row)));
  // A page on which all is new, and that others follow, does not reach down to what was read before.
  const isNew =
    page.next_cursor !== null && fresh.length === page.data.length && before.length === state.waiting.length;
  const waiting = isNew ? fresh : [...fresh, ...before];
  return {
    ...state,
    rows: state.rows.map((row) => newest.get(keyOf(row)) ?? row),
    waiting: waiting.slice(0, WAITING_MAX),
    hasGap: state.hasGap || isNew || waiting.length > WAITING_MAX,
    left: new Set([...state.left].filter((key) => !newest.has(key))),
  };
};

/**
 * A list that was shown before, and the first page of the same list now: rows change in place, new ones wait, and those
 * that should be on the page and are not have left. Between rows that have nothing in common with the page there is a gap.
 */
export const returned = <Row>(state: ListState<Row>, page: Page<Row>, keyOf: KeyOf<Row>): ListState<Row> => {
  const now = refreshed(state, page, keyOf);
  const there = new Set(page.data.map(keyOf));
  // New rows push older ones off the page; without a next page, all rows are on it.
  const least =
    page.next_cursor === null ? state.rows.length : page.data.length - (now.waiting.length - state.waiting.length);
  const gone = state.rows
    .slice(0, least)
    .map(keyOf)
    .filter((key) => !there.has(key));
  return now.hasGap ? now : { ...now, left: new Set([...now.left, ...gone]) };
};

/** Rows that were asked for by their keys; those that the answer lacks are gone, or are of another filter. */
export const withAsked = <Row>(
  state: ListState<Row>,
  asked: readonly string[],
  { rows, keyOf, matches }: { readonly rows: readonly Row[]; readonly keyOf: KeyOf<Row>; matches(row: Row): boolean },
): ListState<Row> => {
  const there = new Set(rows.map(keyOf));
  const marked: ListState<Row> = {
    ...state,
    left: new Set([...state.left, ...asked.filter((key) => !there.has(key))]),
  };
  return rows.reduce((all, row) => withRow(all, row, { keyOf, matches: matches(row) }), marked);
};

/** One row read by itself. `matches` says whether the filter still takes it. */
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

/** Shows what waits, and lets rows go that no longer match; not for a list with a gap, which is read anew. */
export const withWaiting = <Row>(state: ListState<Row>, keyOf: KeyOf<Row>): ListState<Row> => ({
  ...state,
  rows: [...state.waiting, ...state.rows.filter((row) => !state.left.has(keyOf(row)))].slice(0, ROWS_MAX),
  waiting: [],
  hasGap: false,
  left: new Set(),
});
