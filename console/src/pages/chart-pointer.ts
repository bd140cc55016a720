import { useRef, useState } from "preact/hooks";
import { go } from "../shell/router.ts";
import type { PlacedLane } from "./chart-lanes.ts";

export type ChartActs = {
  /** The list behind one figure; left out, the figures lead nowhere. */
  readonly hrefAt?: (lane: number, bucket: number) => string | null;
  /** Takes the first and the last bucket over which a pointer was drawn; left out, no range can be chosen. */
  readonly onRange?: (first: number, last: number) => void;
};

type Drawn = ChartActs & {
  readonly placed: readonly PlacedLane[];
  readonly buckets: number;
  /** Where the first bucket begins, in pixels. */
  readonly left: number;
};

type Pointed = PointerEvent & { readonly currentTarget: SVGSVGElement };
type Chosen = { readonly first: number; readonly last: number };

const between = (a: number, b: number): Chosen => ({ first: Math.min(a, b), last: Math.max(a, b) });

/** What a pointer does over a chart: a click opens the list of a bar, a drag chooses a range. */
export const useChartPointer = ({ placed, buckets, left, hrefAt, onRange }: Drawn) => {
  /** The bucket on which the pointer was pressed; null while it is not. Events may follow each other within a frame. */
  const pressed = useRef<number | null>(null);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const at = ({ clientX, clientY, currentTarget }: Pointed) => {
    const box = currentTarget.getBoundingClientRect();
    const part = (clientX - box.left - left) / (box.width - left);
    const y = clientY - box.top;
    return {
      bucket: Math.min(buckets - 1, Math.max(0, Math.floor(part * buckets))),
      lane: placed.findIndex(({ base, lane }) => y <= base && y >= base - lane.heightPx),
    };
  };
  const end = (): number | null => {
    const from = pressed.current;
    pressed.current = null;
    setChosen(null);
    return from;
  };
  const handlers = {
    onPointerDown(event: Pointed) {
      if (event.button === 0) pressed.current = at(event).bucket;
    },
    onPointerMove(event: Pointed) {
      if (pressed.current === null || onRange === undefined) return;
      const { bucket } = at(event);
      setChosen(bucket === pressed.current ? null : between(pressed.current, bucket));
    },
    onPointerLeave: end,
    onPointerUp(event: Pointed) {
      const from = end();
      if (from === null) return;
      const { bucket, lane } = at(event);
      if (bucket !== from) {
        const { first, last } = between(from, bucket);
        onRange?.(first, last);
        return;
      }
      const href = placed[lane]?.lane.values[bucket] ? (hrefAt?.(lane, bucket) ?? null) : null;
      if (href !== null) go(href);
    },
  };
  return { chosen, handlers: hrefAt === undefined && onRange === undefined ? {} : handlers };
};
