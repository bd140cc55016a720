import { textOf } from "../../../domain/evidence/bytes.ts";
import { type Checkpoint, parseCheckpoint, parseOrigin } from "../../../domain/evidence/checkpoint.ts";
import { readLeaf } from "../../../domain/evidence/leaf.ts";
import { parseNote } from "../../../domain/evidence/signed-note.ts";
import { verifyExport } from "../../../src/verifier/export.ts";
import { wrongOptions } from "../../../src/verifier/files.ts";
import { platformHere } from "../../../src/verifier/platform.ts";
import type { ConsistencyProof } from "../../../src/verifier/previous.ts";
import { concluded, fault, type Report } from "../../../src/verifier/report.ts";
import { meaning, noteLines, timeConflictLines } from "../../../src/verifier/words.ts";

export type Outside = {
  /** Verifier keys that the auditor has from outside this page, one a line. */
  readonly keys: readonly string[];
  readonly witnesses: readonly string[];
  /** A checkpoint that the auditor kept; empty if there is none. */
  readonly kept: string;
};

export type Checked = {
  readonly report: Report;
  /** What was proved: the leaf as text, so that nothing is shown that the proof is not about. Null if there is none. */
  readonly leaf: string | null;
  /** What the verdict means, in the words of the command. */
  readonly meaning: string;
  /** What a reader has to know besides: records whose times cannot be right, and notes. */
  readonly remarks: readonly string[];
};

/** What the auditor gave cannot be used, so that nothing was checked: `why` is a sentence. */
export type WrongInput = { readonly wrong: "keys" | "checkpoint"; readonly why: string };

/** The record that is asked for. */
export type Asked = { readonly index: number; readonly account: string };

/** What the check asks the service for. */
export type Service = {
  /** The export of this one record, as NDJSON. */
  readonly exported: (index: number) => Promise<string>;
  readonly consistency: (from: number, to: number) => Promise<ConsistencyProof>;
};

type Line = { readonly kind?: unknown; readonly leaf?: unknown; readonly text?: unknown };

/** The lines of a kind; a line that is no JSON is the verifier's to refuse. */
const linesOf = (text: string, kind: string): readonly Line[] =>
  text.split("\n").flatMap((line) => {
    try {
      const parsed = JSON.parse(line) as Line | null;
      return parsed?.kind === kind ? [parsed] : [];
    } catch {
      return [];
    }
  });

/** The leaf of the one record of the export, if it is a leaf. */
const leafIn = (text: string): string | null => {
  const [record] = linesOf(text, "record");
  if (typeof record?.leaf !== "string") return null;
  const bytes = platformHere().fromBase64(record.leaf);
  return bytes === null || typeof readLeaf(bytes) === "string" ? null : textOf(bytes);
};

const checkpointIn = (note: unknown): Checkpoint | null =>
  typeof note === "string" ? parseCheckpoint(parseNote(note)?.text ?? "") : null;

/** A proof that the tree has only grown since the kept checkpoint; null if none is needed, or can be asked for. */
const consistencyOf = async (service: Service, text: string, kept: string): Promise<ConsistencyProof | null> => {
  const from = checkpointIn(kept);
  const to = checkpointIn(linesOf(text, "checkpoint")[0]?.text);
  return from === null || from.origin !== to?.origin || from.size > to.size
    ? null
    : service.consistency(from.size, to.size);
};

/** Why a right file is none of what was asked for; null if it is the one record. */
const otherThan = ({ index, account }: Asked, { head, range, records }: Report): string | null => {
  const named = parseOrigin(head?.origin ?? "")?.account;
  if (named !== account) return `the service answered with records of ${named ?? "no account"}, not of ${account}`;
  if (range?.from === index && records === 1) return null;
  const answered =
    range === null
      ? "what a filter finds"
      : range.to - range.from === 1
        ? `the record ${range.from}`
        : `the records ${range.from} to ${range.to - 1}`;
  return `the service answered with ${answered}, not with the record ${index} alone`;
};

/** A file in which something was checked has to be about the record that was asked for. */
const asAsked = (asked: Asked, report: Report): Report => {
  if (report.fault !== null || report.head === null) return report;
  const other = otherThan(asked, report);
  return other === null ? report : concluded({ ...report, fault: fault(other) });
};

/** A name, eight hex digits, and the key in Base64, which may have a plus, too. */
const THREE_PARTS = /^[^+\s]+\+[0-9a-f]{8}\+\S+$/;

/** What to do about a key that cannot be read. */
const keyAdvice = (keys: readonly string[]): string =>
  keys.every((it) => THREE_PARTS.test(it))
    ? "It has its three parts, but a character is missing or wrong, or it is a key of another kind. Copy all of it again."
    : "A key has three parts with a plus between them: a name, eight hex digits, and the key itself.";

/** Fetches one record with its proof, and checks both here. */
export const checkRecord = async (
  service: Service,
  asked: Asked,
  { keys, witnesses, kept }: Outside,
): Promise<Checked | WrongInput> => {
  const wrongKeys = wrongOptions({ keys, witnesses, previous: [] });
  if (wrongKeys !== null) return { wrong: "keys", why: `${wrongKeys} ${keyAdvice([...keys, ...witnesses])}` };
  const given = { keys, witnesses, previous: kept === "" ? [] : [kept] };
  const wrongCheckpoint = wrongOptions(given);
  if (wrongCheckpoint !== null) return { wrong: "checkpoint", why: wrongCheckpoint };
  const text = await service.exported(asked.index);
  const consistency = kept === "" ? null : await consistencyOf(service, text, kept);
  const bytes = new TextEncoder().encode(text);
  const source = async function* () {
    yield bytes;
  };
  const report = asAsked(asked, await verifyExport(source, { ...given, consistency }, platformHere()));
  const isProved = report.fault === null && report.head !== null;
  return {
    report,
    leaf: isProved ? leafIn(text) : null,
    meaning: meaning(report),
    remarks: [...(isProved ? timeConflictLines(report) : []), ...noteLines(report)],
  };
};
