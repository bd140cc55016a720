import type { ErasedUpTo } from "./events.ts";

export const erasedWith = (before: ErasedUpTo, { up_to }: { readonly up_to: ErasedUpTo }): ErasedUpTo =>
  up_to === null || before === null ? (before ?? up_to) : Math.max(before, up_to);

export const isErasedAt = (erased: ErasedUpTo, revision: number): boolean => erased !== null && revision <= erased;
