import type { Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Document, LoadedDocument } from "../../domain/ports/view-store.ts";
import type { Documents, Projection } from "../../projections/projection.ts";

/** A projection has thrown, which is a bug in it. The events from `position` on are not folded. */
export class ProjectionFailed extends Error {
  override readonly name = "ProjectionFailed";
  readonly position: Position;

  constructor(view: string, event: RecordedEvent, cause: unknown) {
    super(`${view} failed at ${event.type} of ${event.stream}, position ${event.position}`, { cause });
    this.position = event.position;
  }
}

export type Folded = {
  readonly events: number;
  /**
   * The documents after the last folded event; null stands for a document that is removed. Documents created and
   * removed within the page are included, because a slower projector may be about to write them.
   */
  readonly documents: ReadonlyMap<string, Document | null>;
  readonly leading: number;
};

export const idsOfPage = (projection: Projection, page: readonly RecordedEvent[]): readonly (readonly string[])[] =>
  page.map((event) => {
    try {
      return projection.idsOf(event);
    } catch (error) {
      throw new ProjectionFailed(projection.schema.name, event, error);
    }
  });

/**
 * Folds a page over the documents `loaded`: all that `ids` names, and others that events may put. A document that
 * already contains an event stays as it is. Documents that `ids` does not name are written first, so that they are
 * there once the named ones refer to them. No document may be of both kinds: the page ends before the event that would
 * make it so.
 */
export const foldPage = (
  projection: Projection,
  page: readonly RecordedEvent[],
  ids: readonly (readonly string[])[],
  loaded: ReadonlyMap<string, LoadedDocument>,
): Folded => {
  const view = projection.schema.name;
  const changed = new Map<string, Document | null>();
  const unasked = new Map<string, Document | null>();
  const namedSoFar = new Set<string>();

  const isFolded = (id: string, { position }: RecordedEvent): boolean => {
    const reached = loaded.get(id)?.position ?? null;
    return reached !== null && reached >= position;
  };
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
          if (document !== current(id)) changed.set(id, document);
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
  for (const event of page) {
    const named = ids[events] ?? [];
    if (named.some((id) => unasked.has(id))) break;
    if (!named.every((id) => isFolded(id, event)) && !apply(event, named))
      return foldPage(projection, page.slice(0, events), ids, loaded);
    for (const id of named) namedSoFar.add(id);
    events += 1;
  }
  const documents = unasked.size === 0 ? changed : new Map([...unasked, ...changed]);
  return { events, documents, leading: unasked.size };
};
