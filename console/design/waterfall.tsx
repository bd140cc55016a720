import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { duration } from "./format.ts";
import { Mark } from "./mark.tsx";
import { stateOf } from "./states.ts";
import { useWindow } from "./virtual-rows.tsx";
import { drawnOf, placeOf, type Stage, type Stretch, scaleOf } from "./waterfall-scale.ts";

export type ShownStage = Stage & {
  /** The API's value of the state, such as `delivered`. */
  readonly state: string;
  /** Beside the bar, in a few words. */
  readonly note?: string;
  /** True for a part of the stage above it, such as one gate. */
  readonly isNested?: boolean;
  /** What stands at the right instead of the duration. */
  readonly took?: ComponentChildren;
};

const ROW_PX = 31;
const ROWS_MAX = 200;
const COLOURS: Readonly<Record<string, string>> = {
  ok: "c-ok",
  wait: "c-wait",
  refuse: "c-refuse",
  fail: "c-fail",
  move: "c-move",
};
/** Beyond this part of the width the words stand at the left of the bar. */
const LEFT_FROM = 0.7;
/** A bar that is shorter than this would not be seen. */
const LEAST = 0.004;

const part = (value: number): string => `${Math.round(value * 10_000) / 100}%`;

/** The bands of collapsed waiting and the lines between the stretches. */
const Grid = ({ drawn }: { readonly drawn: readonly Stretch[] }) => (
  <>
    {drawn
      .filter((it) => it.isBand)
      .map((it) => (
        <rect class="void" x={part(it.from)} width={part(it.to - it.from)} height="100%" />
      ))}
    {[0, ...drawn.map((it) => it.to)].map((at) => (
      <line class="tick" x1={part(at)} x2={part(at)} y1="0" y2="100%" />
    ))}
  </>
);

const Bar = ({ stage, scale }: { readonly stage: ShownStage; readonly scale: readonly Stretch[] }) => {
  const [from, to] = [placeOf(scale, stage.start), placeOf(scale, stage.end)];
  const width = Math.max(to - from, LEAST);
  const colour = COLOURS[stateOf(stage.state).role] ?? "c-base";
  const height = stage.isNested ? 6 : 10;
  const isLeft = from > LEFT_FROM;
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
  readonly took: ComponentChildren;
};

const Row = ({ stage, scale, drawn, took }: RowProps) => {
  const { mark, role } = stateOf(stage.state);
  return (
    <div class={`r ${stage.isNested ? "in1" : ""}`}>
      <div>
        <Mark name={mark} role={role} />
        <span title={stage.name}>
          {stage.name}
          {stage.note === undefined ? null : <span class="under">{stage.note}</span>}
        </span>
      </div>
      <svg class="track" aria-hidden="true">
        <Grid drawn={drawn} />
        <Bar stage={stage} scale={scale} />
      </svg>
      <div>{took}</div>
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
};

const tookOfStage = (stage: ShownStage): ComponentChildren => stage.took ?? duration(stage.end - stage.start);

/** Stages as bars on one scale. Waiting that is much longer than the work is collapsed, unless "Full scale" is chosen. */
export const Waterfall = ({ stages, begin, tookOf = tookOfStage, ...given }: WaterfallProps) => {
  const [isFullHere, setFullHere] = useState(false);
  const { isFull = isFullHere, onScale: setFull = setFullHere } = given;
  const scale = useMemo(() => scaleOf(stages, isFull), [stages, isFull]);
  const drawn = useMemo(() => drawnOf(scale), [scale]);
  const hasBands = isFull || scale.some((it) => it.isBand);
  const { box, shown, before, after } = useWindow(stages.length, ROW_PX, ROWS_MAX);
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
      <div class="fall" ref={box}>
        <div class="r ax">
          <div>Stage</div>
          <svg class="track" aria-hidden="true">
            <Grid drawn={drawn} />
            <text x="0" y="15">
              {begin}
            </text>
            {drawn.map((it) => (
              <text
                class={it === scale.at(-1) ? "" : "far"}
                x={part(it.isBand ? (it.from + it.to) / 2 : it.to)}
                y="15"
                text-anchor={it.isBand ? "middle" : "end"}
              >
                {it.to - it.from < 0.08 ? "" : duration(it.end - it.start)}
              </text>
            ))}
          </svg>
          <div>Took</div>
        </div>
        {before === 0 ? null : <div style={{ height: `${before}px` }} />}
        {stages.slice(shown.from, shown.to).map((stage) => (
          <Row stage={stage} scale={scale} drawn={drawn} took={tookOf(stage)} />
        ))}
        {after === 0 ? null : <div style={{ height: `${after}px` }} />}
      </div>
      {hasBands && !isFull ? <p class="meta">Each stretch has its own scale. Grey bands are waiting time.</p> : null}
    </>
  );
};
