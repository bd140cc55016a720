/** From the worst to the best; a report has the worst that holds. */
export const VERDICTS = ["broken", "incomplete", "consistent", "authentic"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Why a file is refused. `index` is that of the first bad record; null if no single record is at fault. */
export type Fault = { readonly index: number | null; readonly reason: string };

export type SignedHead = { readonly origin: string; readonly size: number; readonly root: string };

export type WitnessTime = {
  readonly witness: string;
  /** ISO-8601, by the witness's clock. */
  readonly time: string;
  /** The records that it covers: all with a lower index. */
  readonly size: number;
};

/** A payload that is not in the file because it was erased. */
export type Erased = { readonly id: string; readonly at: string; readonly by: string };

/** A record whose own time and the time of a witness cannot both be right. */
export type TimeConflict = { readonly index: number; readonly recorded_at: string; readonly reason: string };

export type Completeness = { readonly key: string; readonly number: number; readonly size: number };

export type Report = {
  readonly verdict: Verdict;
  readonly fault: Fault | null;
  /** What is not there that would have to be. */
  readonly missing: readonly string[];
  /**
   * True if records that an earlier checkpoint covered are gone or were changed, and the operator has declared a restore
   * since: nobody can tell a loss from a rewriting there.
   */
  readonly isReplaced: boolean;
  /** What was signed. It is null if that is not known: then nothing in the file was checked. */
  readonly head: SignedHead | null;
  /** The key given from outside that verified; null if none was given. */
  readonly key: string | null;
  readonly records: number;
  /** The indexes that the records cover without a gap; null for a filtered export. */
  readonly range: { readonly from: number; readonly to: number } | null;
  /** In a filtered export: that these are all records of the key below a size. */
  readonly complete: Completeness | null;
  readonly witnesses: readonly WitnessTime[];
  readonly types: Readonly<Record<string, number>>;
  /** How many records there are of each type that this verifier does not know. */
  readonly unknownTypes: Readonly<Record<string, number>>;
  readonly payloads: { readonly verified: number; readonly erased: number; readonly withheld: number };
  readonly erased: readonly Erased[];
  readonly timeConflicts: readonly TimeConflict[];
  /** Further things that a reader has to know to read the verdict rightly. */
  readonly notes: readonly string[];
};

export const EMPTY_REPORT: Report = {
  verdict: "broken",
  fault: null,
  missing: [],
  isReplaced: false,
  head: null,
  key: null,
  records: 0,
  range: null,
  complete: null,
  witnesses: [],
  types: {},
  unknownTypes: {},
  payloads: { verified: 0, erased: 0, withheld: 0 },
  erased: [],
  timeConflicts: [],
  notes: [],
};

export const fault = (reason: string, index: number | null = null): Fault => ({ index, reason });

/** The report with the worst verdict that holds. */
export const concluded = (report: Omit<Report, "verdict">): Report => {
  if (report.fault !== null) return { ...report, verdict: "broken" };
  if (report.missing.length > 0) return { ...report, verdict: "incomplete" };
  return { ...report, verdict: report.key === null ? "consistent" : "authentic" };
};
