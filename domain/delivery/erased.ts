import type { ErasedUpTo } from "./events.ts";

/** The last revision of the payload's stream that is erased, or will be; null before any erasure. */
export type Erased = number | "all" | null;

export const erasedWith = (before: Erased, { up_to }: { readonly up_to?: ErasedUpTo }): Erased => {
  if (up_to === undefined || before === "all") return "all";
  return up_to === null || before === null ? (before ?? up_to) : Math.max(before, up_to);
};

export const isErasedAt = (erased: Erased, revision: number): boolean =>
  erased === "all" || (erased !== null && revision <= erased);
