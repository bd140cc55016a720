import { type PathPart, perfectSubtrees, splitOf } from "./merkle.ts";

/**
 * The largest subtrees of a tree of this size whose leaves are all from `from` (inclusive) to `to` (exclusive). Those
 * between the records of an export, one after the other, are its gaps (`multi-proof.ts`), without a list of all records.
 */
export const subtreesBetween = (size: number, from: number, to: number): readonly PathPart[] => {
  const parts: PathPart[] = [];
  const descend = (low: number, high: number): void => {
    if (high <= from || to <= low) return;
    if (from <= low && high <= to) {
      parts.push(perfectSubtrees({ from: low, to: high }));
      return;
    }
    const middle = low + splitOf(high - low);
    descend(low, middle);
    descend(middle, high);
  };
  if (from < to) descend(0, size);
  return parts;
};
