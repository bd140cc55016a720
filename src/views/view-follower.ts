import { LRUCache } from "lru-cache";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Document, LoadedDocument, ViewStore } from "../../domain/ports/view-store.ts";
import type { Projection } from "../../projections/projection.ts";
import { hasRecord } from "../following/log-cursor.ts";
import { type Folded, foldPage, namingRecords, ProjectionFailed } from "./fold-page.ts";

/** Why a view is dropped and folded again: it may be of another log, or this log lacks the last record it folded. */
export type DropReason = "unknown-log" | "record-missing";

export type FollowedLog = Pick<EventLog, "identity" | "read">;

/** What folds the pages of the log that a projector reads. */
export type PageFollower = Pick<ViewFollower, "view" | "position" | "claim" | "refresh" | "advance">;

type Documents = ReadonlyMap<string, LoadedDocument>;

const isOneAhead = (loaded: Documents): boolean => [...loaded.values()].some(({ position }) => position !== null);

/** An event changes many more totals than documents, and the same ones again and again. */
const TOTALS_TIMES = 4;

export class ViewFollower {
  readonly view: string;
  readonly #log: FollowedLog;
  readonly #views: ViewStore;
  readonly #projection: Projection;
  // Documents as of `#position`. They stay right if another process commits a page, as every projector folds the same.
  readonly #recent: LRUCache<string, { readonly document: Document | null }>;
  #position: Position | null = null;
  /** True if the last commit was this follower's and complete, and found no stored document ahead of the checkpoint. */
  #isUndisturbed = false;
  #isLost = true;

  constructor(log: FollowedLog, views: ViewStore, projection: Projection, documentsMax: number) {
    this.view = projection.schema.name;
    this.#log = log;
    this.#views = views;
    this.#projection = projection;
    this.#recent = new LRUCache({ max: projection.totals === undefined ? documentsMax : TOTALS_TIMES * documentsMax });
  }

  position(): Position | null {
    return this.#position;
  }

  /**
   * Drops a view that may belong to another log, or whose last record this log lacks, as after a restore. Null if the
   * view stays, or if there was nothing to drop.
   */
  async claim(): Promise<DropReason | null> {
    const { kept, origin } = await this.#stored();
    const isOwn = origin?.isEmptied === true && origin.log === (await this.#log.identity());
    // A stored position without the name of its record cannot be compared with the log, so the view is dropped.
    const isThere = origin?.last == null ? kept === null : await hasRecord(this.#log, origin.last);
    if (isOwn && isThere) {
      await this.refresh();
      return null;
    }
    await this.#drop();
    if (isOwn) return "record-missing";
    return kept === null && origin === null ? null : "unknown-log";
  }

  /** Reads the position, which another process may have moved. Throws if the view has become one of another log. */
  async refresh(): Promise<void> {
    this.#isLost = true;
    const { kept, origin } = await this.#stored();
    if (origin === null) return this.#drop();
    if (origin.log !== (await this.#log.identity())) throw new Error(`${this.view} is a view of another log by now`);
    if (kept !== this.#position) this.#distrust();
    this.#position = kept;
    this.#isLost = false;
  }

  /** Folds the page after the view's position; commits what precedes a failed event, then throws `ProjectionFailed`. */
  async advance(page: readonly RecordedEvent[]): Promise<void> {
    if (this.#isLost) return this.refresh();
    try {
      await this.#through(page);
    } catch (error) {
      if (!(error instanceof ProjectionFailed)) throw this.#lost(error);
      const { position: failed } = error;
      const done = this.#position;
      const before = page.filter((it) => (done === null || it.position > done) && it.position < failed);
      await this.#through(before).catch((later: unknown) => {
        throw this.#lost(later);
      });
      throw error;
    }
  }

  /** After a failure the commit may have happened, so the store is asked before the next fold. */
  #lost(error: unknown): unknown {
    this.#distrust();
    this.#isLost = true;
    return error;
  }

  async #through(page: readonly RecordedEvent[]): Promise<void> {
    for (let rest = page; rest.length > 0; ) {
      const committed = await this.#commit(rest);
      if (committed === 0) return;
      rest = rest.slice(committed);
    }
  }

  /** Commits the first events of the page, mostly all, and returns how many; 0 if another process was faster. */
  async #commit(page: readonly RecordedEvent[]): Promise<number> {
    const naming = namingRecords(this.#projection, page);
    const ids = new Set<string>();
    for (const { ids: named } of naming) for (const id of named) ids.add(id);
    let loaded = await this.#load(ids);
    if (loaded === "stale") return this.#overtaken();
    let folded = foldPage(this.#projection, naming, loaded);
    if (!this.#isUndisturbed || isOneAhead(loaded)) {
      const all = await this.#withUnasked(loaded, folded.documents.keys());
      if (all === "stale") return this.#overtaken();
      folded = foldPage(this.#projection, naming.slice(0, folded.events), all);
      loaded = all;
    }
    const totalled = await this.#withTotals(folded, loaded);
    if (totalled === "stale") return this.#overtaken();
    const { documents, leading } = totalled;
    loaded = totalled.loaded;
    const next = naming[folded.events];
    const events = next === undefined ? page.length : page.indexOf(next.event);
    const record = page[events - 1];
    if (record === undefined) throw new Error(`${this.view}: the fold of a page took no event`);
    const upTo = record.position;
    const present = loaded;
    const absent = (id: string): boolean => present.get(id)?.document === null;
    const outcome = await this.#views.commit(this.view, this.#position, upTo, { documents, leading, record, absent });
    if (outcome === "stale") return this.#overtaken();
    this.#position = upTo;
    this.#isUndisturbed = !isOneAhead(loaded);
    if (this.#isUndisturbed) this.#remember(loaded, documents);
    // The fold left out what the store contains already, so documents in memory may lack it.
    else this.#recent.clear();
    return events;
  }

  async #load(ids: Iterable<string>): Promise<Documents | "stale"> {
    const known = new Map<string, LoadedDocument>();
    const missing: string[] = [];
    for (const id of ids) {
      const it = this.#recent.get(id);
      if (it === undefined) missing.push(id);
      else known.set(id, { document: it.document, position: null });
    }
    if (missing.length === 0) return known;
    const found = await this.#views.load(this.view, this.#position, missing);
    if (found === "stale" || known.size === 0) return found;
    for (const [id, loaded] of found) known.set(id, loaded);
    return known;
  }

  /**
   * Also loads the documents that the fold wrote without `idsOf` naming them. In the store they may already be ahead of the
   * checkpoint, and the fold must not set them back.
   */
  async #withUnasked(loaded: Documents, ids: Iterable<string>): Promise<Documents | "stale"> {
    const unasked = [...ids].filter((id) => !loaded.has(id));
    if (unasked.length === 0) return loaded;
    const found = await this.#views.load(this.view, this.#position, unasked);
    return found === "stale" ? found : new Map([...loaded, ...found]);
  }

  /** Adds the totals, which are written first, and removes the documents that are final. */
  async #withTotals(
    { documents, leading, changes }: Folded,
    loaded: Documents,
  ): Promise<(Pick<Folded, "documents" | "leading"> & { readonly loaded: Documents }) | "stale"> {
    const { totals } = this.#projection;
    if (totals === undefined || changes.length === 0) return { documents, leading, loaded };
    const summed = totals.sum(changes);
    // A named document ahead of the checkpoint brings no change of what it contains already, which its totals in the store
    // contain as well, but those in memory do not.
    const found = isOneAhead(loaded)
      ? await this.#views.load(this.view, this.#position, summed.ids)
      : await this.#load(summed.ids);
    if (found === "stale") return found;
    const sums = summed.fold(found);
    const rest = [...documents].map(
      ([id, document]) => [id, document !== null && totals.isFinal(document) ? null : document] as const,
    );
    return {
      documents: new Map([...sums, ...rest]),
      leading: sums.size + leading,
      loaded: new Map([...loaded, ...found]),
    };
  }

  #remember(loaded: Documents, changed: ReadonlyMap<string, Document | null>): void {
    for (const id of changed.keys()) this.#recent.delete(id);
    for (const [id, { document }] of loaded) {
      const now = changed.get(id);
      this.#recent.set(id, { document: now === undefined ? document : now });
    }
  }

  async #overtaken(): Promise<number> {
    this.#distrust();
    await this.refresh();
    return 0;
  }

  async #stored() {
    const [kept, origin] = await Promise.all([this.#views.position(this.view), this.#views.origin(this.view)]);
    return { kept, origin };
  }

  async #drop(): Promise<void> {
    this.#isLost = true;
    this.#distrust();
    await this.#views.drop(this.view, await this.#log.identity());
    this.#position = null;
    this.#isLost = false;
  }

  #distrust(): void {
    this.#recent.clear();
    this.#isUndisturbed = false;
  }
}
