import { LRUCache } from "lru-cache";
import { fromBase64, toBase64 } from "../../domain/evidence/bytes.ts";
import { accountOrigin, checkpointText, type LogName } from "../../domain/evidence/checkpoint.ts";
import { INSTANCE_STREAM, type InstanceEvent, type SealedRoot } from "../../domain/evidence/instance-events.ts";
import { keyMapStream, readKeyMapSealed } from "../../domain/evidence/key-map-events.ts";
import { type KeyLink, keysOfRecord, leafOf, leafText } from "../../domain/evidence/leaf.ts";
import { leafHash, textLeafHash } from "../../domain/evidence/merkle.ts";
import { signingKeyLeaf } from "../../domain/evidence/signing-key.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import {
  type EvidencePage,
  type EvidenceReads,
  INSTANCE_TREE,
  type InstanceState,
  type NamedSigningKey,
  type RootDifference,
  type SealedHead,
  type TreeName,
} from "../../domain/ports/evidence-store.ts";
import type { MapSeal, RecordLinks } from "../../domain/ports/key-map-store.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { nameOf } from "../../infra/record-name.ts";
import { isRecord } from "../../projections/audit.ts";
import { GrowingTree } from "./growing-tree.ts";
import { logNameOf } from "./log-name.ts";

/** Trees and links that pages need again and again are kept in memory: some 8 KiB for each tree that grows. */
const TREES_MAX = 1_024;
const LINKS_MAX = 16_384;

type Reads = Pick<EvidenceReads, "head" | "tiles" | "keys">;

/** What the store has, as of the last committed page. It is cleared whenever another process may have committed. */
export class FoldCache {
  readonly trees = new LRUCache<TreeName, GrowingTree>({ max: TREES_MAX });
  readonly links = new LRUCache<string, KeyLink>({ max: LINKS_MAX });

  clear(): void {
    this.trees.clear();
    this.links.clear();
  }
}

/** The streams of this category hold only these events, which only this program writes. */
const isInstanceEvent = (event: RecordedEvent): event is RecordedEvent & InstanceEvent =>
  event.stream === INSTANCE_STREAM && (event.type === "Sealed" || event.type === "SigningKeyNamed");

const NO_LINK: KeyLink = [0, null];

const linkId = (account: string, key: string): string => `${account} ${key}`;

type Added = { readonly first: number; readonly links: RecordLinks[]; readonly seals: MapSeal[] };

/** Folds one page of the log; nothing is written before `result` is committed. */
export class PageFold {
  readonly #store: Reads;
  readonly #cache: FoldCache;
  readonly #trees = new Map<TreeName, GrowingTree>();
  readonly #links = new Map<string, Map<string, KeyLink>>();
  readonly #added = new Map<string, Added>();
  #sealed: SealedHead[] = [];
  #instance: InstanceState;
  #isNewGeneration = false;

  constructor(store: Reads, cache: FoldCache, instance: InstanceState) {
    this.#store = store;
    this.#cache = cache;
    this.#instance = instance;
  }

  async fold(page: readonly RecordedEvent[]): Promise<void> {
    const keysOf = new Map(page.filter(isRecord).map((event) => [event, keysOfRecord(event)]));
    const links = await this.#linksOf(keysOf);
    for (const event of page) {
      const keys = keysOf.get(event);
      if (keys !== undefined) await this.#leaf(event, keys, links);
      else if (event.stream === INSTANCE_STREAM) await this.#onInstance(event);
    }
  }

  result(last: RecordedEvent): EvidencePage {
    const trees = [...this.#trees];
    return {
      last: { ...nameOf(last), position: last.position },
      heads: new Map(trees.map(([name, tree]) => [name, tree.frontier()])),
      tiles: trees.flatMap(([, tree]) => tree.takeTiles()),
      keys: this.#links,
      added: this.#added,
      sealed: this.#sealed,
      instance: this.#instance,
      isNewGeneration: this.#isNewGeneration,
    };
  }

  async #leaf(event: RecordedEvent, keys: readonly string[], before: ReadonlyMap<string, KeyLink>): Promise<void> {
    const { account } = event.meta;
    const tree = await this.#tree(account);
    const index = tree.frontier().size;
    const changed = this.#links.get(account) ?? new Map<string, KeyLink>();
    const links: Record<string, KeyLink> = {};
    for (const key of keys) {
      const link = changed.get(key) ?? before.get(linkId(account, key)) ?? NO_LINK;
      links[key] = link;
      const next = [link[0] + 1, index] as const;
      changed.set(key, next);
      this.#cache.links.set(linkId(account, key), next);
    }
    this.#links.set(account, changed);
    this.#add(event, index, links);
    await tree.append(this.#store, textLeafHash(sha256, leafText(leafOf(sha256, event, { index, keys: links }))));
  }

  #add(event: RecordedEvent, index: number, links: Readonly<Record<string, KeyLink>>): void {
    const { account } = event.meta;
    const added = this.#added.get(account) ?? { first: index, links: [], seals: [] };
    added.links.push(Object.entries(links));
    const sealed = event.stream === keyMapStream(account) ? readKeyMapSealed(event.data) : null;
    // A seal of more records than there are is compared with the map of those before it, and differs from it.
    if (sealed !== null) added.seals.push({ index, size: Math.min(sealed.size, index), root: sealed.root });
    this.#added.set(account, added);
  }

  async #onInstance(event: RecordedEvent): Promise<void> {
    if (isInstanceEvent(event)) {
      if (event.type === "Sealed") await this.#seal(event.data.heads);
      else await this.#nameKey(event.data);
    }
    this.#instance = { ...this.#instance, revision: event.revision };
  }

  async #seal(heads: readonly SealedRoot[]): Promise<void> {
    const log = logNameOf(this.#instance);
    // A head before the first key is none of this program's, and no leaf can be made of it.
    if (log === null) return;
    for (const [account, size, root] of heads) await this.#sealOne(log, account, { size, root });
  }

  async #sealOne(
    log: LogName,
    account: string,
    { size, root: sealed }: { readonly size: number; readonly root: string },
  ): Promise<void> {
    const root = fromBase64(sealed) ?? new Uint8Array();
    const own = await (await this.#tree(account)).rootAt(this.#store, size);
    const folded = own === null ? null : toBase64(own);
    const difference: RootDifference | null = folded === sealed ? null : { account, size, sealed, folded };
    this.#instance = { ...this.#instance, difference: this.#instance.difference ?? difference };
    const tree = await this.#tree(INSTANCE_TREE);
    this.#sealed.push({ account, size, root: sealed, leaf: tree.frontier().size });
    const text = checkpointText(accountOrigin(log, account), { size, root });
    await tree.append(this.#store, textLeafHash(sha256, text));
  }

  async #nameKey(named: Omit<NamedSigningKey, "leaf">): Promise<void> {
    const { vkey, previous, reason, handover } = named;
    if (previous !== null) this.#beginGeneration();
    const tree = await this.#tree(INSTANCE_TREE);
    const leaf = tree.frontier().size;
    const key: NamedSigningKey = { leaf, vkey, previous, reason, handover };
    this.#instance = { ...this.#instance, keys: [...this.#instance.keys, key] };
    await tree.append(this.#store, leafHash(sha256, signingKeyLeaf({ vkey, previous, reason })));
  }

  /** The trees of the accounts stay as they are; only what was sealed of them is begun anew. */
  #beginGeneration(): void {
    this.#isNewGeneration = true;
    this.#sealed = [];
    this.#instance = { ...this.#instance, keys: [], difference: null };
    const tree = GrowingTree.empty(INSTANCE_TREE);
    this.#trees.set(INSTANCE_TREE, tree);
    this.#cache.trees.set(INSTANCE_TREE, tree);
  }

  async #tree(name: TreeName): Promise<GrowingTree> {
    const known = this.#trees.get(name) ?? this.#cache.trees.get(name);
    const tree = known ?? (await GrowingTree.load(this.#store, name));
    this.#trees.set(name, tree);
    this.#cache.trees.set(name, tree);
    return tree;
  }

  /** The links before this page; those that are not in memory are read at once. */
  async #linksOf(keysOf: ReadonlyMap<RecordedEvent, readonly string[]>): Promise<ReadonlyMap<string, KeyLink>> {
    const links = new Map<string, KeyLink>();
    const missing = new Map<string, Set<string>>();
    for (const [{ meta }, keys] of keysOf)
      for (const key of keys) {
        const id = linkId(meta.account, key);
        const known = this.#cache.links.get(id);
        if (known !== undefined) links.set(id, known);
        else missing.set(meta.account, (missing.get(meta.account) ?? new Set()).add(key));
      }
    for (const [account, keys] of missing)
      for (const [key, link] of await this.#store.keys(account, [...keys])) links.set(linkId(account, key), link);
    return links;
  }
}
