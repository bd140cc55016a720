import { count, exactClock, shortTime } from "../../design/format.ts";
import type { AnswerOf } from "../api/api.ts";
import { type Lane, laneSummary, placedLanes } from "./chart-lanes.ts";

/** The text of a drawing shrinks with it, so a phone has one of its own width. */
const WIDE = { as: "desk", width: 820, left: 64, labels: 6 };
const NARROW = { as: "phone", width: 358, left: 64, labels: 3 };
const AXIS_PX = 24;

/** The begin of a bucket in the account's zone: a day as `17 Nov`, a shorter one as `14:00`. */
export const bucketLabel = (at: string, { step, time_zone: zone }: AnswerOf<"GET /v1/stats">): string =>
  step === "1d" ? (/^\d+ \w+/.exec(shortTime(at, { zone, now: 0 }))?.[0] ?? "") : exactClock(at, { zone }).slice(0, 5);

type ChartProps = {
  readonly lanes: readonly Lane[];
  /** The begin of each bucket in words. */
  readonly labels: readonly string[];
};

const Drawing = ({ lanes, labels, size }: ChartProps & { readonly size: typeof WIDE }) => {
  const placed = placedLanes(lanes, size.left, size.width - size.left);
  const bottom = (placed.at(-1)?.base ?? 0) + AXIS_PX;
  const every = Math.max(1, Math.ceil(labels.length / size.labels));
  const summary = lanes.map((it) => laneSummary(it, count)).join(" ");
  return (
    <svg class={`chart ${size.as}`} viewBox={`0 0 ${size.width} ${bottom}`} role="img" aria-label={summary}>
      {placed.map(({ lane, base, most, bars }) => (
        <g key={lane.name}>
          <text class="lane" x="0" y={base - 6}>
            {lane.name}
          </text>
          {most === 0 ? null : (
            <text x={size.left - 4} y={base - lane.heightPx + 8} text-anchor="end">
              {count(most)}
            </text>
          )}
          <line class="axis" x1={size.left} x2={size.width} y1={base} y2={base} />
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
      {labels.map((label, nth) =>
        nth % every === 0 ? (
          <text key={label} x={size.left + (nth / labels.length) * (size.width - size.left)} y={bottom - 6}>
            {label}
          </text>
        ) : null,
      )}
    </svg>
  );
};

/** The same figures, for those who read them rather than see them, or copy them. */
const AsTable = ({ lanes, labels }: ChartProps) => (
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
              {lanes.map(({ name, values }) => {
                const value = values[nth] ?? null;
                return (
                  <td key={name} class="num">
                    {value === null ? "–" : count(value)}
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
    <Drawing {...props} size={WIDE} />
    <Drawing {...props} size={NARROW} />
    <AsTable {...props} />
  </>
);
