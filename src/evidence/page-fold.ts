import { LRUCache } from "lru-cache";
import { fromBase64, toBase64 } from "../../domain/evidence/bytes.ts";
import { accountOrigin, checkpointText, type LogName } from "../../domain/evidence/checkpoint.ts";
import { INSTANCE_STREAM, type InstanceEvent, type SealedRoot } from "../../domain/evidence/instance-events.ts";
import { keyMapStream, readKeyMapSealed } from "../../domain/evidence/key-map-events.ts";
import { type KeyLink, keysOfRecord } from "../../domain/evidence/leaf.ts";
import { leafHash, type PathPart, textLeafHash } from "../../domain/evidence/merkle.ts";
import { signingKeyLeaf } from "../../domain/evidence/signing-key.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import {
  type EarlierRotation,
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
import { sha256, sha256OfText } from "../../infra/crypto/sha256.ts";
import { nameOf } from "../../infra/record-name.ts";
import { isRecord } from "../../projections/audit.ts";
import { GrowingTree } from "./growing-tree.ts";
import { handoverOf } from "./handover.ts";
import { LeafHashes } from "./leaf-hashes.ts";
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
  /** By account, the links of all keys that the page's records have, as of the records folded so far. */
  readonly #links = new Map<string, Map<string, KeyLink>>();
  readonly #added = new Map<string, Added>();
  readonly #hashes = new LeafHashes();
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
    await this.#loadLinks(keysOf);
    for (const event of page) {
      const keys = keysOf.get(event);
      if (keys !== undefined) {
        // Nothing is waited for between the records of one tree, as a page has thousands.
        const tree = this.#trees.get(event.meta.account) ?? (await this.#tree(event.meta.account));
        this.#leaf(event, keys, tree);
      } else if (event.stream === INSTANCE_STREAM) await this.#onInstance(event);
    }
    for (const [account, links] of this.#links)
      for (const [key, link] of links) this.#cache.links.set(linkId(account, key), link);
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

  #leaf(event: RecordedEvent, names: readonly string[], tree: GrowingTree): void {
    const known = this.#linksOf(event.meta.account);
    const index = tree.frontier().size;
    const links: RecordLinks[number][] = [];
    for (const name of names) {
      const link = known.get(name) ?? NO_LINK;
      links.push([name, link]);
      known.set(name, [link[0] + 1, index]);
    }
    this.#add(event, index, links);
    tree.append(this.#hashes.of(event, index, links));
  }

  #add(event: RecordedEvent, index: number, links: RecordLinks): void {
    const { account } = event.meta;
    const added = this.#added.get(account) ?? { first: index, links: [], seals: [] };
    added.links.push(links);
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
    tree.append(textLeafHash(sha256OfText, text));
  }

  async #nameKey(named: Omit<NamedSigningKey, "leaf">): Promise<void> {
    const { vkey, previous, reason, handover } = named;
    if (previous !== null) await this.#beginGeneration();
    const tree = await this.#tree(INSTANCE_TREE);
    const leaf = tree.frontier().size;
    const key: NamedSigningKey = { leaf, vkey, previous, reason, handover };
    this.#instance = { ...this.#instance, keys: [...this.#instance.keys, key] };
    tree.append(leafHash(sha256, signingKeyLeaf({ vkey, previous, reason })));
  }

  /** The rotations of the generation that ends, so that a key from before it leads to the keys of the next one. */
  async #rotations(): Promise<readonly EarlierRotation[]> {
    const log = logNameOf(this.#instance);
    const rotated = this.#instance.keys.filter(({ previous }) => previous === null);
    if (log === null || rotated.every(({ handover }) => handover === null)) return [];
    const old = await this.#tree(INSTANCE_TREE);
    const tree = {
      rootAt: async (size: number) => (await old.rootAt(this.#store, size)) ?? new Uint8Array(),
      pathAt: (path: readonly PathPart[]) => old.pathAt(this.#store, path),
    };
    const handovers = await Promise.all(rotated.map((key) => handoverOf(tree, log, key)));
    return handovers.flatMap((it) => (it === null ? [] : { leaf: toBase64(it.leaf), proof: it.proof }));
  }

  /** The trees of the accounts stay as they are; only what was sealed of them is begun anew. */
  async #beginGeneration(): Promise<void> {
    const earlier = [...this.#instance.earlier, ...(await this.#rotations())];
    this.#isNewGeneration = true;
    this.#sealed = [];
    this.#instance = { ...this.#instance, keys: [], earlier, difference: null };
    const tree = GrowingTree.empty(INSTANCE_TREE);
    this.#trees.set(INSTANCE_TREE, tree);
    this.#cache.trees.set(INSTANCE_TREE, tree);
  }

  async #tree(name: TreeName): Promise<GrowingTree> {
    const known = this.#trees.get(name) ?? this.#cache.trees.get(name);
    const tree = known ?? (await GrowingTree.load(this.#store, name));
    await tree.open(this.#store);
    this.#trees.set(name, tree);
    this.#cache.trees.set(name, tree);
    return tree;
  }

  /** Loads the links before this page; those that are not in memory are read at once. */
  async #loadLinks(keysOf: ReadonlyMap<RecordedEvent, readonly string[]>): Promise<void> {
    const missing = new Map<string, Set<string>>();
    for (const [{ meta }, keys] of keysOf) {
      const { account } = meta;
      const links = this.#linksOf(account);
      for (const key of keys) {
        if (links.has(key)) continue;
        const known = this.#cache.links.get(linkId(account, key));
        links.set(key, known ?? NO_LINK);
        if (known === undefined) missing.set(account, (missing.get(account) ?? new Set()).add(key));
      }
    }
    for (const [account, keys] of missing)
      for (const [key, link] of await this.#store.keys(account, [...keys])) this.#linksOf(account).set(key, link);
  }

  #linksOf(account: string): Map<string, KeyLink> {
    const known = this.#links.get(account);
    if (known !== undefined) return known;
    const links = new Map<string, KeyLink>();
    this.#links.set(account, links);
    return links;
  }
}
