import type { ComponentChildren } from "preact";
import { count, counted, percent } from "../../design/format.ts";
import { Mark } from "../../design/mark.tsx";
import type { AnswerOf } from "../api/api.ts";
import { hrefOf } from "../shell/addresses.ts";
import { RANGES } from "./ranges.ts";

export type Stats = AnswerOf<"GET /v1/stats">;
export type Series = Stats["series"][number];

export const seriesOf = (stats: Stats, metric: Series["metric"]): Series | undefined =>
  stats.series.find((it) => it.metric === metric && it.rest === 0);

/** A figure leads to the list that adds up to it; the API names the list by its own address. */
export const listHref = (series: Series | undefined): string => series?.list?.replace(/^\/v1/, "") ?? "/events";

type SumProps = {
  readonly name: string;
  readonly mark?: ComponentChildren;
  readonly value: ComponentChildren;
  readonly below: string;
  readonly href: string;
};

export const Sum = ({ name, mark, value, below, href }: SumProps) => (
  <a href={href}>
    <span>
      {mark}
      {name}
    </span>
    <b>{value}</b>
    <em>{below}</em>
  </a>
);

type BarProps = {
  readonly name: ComponentChildren;
  /** Null where no list adds up to the figure. */
  readonly href: string | null;
  readonly value: number;
  /** The largest figure of the list, whose bar is as long as there is room. */
  readonly most: number;
};

/** One figure of a list of bars. */
export const Bar = ({ name, href, value, most }: BarProps) => (
  <li>
    {href === null ? <span>{name}</span> : <a href={href}>{name}</a>}
    <svg aria-hidden="true">
      <rect width={`${(value / most) * 100}%`} height="8" rx="1" />
    </svg>
    <span class="num">{count(value)}</span>
  </li>
);

const figureOf = (stats: Stats, metric: Series["metric"]): number => seriesOf(stats, metric)?.value ?? 0;
const hrefOfSum = (stats: Stats, metric: Series["metric"]): string => listHref(seriesOf(stats, metric));

type OfStats = { readonly stats: Stats };

export const AdmittedSum = ({ stats }: OfStats) => (
  <Sum
    name="Admitted"
    value={count(figureOf(stats, "admitted"))}
    below="let through"
    href={hrefOfSum(stats, "admitted")}
  />
);

export const RefusedSum = ({ stats }: OfStats) => {
  const refused = figureOf(stats, "blocked");
  const bundles = figureOf(stats, "bundles_blocked");
  const share = `${percent(refused, figureOf(stats, "admitted") + refused)} of admitted and refused`;
  return (
    <Sum
      name="Refused"
      mark={<Mark name="refused" role="refuse" />}
      value={count(refused)}
      below={bundles === 0 ? share : `${share}; ${counted(bundles, "bundle")} as well`}
      href={hrefOfSum(stats, "blocked")}
    />
  );
};

export const FailedSum = ({ stats }: OfStats) => (
  <Sum
    name="Failed"
    mark={<Mark name="failed" role="fail" />}
    value={count(figureOf(stats, "failed"))}
    below="after their last attempt"
    href={hrefOfSum(stats, "failed")}
  />
);

export const RangeNav = ({ path, range }: { readonly path: string; readonly range: string | null }) => (
  <nav class="seg" aria-label="Range">
    {RANGES.map(({ value, word }) => (
      <a key={value} href={hrefOf(path, { range: value })} aria-current={value === range ? "page" : undefined}>
        {word.replace("last ", "")}
      </a>
    ))}
  </nav>
);
