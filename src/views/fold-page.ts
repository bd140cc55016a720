import type { Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Document, LoadedDocument } from "../../domain/ports/view-store.ts";
import type { DocumentChange, Documents, Projection } from "../../projections/projection.ts";

/** A projection has thrown, which is a bug in it. The events from `position` on are not folded. */
export class ProjectionFailed extends Error {
  override readonly name = "ProjectionFailed";
  readonly position: Position;

  constructor(view: string, event: RecordedEvent, cause: unknown) {
    super(`${view} failed at ${event.type} of ${event.stream}, position ${event.position}`, { cause });
    this.position = event.position;
  }
}

/** A record with the ids of the documents that it may change. */
export type NamingRecord = { readonly event: RecordedEvent; readonly ids: readonly string[] };

export type Folded = {
  /** How many of the naming records are folded. */
  readonly events: number;
  /**
   * The documents after the last folded event; null stands for a document that is removed. Documents created and
   * removed within the page are included, because a slower projector may be about to write them.
   */
  readonly documents: ReadonlyMap<string, Document | null>;
  readonly leading: number;
  /** What the records changed, in their order; empty if the view has no totals. */
  readonly changes: readonly DocumentChange[];
};

/** The records of the page that a projection does not ignore. */
export const namingRecords = (projection: Projection, page: readonly RecordedEvent[]): readonly NamingRecord[] => {
  const naming: NamingRecord[] = [];
  for (const event of page) {
    try {
      const ids = projection.idsOf(event);
      if (ids.length > 0) naming.push({ event, ids });
    } catch (error) {
      throw new ProjectionFailed(projection.schema.name, event, error);
    }
  }
  return naming;
};

/** The fold of one page. It is a class, as functions made anew for each page would be compiled again and again. */
class PageOfView implements Documents {
  readonly #projection: Projection;
  readonly #loaded: ReadonlyMap<string, LoadedDocument>;
  /** It is empty for nearly every page, as only engines without transactions can have documents ahead of the checkpoint. */
  readonly #reached = new Map<string, Position>();
  readonly #changed = new Map<string, Document | null>();
  readonly #unasked = new Map<string, Document | null>();
  readonly #namedSoFar = new Set<string>();
  readonly #changes: DocumentChange[] = [];
  /** Of the record that is being folded. */
  #position: Position = "";
  #named: readonly string[] = [];
  #isKnown = false;
  #isInOrder = true;

  constructor(projection: Projection, loaded: ReadonlyMap<string, LoadedDocument>) {
    this.#projection = projection;
    this.#loaded = loaded;
    for (const [id, { position }] of loaded) if (position !== null) this.#reached.set(id, position);
  }

  get(id: string): Document | null {
    // The document is refused even if it is loaded: it may be there only because another event of this page named it.
    if (!this.#named.includes(id))
      throw new Error(`${this.#projection.schema.name} asks for ${id}, which idsOf did not name`);
    return this.#current(id);
  }

  put(id: string, document: Document | null): void {
    if (this.#isFolded(id)) return;
    if (this.#named.includes(id)) {
      const before = this.#current(id);
      if (document === before) return;
      if (this.#projection.totals !== undefined)
        this.#changes.push({ id, position: this.#position, before, after: document });
      this.#changed.set(id, document);
    } else if (this.#namedSoFar.has(id)) this.#isInOrder = false;
    else if (!this.#isKnown) this.#unasked.set(id, document);
  }

  /** After "out-of-order" the result must not be used, as it has a part of what this record changes. */
  fold({ event, ids }: NamingRecord): "folded" | "ends-before" | "out-of-order" {
    if (this.#unasked.size > 0 && ids.some((id) => this.#unasked.has(id))) return "ends-before";
    this.#position = event.position;
    this.#named = ids;
    const folded = this.#reached.size === 0 ? 0 : ids.filter((id) => this.#isFolded(id)).length;
    this.#isKnown = folded > 0;
    if (folded < ids.length && !this.#apply(event)) return "out-of-order";
    for (const id of ids) this.#namedSoFar.add(id);
    return "folded";
  }

  result(events: number): Folded {
    const isAsked = this.#unasked.size === 0;
    const documents = isAsked ? this.#changed : new Map([...this.#unasked, ...this.#changed]);
    return { events, documents, leading: this.#unasked.size, changes: this.#changes };
  }

  #apply(event: RecordedEvent): boolean {
    this.#isInOrder = true;
    try {
      this.#projection.apply(event, this);
    } catch (error) {
      throw new ProjectionFailed(this.#projection.schema.name, event, error);
    }
    return this.#isInOrder;
  }

  #isFolded(id: string): boolean {
    return this.#reached.size > 0 && (this.#reached.get(id) ?? "") >= this.#position;
  }

  #current(id: string): Document | null {
    const document = this.#changed.get(id);
    return document === undefined ? (this.#loaded.get(id)?.document ?? null) : document;
  }
}

/**
 * Folds records over the documents `loaded`: all that the records name, and others that they may put. A document that
 * already contains a record stays as it is. Documents that no record names are written first, so that they are there
 * once the named ones refer to them. No document may be of both kinds: the fold ends before the record that would make
 * it so.
 */
export const foldPage = (
  projection: Projection,
  naming: readonly NamingRecord[],
  loaded: ReadonlyMap<string, LoadedDocument>,
): Folded => {
  const page = new PageOfView(projection, loaded);
  for (const [events, record] of naming.entries()) {
    const outcome = page.fold(record);
    if (outcome === "ends-before") return page.result(events);
    if (outcome === "out-of-order") return foldPage(projection, naming.slice(0, events), loaded);
  }
  return page.result(naming.length);
};
