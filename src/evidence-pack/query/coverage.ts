import type { Period } from "./filter.ts";

/**
 * Records stand in the order in which the log took them, and each says when a node decided it. The clocks of two nodes are at
 * most 12 s apart, because a node whose clock differs by more writes nothing, and a write is given up after 15 s. So no
 * record is followed by one whose time is earlier by as much as this.
 */
export const OUT_OF_ORDER_MS = 60_000;
const OUT_OF_ORDER = "a minute";

/** How much of the period the records of an export are known to cover. */
export type Coverage = {
  readonly fromIndex: number;
  /** No record of the period can come before the export's first one. */
  readonly start: boolean;
  /** No record of the period can come after the export's last one. */
  readonly end: boolean;
  /** Up to this time, at most the period's end, the export has all records that come after its first one. */
  readonly upTo: string | null;
  readonly lastRecordedAt: string | null;
  readonly isLastAfter: boolean;
};

export type Ends = {
  readonly fromIndex: number;
  readonly firstRecordedAt: string | null;
  readonly lastRecordedAt: string | null;
};

/** A record from long enough before the period, or after it, stands for the end of the export that is not the account's own. */
export const coverageOf = ({ from, to }: Period, { fromIndex, firstRecordedAt, lastRecordedAt }: Ends): Coverage => {
  const first = Date.parse(firstRecordedAt ?? "");
  const last = Date.parse(lastRecordedAt ?? "");
  const start = fromIndex === 0 || first + OUT_OF_ORDER_MS < Date.parse(from);
  const end = last - OUT_OF_ORDER_MS >= Date.parse(to);
  const isSome = last - OUT_OF_ORDER_MS >= Date.parse(from);
  const upTo = isSome ? new Date(last - OUT_OF_ORDER_MS).toISOString() : null;
  return { fromIndex, start, end, upTo: end ? to : upTo, lastRecordedAt, isLastAfter: last >= Date.parse(to) };
};

/** Null if nothing is missing. `needsAll`: the answer also depends on all records before the period. */
const whyOpen = (coverage: Coverage, needsAll: boolean): string | null => {
  const { fromIndex, start, end, lastRecordedAt, isLastAfter } = coverage;
  const place = isLastAfter ? `less than ${OUT_OF_ORDER} after the period's end` : "before the period's end";
  const reasons = [
    ...(start
      ? []
      : [
          `the export begins at record ${fromIndex}, and that record is not from more than ${OUT_OF_ORDER} before the period: records of the period may come before the export`,
        ]),
    ...(needsAll && start && fromIndex > 0
      ? [`the export begins at record ${fromIndex}, and the claim needs the records before it`]
      : []),
    ...(end
      ? []
      : [
          lastRecordedAt === null
            ? "the export has no record"
            : `the export's last record says ${lastRecordedAt}, ${place}: records of the period may come after it`,
        ]),
  ];
  return reasons.length === 0 ? null : reasons.join("; ");
};

export type Judged = {
  /** What the records of the export alone say. */
  readonly inExport: boolean | null;
  /** No other record could change it. */
  readonly isFinal: boolean;
  readonly needsAll: boolean;
};

/** A claim holds, or fails, only if no record that the export lacks could change that. */
export const judged = (
  { inExport, isFinal, needsAll }: Judged,
  coverage: Coverage,
): { readonly holds: boolean | null; readonly in_export: boolean | null; readonly open: string | null } => {
  const open = isFinal ? null : whyOpen(coverage, needsAll);
  return { holds: open === null ? inExport : null, in_export: inExport, open };
};
