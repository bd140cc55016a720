import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";

export type Window = { readonly from: number; readonly to: number };

/** Rows drawn above and below what is on the screen, so that a quick scroll shows no gap. */
const SPARE_ROWS = 30;
/** Rows drawn before it is known what is on the screen: enough for a tall one. */
const FIRST_ROWS = 50;

/** Which of `count` rows of one height are on the screen; `top` is that of the first row, against the screen's. */
export const windowOf = (
  count: number,
  rowPx: number,
  { top, height }: { readonly top: number; readonly height: number },
): Window => {
  const from = Math.min(count, Math.max(0, Math.floor(-top / rowPx) - SPARE_ROWS));
  return { from, to: Math.max(from, Math.min(count, Math.ceil((height - top) / rowPx) + SPARE_ROWS)) };
};

/** True while a list returns to where its reader left it: all rows are drawn at once, so that their places are known. */
export const WholeLists = createContext(false);

/** Rows drawn beyond those that fill the screen, as many a row is lower than the highest. */
const LOW_ROWS = 4;
const ROWS_A_TURN = 8;
/** What is below the screen is drawn so long after what is on it, or once it is scrolled. */
const BELOW_MS = 500;
/** A part comes after so long even if the browser always has something else to do, or cannot tell that it has nothing. */
const TURN_MS = 100;

const whenIdle = (run: () => void): (() => void) => {
  if (typeof requestIdleCallback !== "function") {
    const timer = setTimeout(run, TURN_MS);
    return () => clearTimeout(timer);
  }
  const turn = requestIdleCallback(run, { timeout: TURN_MS });
  return () => cancelIdleCallback(turn);
};

/** After a while, or at the next scroll. */
const whenWanted = (run: () => void): (() => void) => {
  const end = (): void => {
    clearTimeout(timer);
    removeEventListener("scroll", wanted);
  };
  const wanted = (): void => {
    end();
    run();
  };
  const timer = setTimeout(wanted, BELOW_MS);
  addEventListener("scroll", wanted, { passive: true });
  return end;
};

/** True if the page is longer than the screen: what comes at its end is not seen yet. */
const isBelow = (): boolean => document.documentElement.scrollHeight > innerHeight;

type Turns = { readonly first: number; readonly each: number };

/**
 * How many of `count` are drawn by now: the first at once, and more whenever nothing else is to be done. Those that nobody
 * sees yet wait a while before.
 */
const useTurns = (count: number, { first, each }: Turns): number => {
  const isWhole = useContext(WholeLists);
  const [drawn, setDrawn] = useState(isWhole ? count : first);
  const hasWaited = useRef(false);
  useEffect(() => {
    if (drawn >= count) return;
    if (isWhole) return setDrawn(count);
    const go = (): void => setDrawn(drawn + each);
    if (hasWaited.current || !isBelow()) return whenIdle(go);
    return whenWanted(() => {
      hasWaited.current = true;
      go();
    });
  }, [drawn, count]);
  return Math.min(drawn, count);
};

type InTurnsProps = {
  /** So many are drawn at once. */
  readonly first?: number;
  readonly onWhole?: () => void;
  readonly children: ComponentChildren;
};

/**
 * Draws its parts one after another, so that on a slow machine no act waits for all of them. Each part keeps its place: one
 * that is null for now takes none of another's. Until the last is drawn, `.turns` stands for those to come.
 */
export const InTurns = ({ first = 1, onWhole, children }: InTurnsProps) => {
  const parts = Array.isArray(children) ? children : [children];
  const drawn = useTurns(parts.length, { first, each: 1 });
  const isWhole = drawn === parts.length;
  useEffect(() => {
    if (isWhole) onWhole?.();
  }, [isWhole]);
  return (
    <>
      {parts.slice(0, drawn)}
      {isWhole ? null : <i class="turns" hidden />}
    </>
  );
};

type Windowed = {
  /** To be set as the list's `ref`. */
  readonly box: (element: Element | null) => void;
  readonly shown: Window;
  /** Pixels in place of the rows that are not drawn. */
  readonly before: number;
  readonly after: number;
};

/** Draws all rows up to `most`, one after another, and above that only those near the screen. */
export const useGrowingWindow = (count: number, rowPx: number, most: number): Windowed => {
  // Above `most`, what is near the screen is drawn, and no more of them come by themselves.
  const seen = Math.ceil(innerHeight / rowPx) + LOW_ROWS;
  // All at once, since columns are as wide as what stands in them.
  const drawn = useTurns(Math.min(count, most), { first: seen, each: ROWS_A_TURN });
  const windowed = useWindow(count, rowPx, most);
  if (count > most) return windowed;
  return { ...windowed, shown: { from: 0, to: drawn }, after: (count - drawn) * rowPx };
};

/** Draws all rows up to `most`, and above that only those near the screen. */
export const useWindow = (count: number, rowPx: number, most: number): Windowed => {
  const [element, box] = useState<Element | null>(null);
  const [shown, setShown] = useState<Window>({ from: 0, to: Math.min(count, FIRST_ROWS) });
  const isVirtual = count > most;
  useEffect(() => {
    if (!isVirtual || element === null) return;
    const measure = (): void => {
      const { top } = element.getBoundingClientRect();
      const next = windowOf(count, rowPx, { top, height: innerHeight });
      setShown((before) => (before.from === next.from && before.to === next.to ? before : next));
    };
    measure();
    addEventListener("scroll", measure, { passive: true });
    addEventListener("resize", measure, { passive: true });
    return () => {
      removeEventListener("scroll", measure);
      removeEventListener("resize", measure);
    };
  }, [element, count, rowPx, isVirtual]);
  if (!isVirtual) return { box, shown: { from: 0, to: count }, before: 0, after: 0 };
  const to = Math.min(shown.to, count);
  return {
    box,
    shown: { from: Math.min(shown.from, to), to },
    before: shown.from * rowPx,
    after: (count - to) * rowPx,
  };
};
