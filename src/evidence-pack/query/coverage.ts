/** How much of the period the records of an export are known to cover. */
export type Coverage = {
  readonly fromIndex: number;
  /** No record of the period can come before the export's first one. */
  readonly start: boolean;
  /** No record of the period can come after the export's last one. */
  readonly end: boolean;
  readonly lastRecordedAt: string | null;
};

/** Null if nothing is missing. `needsAll`: the answer also depends on all records before the period. */
const whyOpen = ({ fromIndex, start, end, lastRecordedAt }: Coverage, needsAll: boolean): string | null => {
  const reasons = [
    ...(start
      ? []
      : [
          `the export begins at record ${fromIndex}, and no record from before the period stands before the period's first one: records of the period may come before the export`,
        ]),
    ...(needsAll && start && fromIndex > 0
      ? [`the export begins at record ${fromIndex}, and the claim needs the records before it`]
      : []),
    ...(end
      ? []
      : [
          lastRecordedAt === null
            ? "the export has no record"
            : `the export's last record says ${lastRecordedAt}, before the period's end: records of the period may come after it`,
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
