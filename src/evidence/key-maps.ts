import { setImmediate as yieldToOthers } from "node:timers/promises";
import { compareBytes, toHex } from "../../domain/evidence/bytes.ts";
import { type KeyEntry, keyHashOf } from "../../domain/evidence/key-map.ts";
import { KeyMapTrie, type MapRow, type MapRows } from "../../domain/evidence/key-map-rows.ts";
import type { KeyMapStore, MapDifference, MapSeal } from "../../domain/ports/key-map-store.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { EvidenceDamaged } from "../../infra/evidence-errors.ts";

/** Records whose keys are read or set in one turn of the event loop: at most some 20 ms. */
const RECORDS_A_TURN = 512;
/** Keys that are set in one turn: some 20 ms as well, where each is in a row of its own. */
const ENTRIES_A_TURN = 512;
/**
 * Records that one seal adds to a map. What a map that is not sealed yet changes is in memory: some 20 MB for so many
 * records of new keys. An account that has more of them waiting is sealed several times, one seal after the other.
 */
const RECORDS_A_SEAL_MAX = 32_768;
const ACCOUNTS_A_LOOK = 1_000;
/** Candidates that are remembered; one that was forgotten is computed again when its seal is read. */
const CANDIDATES_MAX = 64;

/** A map that this node would seal. It is kept until its seal, or another one, is read back from the log. */
export type MapCandidate = {
  readonly account: string;
  readonly size: number;
  readonly root: string;
  /** The size of the last sealed map that this node has read; null if there is none. */
  readonly after: number | null;
};
type Prepared = MapCandidate & { readonly from: number; readonly rows: ReadonlyMap<number, MapRow> };

type Counts = Map<string, { readonly number: number; readonly last: number }>;
type Span = { readonly from: number; readonly to: number };

/** Counts the keys of these records. A key's last record says all of it, so only that one counts. */
const countKeys = async (store: KeyMapStore, account: string, { from, to }: Span, counts: Counts): Promise<void> => {
  const indexes = Array.from({ length: to - from }, (_, i) => from + i);
  for (const [i, links] of (await store.recordLinks(account, indexes)).entries())
    for (const [key, [n]] of links) counts.set(key, { number: n + 1, last: from + i });
};

const entriesOf = (counts: Counts): KeyEntry[] =>
  [...counts].map(([key, count]) => ({ keyHash: keyHashOf(sha256, key), ...count }));

/** What is put is kept in memory, over the rows of the store. */
const overlaid = (base: Pick<MapRows, "get">, put: Map<number, MapRow>): MapRows => ({
  get: (row) => put.get(row) ?? base.get(row),
  put: (row, content) => void put.set(row, content),
});

/**
 * The stored map of an account is always that of a sealed size, or on its way to one, so it never has to go back. What a
 * node would seal is computed beside it: if another node seals first, at another size, the candidate is thrown away.
 */
export class KeyMaps {
  readonly #store: KeyMapStore;
  readonly #candidates = new Map<string, Prepared>();
  /** Accounts whose map this process has built from the first record: their rows are no older file's. */
  readonly #rebuilt = new Set<string>();

  constructor(store: KeyMapStore) {
    this.#store = store;
  }

  /** Brings the stored maps to the seals that were read from the log. Returns when all are reached, or `isStopped`. */
  async catchUp(isStopped: () => boolean): Promise<void> {
    for (;;) {
      const ahead = await this.#store.mapSealsAhead(ACCOUNTS_A_LOOK);
      if (ahead.length === 0) return;
      for (const { account, seal } of ahead) {
        if (isStopped()) return;
        await this.#orAnew(account, () => this.#reach(account, seal));
      }
    }
  }

  /** The map of what is folded of this account; null if the stored map is on its way to a seal. */
  async candidate(account: string, folded: number): Promise<MapCandidate | null> {
    return (await this.#orAnew(account, () => this.#candidate(account, folded))) ?? null;
  }

  /** A map whose rows are damaged is built again from the first record; undefined until then. */
  async #orAnew<T>(account: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EvidenceDamaged) || this.#rebuilt.has(account)) throw error;
      await this.#store.clearMap(account);
      return undefined;
    }
  }

  async #candidate(account: string, folded: number): Promise<MapCandidate | null> {
    const state = await this.#store.readMap(account, (_, found) => found);
    if (state.seal === null && state.size > 0) return null;
    const size = Math.min(folded, state.size + RECORDS_A_SEAL_MAX);
    const entries = await this.#sortedEntries(account, { from: state.size, to: size });
    const rows = new Map<number, MapRow>();
    let root = "";
    // Also without entries, as records without keys may be all that there is: the root is read in the first turn.
    for (let at = 0; at === 0 || at < entries.length; at += ENTRIES_A_TURN) {
      const some = entries.slice(at, at + ENTRIES_A_TURN);
      const isSame = await this.#store.readMap(account, (base, { size: stored }) => {
        if (stored === state.size) root = toHex(new KeyMapTrie(sha256, overlaid(base, rows)).set(some));
        return stored === state.size;
      });
      if (!isSame) return null;
      await yieldToOthers();
    }
    const candidate = { account, size, root, after: state.seal?.size ?? null };
    const [oldest] = this.#candidates.keys();
    if (oldest !== undefined && this.#candidates.size >= CANDIDATES_MAX) this.#candidates.delete(oldest);
    this.#candidates.set(account, { ...candidate, from: state.size, rows });
    return candidate;
  }

  /** In the order in which the map's rows have them, so that a row is hashed once, however many of its keys change. */
  async #sortedEntries(account: string, { from, to }: Span): Promise<readonly KeyEntry[]> {
    const counts: Counts = new Map();
    for (let at = from; at < to; at += RECORDS_A_TURN) {
      await countKeys(this.#store, account, { from: at, to: Math.min(to, at + RECORDS_A_TURN) }, counts);
      await yieldToOthers();
    }
    return entriesOf(counts).sort((a, b) => compareBytes(a.keyHash, b.keyHash));
  }

  async #reach(account: string, seal: MapSeal): Promise<void> {
    const prepared = this.#candidates.get(account);
    this.#candidates.delete(account);
    const { size: from } = await this.#store.readMap(account, (_, state) => state);
    const isOwn = prepared?.from === from && prepared.size === seal.size && prepared.root === seal.root;
    if (isOwn) return this.#write(account, from, seal, prepared.rows);
    if (from === 0) this.#rebuilt.add(account);
    // A turn that reaches the seal's size ends with its root; also a seal that covers nothing new has a turn.
    for (let at = from; ; at += RECORDS_A_TURN) {
      const to = Math.max(at, Math.min(seal.size, at + RECORDS_A_TURN));
      const advanced = await this.#advance(account, at, to, seal);
      if (advanced === "differs") return this.#store.clearMap(account);
      if (advanced === "stale" || to >= seal.size) return;
      await yieldToOthers();
    }
  }

  async #write(account: string, from: number, seal: MapSeal, rows: ReadonlyMap<number, MapRow>): Promise<void> {
    await this.#store.writeMap(account, from, (stored) => {
      for (const [row, content] of rows) stored.put(row, content);
      return { state: { size: seal.size, seal }, difference: null };
    });
  }

  /** "differs" if the root is not the sealed one, but may be that of rows which were changed in the file. */
  async #advance(account: string, from: number, to: number, seal: MapSeal): Promise<"written" | "stale" | "differs"> {
    const counts: Counts = new Map();
    await countKeys(this.#store, account, { from, to }, counts);
    const entries = entriesOf(counts);
    const { size, root: sealed } = seal;
    let folded = "";
    const written = await this.#store.writeMap(account, from, (stored) => {
      folded = toHex(new KeyMapTrie(sha256, stored).set(entries));
      if (to < size || (folded !== sealed && !this.#rebuilt.has(account)))
        return { state: { size: to, seal: null }, difference: null };
      const difference: MapDifference | null = folded === sealed ? null : { account, size, sealed, folded };
      return { state: { size: to, seal: { ...seal, size: to } }, difference };
    });
    const isLast = to >= size && folded !== sealed;
    return written === "written" && isLast && !this.#rebuilt.has(account) ? "differs" : written;
  }
}
