import { parseOrigin } from "../../domain/evidence/checkpoint.ts";
import type { ErasureLine, TailLine } from "../../domain/evidence/export-lines.ts";
import { whyNotProvedBy } from "../../domain/evidence/filter-keys.ts";
import type { Leaf } from "../../domain/evidence/leaf.ts";
import type { TreeHead } from "../../domain/evidence/merkle.ts";
import { isKnownType } from "../../domain/evidence/record-types.ts";
import { formatVerifierKey, parseVerifierKey } from "../../domain/evidence/signed-note.ts";
import { Contiguous, type Range } from "./contiguous.ts";
import { readErasure } from "./erasure-line.ts";
import { Filtered } from "./filtered.ts";
import { readHeads } from "./heads.ts";
import { parseLine, readLines, type Source } from "./lines.ts";
import { type Outline, readOutline } from "./outline.ts";
import { Payloads } from "./payloads.ts";
import type { Platform } from "./platform.ts";
import { comparePrevious, type PreviousOptions } from "./previous.ts";
import { type ReadRecord, readRecord, readScanned } from "./record-line.ts";
import { RecordScan } from "./record-scan.ts";
import { concluded, EMPTY_REPORT, type Fault, fault, type Report } from "./report.ts";
import { Times } from "./times.ts";
import {
  absentWitnesses,
  followHandovers,
  headOf,
  type Keys,
  type KnownHead,
  type OutsideKeys,
  parseKeys,
  type Reopened,
  readSigned,
  type SignedCheckpoint,
  signedAfterReopening,
  witnessTimes,
} from "./trust.ts";

export type VerifyOptions = OutsideKeys & PreviousOptions;

type Trusted = {
  readonly signed: SignedCheckpoint;
  readonly keys: Keys;
  readonly reopened: Reopened | null;
  readonly heads: readonly KnownHead[];
  readonly notes: readonly string[];
};

/** Whether the file's records, which follow each other without a gap, give the tree of this size. */
const coversOf =
  ({ filter, from_index: from, to_index: to }: Outline["header"]) =>
  (size: number): boolean =>
    filter === null && size > from && size <= to;

/** The keys to begin with: those from outside, or the one that the header names if there are none. */
export const startingKeys = (platform: Platform, outside: OutsideKeys, named: string | null): Keys | string => {
  const parsed = parseKeys(platform, outside);
  if (typeof parsed === "string") return parsed;
  const { log, witnesses } = parsed;
  if (log.length > 0) return { current: log, ever: log, witnesses, isOutside: true };
  const key = named === null ? null : parseVerifierKey(platform.sha256, named);
  if (key === null) return "it names no verifier key";
  return { current: [key], ever: [key], witnesses, isOutside: false };
};

type NotTrusted = string | { readonly missing: string };

const trusted = async (platform: Platform, outline: Outline, options: VerifyOptions): Promise<Trusted | NotTrusted> => {
  const { header, handovers, cosigned, checkpoint } = outline;
  const start = startingKeys(platform, options, header.key);
  if (typeof start === "string") return start;
  const followed = await followHandovers(platform, handovers, start);
  if (typeof followed === "string") return followed;
  const { keys, reopened, notes } = followed;
  const signed = await readSigned(platform, checkpoint.text, keys.current);
  if ("unknown" in signed) {
    const missing = signedAfterReopening(checkpoint.text);
    return missing === null ? `the checkpoint: ${signed.unknown}` : { missing };
  }
  if ("reason" in signed) return `the checkpoint: ${signed.reason}`;
  const { origin } = signed.checkpoint;
  if (header.origin !== origin || header.account !== parseOrigin(origin)?.account)
    return `the checkpoint is one of ${origin}, the header says something else`;
  if (header.key !== formatVerifierKey(signed.key)) return "the header names another key than the one that signed";
  const heads = await readHeads(platform, cosigned, { signed, keys, covers: coversOf(header) });
  if (typeof heads === "string") return heads;
  const { proved, unproved } = heads;
  const left = `${unproved} cosigned checkpoints were left aside: the file does not prove that they are of its tree`;
  return { signed, keys, reopened, heads: proved, notes: unproved === 0 ? notes : [...notes, left] };
};

const hashesOf = (platform: Platform, texts: readonly string[]): readonly Uint8Array[] | null => {
  const hashes = texts.map((text) => platform.fromBase64(text));
  return hashes.every((hash) => hash !== null) ? hashes : null;
};

/** The range that the header and the proofs say; a text if they say none. */
const rangeOf = (platform: Platform, { header, proofs }: Outline, trust: Trusted): Range | string => {
  const { from_index: from, to_index: to } = header;
  const head = trust.signed.checkpoint;
  if (from > to || to > head.size) return "the header says a range that the checkpoint does not cover";
  const known = trust.heads.filter(({ size }) => coversOf(header)(size));
  if (from === 0 && to === head.size && proofs.length === 0) return { from, to, head, paths: null, known };
  if (from === to) return "the file has no records";
  const [first, last, ...more] = from === to - 1 && proofs.length === 1 ? [...proofs, ...proofs] : proofs;
  if (first?.index !== from || last?.index !== to - 1 || more.length > 0)
    return "the proofs are not those of the range's two ends";
  const paths = { first: hashesOf(platform, first.hashes), last: hashesOf(platform, last.hashes) };
  if (paths.first === null || paths.last === null) return "a proof is malformed";
  return { from, to, head, paths: { first: paths.first, last: paths.last }, known };
};

type Checker = Contiguous | Filtered;

const checkerOf = (
  platform: Platform,
  outline: Outline,
  trust: Trusted,
  known: readonly KnownHead[],
): Checker | string => {
  const { header, proofs, map } = outline;
  if (header.filter === null) {
    if (map !== null) return "a file without a filter has no line of the key map";
    const range = rangeOf(platform, outline, trust);
    if (typeof range === "string") return range;
    const both = [...range.known, ...known];
    return new Contiguous(platform, { ...range, known: both.sort((a, b) => a.size - b.size) });
  }
  const [proof, ...more] = proofs;
  const gaps = proof === undefined ? null : hashesOf(platform, proof.hashes);
  if (gaps === null || more.length > 0 || proof?.index !== undefined)
    return "a filtered export has one proof without an index";
  const head = trust.signed.checkpoint;
  if (header.from_index !== 0 || header.to_index !== head.size)
    return "the header of a filtered export has another range than its checkpoint";
  const wrong = map === null ? null : whyNotProvedBy(header.filter, map.key, header.account);
  return wrong ?? new Filtered(platform, { head, gaps, map });
};

const addOne = (counts: Map<string, number>, type: string): void => {
  counts.set(type, (counts.get(type) ?? 0) + 1);
};

/** What is counted while the records are read. */
class Tally {
  /** Those in `record` lines. The last line of the file says how many there are. */
  lines = 0;
  /** All that the filter chose, among them those of its key that the key map does not cover. */
  records = 0;
  readonly types = new Map<string, number>();
  /** Of records that stand in the file beside those that the filter chose. */
  readonly typesBeside = new Map<string, number>();
  fault: Fault | null = null;
  readonly payloads: Payloads | null;
  readonly times: Times;
  readonly #platform: Platform;
  readonly #account: string;
  readonly #checker: Checker;
  readonly #scan = new RecordScan();
  readonly #head: TreeHead;

  constructor(platform: Platform, { header }: Outline, checker: Checker, { signed, heads }: Trusted) {
    this.#platform = platform;
    this.#head = signed.checkpoint;
    this.#account = header.account;
    this.#checker = checker;
    this.payloads = header.payloads === true ? new Payloads(platform) : null;
    this.times = new Times(heads);
  }

  /** Null to go on. */
  readonly take = (bytes: Uint8Array): string | null => {
    const scanned = this.#scan.read(bytes);
    if (scanned !== null) {
      this.fault = this.#record(readScanned(this.#platform, scanned, this.#account));
      return this.fault === null ? null : "stopped";
    }
    const line = parseLine(bytes);
    if (line?.kind === "record") this.fault = this.#record(readRecord(this.#platform, line, this.#account));
    else if (line?.kind === "tail") this.fault = this.#tail(line);
    else if (line?.kind === "payload")
      this.fault =
        this.payloads === null ? fault("a payload that the header does not announce") : this.payloads.take(line);
    else if (line?.kind === "erasure") this.fault = this.#erasure(line);
    else if (line === null) this.fault = fault(`after ${this.records} records: a line is none of an export`);
    return this.fault === null ? null : "stopped";
  };

  #tail({ index, leaf }: TailLine): Fault | null {
    if (this.#checker instanceof Contiguous) return fault("it is beside a key map, and the file has none", index);
    const read = readRecord(this.#platform, { kind: "record", index, leaf }, this.#account);
    if ("fault" in read) return read.fault;
    const wrong = this.#checker.takeTail(read);
    if (wrong !== null) return wrong;
    if (this.#checker.isOfKey(read.leaf)) return this.#count(read.leaf);
    // It belongs to somebody else, so that nobody is shown its payloads.
    addOne(this.typesBeside, read.leaf.type);
    this.times.take(read.leaf);
    return null;
  }

  #erasure(line: ErasureLine): Fault | null {
    if (this.payloads === null) return fault("an erasure in a file that the header says has no payloads");
    const leaf = readErasure(this.#platform, line, { account: this.#account, head: this.#head });
    if ("fault" in leaf) return leaf.fault;
    this.payloads.noteErasure(leaf);
    return null;
  }

  #record(read: ReadRecord | { readonly fault: Fault }): Fault | null {
    if ("fault" in read) return read.fault;
    const wrong = this.#checker.take(read);
    if (wrong !== null) return wrong;
    this.lines += 1;
    return this.#count(read.leaf);
  }

  #count(leaf: Leaf): Fault | null {
    this.records += 1;
    addOne(this.types, leaf.type);
    this.times.take(leaf);
    const other = this.payloads?.note(leaf) ?? null;
    return other === null ? null : fault(other, leaf.index);
  }
}

const typesOf = (tally: Tally): Pick<Report, "types" | "unknownTypes"> => {
  const sorted = (counts: Map<string, number>) => Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  const unknown = new Map([...tally.types].filter(([type]) => !isKnownType(type)));
  for (const [type, count] of tally.typesBeside)
    if (!isKnownType(type)) unknown.set(type, (unknown.get(type) ?? 0) + count);
  return { types: sorted(tally.types), unknownTypes: sorted(unknown) };
};

/** The tree's checks at the end of the records. */
const ending = (checker: Checker): Pick<Report, "fault" | "missing" | "isReplaced" | "complete"> => {
  if (checker instanceof Filtered) return { ...checker.ended(), isReplaced: false };
  const missing =
    checker.unknownMaps > 0
      ? [`a check of ${checker.unknownMaps} sealed key maps that cover far fewer records than precede them`]
      : [];
  const isReplaced = checker.lost.length > 0;
  return { fault: checker.ended(), missing: [...missing, ...checker.lost], isReplaced, complete: null };
};

const reopeningNotes = (reopened: Reopened | null): readonly string[] =>
  reopened === null
    ? []
    : [
        `the log was reopened after a restore, with the reason ${JSON.stringify(reopened.reason)}: its last checkpoint before was that of size ${reopened.size} of ${reopened.origin}`,
      ];

/** Verifies an export (`GET /v1/audit/export`). The source is read twice, and never kept. */
export const verifyExport = async (source: Source, options: VerifyOptions, platform: Platform): Promise<Report> => {
  const outline = await readOutline(source);
  if ("fault" in outline) return concluded({ ...EMPTY_REPORT, fault: outline.fault });
  if ("missing" in outline) return concluded({ ...EMPTY_REPORT, missing: [outline.missing] });
  const trust = await trusted(platform, outline, options);
  if (typeof trust === "string") return concluded({ ...EMPTY_REPORT, fault: fault(trust) });
  if ("missing" in trust) return concluded({ ...EMPTY_REPORT, missing: [trust.missing] });
  const { signed, keys, reopened, heads, notes: trusting } = trust;
  const isContiguous = outline.header.filter === null;
  const { from_index: from, to_index: to } = outline.header;
  const comparison = { keys, options, covers: coversOf(outline.header), reopened };
  const previous = await comparePrevious(platform, signed, comparison);
  const seen = [...heads, ...previous.witnessed];
  const checker = previous.fault === null ? checkerOf(platform, outline, trust, previous.heads) : previous.fault;
  const notes = [...trusting, ...reopeningNotes(reopened)];
  const about = { head: headOf(signed), key: keys.isOutside ? formatVerifierKey(signed.key) : null, notes };
  if (typeof checker === "string") return concluded({ ...EMPTY_REPORT, ...about, fault: fault(checker) });
  if (!(checker instanceof Contiguous || checker instanceof Filtered))
    return concluded({ ...EMPTY_REPORT, ...about, fault: checker });
  const tally = new Tally(platform, outline, checker, { ...trust, heads: seen });
  const stopped = await readLines(source, tally.take);
  const ended =
    tally.fault === null && stopped === null
      ? ending(checker)
      : { fault: null, missing: [], isReplaced: false, complete: null };
  const changed =
    stopped !== null && tally.fault === null ? fault(`the file changed while it was read: ${stopped}`) : null;
  const countWrong =
    tally.lines === outline.checkpoint.count
      ? null
      : fault(`the file has ${tally.lines} records, its last line says ${outline.checkpoint.count}`);
  const payloads = tally.payloads?.ended();
  const withheld = payloads?.withheld ?? [];
  return concluded({
    ...EMPTY_REPORT,
    ...about,
    ...typesOf(tally),
    fault: tally.fault ?? changed ?? ended.fault ?? countWrong,
    missing: [
      ...ended.missing,
      ...previous.missing,
      ...absentWitnesses(keys, seen),
      ...(withheld.length === 0
        ? []
        : [`${withheld.length} payloads that no record says were erased, the first ${withheld[0]}`]),
    ],
    isReplaced: ended.isReplaced || previous.isReplaced,
    records: tally.records,
    range: isContiguous ? { from, to } : null,
    complete: ended.complete,
    witnesses: witnessTimes(seen),
    payloads: { verified: payloads?.verified ?? 0, erased: payloads?.erasedCount ?? 0, withheld: withheld.length },
    erased: payloads?.erased ?? [],
    timeConflicts: tally.times.found,
    notes:
      tally.times.count > tally.times.found.length
        ? [...notes, `${tally.times.count} records contradict a witness's time`]
        : notes,
  });
};
