import type { MapRows } from "../evidence/key-map-rows.ts";
import type { KeyLink } from "../evidence/leaf.ts";

/** The keys of a record, in the order of its leaf, with what the leaf says about each. */
export type RecordLinks = readonly (readonly [key: string, link: KeyLink])[];

/** A record `KeyMapSealed`: its index, and the root, in hex, of the map of the account's first `size` records. */
export type MapSeal = { readonly index: number; readonly size: number; readonly root: string };

/** The rows of an account's map are those of its first `size` records; `seal` is null unless these were sealed. */
export type MapState = { readonly size: number; readonly seal: MapSeal | null };

/** A sealed root of a map that is not the root of what this node folded. Both are hex. */
export type MapDifference = {
  readonly account: string;
  readonly size: number;
  readonly sealed: string;
  readonly folded: string;
};

/** What a page adds to an account: the links of consecutive records from `first` on, and the seals of maps among them. */
export type AddedRecords = {
  readonly first: number;
  readonly links: readonly RecordLinks[];
  readonly seals: readonly MapSeal[];
};

type UnmappedAccount = { readonly account: string; readonly size: number };

export type KeyMapReads = {
  /** The links of these records, in the order of the indexes. It is damage if one of them is not there. */
  recordLinks(account: string, indexes: readonly number[]): Promise<readonly RecordLinks[]>;
  /**
   * The indexes of a key's records from `from` backwards, at most `count`, the newest first. Empty if the record at `from`
   * does not have the key.
   */
  keyChain(account: string, key: string, from: number, count: number): Promise<readonly number[]>;
  /** Calls `work` at once, while no other process changes the rows. */
  readMap<T>(account: string, work: (rows: Pick<MapRows, "get">, state: MapState) => T): Promise<T>;
  /** The earliest seals of maps that the rows have not reached, at most one of an account. */
  mapSealsAhead(limit: number): Promise<readonly { readonly account: string; readonly seal: MapSeal }[]>;
  /** Accounts with a record, other than a seal of a map, that the last sealed map does not cover. */
  unmapped(limit: number): Promise<readonly UnmappedAccount[]>;
  mapDifference(): Promise<MapDifference | null>;
};

type KeyMapWrites = {
  /**
   * Calls `work` in a transaction, which stores the state that it returns. Does nothing, and is "stale", unless the rows
   * have the size `after`, because another process has moved them.
   */
  writeMap(
    account: string,
    after: number,
    work: (rows: MapRows) => { readonly state: MapState; readonly difference: MapDifference | null },
  ): Promise<"written" | "stale">;
  /** Removes all rows of the account's map, which then has to reach its last seal again. */
  clearMap(account: string): Promise<void>;
};

export type KeyMapStore = KeyMapReads & KeyMapWrites;
