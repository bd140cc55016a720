import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useKeys } from "./keys.ts";
import { Mark } from "./mark.tsx";
import { useGrowingWindow } from "./virtual-rows.tsx";

export type Column<T> = {
  readonly name: string;
  readonly show: (row: T) => ComponentChildren;
  /** `num` stands right; `wide` goes below 1280 px, `roomy` between a phone and 1024 px; `c0` is the name; on a phone `a` to `d` place the cell and `hide` removes it. */
  readonly as?: string;
  /** True if it cannot be hidden, such as the one with the row's link. The first one never can. */
  readonly isKept?: boolean;
};

/** The head of the class attribute that a column's heading keeps. */
const headingClass = (as = ""): string =>
  ["num", "wide", "roomy", "c0"].filter((it) => as.split(" ").includes(it)).join(" ");

type TableProps<T> = {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** The row that the address names; it is marked, and `j` and `k` move from it. */
  readonly selected?: string | undefined;
  readonly onSelect?: (key: string) => void;
  /** True for a row that no longer matches the filter, or is gone: it is dimmed, says so, and stays. */
  readonly isLeft?: (row: T) => boolean;
  /** The rows that are selected for an act; `x` and the box in a row select it. Left out: none can be. */
  readonly picked?: ReadonlySet<string>;
  readonly onPick?: (key: string) => void;
  /** Further classes, such as `folio` for numbered records. */
  readonly as?: string;
};

type RowProps<T> = { readonly row: T; readonly table: TableProps<T> };

const leavingColumn = <T,>({ columns }: TableProps<T>): Column<T> | undefined =>
  columns.find((it) => it.as?.split(" ").includes("a")) ?? columns.at(-1);

/** A component of its own, which is drawn anew if a signal changes that one of its cells reads. */
const Row = <T,>({ row, table }: RowProps<T>) => {
  const { columns, keyOf, selected, isLeft, picked, onPick } = table;
  const key = keyOf(row);
  const hasLeft = isLeft?.(row) === true;
  const leaving = hasLeft ? leavingColumn(table) : undefined;
  return (
    <tr data-key={key} role="row" class={`${key === selected ? "here" : ""} ${hasLeft ? "left" : ""}`}>
      {columns.map((it, nth) => (
        <td role="cell" class={it.as}>
          {nth === 0 && onPick !== undefined ? (
            <input
              class="pick"
              type="checkbox"
              aria-label="Select this row"
              checked={picked?.has(key) === true}
              onChange={() => onPick(key)}
            />
          ) : null}
          {it.show(row)}
          {it === leaving ? <span class="sub">no longer matches</span> : null}
        </td>
      ))}
    </tr>
  );
};

/** Rows that were drawn with the same properties of the table are the same nodes, which are not drawn again. */
const useRows = <T,>(table: TableProps<T>): ((row: T) => VNode) => {
  const kept = useRef<{ of: TableProps<T>; byKey: Map<string, VNode> } | null>(null);
  if (kept.current?.of !== table) kept.current = { of: table, byKey: new Map() };
  const { byKey } = kept.current;
  return (row) => {
    const key = table.keyOf(row);
    const drawn = byKey.get(key) ?? <Row key={key} row={row} table={table} />;
    byKey.set(key, drawn);
    return drawn;
  };
};

/** Pixels of a comfortable row with two lines. */
const ROW_PX = 61;
/** Above this many rows only those on the screen are drawn. */
const ROWS_MAX = 200;

/** A table that keeps its roles when it becomes a list on a phone. `j` and `k` move the focus from link to link. */
export const DataTable = <T,>(props: TableProps<T>) => {
  const { caption, columns, rows, keyOf, selected, onSelect, onPick, as = "" } = props;
  const body = useRef<HTMLTableSectionElement | null>(null);
  const rowOf = useRows(props);
  const { box, shown, before, after } = useGrowingWindow(rows.length, ROW_PX, ROWS_MAX);
  const move = (by: number): void => {
    const at = rows.findIndex((row) => keyOf(row) === selected);
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    if (next === undefined) return;
    const key = keyOf(next);
    onSelect?.(key);
    const found = [...(body.current?.rows ?? [])].find((it) => it.dataset.key === key);
    found?.querySelector("a")?.focus();
    found?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(onPick === undefined || selected === undefined ? {} : { x: () => onPick(selected) }),
  });
  useEffect(() => box(body.current), []);
  const selectedBefore = useRef(selected);
  useEffect(() => {
    if (selected === selectedBefore.current) return;
    selectedBefore.current = selected;
    // What opens beside the table makes it narrower and its rows higher, so the chosen one may have moved.
    const row = [...(body.current?.rows ?? [])].find((it) => it.dataset.key === selected);
    row?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  return (
    <table class={`t lined ${as}`} role="table">
      <caption class="vh">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((it) => (
            <th role="columnheader" scope="col" class={headingClass(it.as)}>
              {it.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup" ref={body}>
        {before === 0 ? null : <tr class="gap" role="presentation" style={{ height: `${before}px` }} />}
        {rows.slice(shown.from, shown.to).map(rowOf)}
        {after === 0 ? null : <tr class="gap" role="presentation" style={{ height: `${after}px` }} />}
      </tbody>
    </table>
  );
};

/** New rows wait behind it. Its height is reserved, so that it moves nothing. */
export const FreshBar = ({
  waiting,
  what,
  onShow,
}: {
  /** How many wait, such as "12" or "50+"; empty if none do. */
  readonly waiting: string;
  /** A plural that ends with s. */
  readonly what: string;
  readonly onShow: () => void;
}) => {
  useKeys({ ".": onShow });
  return (
    <div class="freshness">
      {waiting === "" ? (
        <span class="fresh off">&nbsp;</span>
      ) : (
        <button class="fresh" type="button" onClick={onShow}>
          <Mark name="delivering" role="move" />
          <span>
            <b>
              Show {waiting} new {waiting === "1" ? what.slice(0, -1) : what}
            </b>
            <span class="desk"> · this list is paused while you read</span>
          </span>
        </button>
      )}
    </div>
  );
};

type PagerProps = {
  readonly shown: number;
  /** How many there are, in words; left out if they are not counted. */
  readonly words?: string;
  /** Null if there are no further rows. */
  readonly onMore: (() => void) | null;
  readonly isLoading: boolean;
};

export const Pager = ({ shown, words, onMore, isLoading }: PagerProps) => (
  <p class="pager">
    <span>{words ?? `${shown} shown`}</span>
    {onMore === null ? null : (
      <button class="btn" type="button" disabled={isLoading} onClick={onMore}>
        {isLoading ? "Loading…" : "Load 50 more"}
      </button>
    )}
    <span class="end desk">
      <kbd>J</kbd> <kbd>K</kbd> move · <kbd>Enter</kbd> open · <kbd>?</kbd> all keys
    </span>
  </p>
);
