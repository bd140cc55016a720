import type { Json } from "../../domain/json.ts";
import type { Claim, Control, ControlFile } from "./control-file.ts";
import { CHECKPOINT_FILE, CONTROL_FILE, EXPORT_FILE, KEY_FILE, PROOFS_FILE } from "./files.ts";
import { NEVER_EVIDENCED } from "./never-evidenced.ts";
import { type Answer, namedBy } from "./query/answer.ts";
import { type Coverage, coverageOf } from "./query/coverage.ts";
import { Evaluation, KEYS_MAX } from "./query/evaluation.ts";
import { isIn, type Period } from "./query/filter.ts";
import type { Leaf } from "./query/leaf.ts";
import { type ExportEnd, type ExportHeader, readExport } from "./read-export.ts";

export type ClaimFinding = Answer &
  Pick<Claim, "id" | "statement"> & { readonly query: Json; readonly uses: readonly string[] };

export type ControlFinding = Pick<Control, "id" | "title"> & {
  readonly may_support: string;
  readonly claims: readonly ClaimFinding[];
  readonly not_evidenced: readonly string[];
};

/** The first and last record whose `recorded_at` is in the period, and how many between them say another time. */
type PeriodFacts = {
  readonly records: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly of_other_times_between: number;
};

/** Whether the export is known to have all records of the period at its two ends, and up to which time it has them. */
type Covered = { readonly start: boolean; readonly end: boolean; readonly up_to: string | null };

export type Findings = {
  readonly v: 1;
  readonly account: string;
  readonly period: Period;
  /** The clock of the machine on which the pack was made. */
  readonly made_at: string;
  /** The version of the program. Another one may word the report otherwise. */
  readonly made_by: string;
  readonly framework: { readonly id: string; readonly title: string; readonly source: string };
  readonly export: ExportHeader & {
    readonly records: number;
    /** The checkpoint that all records are checked against: the text of a signed note. */
    readonly checkpoint: string;
    readonly lines: Readonly<Record<string, number>>;
    readonly in_period: PeriodFacts;
    readonly covers: Covered;
    readonly last_recorded_at: string | null;
  };
  readonly controls: readonly ControlFinding[];
  readonly not_evidenced: readonly string[];
};

class PeriodCount {
  readonly #period: Period;
  #records = 0;
  #first: number | null = null;
  #last: number | null = null;
  #others = 0;
  #othersSinceLast = 0;
  lastRecordedAt: string | null = null;
  #firstRecordedAt: string | null = null;

  constructor(period: Period) {
    this.#period = period;
  }

  see(leaf: Leaf): void {
    this.#firstRecordedAt ??= leaf.recorded_at;
    this.lastRecordedAt = leaf.recorded_at;
    if (isIn(this.#period, leaf)) {
      this.#records += 1;
      this.#first ??= leaf.index;
      this.#last = leaf.index;
      this.#others += this.#othersSinceLast;
      this.#othersSinceLast = 0;
    } else if (this.#first !== null) this.#othersSinceLast += 1;
  }

  facts(): PeriodFacts {
    return { records: this.#records, first: this.#first, last: this.#last, of_other_times_between: this.#others };
  }

  coverage({ from_index: fromIndex }: ExportHeader): Coverage {
    const ends = { fromIndex, firstRecordedAt: this.#firstRecordedAt, lastRecordedAt: this.lastRecordedAt };
    return coverageOf(this.#period, ends);
  }
}

/** The file of proofs has the records that the answers name, and none for a part of the account's records. */
const usedBy = (answer: Answer, { from_index: from }: ExportHeader): readonly string[] =>
  from === 0 && namedBy(answer).length > 0 ? [EXPORT_FILE, CONTROL_FILE, PROOFS_FILE] : [EXPORT_FILE, CONTROL_FILE];

const claimFindings = (
  controls: readonly Control[],
  answers: readonly Answer[],
  header: ExportHeader,
): readonly ControlFinding[] => {
  const rest = [...answers];
  return controls.map(({ id, title, maySupport, claims, notEvidenced }) => ({
    id,
    title,
    may_support: maySupport,
    claims: claims.map((claim) => {
      const answer = rest.shift();
      if (answer === undefined) throw new Error(`the claim ${claim.id} of ${id} was not asked`);
      return {
        id: claim.id,
        statement: claim.statement,
        query: claim.source,
        uses: usedBy(answer, header),
        ...answer,
      };
    }),
    not_evidenced: notEvidenced,
  }));
};

export type Asked = {
  readonly controlFile: ControlFile;
  readonly period: Period;
  readonly madeAt: string;
  readonly madeBy: string;
  /** `KEYS_MAX` but in tests. */
  readonly keysMax?: number;
  /** Called for each record, for a display of the progress. */
  readonly onRecord?: (count: number) => void;
};

type Under = { readonly header: ExportHeader; readonly evaluation: Evaluation; readonly count: PeriodCount };

const coveredOf = ({ start, end, upTo }: Coverage): Covered => ({ start, end, up_to: upTo });

const findings = ({ header, evaluation, count }: Under, end: ExportEnd, asked: Asked): Findings => ({
  v: 1,
  account: header.account,
  period: asked.period,
  made_at: asked.madeAt,
  made_by: asked.madeBy,
  framework: { id: asked.controlFile.id, title: asked.controlFile.title, source: asked.controlFile.source },
  export: {
    ...header,
    ...end,
    in_period: count.facts(),
    covers: coveredOf(count.coverage(header)),
    last_recorded_at: count.lastRecordedAt,
  },
  controls: claimFindings(asked.controlFile.controls, evaluation.answers(count.coverage(header)), header),
  not_evidenced: [...NEVER_EVIDENCED, ...asked.controlFile.notEvidenced],
});

/**
 * Asks all claims of a control file of an export. The result depends on the arguments alone, so a verifier that asks
 * again gets the same bytes. Throws `BadExport`.
 */
export const findingsOf = async (chunks: AsyncIterable<Uint8Array>, asked: Asked): Promise<Findings> => {
  const { controlFile, period, keysMax = KEYS_MAX, onRecord } = asked;
  let under: Under | null = null;
  const end = await readExport(chunks, (header) => {
    const evaluation = new Evaluation(controlFile, { period, isWhole: header.from_index === 0, keysMax });
    const count = new PeriodCount(period);
    under = { header, evaluation, count };
    let records = 0;
    return (leaf) => {
      evaluation.see(leaf);
      count.see(leaf);
      records += 1;
      onRecord?.(records);
    };
  });
  if (under === null) throw new Error("the export had no header");
  return findings(under, end, asked);
};

/** Files that a control without a claim does not need. */
const EXPORT_PARTS: readonly string[] = [EXPORT_FILE, CHECKPOINT_FILE, KEY_FILE];

/** The ids of the controls that a change of the file concerns. The other files have a part about each control. */
export const controlsUsing = (name: string, { controls }: Findings): readonly string[] => {
  const isUsed = ({ claims }: ControlFinding): boolean => {
    if (name === PROOFS_FILE) return claims.some(({ uses }) => uses.includes(PROOFS_FILE));
    return EXPORT_PARTS.includes(name) ? claims.length > 0 : true;
  };
  return controls.filter(isUsed).map(({ id }) => id);
};

/** Indented, because people read it too. */
export const findingsText = (it: Findings): string => `${JSON.stringify(it, null, 1)}\n`;
