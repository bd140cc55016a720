import { sameBytes, toBase64 } from "../../domain/evidence/bytes.ts";
import { parseCheckpoint } from "../../domain/evidence/checkpoint.ts";
import {
  append,
  EMPTY_FRONTIER,
  type Frontier,
  inclusionPath,
  leafHash,
  pathHashes,
  rootOf,
  type Subtree,
} from "../../domain/evidence/merkle.ts";
import { parseNote } from "../../domain/evidence/signed-note.ts";
import { formatTlogProof } from "../../domain/evidence/tlog-proof.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import type { Findings } from "./findings.ts";
import { BadExport } from "./lines.ts";
import { namedBy } from "./query/answer.ts";
import { readExport } from "./read-export.ts";

/** How many records the file of proofs has, and how many bytes of leaves; claims name more only by a digest. */
const EXCERPT_RECORDS_MAX = 2_000;
const EXCERPT_BYTES_MAX = 16 * 1_024 * 1_024;

const idOf = ({ level, index }: Subtree): string => `${level}/${index}`;

/** In the order of the indexes. */
const namedRecords = ({ controls }: Findings): readonly number[] => {
  const indexes = new Set(controls.flatMap(({ claims }) => claims.flatMap(namedBy)));
  return [...indexes].sort((a, b) => a - b).slice(0, EXCERPT_RECORDS_MAX);
};

/** What the proofs need of the tree, gathered while it grows leaf by leaf. */
class Excerpt {
  readonly #size: number;
  readonly #leaves = new Map<number, Uint8Array | null>();
  readonly #subtrees = new Map<string, Uint8Array | null>();
  #bytesLeft = EXCERPT_BYTES_MAX;
  #frontier: Frontier = EMPTY_FRONTIER;

  constructor(size: number, indexes: readonly number[]) {
    this.#size = size;
    for (const index of indexes) {
      this.#leaves.set(index, null);
      for (const subtree of inclusionPath(index, size).flat()) this.#subtrees.set(idOf(subtree), null);
    }
  }

  see(index: number, leaf: Uint8Array): void {
    if (this.#leaves.has(index) && leaf.length <= this.#bytesLeft) {
      this.#leaves.set(index, leaf);
      this.#bytesLeft -= leaf.length;
    }
    this.#frontier = append(sha256, this.#frontier, leafHash(sha256, leaf), (subtree, hash) => {
      if (this.#subtrees.has(idOf(subtree))) this.#subtrees.set(idOf(subtree), hash);
    });
  }

  get root(): Uint8Array {
    return rootOf(sha256, this.#frontier);
  }

  *lines(checkpoint: string): Generator<string> {
    for (const [index, leaf] of this.#leaves) {
      if (leaf === null) continue;
      const path = pathHashes(sha256, inclusionPath(index, this.#size), (it) => this.#hashOf(it));
      const proof = formatTlogProof({ extra: null, index, path, checkpoint });
      yield `${JSON.stringify({ index, leaf: toBase64(leaf), proof })}\n`;
    }
  }

  #hashOf(subtree: Subtree): Uint8Array {
    const hash = this.#subtrees.get(idOf(subtree));
    if (hash == null) throw new Error(`the subtree ${idOf(subtree)} was not seen`);
    return hash;
  }
}

/**
 * One line for each record that the findings name, with its tlog-proof: it can be checked, and handed on, without the
 * other records. Empty for a part of the account's records, from which no path can be computed. Throws `BadExport` if
 * the records are not those of the checkpoint.
 */
export const excerptOf = async (chunks: AsyncIterable<Uint8Array>, findings: Findings): Promise<string> => {
  const { from_index: from, to_index: to, checkpoint } = findings.export;
  const parsed = parseCheckpoint(parseNote(checkpoint)?.text ?? "");
  if (parsed === null) throw new BadExport("the export's checkpoint is not one");
  if (parsed.size < to) throw new BadExport("the export's checkpoint has another size");
  if (from !== 0 || parsed.size > to) return "";
  const excerpt = new Excerpt(parsed.size, namedRecords(findings));
  await readExport(chunks, () => (leaf, bytes) => excerpt.see(leaf.index, bytes));
  if (!sameBytes(excerpt.root, parsed.root)) throw new BadExport("the records are not those of the checkpoint");
  return [...excerpt.lines(checkpoint)].join("");
};
