import { fromBase64, utf8 } from "../../domain/evidence/bytes.ts";
import { accountOrigin, checkpointText } from "../../domain/evidence/checkpoint.ts";
import { keyHashOf, type MapProof } from "../../domain/evidence/key-map.ts";
import { KeyMapTrie } from "../../domain/evidence/key-map-rows.ts";
import type { KeyLink } from "../../domain/evidence/leaf.ts";
import { consistencyPath, inclusionPath, type PathPart, type Subtree } from "../../domain/evidence/merkle.ts";
import { formatTlogProof } from "../../domain/evidence/tlog-proof.ts";
import { type EvidenceStore, INSTANCE_TREE, type SealedHead } from "../../domain/ports/evidence-store.ts";
import type { RecordLinks } from "../../domain/ports/key-map-store.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { type Handover, handoverOf } from "../evidence/handover.ts";
import { logNameOf } from "../evidence/log-name.ts";
import { pathAt, rootAt, subtreeHashes } from "../evidence/tree-reads.ts";
import type { Sealing, SignedCheckpoint } from "../sealing/sealing.ts";
import type { CosignedCheckpoint, Witnessed } from "../witnessing/witnessed.ts";

export const NO_WITNESSES: Witnessed = {
  isRequired: false,
  newest: async () => null,
  async *hourly() {},
};

/** The text of an account checkpoint, and its tlog-proof in an instance checkpoint that was cosigned. */
export type CosignedText = { readonly size: number; readonly text: string; readonly proof: string };

/** A tree that was cosigned in an instance checkpoint, `note`; `open` proves it. */
export type CosignedHead = {
  readonly size: number;
  readonly note: string;
  readonly open: () => Promise<CosignedText>;
};

/** What the map of the first `size` records says of a key; `index` is that of the record `KeyMapSealed`. */
export type SealedKeyProof = { readonly size: number; readonly index: number; readonly proof: MapProof };

type Published = SignedCheckpoint & { readonly leaf: number };

/** What this node has folded and sealed of each account. Every call names one account, and shows nothing of another. */
export class AccountEvidence {
  readonly #store: EvidenceStore;
  readonly #sealing: Pick<Sealing, "account" | "sign" | "instance">;
  readonly #witnessed: Witnessed;

  constructor(store: EvidenceStore, sealing: Pick<Sealing, "account" | "sign" | "instance">, witnessed: Witnessed) {
    this.#store = store;
    this.#sealing = sealing;
    this.#witnessed = witnessed;
  }

  /**
   * What a read has found damaged is emptied, and folded again from the log with the next record that is appended. Until
   * then nothing is signed.
   */
  async damaged(): Promise<void> {
    const origin = await this.#store.origin();
    // Another call may have emptied it already.
    if (origin !== null && origin.last !== null) await this.#store.drop(origin.log);
  }

  /** The key that signs the newest checkpoint; null before the first seal. */
  async verifierKey(): Promise<string | null> {
    return (await this.#store.instance()).keys.at(-1)?.vkey ?? null;
  }

  /** The newest checkpoint that is published; null if there is none yet. */
  async newest(account: string): Promise<Published | null> {
    if (!this.#witnessed.isRequired) return this.#sealing.account(account);
    const head = await this.#witnessedHead(account, await this.#witnessed.newest());
    return head === null ? null : { ...(await this.#sealing.sign(head)), leaf: head.leaf };
  }

  /** The newest instance checkpoint, with cosignatures if it has them; null if there is none yet. */
  async instance(): Promise<string | null> {
    const witnessed = await this.#witnessed.newest();
    if (this.#witnessed.isRequired) return witnessed?.note ?? null;
    const own = await this.#sealing.instance();
    return own !== null && own.size === witnessed?.size ? witnessed.note : (own?.note ?? null);
  }

  /** The newest checkpoint of the account that the newest witnessed instance checkpoint covers, and its proof there. */
  async newestWitnessed(account: string): Promise<(Published & CosignedText) | null> {
    const instance = await this.#witnessed.newest();
    const head = await this.#witnessedHead(account, instance);
    if (head === null || instance === null) return null;
    return { ...(await this.#sealing.sign(head)), ...(await this.#cosignedText(head, instance)), leaf: head.leaf };
  }

  /** How many of the account's records are sealed, and witnessed. */
  async covered(account: string): Promise<{ readonly sealed: number; readonly witnessed: number }> {
    const witnessed = (await this.#witnessedHead(account, await this.#witnessed.newest()))?.size ?? 0;
    if (this.#witnessed.isRequired) return { sealed: witnessed, witnessed };
    return { sealed: (await this.#store.newestSealed(account))?.size ?? 0, witnessed };
  }

  /** The cosigned checkpoints that are kept, and the newest one, of at most this size, the smallest first. */
  async *cosigned(account: string, size: number): AsyncGenerator<CosignedHead, void> {
    let last = -1;
    for await (const instance of this.#allWitnessed()) {
      const head = await this.#store.sealedBefore(account, instance.size);
      if (head === null || head.size > size || head.leaf <= last) continue;
      last = head.leaf;
      yield { size: head.size, note: instance.note, open: () => this.#cosignedText(head, instance) };
    }
  }

  async *#allWitnessed(): AsyncGenerator<CosignedCheckpoint, void> {
    yield* this.#witnessed.hourly();
    const newest = await this.#witnessed.newest();
    if (newest !== null) yield newest;
  }

  /**
   * The rotations of the signing key in earlier generations, then the beginning of this generation, unless it is the first
   * one, and its own rotations: all in their order.
   */
  async *handovers(): AsyncGenerator<Handover, void> {
    const instance = await this.#store.instance();
    const name = logNameOf(instance);
    if (name === null) return;
    for (const { leaf, proof } of instance.earlier) yield { leaf: fromBase64(leaf) ?? new Uint8Array(), proof };
    const tree = {
      rootAt: (size: number) => rootAt(this.#store, INSTANCE_TREE, size),
      pathAt: (path: readonly PathPart[]) => this.path(INSTANCE_TREE, path),
    };
    for (const key of instance.keys) {
      const handover = await handoverOf(tree, name, key);
      if (handover !== null) yield handover;
    }
  }

  /** How many records the account has, as far as they are folded. */
  async folded(account: string): Promise<number> {
    return (await this.#store.head(account)).size;
  }

  leafHashes(account: string, indexes: readonly number[]): Promise<readonly Uint8Array[]> {
    return this.#hashes(
      account,
      indexes.map((index) => ({ level: 0, index })),
    );
  }

  path(account: string, path: readonly PathPart[]): Promise<readonly Uint8Array[]> {
    return pathAt(this.#store, account, path);
  }

  inclusion(account: string, index: number, size: number): Promise<readonly Uint8Array[]> {
    return this.path(account, inclusionPath(index, size));
  }

  consistency(account: string, from: number, to: number): Promise<readonly Uint8Array[]> {
    return this.path(account, consistencyPath(from, to));
  }

  links(account: string, indexes: readonly number[]): Promise<readonly RecordLinks[]> {
    return this.#store.maps.recordLinks(account, indexes);
  }

  chain(account: string, key: string, from: number, count: number): Promise<readonly number[]> {
    return this.#store.maps.keyChain(account, key, from, count);
  }

  /** The number of the key's records that are folded, and the index of the last one. */
  async keyEnd(account: string, key: string): Promise<KeyLink> {
    return (await this.#store.keys(account, [key])).get(key) ?? [0, null];
  }

  /** Null if no map is sealed, or if the sealed one is not the one that this node has folded. */
  async mapProof(account: string, key: string): Promise<SealedKeyProof | null> {
    if ((await this.#store.maps.mapDifference())?.account === account) return null;
    return this.#store.maps.readMap(account, ({ get }, { seal }) => {
      if (seal === null) return null;
      const trie = new KeyMapTrie(sha256, { get, put: () => undefined });
      return { size: seal.size, index: seal.index, proof: trie.prove(keyHashOf(sha256, key)) };
    });
  }

  async #witnessedHead(account: string, instance: CosignedCheckpoint | null): Promise<SealedHead | null> {
    return instance === null ? null : this.#store.sealedBefore(account, instance.size);
  }

  async #cosignedText({ account, size, root, leaf }: SealedHead, instance: CosignedCheckpoint): Promise<CosignedText> {
    const name = logNameOf(await this.#store.instance());
    if (name === null) throw new Error("a head is sealed, but no key is named");
    const text = checkpointText(accountOrigin(name, account), { size, root: fromBase64(root) ?? new Uint8Array() });
    const path = await pathAt(this.#store, INSTANCE_TREE, inclusionPath(leaf, instance.size));
    const proof = formatTlogProof({ extra: null, index: leaf, path, checkpoint: instance.note });
    return { size, text, proof };
  }

  #hashes(account: string, subtrees: readonly Subtree[]): Promise<readonly Uint8Array[]> {
    return subtreeHashes(this.#store, account, subtrees);
  }
}

/** A tlog-proof of the record in this checkpoint; with `cosigned`, the proof of the checkpoint's text as extra data. */
export const recordProof = async (
  evidence: Pick<AccountEvidence, "inclusion">,
  account: string,
  {
    index,
    end,
    cosigned,
  }: { readonly index: number; readonly end: SignedCheckpoint; readonly cosigned: string | null },
): Promise<string> =>
  formatTlogProof({
    extra: cosigned === null ? null : utf8(cosigned),
    index,
    path: await evidence.inclusion(account, index, end.size),
    checkpoint: end.note,
  });
