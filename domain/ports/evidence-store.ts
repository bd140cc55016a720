import type { KeyLink } from "../evidence/leaf.ts";
import type { Frontier } from "../evidence/merkle.ts";
import type { Position } from "./event-log.ts";
import type { AddedRecords, KeyMapStore } from "./key-map-store.ts";
import type { RecordName } from "./view-store.ts";

/** A tree is named by its account; "" names the instance tree. */
export type TreeName = string;
export const INSTANCE_TREE: TreeName = "";

/**
 * A tile (https://c2sp.org/tlog-tiles) has up to 256 hashes of 32 bytes: those of the perfect subtrees of level `8 * level`
 * from index `256 * number` on.
 */
export type TileName = { readonly tree: TreeName; readonly level: number; readonly number: number };
export type Tile = TileName & { readonly hashes: Uint8Array };

/** `leaf`: the index of this head's text in the instance tree. `root` is base64, as in a checkpoint. */
export type SealedHead = {
  readonly account: string;
  readonly size: number;
  readonly root: string;
  readonly leaf: number;
};

/**
 * A leaf of the instance tree that names the key which signs from there on. `handover` has the signatures of the key
 * before it and of this key, as two lines of a signed note, under the instance checkpoint that ends with this leaf; of this
 * key alone if a new generation begins with it; null for the very first key.
 */
export type NamedSigningKey = {
  readonly leaf: number;
  readonly vkey: string;
  readonly previous: string | null;
  readonly reason: string | null;
  readonly handover: string | null;
};

/** The first sealed root that is not the root of what this node folded, so either the log or this program was changed. */
export type RootDifference = {
  readonly account: string;
  readonly size: number;
  readonly sealed: string;
  /** Null if the log has fewer records of this account than were sealed. */
  readonly folded: string | null;
};

/**
 * A rotation of the signing key in an earlier generation, whose tree is no longer there: the leaf that names the key, in
 * base64, and the tlog-proof of the checkpoint that ends with it and has the signatures of both keys.
 */
export type EarlierRotation = { readonly leaf: string; readonly proof: string };

/** What is folded from the stream `checkpoint-instance`. `revision` is its last folded record's, or null. */
export type InstanceState = {
  readonly revision: number | null;
  readonly keys: readonly NamedSigningKey[];
  readonly earlier: readonly EarlierRotation[];
  readonly difference: RootDifference | null;
};

/** The log from which the store is folded, and the last record that it has folded; null at the log's beginning. */
export type EvidenceOrigin = {
  readonly log: string;
  readonly last: (RecordName & { readonly position: Position }) | null;
};

type UnsealedHead = Frontier & { readonly account: string };

/** The sizes and roots that are sealed are the newest generation's alone. All reads throw `EvidenceDamaged`. */
export type EvidenceReads = {
  /** Null before the first `drop`. */
  origin(): Promise<EvidenceOrigin | null>;
  head(tree: TreeName): Promise<Frontier>;
  /** In the order of the names. A tile that is missing is damage, as nobody asks for one above a head's size. */
  tiles(names: readonly TileName[]): Promise<readonly Uint8Array[]>;
  keys(account: string, keys: readonly string[]): Promise<ReadonlyMap<string, KeyLink>>;
  instance(): Promise<InstanceState>;
  newestSealed(account: string): Promise<SealedHead | null>;
  /** The first sealed head with more than `index` leaves. */
  firstSealed(account: string, index: number): Promise<SealedHead | null>;
  /** The newest head of the account among the leaves of the instance tree before this one. */
  sealedBefore(account: string, leaf: number): Promise<SealedHead | null>;
  /** The account checkpoint that is this leaf of the instance tree; null if the leaf names a key, or is not there. */
  sealedAt(leaf: number): Promise<SealedHead | null>;
  /** Heads that have grown since they were sealed; those whose last seal is the oldest come first. */
  unsealed(limit: number): Promise<readonly UnsealedHead[]>;
};

export type EvidencePage = {
  readonly last: NonNullable<EvidenceOrigin["last"]>;
  readonly heads: ReadonlyMap<TreeName, Frontier>;
  readonly tiles: readonly Tile[];
  readonly keys: ReadonlyMap<string, ReadonlyMap<string, KeyLink>>;
  readonly added: ReadonlyMap<string, AddedRecords>;
  readonly sealed: readonly SealedHead[];
  readonly instance: InstanceState;
  /** True if a new generation begins in this page: earlier sealed heads and the earlier instance tree are removed. */
  readonly isNewGeneration: boolean;
};

/**
 * A cache of what is hashed: everything in it is folded from the log. It can be deleted at any time, and its roots are
 * compared with the sealed ones in the log.
 */
export type EvidenceStore = EvidenceReads & {
  readonly maps: KeyMapStore;
  /** In one transaction. Writes nothing and is "stale" if another process has moved the position. */
  commit(after: Position | null, page: EvidencePage): Promise<"committed" | "stale">;
  /** Empties the store, and assigns it to the log with this identity. */
  drop(log: string): Promise<void>;
  /** Another thread's `drop` replaces the file if it is damaged, and whoever has it open has to open it again. */
  reopen(): Promise<void>;
  close(): Promise<void>;
};
