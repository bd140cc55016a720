import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { whenSized } from "./use-width.ts";

const LEAST_PX = 120;
const MOST_PX = 480;
const STEP_PX = 16;

/** How wide the column of names is in every waterfall, until the console is loaded anew; null leaves it to the style sheet. */
const chosenPx = signal<number | null>(null);

const widen = (px: number): void => {
  chosenPx.value = Math.round(Math.min(MOST_PX, Math.max(LEAST_PX, px)));
};

/** The style of the waterfall's box. */
export const namesStyle = (): Readonly<Record<string, string>> =>
  chosenPx.value === null ? {} : { "--names": `${chosenPx.value}px` };

const widthBy = (key: string, px: number): number | null => {
  if (key === "ArrowLeft") return px - STEP_PX;
  if (key === "ArrowRight") return px + STEP_PX;
  if (key === "Home") return LEAST_PX;
  return key === "End" ? MOST_PX : null;
};

/** The edge between names and bars, moved with the pointer or with the arrow keys; it stands in the column's heading. */
export const NamesEdge = () => {
  const edge = useRef<HTMLDivElement>(null);
  /** From the pointer to the heading's end while it is dragged, so that the edge does not jump to the pointer. */
  const gripPx = useRef(0);
  const [px, setPx] = useState(LEAST_PX);
  const headingPx = (): number => edge.current?.parentElement?.offsetWidth ?? LEAST_PX;
  useEffect(() => {
    const heading = edge.current?.parentElement ?? null;
    return heading === null ? undefined : whenSized(heading, () => setPx(headingPx()));
  }, []);
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = widthBy(event.key, headingPx());
    if (next === null) return;
    event.preventDefault();
    widen(next);
  };
  const onPointerDown = (event: PointerEvent): void => {
    // Else the drag selects the words that it passes; the focus would have come with it.
    event.preventDefault();
    const heading = edge.current?.parentElement?.getBoundingClientRect();
    gripPx.current = (heading?.right ?? event.clientX) - event.clientX;
    edge.current?.setPointerCapture(event.pointerId);
    edge.current?.focus();
  };
  const onPointerMove = (event: PointerEvent): void => {
    const heading = edge.current?.parentElement ?? null;
    if (heading === null || edge.current?.hasPointerCapture(event.pointerId) !== true) return;
    widen(event.clientX + gripPx.current - heading.getBoundingClientRect().left);
  };
  return (
    <div
      ref={edge}
      class="edge"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the names"
      aria-valuenow={px}
      aria-valuemin={LEAST_PX}
      aria-valuemax={MOST_PX}
      aria-valuetext={`${px} pixels`}
      tabIndex={0}
      {...{ onKeyDown, onPointerDown, onPointerMove }}
    />
  );
};
