/** Where the bars of a chart stand: one lane for each state, each with a scale of its own, over one time axis. */

export type Lane = {
  readonly name: string;
  /** Null for a bucket of which nothing is known. */
  readonly values: readonly (number | null)[];
  readonly colour: "area" | "c-refuse" | "c-wait" | "c-fail" | "c-move";
  readonly heightPx: number;
};

type Bar = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly at: number;
};
export type PlacedLane = {
  readonly lane: Lane;
  readonly base: number;
  readonly most: number;
  readonly bars: readonly Bar[];
};

/** The least height of a bar that is not nothing, so that one failure is seen. */
const LEAST_PX = 2;
const GAP = 0.2;
const LANE_GAP_PX = 14;

export const placedLanes = (lanes: readonly Lane[], left: number, width: number): readonly PlacedLane[] => {
  let base = 0;
  return lanes.map((lane) => {
    base += lane.heightPx + LANE_GAP_PX;
    const most = Math.max(0, ...lane.values.map((it) => it ?? 0));
    const step = width / Math.max(1, lane.values.length);
    const bars = lane.values.flatMap((value, at) => {
      if (value === null || value <= 0) return [];
      const height = Math.max(LEAST_PX, (value / most) * lane.heightPx);
      return [{ x: left + at * step + (step * GAP) / 2, y: base - height, width: step * (1 - GAP), height, at }];
    });
    return { lane, base, most, bars };
  });
};

/** "Delivered events peak at 1,143." */
export const laneSummary = ({ name, values }: Lane, count: (value: number) => string): string => {
  const most = Math.max(0, ...values.map((it) => it ?? 0));
  return most === 0 ? `${name}: none.` : `${name} peaks at ${count(most)}.`;
};
