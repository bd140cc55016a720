import { type ComponentChildren, Fragment } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { duration } from "./format.ts";
import { Mark } from "./mark.tsx";
import { useRowKeys } from "./row-keys.ts";
import { stateOf } from "./states.ts";
import { useWidth } from "./use-width.ts";
import { useWindow } from "./virtual-rows.tsx";
import { NamesEdge, namesStyle } from "./waterfall-names.tsx";
import {
  type AxisLabel,
  drawnOf,
  placeOf,
  roomFor,
  type ShownStage,
  type Stage,
  type Stretch,
  scaleOf,
} from "./waterfall-scale.ts";

const ROW_PX = 31;
const ROWS_MAX = 200;
const COLOURS: Readonly<Record<string, string>> = {
  ok: "c-ok",
  wait: "c-wait",
  refuse: "c-refuse",
  fail: "c-fail",
  move: "c-move",
};
/** Beyond this part of the width words stand at the left. */
const LEFT_FROM = 0.7;
/** A bar that is shorter than this would not be seen. */
const LEAST = 0.004;

const TURNED = "turned back";

const part = (value: number): string => `${Math.round(value * 10_000) / 100}%`;

type GridProps = {
  readonly drawn: readonly Stretch[];
  /** The part of the width at which all turned back; null without such a moment. */
  readonly turn: number | null;
};

/** The bands of collapsed waiting, the lines between the stretches, and the moment of turning back. */
const Grid = ({ drawn, turn }: GridProps) => (
  <>
    {drawn
      .filter((it) => it.isBand)
      .map((it) => (
        <rect class="void" x={part(it.from)} width={part(it.to - it.from)} height="100%" />
      ))}
    {[0, ...drawn.map((it) => it.to)].map((at) => (
      <line class="tick" x1={part(at)} x2={part(at)} y1="0" y2="100%" />
    ))}
    {turn === null ? null : <line class="turn" x1={part(turn)} x2={part(turn)} y1="0" y2="100%" />}
  </>
);

/** What was undone is an outline. */
const colourOf = (state: string): string =>
  state === "compensated" ? "c-undo" : (COLOURS[stateOf(state).role] ?? "c-base");

type BarProps = {
  readonly stage: Omit<ShownStage, "undo" | "took">;
  readonly scale: readonly Stretch[];
};

const Bar = ({ stage, scale }: BarProps) => {
  const [from, to] = [placeOf(scale, stage.start), placeOf(scale, stage.end)];
  const width = Math.max(to - from, LEAST);
  const colour = colourOf(stage.bar ?? stage.state);
  const height = stage.isNested ? 6 : 10;
  // At the right they would run into the durations, so they stand where there is more room.
  const isLeft = to > LEFT_FROM && from > 1 - to;
  return (
    <>
      {stage.isWait && stage.state !== "held" ? (
        <line class="pause" x1={part(from)} x2={part(to)} y1="15" y2="15" />
      ) : (
        <rect
          class={stage.isWait ? "gap" : colour}
          x={part(Math.min(from, 1 - LEAST))}
          y={stage.isWait ? 8 : 15 - height / 2}
          width={part(width)}
          height={stage.isWait ? 14 : height}
          rx="1"
        />
      )}
      {stage.note === undefined ? null : (
        <text
          class="halo"
          x={part(isLeft ? from : to)}
          dx={isLeft ? -6 : 6}
          y="19"
          text-anchor={isLeft ? "end" : "start"}
        >
          {stage.note}
        </text>
      )}
    </>
  );
};

type RowProps = {
  readonly stage: ShownStage;
  readonly scale: readonly Stretch[];
  /** The stretches of the scale that are wide enough to be seen. */
  readonly drawn: readonly Stretch[];
  readonly turn: number | null;
  readonly took: ComponentChildren;
  readonly index: number;
  readonly isStop: boolean;
  /** Null if there is nothing to open. */
  readonly isOpen: boolean | null;
  readonly onFocus: () => void;
  readonly onToggle: () => void;
};

/** True while words are selected, so that a drag over a row does not open it. */
const isSelecting = (): boolean => getSelection()?.isCollapsed === false;

/** The words of a stage that never came stand where the first bar would begin. */
const Absent = ({ note = "" }: { readonly note: string | undefined }) => (
  <text class="halo" x="0" dx="6" y="19">
    {note}
  </text>
);

const Row = ({ stage, scale, drawn, turn, took, index, isStop, isOpen, onFocus, onToggle }: RowProps) => {
  const { mark, role } = stateOf(stage.state);
  return (
    <div
      class={`r ${stage.isNested ? "in1" : ""} ${isOpen === null ? "" : "opens"}`}
      role="row"
      aria-rowindex={index + 2}
      aria-expanded={isOpen ?? undefined}
      tabIndex={isStop ? 0 : -1}
      data-at={index}
      onFocus={onFocus}
      onClick={() => (isSelecting() ? undefined : onToggle())}
    >
      <div role="gridcell">
        <Mark name={mark} role={role} />
        <span title={stage.name}>
          {stage.name}
          {stage.note === undefined ? null : <span class="under">{stage.note}</span>}
        </span>
      </div>
      <svg class="track" aria-hidden="true">
        <Grid drawn={drawn} turn={turn} />
        {stage.isAbsent ? <Absent note={stage.note} /> : <Bar stage={stage} scale={scale} />}
        {stage.undo === undefined ? null : <Bar stage={stage.undo} scale={scale} />}
      </svg>
      <div role="gridcell">{took}</div>
    </div>
  );
};

type AxisProps = {
  readonly what: string;
  readonly begin: string;
  readonly scale: readonly Stretch[];
  readonly drawn: readonly Stretch[];
  readonly turn: number | null;
};

/** What the axis could say, the most telling first: where it begins, what turned, how long the last stretch is, then the others. */
const labelsOf = ({ begin, scale, drawn, turn }: Omit<AxisProps, "what">): readonly AxisLabel[] => {
  const stretches = drawn.map(
    (it): AxisLabel => ({
      text: duration(it.end - it.start),
      at: it.isBand ? (it.from + it.to) / 2 : it.to,
      anchor: it.isBand ? "middle" : "end",
    }),
  );
  const turned: AxisLabel | null =
    turn === null ? null : { text: TURNED, at: turn, anchor: turn > LEFT_FROM ? "end" : "middle" };
  const isLast = drawn.at(-1) === scale.at(-1);
  return [
    { text: begin, at: 0, anchor: "start" },
    ...(turned === null ? [] : [turned]),
    ...(isLast ? stretches.slice(-1) : []),
    ...(isLast ? stretches.slice(0, -1) : stretches),
  ];
};

/** The names of the columns, and how long each stretch of the scale is, as far as there is room. */
const Axis = ({ what, ...given }: AxisProps) => {
  const track = useRef<SVGSVGElement>(null);
  const width = useWidth(track);
  return (
    <div class="r ax" role="row" aria-rowindex={1}>
      <div role="columnheader" aria-label={what}>
        {what}
        <NamesEdge />
      </div>
      <svg class="track" aria-hidden="true" ref={track}>
        <Grid drawn={given.drawn} turn={null} />
        {roomFor(labelsOf(given), width).map(({ text, at, anchor }) => (
          <text class={text === TURNED ? "now" : undefined} x={part(at)} y="15" text-anchor={anchor}>
            {text}
          </text>
        ))}
      </svg>
      <div role="columnheader">Took</div>
    </div>
  );
};

type WaterfallProps = {
  readonly stages: readonly ShownStage[];
  /** The first moment in words, at the left end of the axis. */
  readonly begin: string;
  /** What stands at the right instead of the duration; it is asked of the rows on the screen alone. */
  readonly tookOf?: (stage: ShownStage) => ComponentChildren;
  /** Whether long waiting is shown at its length; left out, the component keeps it itself. */
  readonly isFull?: boolean;
  readonly onScale?: (isFull: boolean) => void;
  /** What a row is, such as a step. */
  readonly what?: string;
  /** What is shown below a row once it is opened; left out, rows do not open. */
  readonly detailOf?: (stage: ShownStage) => ComponentChildren;
  /** When all turned back, in milliseconds since 1970; null if it never did. */
  readonly turnedAt?: number | null;
};

const barsOf = (stage: ShownStage): readonly Stage[] => [
  ...(stage.isAbsent ? [] : [stage]),
  ...(stage.undo === undefined ? [] : [stage.undo]),
];

const tookOfStage = (stage: ShownStage): ComponentChildren => stage.took ?? duration(stage.end - stage.start);

/** Tells a stage from the others also after more of them were read. */
const keyOf = ({ name, start }: ShownStage): string => `${name} ${start}`;

/** Stages as bars on one scale. Waiting that is much longer than the work is collapsed, unless "Full scale" is chosen. */
export const Waterfall = ({ stages, begin, tookOf = tookOfStage, ...given }: WaterfallProps) => {
  const [isFullHere, setFullHere] = useState(false);
  const { isFull = isFullHere, onScale: setFull = setFullHere } = given;
  const { what = "Stage", turnedAt = null, detailOf } = given;
  const [opened, setOpened] = useState<string | null>(null);
  const scale = useMemo(() => scaleOf(stages.flatMap(barsOf), isFull), [stages, isFull]);
  const drawn = useMemo(() => drawnOf(scale), [scale]);
  const turn = turnedAt === null ? null : placeOf(scale, turnedAt);
  const hasBands = isFull || scale.some((it) => it.isBand);
  const { box, shown, before, after } = useWindow(stages.length, ROW_PX, ROWS_MAX);
  const isOpen = (index: number): boolean => {
    const stage = stages[index];
    return stage !== undefined && keyOf(stage) === opened;
  };
  const open = (index: number, opens: boolean): void => {
    const stage = stages[index];
    if (detailOf === undefined || stage === undefined) return;
    if (opens) setOpened(keyOf(stage));
    else if (isOpen(index)) setOpened(null);
  };
  const keys = useRowKeys({ count: stages.length, rowPx: ROW_PX, shown, isOpen, open });
  return (
    <>
      {hasBands ? (
        <div class="seg" role="group" aria-label="Waiting time">
          <button type="button" aria-pressed={!isFull} onClick={() => setFull(false)}>
            Collapse waiting
          </button>
          <button type="button" aria-pressed={isFull} onClick={() => setFull(true)}>
            Full scale
          </button>
        </div>
      ) : null}
      <div
        class="fall"
        ref={box}
        style={namesStyle()}
        role="treegrid"
        aria-label={`${what}s`}
        aria-rowcount={stages.length + 1}
        onKeyDown={keys.onKeyDown}
      >
        <Axis what={what} begin={begin} scale={scale} drawn={drawn} turn={turn} />
        {before === 0 ? null : <div role="presentation" style={{ height: `${before}px` }} />}
        {stages.slice(shown.from, shown.to).map((stage, nth) => {
          const index = shown.from + nth;
          return (
            <Fragment key={index}>
              <Row
                {...{ stage, scale, drawn, turn, index }}
                took={tookOf(stage)}
                isStop={index === keys.stop}
                isOpen={detailOf === undefined ? null : isOpen(index)}
                onFocus={() => keys.onFocus(index)}
                onToggle={() => open(index, !isOpen(index))}
              />
              {detailOf !== undefined && isOpen(index) ? (
                <div class="opened" role="row">
                  <div role="gridcell" aria-colspan={2}>
                    {detailOf(stage)}
                  </div>
                </div>
              ) : null}
            </Fragment>
          );
        })}
        {after === 0 ? null : <div role="presentation" style={{ height: `${after}px` }} />}
      </div>
      {hasBands && !isFull ? <p class="meta">Each stretch has its own scale. Grey bands are waiting time.</p> : null}
    </>
  );
};
