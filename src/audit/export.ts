import { sameBytes, toBase64, toHex } from "../../domain/evidence/bytes.ts";
import type { ExportFilter, ExportLine, MapLine } from "../../domain/evidence/export-lines.ts";
import { type KeyLink, leafBytes, leafOf } from "../../domain/evidence/leaf.ts";
import { leafHash, type PathPart } from "../../domain/evidence/merkle.ts";
import { subtreesBetween } from "../../domain/evidence/subtrees-between.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import type { SignedCheckpoint } from "../sealing/sealing.ts";
import type { AccountEvidence, SealedKeyProof } from "./account-evidence.ts";
import { neededHeads } from "./needed-heads.ts";

export type Exported = {
  readonly account: string;
  /** The newest checkpoint, with whose size the whole export is made. */
  readonly end: Pick<SignedCheckpoint, "origin" | "size" | "note">;
  readonly verifierKey: string;
  /** `to` is exclusive, and at most the checkpoint's size. */
  readonly from: number;
  readonly to: number;
  /** Of a filtered export that was cut off: the records before this index are left out, as the caller has them. */
  readonly resumeFrom?: number;
  /** Null for all records from `from` to `to`. */
  readonly filter: ExportFilter | null;
  /** The indexes of the filtered records within the range, in pages, the lowest first. Each call begins anew. */
  readonly indexes: (() => AsyncIterable<readonly number[]>) | null;
  /** If the export is by exactly one key: what proves that its chain is whole. */
  readonly map: { readonly key: string; readonly sealed: SealedKeyProof } | null;
  /** The lines for the values that this record commits to; null if none were asked for. */
  readonly payloads: ((record: RecordedEvent) => AsyncIterable<ExportLine>) | null;
  /**
   * The lines for the values of a record before `resumeFrom` that were erased. They are given anew, because their proofs lead
   * to one checkpoint. Null if the export has the records of all erasures, or no values.
   */
  readonly erasures?: ((record: RecordedEvent) => AsyncIterable<ExportLine>) | null;
  /** `TAIL_RECORDS_MAX` but in tests. */
  readonly tailMax?: number;
};

export type ExportDeps = {
  readonly evidence: Pick<
    AccountEvidence,
    "leafHashes" | "links" | "path" | "inclusion" | "consistency" | "cosigned" | "handovers"
  >;
  /** The records at these indexes, which the view knows to be there. */
  readonly records: (account: string, indexes: readonly number[]) => Promise<readonly RecordedEvent[]>;
};

/**
 * Records of a tail. It has those of other keys as well, and only an account whose key map is minutes behind has so many: the
 * export then proves that it is whole up to the last of them, and a verifier calls it incomplete.
 */
const TAIL_RECORDS_MAX = 131_072;
/** Records that are in memory at a time. */
const PAGE = 64;
/** Hashes of a proof that are written at a time. */
const HASHES_PAGE = 256;

const lineOf = (line: ExportLine): string => `${JSON.stringify(line)}\n`;

async function* allIndexes(from: number, to: number): AsyncGenerator<readonly number[], void> {
  for (let at = from; at < to; at += PAGE) yield Array.from({ length: Math.min(PAGE, to - at) }, (_, i) => at + i);
}

async function* inPages(pages: AsyncIterable<readonly number[]>): AsyncGenerator<readonly number[], void> {
  for await (const page of pages) for (let at = 0; at < page.length; at += PAGE) yield page.slice(at, at + PAGE);
}

/** Throws if the log has another record than the one that was sealed: nobody is given a leaf that proves nothing. */
export const leavesAt = async (
  {
    evidence,
    records,
  }: { readonly evidence: Pick<AccountEvidence, "leafHashes" | "links"> } & Pick<ExportDeps, "records">,
  account: string,
  indexes: readonly number[],
): Promise<
  readonly {
    readonly index: number;
    readonly leaf: Uint8Array;
    readonly hash: Uint8Array;
    readonly keys: Readonly<Record<string, KeyLink>>;
    readonly record: RecordedEvent;
  }[]
> => {
  const [events, links, hashes] = await Promise.all([
    records(account, indexes),
    evidence.links(account, indexes),
    evidence.leafHashes(account, indexes),
  ]);
  return events.map((record, i) => {
    const index = indexes[i] ?? -1;
    const keys = Object.fromEntries(links[i] ?? []);
    const leaf = leafBytes(leafOf(sha256, record, { index, keys }));
    const hash = leafHash(sha256, leaf);
    if (!sameBytes(hash, hashes[i] ?? new Uint8Array()))
      throw new Error(
        `record ${index} of ${account} (${record.stream} at ${record.revision}) is not the one that was sealed`,
      );
    return { index, leaf, hash, keys, record };
  });
};

/** One line, written piece by piece, because a proof of many records is long. */
async function* gapsLine(
  evidence: ExportDeps["evidence"],
  {
    account,
    size,
    indexes,
  }: { readonly account: string; readonly size: number; readonly indexes: AsyncIterable<readonly number[]> },
): AsyncGenerator<string, void> {
  let waiting: PathPart[] = [];
  let isFirst = true;
  const write = async (): Promise<string> => {
    const hashes = await evidence.path(account, waiting);
    waiting = [];
    const text = hashes.map((hash) => JSON.stringify(toBase64(hash))).join(",");
    const comma = isFirst || text === "" ? "" : ",";
    isFirst &&= text === "";
    return comma + text;
  };
  yield `{"kind":"proof","hashes":[`;
  let next = 0;
  for await (const page of indexes) {
    for (const index of page) {
      waiting.push(...subtreesBetween(size, next, index));
      next = index + 1;
    }
    if (waiting.length >= HASHES_PAGE) yield await write();
  }
  waiting.push(...subtreesBetween(size, next, size));
  yield `${await write()}]}\n`;
}

const mapLineOf = (key: string, { proof: { hashes, end } }: SealedKeyProof): MapLine => {
  const line = { kind: "map", key, hashes: hashes.map(toBase64) } as const;
  if (end.kind === "present") return { ...line, number: end.number, last: end.last };
  const { other } = end;
  if (other === null) return { ...line, number: 0, last: null };
  const { keyHash, number, last } = other;
  return { ...line, number: 0, last: null, other: { key_hash: toHex(keyHash), number, last } };
};

/** What witnesses saw of the tree, with a proof that it is this one where the records of the export do not give it. */
async function* cosignedLines(
  evidence: ExportDeps["evidence"],
  { account, end, from, to, filter }: Exported,
  indexes: AsyncIterable<readonly number[]>,
): AsyncGenerator<ExportLine, void> {
  for await (const { open } of neededHeads(evidence.cosigned(account, end.size), indexes)) {
    const { size, text, proof } = await open();
    const line = { kind: "cosigned", text, proof } as const;
    const isGiven = size === end.size || (filter === null && size > from && size <= to);
    if (isGiven) yield line;
    else yield { ...line, consistency: (await evidence.consistency(account, size, end.size)).map(toBase64) };
  }
}

/** The records of the map's chain, then the record that sealed the map, which comes after all of them. */
async function* withSeal(pages: AsyncIterable<readonly number[]>, seal: number | undefined) {
  yield* inPages(pages);
  if (seal !== undefined) yield [seal];
}

/** Where the tail ends: at the checkpoint's size, unless the map is far behind. */
const tailEnd = ({ end, map, tailMax = TAIL_RECORDS_MAX }: Pick<Exported, "end" | "map" | "tailMax">): number =>
  map === null ? end.size : Math.min(end.size, map.sealed.size + tailMax);

/** The records of the map's chain, then those of the tail and the record that sealed the map, which is among them or later. */
async function* withTail(pages: AsyncIterable<readonly number[]>, exported: Exported) {
  yield* inPages(pages);
  const { map } = exported;
  if (map === null) return;
  const to = tailEnd(exported);
  yield* allIndexes(map.sealed.size, to);
  if (map.sealed.index >= to) yield [map.sealed.index];
}

/**
 * The records that the map does not cover, but the one that sealed it; those of the key with their payloads. They stand
 * behind all `record` lines and are given anew when an export goes on where it was cut off, as the map may be another one
 * then.
 */
async function* tailLines(
  deps: ExportDeps,
  exported: Pick<Exported, "account" | "end" | "map" | "payloads" | "tailMax">,
): AsyncGenerator<ExportLine, void> {
  const { account, map, payloads } = exported;
  if (map === null) return;
  for await (const page of allIndexes(map.sealed.size, tailEnd(exported)))
    for (const { index, leaf, keys, record } of await leavesAt(deps, account, page)) {
      if (index === map.sealed.index) continue;
      yield { kind: "tail", index, leaf: toBase64(leaf) };
      if (payloads !== null && Object.hasOwn(keys, map.key)) yield* payloads(record);
    }
}

/** The lines of an export, made as they are read. A cut one can be told by its last line, which is not a checkpoint. */
export async function* exportLines(deps: ExportDeps, exported: Exported): AsyncGenerator<string, void> {
  const { evidence } = deps;
  const { account, end, from, to, filter, indexes, map, payloads, erasures = null, resumeFrom = 0 } = exported;
  const { origin, size } = end;
  const range = filter === null ? { from_index: from, to_index: to } : { from_index: 0, to_index: size };
  const announced = payloads === null ? {} : { payloads: true as const };
  yield lineOf({ kind: "header", account, origin, key: exported.verifierKey, ...range, filter, ...announced });
  const pages = () => (indexes === null ? allIndexes(from, to) : withSeal(indexes(), map?.sealed.index));
  const withAll = () => (indexes === null ? pages() : withTail(indexes(), exported));
  let count = 0;
  for await (const page of pages()) {
    const left = page.filter((index) => index >= resumeFrom);
    const before = erasures === null ? [] : page.filter((index) => index < resumeFrom);
    if (erasures !== null && before.length > 0)
      for (const record of await deps.records(account, before))
        for await (const line of erasures(record)) yield lineOf(line);
    count += page.length;
    for (const { index, leaf, hash, record } of await leavesAt(deps, account, left)) {
      yield lineOf({ kind: "record", index, leaf: toBase64(leaf), leaf_hash: toBase64(hash) });
      if (payloads !== null) for await (const line of payloads(record)) yield lineOf(line);
    }
  }
  for await (const line of tailLines(deps, exported)) yield lineOf(line);
  if (indexes !== null) yield* gapsLine(evidence, { account, size, indexes: withAll() });
  else if (from < to && (from > 0 || to < size)) {
    for (const index of from === to - 1 ? [from] : [from, to - 1]) {
      const hashes = (await evidence.inclusion(account, index, size)).map(toBase64);
      yield lineOf({ kind: "proof", index, hashes });
    }
  }
  if (map !== null) yield lineOf(mapLineOf(map.key, map.sealed));
  for await (const { leaf, proof } of evidence.handovers())
    yield lineOf({ kind: "handover", leaf: toBase64(leaf), proof });
  for await (const line of cosignedLines(evidence, exported, withAll())) yield lineOf(line);
  yield lineOf({ kind: "checkpoint", text: end.note, count });
}
