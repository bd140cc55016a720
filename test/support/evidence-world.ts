import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { toBase64, toHex, utf8 } from "../../domain/evidence/bytes.ts";
import { accountOrigin, checkpointText, instanceOrigin, signingKeyName } from "../../domain/evidence/checkpoint.ts";
import { cosignatureOf } from "../../domain/evidence/cosignature.ts";
import type { ExportFilter, ExportLine, MapLine } from "../../domain/evidence/export-lines.ts";
import { keyHashOf, nodeOf, nodesInMemory, proveKey, sortedEntries } from "../../domain/evidence/key-map.ts";
import { type KeyLink, keysOfRecord, leafBytes, leafOf } from "../../domain/evidence/leaf.ts";
import {
  append,
  consistencyPath,
  EMPTY_FRONTIER,
  type Frontier,
  inclusionPath,
  leafHash,
  type PathPart,
  pathHashes,
  rootOf,
  type Sha256,
  type Subtree,
} from "../../domain/evidence/merkle.ts";
import { gapsOf } from "../../domain/evidence/multi-proof.ts";
import {
  ED25519,
  ED25519_COSIGNATURE,
  formatNote,
  formatVerifierKey,
  type SignatureType,
  type SignerKey,
  signatureOf,
  verifierKey,
} from "../../domain/evidence/signed-note.ts";
import { signingKeyLeaf } from "../../domain/evidence/signing-key.ts";
import { formatTlogProof } from "../../domain/evidence/tlog-proof.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Actor } from "../../domain/ports/event-log.ts";

export const sha256: Sha256 = (bytes) => new Uint8Array(createHash("sha256").update(bytes).digest());

/** Node takes Ed25519 keys in DER alone (RFC 8410, sections 4 and 7): a fixed beginning, then the 32 bytes. */
const PRIVATE_DER = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_DER_BYTES = 12;
const privateKeyOf = (seed: Uint8Array) =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_DER, seed]), format: "der", type: "pkcs8" });
const signEd25519 = (seed: Uint8Array, message: Uint8Array): Uint8Array => sign(null, message, privateKeyOf(seed));

export type Signer = SignerKey & { readonly vkey: string };

/** A key that everybody who reads this file has: for tests alone. */
const signerOf = (name: string, type: SignatureType, number: number): Signer => {
  const seed = sha256(utf8(`a test key ${number}`));
  const spki = createPublicKey(privateKeyOf(seed)).export({ format: "der", type: "spki" });
  const key = verifierKey(sha256, name, type, new Uint8Array(spki.subarray(PUBLIC_DER_BYTES)));
  return { ...key, seed, vkey: formatVerifierKey(key) };
};

const HOST = "cs.example.com";
const LOG = { host: HOST, generation: 1 };
const OTHER_LOG = { host: "other.example.net", generation: 1 };
export const KEY = signerOf(signingKeyName(HOST), ED25519, 1);
export const NEXT_KEY = signerOf(signingKeyName(HOST), ED25519, 2);
export const STRANGER = signerOf(signingKeyName(HOST), ED25519, 3);
/** Of another log, which has the same witness. */
const OTHER_KEY = signerOf(signingKeyName(OTHER_LOG.host), ED25519, 5);
export const WITNESS = signerOf("witness.example.org/w1", ED25519_COSIGNATURE, 4);
/** Another key of the same name. */
export const WITNESS_AGAIN = signerOf("witness.example.org/w1", ED25519_COSIGNATURE, 5);

export const idOf = (prefix: string, text: string): string =>
  `${prefix}_${[...sha256(utf8(text))].map((byte) => "abcdefghijklmnopqrstuvwxyz234567"[byte & 31]).join("")}`;
export const ACCOUNT = idOf("acc", "account");

/** A tree with all that a prover keeps of it. */
class Tree {
  frontier: Frontier = EMPTY_FRONTIER;
  readonly roots: Uint8Array[] = [rootOf(sha256, EMPTY_FRONTIER)];
  readonly leaves: Uint8Array[] = [];
  readonly #hashes = new Map<string, Uint8Array>();

  get size(): number {
    return this.leaves.length;
  }

  add(leaf: Uint8Array): void {
    this.leaves.push(leaf);
    this.frontier = append(sha256, this.frontier, leafHash(sha256, leaf), ({ level, index }, hash) =>
      this.#hashes.set(`${level}/${index}`, hash),
    );
    this.roots.push(rootOf(sha256, this.frontier));
  }

  rootAt(size: number): Uint8Array {
    const root = this.roots[size];
    if (root === undefined) throw new RangeError(`the tree has no size ${size}`);
    return root;
  }

  readonly #hashOf = ({ level, index }: Subtree): Uint8Array => {
    const hash = this.#hashes.get(`${level}/${index}`);
    if (hash === undefined) throw new RangeError(`no subtree ${level}/${index}`);
    return hash;
  };

  hashes(path: readonly PathPart[]): readonly Uint8Array[] {
    return pathHashes(sha256, path, this.#hashOf);
  }
}

export type Written = {
  readonly stream: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly actor?: Actor;
  readonly recordedAt?: string;
};

type ExportOptions = {
  readonly size?: number;
  readonly from?: number;
  readonly to?: number;
  readonly filter?: ExportFilter;
  readonly indexes?: readonly number[];
  /** Of an export by a key: the records that the map does not cover. */
  readonly beside?: readonly number[];
  readonly map?: MapLine;
  readonly payloads?: readonly ExportLine[];
  readonly signers?: readonly Signer[];
  readonly key?: Signer;
  readonly tail?: readonly ExportLine[];
  readonly withHashes?: boolean;
};

const START = Date.UTC(2026, 2, 1, 12);
/** POSIX seconds of the record at an index. */
export const secondsOf = (index: number): number => START / 1_000 + index;

/** An account and its instance as a prover would have them, by the definitions alone. */
export class EvidenceWorld {
  readonly account = new Tree();
  readonly instance = new Tree();
  readonly #revisions = new Map<string, number>();
  readonly #keys = new Map<string, { number: number; last: number }>();
  readonly #maps: { readonly size: number; readonly entries: ReadonlyMap<string, { number: number; last: number }> }[] =
    [];
  readonly accountId: string;

  readonly #log: typeof LOG;

  constructor(accountId = ACCOUNT, generation = LOG.generation) {
    this.accountId = accountId;
    this.#log = { ...LOG, generation };
    this.instance.add(signingKeyLeaf({ vkey: KEY.vkey, previous: null, reason: null }));
  }

  get origin(): string {
    return accountOrigin(this.#log, this.accountId);
  }

  write({ stream, type, data, actor = { kind: "system", id: "deliverer" }, recordedAt }: Written): number {
    const index = this.account.size;
    const revision = (this.#revisions.get(stream) ?? -1) + 1;
    this.#revisions.set(stream, revision);
    const meta = {
      account: this.accountId,
      actor,
      command_id: `cmd_${index}`,
      trace_id: "0af7651916cd43dd8448eb211c80319c",
      span_id: "b7ad6b7169203331",
      causation_id: null,
      recorded_at: recordedAt ?? new Date(START + index * 1_000).toISOString(),
      schema: 1,
    };
    const id = `00000000-0000-8000-a000-${String(index).padStart(12, "0")}`;
    const record = { id, type, data, meta, stream, revision };
    const links: Record<string, KeyLink> = {};
    for (const key of keysOfRecord(record)) {
      const known = this.#keys.get(key);
      links[key] = known === undefined ? [0, null] : [known.number, known.last];
      this.#keys.set(key, { number: (known?.number ?? 0) + 1, last: index });
    }
    this.account.add(leafBytes(leafOf(sha256, record, { index, keys: links })));
    return index;
  }

  #entries(keys: ReadonlyMap<string, { number: number; last: number }>) {
    return sortedEntries([...keys].map(([key, it]) => ({ keyHash: keyHashOf(sha256, key), ...it })));
  }

  /** Remembers the map as it is now, to be sealed later. */
  mapNow(): { readonly root: string; readonly size: number } {
    const entries = new Map(this.#keys);
    const size = this.account.size;
    this.#maps.push({ size, entries });
    return { root: toHex(nodeOf(sha256, this.#entries(entries)).hash), size };
  }

  sealMap(map = this.mapNow()): number {
    return this.write({ stream: `keymap-${this.accountId}`, type: "KeyMapSealed", data: { ...map } });
  }

  /** The proof of a key in the newest map. */
  mapLine(key: string): MapLine {
    const entries = this.#entries(this.#maps.at(-1)?.entries ?? new Map());
    const { hashes, end } = proveKey(keyHashOf(sha256, key), nodesInMemory(sha256, entries));
    const found = end.kind === "present" ? end : { number: 0, last: null };
    const other = end.kind === "absent" ? end.other : null;
    const line = { kind: "map", key, number: found.number, last: found.last, hashes: hashes.map(toBase64) } as const;
    if (other === null) return line;
    return { ...line, other: { key_hash: toHex(other.keyHash), number: other.number, last: other.last } };
  }

  accountText(size = this.account.size): string {
    return checkpointText(this.origin, { size, root: this.account.rootAt(size) });
  }

  signed(text: string, signers: readonly Signer[] = [KEY], cosigners: readonly [Signer, number][] = []): string {
    const own = signers.map((signer) => signatureOf(signEd25519, text, signer));
    const others = cosigners.map(([signer, time]) => cosignatureOf(signEd25519, text, signer, time));
    return formatNote({ text, signatures: [...own, ...others] });
  }

  /** Puts the account's checkpoint into the instance's tree, and answers its index there. */
  seal(size = this.account.size): number {
    this.instance.add(utf8(this.accountText(size)));
    return this.instance.size - 1;
  }

  #instanceProof(
    index: number,
    signers: readonly Signer[],
    cosigners: readonly [Signer, number][] = [],
    log = LOG,
  ): string {
    const size = this.instance.size;
    const text = checkpointText(instanceOrigin(log), { size, root: this.instance.rootAt(size) });
    const path = this.instance.hashes(inclusionPath(index, size));
    return formatTlogProof({ extra: null, index, path, checkpoint: this.signed(text, signers, cosigners) });
  }

  rotate(from: Signer, to: Signer, signers: readonly Signer[] = [from, to]): ExportLine {
    const leaf = signingKeyLeaf({ vkey: to.vkey, previous: null, reason: "the yearly rotation" });
    this.instance.add(leaf);
    return { kind: "handover", leaf: toBase64(leaf), proof: this.#instanceProof(this.instance.size - 1, signers) };
  }

  cosigned(index: number, cosigners: readonly [Signer, number][], consistency?: readonly string[]): ExportLine {
    const text = new TextDecoder().decode(this.instance.leaves[index]);
    const line = { kind: "cosigned", text, proof: this.#instanceProof(index, [KEY], cosigners) } as const;
    return consistency === undefined ? line : { ...line, consistency };
  }

  /** As if the same leaf stood in the tree of another log, which the witness has cosigned. */
  cosignedElsewhere(index: number, cosigners: readonly [Signer, number][]): ExportLine {
    const text = new TextDecoder().decode(this.instance.leaves[index]);
    return { kind: "cosigned", text, proof: this.#instanceProof(index, [OTHER_KEY], cosigners, OTHER_LOG) };
  }

  tlogProof(index: number, { size = this.account.size, signers = [KEY], extra = null as string | null } = {}): string {
    const path = this.account.hashes(inclusionPath(index, size));
    const checkpoint = this.signed(this.accountText(size), signers);
    return formatTlogProof({ extra: extra === null ? null : utf8(extra), index, path, checkpoint });
  }

  consistency(from: number, to: number) {
    return { from, to, proof: this.account.hashes(consistencyPath(from, to)).map(toBase64) };
  }

  #path(index: number, size: number): ExportLine {
    return { kind: "proof", index, hashes: this.account.hashes(inclusionPath(index, size)).map(toBase64) };
  }

  #proofs(
    { size, from, to }: { size: number; from: number; to: number },
    indexes: readonly number[] | null,
  ): readonly ExportLine[] {
    if (indexes !== null) {
      const leaves = { length: indexes.length, indexAt: (place: number) => indexes[place] ?? Number.NaN };
      return [{ kind: "proof", hashes: this.account.hashes(gapsOf(leaves, size)).map(toBase64) }];
    }
    return from === 0 && to === size ? [] : [this.#path(from, size), this.#path(to - 1, size)];
  }

  export(options: ExportOptions = {}): readonly ExportLine[] {
    const { size = this.account.size, from = 0, to = size, filter, indexes = null, map, key = KEY } = options;
    const { signers = [key], payloads = [], tail = [], withHashes = false, beside = [] } = options;
    const all = indexes === null ? null : [...indexes, ...beside].sort((a, b) => a - b);
    const chosen = indexes ?? Array.from({ length: to - from }, (_, i) => from + i);
    const records = [...chosen, ...beside].map((index): ExportLine => {
      const leaf = this.account.leaves[index] ?? new Uint8Array();
      const line = { kind: "record", index, leaf: toBase64(leaf) } as const;
      if (beside.includes(index)) return { ...line, kind: "tail" };
      return withHashes ? { ...line, leaf_hash: toBase64(leafHash(sha256, leaf)) } : line;
    });
    const { accountId, origin } = this;
    const about = { account: accountId, origin, key: key.vkey, from_index: from, to_index: to, filter: filter ?? null };
    return [
      { kind: "header", ...about, ...(payloads.length > 0 ? { payloads: true as const } : {}) },
      ...records,
      ...this.#proofs({ size, from, to }, all),
      ...(map === undefined ? [] : [map]),
      ...payloads,
      ...tail,
      { kind: "checkpoint", text: this.signed(this.accountText(size), signers), count: chosen.length },
    ];
  }
}

export const ndjson = (lines: readonly ExportLine[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("");
