const WORST = ["open", "disabled", "degraded", "healthy"];

type Health = {
  readonly state?: string | undefined;
  /** Between 0 and 1; null or left out if nothing was sent in the last hour. */
  readonly success_rate_1h?: number | null | undefined;
  readonly queued?: number | undefined;
};
type Ordered = { readonly id: string; readonly health: Health };

/** Compared number by number; the worse an endpoint is, the lower. */
export type Rank = readonly number[];

const NOTHING_SENT = 2;

/** By its state, then by its success rate, those without a delivery last, then by how many events wait. */
const rankOf = ({ health }: Ordered): Rank => [
  WORST.indexOf(health.state ?? "healthy"),
  health.success_rate_1h ?? NOTHING_SENT,
  -(health.queued ?? 0),
];

const compared = (a: Rank, b: Rank): number => {
  const nth = a.findIndex((value, at) => value !== b[at]);
  return nth === -1 ? 0 : (a[nth] ?? 0) - (b[nth] ?? 0);
};

/** The worst first. */
export const worstFirst = <T extends Ordered>(all: readonly T[]): readonly T[] => stillWorstFirst(all, new Map());

/** The same by what each was when it was first seen, so that no row moves under the reader. */
export const stillWorstFirst = <T extends Ordered>(all: readonly T[], seen: Map<string, Rank>): readonly T[] => {
  for (const it of all) if (!seen.has(it.id)) seen.set(it.id, rankOf(it));
  const of = ({ id }: T): Rank => seen.get(id) ?? [];
  return [...all].sort((a, b) => compared(of(a), of(b)));
};
