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
  const view = projection.schema.name;
  const changed = new Map<string, Document | null>();
  const unasked = new Map<string, Document | null>();
  const namedSoFar = new Set<string>();
  const changes: DocumentChange[] = [];

  // It is empty for nearly every page, as only engines without transactions can have documents ahead of the checkpoint.
  const reached = new Map<string, Position>();
  for (const [id, { position }] of loaded) if (position !== null) reached.set(id, position);
  const isFolded = (id: string, { position }: RecordedEvent): boolean =>
    reached.size > 0 && (reached.get(id) ?? "") >= position;
  const current = (id: string): Document | null => {
    const document = changed.get(id);
    return document === undefined ? (loaded.get(id)?.document ?? null) : document;
  };

  const apply = (event: RecordedEvent, named: readonly string[]): boolean => {
    const isKnown = named.some((id) => isFolded(id, event));
    let isInOrder = true;
    const documents: Documents = {
      get(id) {
        // The document is refused even if it is loaded: it may be there only because another event of this page named
        // it.
        if (!named.includes(id)) throw new Error(`${view} asks for ${id}, which idsOf did not name`);
        return current(id);
      },
      put(id, document) {
        if (isFolded(id, event)) return;
        if (named.includes(id)) {
          const before = current(id);
          if (document === before) return;
          if (projection.totals !== undefined) changes.push({ id, position: event.position, before, after: document });
          changed.set(id, document);
        } else if (namedSoFar.has(id)) isInOrder = false;
        else if (!isKnown) unasked.set(id, document);
      },
    };
    try {
      projection.apply(event, documents);
    } catch (error) {
      throw new ProjectionFailed(view, event, error);
    }
    return isInOrder;
  };

  let events = 0;
  for (const { event, ids: named } of naming) {
    if (named.some((id) => unasked.has(id))) break;
    if (!named.every((id) => isFolded(id, event)) && !apply(event, named))
      return foldPage(projection, naming.slice(0, events), loaded);
    for (const id of named) namedSoFar.add(id);
    events += 1;
  }
  const documents = unasked.size === 0 ? changed : new Map([...unasked, ...changed]);
  return { events, documents, leading: unasked.size, changes };
};
