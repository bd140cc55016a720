const WORST = ["open", "disabled", "degraded", "healthy"];

type Health = { readonly state?: string | undefined; readonly queued?: number | undefined };
type Ordered = { readonly id: string; readonly health: Health };

/** The worse an endpoint is, the lower: by its state, then by how many events wait. */
const rankOf = ({ health }: Ordered): readonly [number, number] => [
  WORST.indexOf(health.state ?? "healthy"),
  -(health.queued ?? 0),
];

/** The worst first. */
export const worstFirst = <T extends Ordered>(all: readonly T[]): readonly T[] => stillWorstFirst(all, new Map());

/** The same by what each was when it was first seen, so that no row moves under the reader. */
export const stillWorstFirst = <T extends Ordered>(
  all: readonly T[],
  seen: Map<string, readonly [number, number]>,
): readonly T[] => {
  for (const it of all) if (!seen.has(it.id)) seen.set(it.id, rankOf(it));
  const of = ({ id }: T): readonly [number, number] => seen.get(id) ?? [0, 0];
  return [...all].sort((a, b) => of(a)[0] - of(b)[0] || of(a)[1] - of(b)[1]);
};
