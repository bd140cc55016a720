/** Where the bars of a timeline stand. Waiting that is much longer than the work is cut to a band of fixed width. */

export type Stage = {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  /** True for time in which nothing was done: a hold, or the pause before an attempt. */
  readonly isWait: boolean;
};

export type ShownStage = Stage & {
  /** The API's value of the state, such as `delivered`. */
  readonly state: string;
  /** Beside the bar, in a few words. */
  readonly note?: string;
  /** True for a part of the stage above it, such as one gate. */
  readonly isNested?: boolean;
  /** What stands at the right instead of the duration. */
  readonly took?: string;
  /** The state by which the bar is coloured, if it is another than the row's. */
  readonly bar?: string;
  /** The undo of a step: a second bar in the same row. */
  readonly undo?: (Stage & { readonly state: string; readonly note?: string }) | undefined;
  /** True for a stage that never came: it has a note and no bar. */
  readonly isAbsent?: boolean;
};

/** A stretch of time with its own scale; `from` and `to` are parts of the whole width, from 0 to 1. */
export type Stretch = {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
  readonly isBand: boolean;
};

/** Waiting is collapsed if it is longer than this many times all the rest. */
const LONG_FACTOR = 5;
const BAND_WIDTH = 0.12;

const cutsOf = (stages: readonly Stage[], start: number, end: number): readonly { start: number; end: number }[] => {
  const waits = stages.filter((it) => it.isWait).sort((a, b) => a.start - b.start);
  // Waits that overlap are one.
  const merged: { start: number; end: number }[] = [];
  for (const it of waits) {
    const last = merged.at(-1);
    if (last !== undefined && it.start <= last.end) last.end = Math.max(last.end, it.end);
    else merged.push({ start: it.start, end: it.end });
  }
  const waited = merged.reduce((sum, it) => sum + it.end - it.start, 0);
  const worked = Math.max(end - start - waited, 1);
  return merged.filter((it) => it.end - it.start > LONG_FACTOR * worked);
};

export const scaleOf = (stages: readonly Stage[], isFull: boolean): readonly Stretch[] => {
  // There may be more stages than a call has arguments.
  const start = stages.reduce((first, { start: at }) => Math.min(first, at), Number.POSITIVE_INFINITY);
  const end = stages.reduce((last, { end: at }) => Math.max(last, at), start + 1);
  const cuts = isFull ? [] : cutsOf(stages, start, end);
  const parts: { start: number; end: number; isBand: boolean }[] = [];
  let at = start;
  for (const cut of cuts) {
    if (cut.start > at) parts.push({ start: at, end: cut.start, isBand: false });
    parts.push({ ...cut, isBand: true });
    at = cut.end;
  }
  if (at < end || parts.length === 0) parts.push({ start: at, end, isBand: false });
  const bands = parts.filter((it) => it.isBand).length;
  const work = parts.filter((it) => !it.isBand);
  const bandWidth = work.length === 0 ? 1 / bands : Math.min(BAND_WIDTH, 0.5 / Math.max(bands, 1));
  const room = 1 - bandWidth * bands;
  // The root keeps a stretch of a few milliseconds beside one of seconds wide enough to be seen.
  const weights = work.map((it) => Math.sqrt(it.end - it.start));
  const whole = weights.reduce((sum, it) => sum + it, 0) || 1;
  let from = 0;
  let nth = 0;
  return parts.map((part) => {
    const width = part.isBand ? bandWidth : (room * (weights[nth++] ?? 0)) / whole;
    const stretch = { ...part, from, to: from + width };
    from += width;
    return stretch;
  });
};

/** A narrower stretch is not drawn, so that thousands of them do not make every row slow. */
const DRAWN_WIDTH = 0.01;

/** The stretches that are wide enough to be seen, at most a hundred. */
export const drawnOf = (scale: readonly Stretch[]): readonly Stretch[] =>
  scale.length === 1 ? scale : scale.filter((it) => it.to - it.from >= DRAWN_WIDTH);

/** The first stretch that ends at or after a moment; the last one if none does. */
const stretchAt = (scale: readonly Stretch[], at: number): Stretch | undefined => {
  let [from, to] = [0, scale.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (at <= (scale[middle]?.end ?? 0)) to = middle;
    else from = middle + 1;
  }
  return scale[from];
};

/** The place of a moment, from 0 to 1. */
export const placeOf = (scale: readonly Stretch[], at: number): number => {
  const stretch = stretchAt(scale, at);
  if (stretch === undefined) return 0;
  const part = stretch.end === stretch.start ? 0 : (at - stretch.start) / (stretch.end - stretch.start);
  return stretch.from + Math.min(1, Math.max(0, part)) * (stretch.to - stretch.from);
};

export type AxisLabel = {
  readonly text: string;
  /** The place it belongs to, from 0 to 1. */
  readonly at: number;
  readonly anchor: "start" | "middle" | "end";
};

/** The widest character of the axis' font, and what is left free between two labels. */
const CHARACTER_PX = 7;
const APART_PX = 8;

const edgesOf = ({ text, at, anchor }: AxisLabel, widthPx: number): readonly [left: number, right: number] => {
  const [x, width] = [at * widthPx, text.length * CHARACTER_PX];
  const left = { start: x, middle: x - width / 2, end: x - width }[anchor];
  return [left, left + width];
};

/** The labels that have room on an axis of so many pixels. An earlier one has the right of way. */
export const roomFor = (labels: readonly AxisLabel[], widthPx: number): readonly AxisLabel[] => {
  const taken: (readonly [number, number])[] = [];
  return labels.filter((label) => {
    const [left, right] = edgesOf(label, widthPx);
    if (left < 0 || taken.some(([from, to]) => left < to + APART_PX && right > from - APART_PX)) return false;
    taken.push([left, right]);
    return true;
  });
};
