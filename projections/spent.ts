/**
 * Micro-euros that a bundle or a step of one has cost, once it has ended. `spent` null: it was for nothing, unless there was
 * no estimate either: then nobody knows.
 */
export const costInTheEnd = (estimate: number | null, spent: number | null): number | null =>
  spent ?? (estimate === null ? null : 0);
