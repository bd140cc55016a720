import type { ErasedUpTo } from "./events.ts";

/** Up to which revision payloads were erased, or are about to be; "all" by a record that does not say it. */
export type Erased = number | "all" | null;

export const erasedWith = (before: Erased, { up_to }: { readonly up_to?: ErasedUpTo }): Erased => {
  if (up_to === undefined || before === "all") return "all";
  return up_to === null || before === null ? (before ?? up_to) : Math.max(before, up_to);
};

/** Whether one kept at this revision is gone, or is about to be. */
export const isErasedAt = (erased: Erased, revision: number): boolean =>
  erased === "all" || (erased !== null && revision <= erased);
