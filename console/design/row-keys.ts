import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Window } from "./virtual-rows.tsx";

/** Where a key leads from one row of a list; null if it does not move. */
export const movedRow = (key: string, at: number, last: number): number | null => {
  if (key === "ArrowDown") return Math.min(at + 1, last);
  if (key === "ArrowUp") return Math.max(at - 1, 0);
  if (key === "Home") return 0;
  return key === "End" ? last : null;
};

/** What a key does to what a row holds: true opens it, false closes it, null leaves it. */
const openedBy = (key: string, isOpen: boolean): boolean | null => {
  if (key === "ArrowRight") return true;
  if (key === "ArrowLeft") return false;
  return key === "Enter" ? !isOpen : null;
};

type Rows = {
  readonly count: number;
  readonly rowPx: number;
  /** The rows that are drawn; the tab stop is always one of them. */
  readonly shown: Window;
  readonly isOpen: (index: number) => boolean;
  readonly open: (index: number, isOpen: boolean) => void;
};

type RowKeys = {
  /** The one row that Tab reaches. */
  readonly stop: number;
  readonly onFocus: (index: number) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
};

/** One tab stop for all rows, which carry their index as `data-at`: arrows move, right opens a row and left closes it. */
export const useRowKeys = ({ count, rowPx, shown, isOpen, open }: Rows): RowKeys => {
  const [at, setAt] = useState(0);
  const list = useRef<HTMLElement | null>(null);
  /** The row that takes the focus as soon as it is drawn. */
  const wanted = useRef<number | null>(null);
  const focusWanted = (): boolean => {
    const row = list.current?.querySelector<HTMLElement>(`[data-at="${wanted.current}"]`) ?? null;
    if (row === null) return false;
    wanted.current = null;
    row.focus();
    return true;
  };
  useLayoutEffect(() => {
    if (wanted.current !== null) focusWanted();
  });
  const moveTo = (index: number): void => {
    setAt(index);
    wanted.current = index;
    if (focusWanted() || list.current === null) return;
    // The row is not drawn: once the page is scrolled there, it is, and the effect above gives it the focus.
    scrollBy(0, list.current.getBoundingClientRect().top + index * rowPx - innerHeight / 2);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key, target, currentTarget } = event;
    const index = target instanceof HTMLElement ? Number(target.dataset.at ?? "-1") : -1;
    if (index < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    list.current = currentTarget instanceof HTMLElement ? currentTarget : null;
    const next = movedRow(key, index, count - 1);
    const opens = openedBy(key, isOpen(index));
    if (next !== null) moveTo(next);
    else if (opens !== null) open(index, opens);
    else return;
    event.preventDefault();
  };
  return { stop: Math.min(Math.max(at, shown.from), shown.to - 1), onFocus: setAt, onKeyDown };
};
