import { useRef } from "preact/hooks";
import { count, exactClock, shortTime } from "../../design/format.ts";
import { useWidth } from "../../design/use-width.ts";
import type { AnswerOf } from "../api/api.ts";
import { type Lane, laneSummary, placedLanes } from "./chart-lanes.ts";
import { type ChartActs, useChartPointer } from "./chart-pointer.ts";

/** Pixels from the left edge to the axis, where the names of the lanes stand. */
const LEFT = 64;
/** Each label of the axis gets at least this many pixels. */
const LABEL_PX = 110;
const AXIS_PX = 24;

/** The begin of a bucket in the account's zone: a day as `17 Nov`, a shorter one as `14:00`. */
export const bucketLabel = (at: string, { step, time_zone: zone }: AnswerOf<"GET /v1/stats">): string =>
  step === "1d" ? (/^\d+ \w+/.exec(shortTime(at, { zone, now: 0 }))?.[0] ?? "") : exactClock(at, { zone }).slice(0, 5);

type ChartProps = ChartActs & {
  readonly lanes: readonly Lane[];
  /** The begin of each bucket in words. */
  readonly labels: readonly string[];
};

const Drawing = ({ lanes, labels, ...acts }: ChartProps) => {
  const box = useRef<HTMLDivElement>(null);
  // A drawing that is scaled would scale its text, too.
  const width = useWidth(box);
  const inner = Math.max(0, width - LEFT);
  const placed = placedLanes(lanes, LEFT, inner);
  const step = inner / Math.max(1, labels.length);
  const { chosen, handlers } = useChartPointer({ placed, buckets: labels.length, left: LEFT, ...acts });
  const bottom = (placed.at(-1)?.base ?? 0) + AXIS_PX;
  const every = Math.max(1, Math.ceil(labels.length / Math.max(1, Math.floor(inner / LABEL_PX))));
  const summary = lanes.map((it) => laneSummary(it, count)).join(" ");
  return (
    <div class="chart" ref={box}>
      <svg width={width} height={bottom} role="img" aria-label={summary} {...handlers}>
        {chosen === null ? null : (
          <rect
            class="chosen"
            x={LEFT + chosen.first * step}
            width={(chosen.last - chosen.first + 1) * step}
            height={bottom - AXIS_PX}
          />
        )}
        {placed.map(({ lane, base, most, bars }) => (
          <g key={lane.name}>
            <text class="lane" x="0" y={base - 6}>
              {lane.name}
            </text>
            {most === 0 ? null : (
              <text x={LEFT - 4} y={base - lane.heightPx + 8} text-anchor="end">
                {count(most)}
              </text>
            )}
            <line class="axis" x1={LEFT} x2={width} y1={base} y2={base} />
            {bars.map((bar) => (
              <g key={bar.at}>
                <rect class={lane.colour} x={bar.x} y={bar.y} width={bar.width} height={bar.height} />
                {lane.colour === "area" ? (
                  <rect class="top" x={bar.x} y={bar.y} width={bar.width} height={Math.min(2.5, bar.height)} />
                ) : null}
              </g>
            ))}
          </g>
        ))}
        {labels.map((label, nth) => {
          const x = LEFT + (nth / labels.length) * inner;
          // The last one would be cut at the edge.
          if (nth % every !== 0 || x > width - LABEL_PX / 2) return null;
          return (
            <text key={`${nth} ${label}`} x={x} y={bottom - 6}>
              {label}
            </text>
          );
        })}
      </svg>
    </div>
  );
};

/** The same figures, for those who read them rather than see them, or copy them. */
const AsTable = ({ lanes, labels, hrefAt }: ChartProps) => (
  <details>
    <summary>Show as table</summary>
    <div class="scroll" tabIndex={0} role="region" aria-label="The figures of the chart">
      <table class="t keep">
        <thead>
          <tr>
            <th scope="col">From</th>
            {lanes.map(({ name }) => (
              <th key={name} scope="col" class="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((label, nth) => (
            <tr key={`${nth} ${label}`}>
              <th scope="row">{label}</th>
              {lanes.map(({ name, values }, lane) => {
                const value = values[nth] ?? null;
                const href = value === null || value === 0 ? null : (hrefAt?.(lane, nth) ?? null);
                const text = value === null ? "–" : count(value);
                return (
                  <td key={name} class="num">
                    {href === null ? text : <a href={href}>{text}</a>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </details>
);

/** One lane for each state, over one time axis; the same figures are there as a table. */
export const LanesChart = (props: ChartProps) => (
  <>
    <Drawing {...props} />
    <AsTable {...props} />
  </>
);
