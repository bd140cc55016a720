import type { Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Document, Loaded } from "../../domain/ports/view-store.ts";
import type { Documents, Projection } from "../../projections/projection.ts";

/** A projection threw: a bug in it. Nothing of the event at `position`, or behind it, has been folded. */
export class ProjectionFailed extends Error {
  override readonly name = "ProjectionFailed";
  readonly position: Position;

  constructor(view: string, event: RecordedEvent, cause: unknown) {
    super(`${view} failed at ${event.type} of ${event.stream}, position ${event.position}`, { cause });
    this.position = event.position;
  }
}

export type Folded = {
  /** How many of the page's events were folded. */
  readonly events: number;
  /**
   * What the touched documents are behind the last of these events, null where there is none. Also what came and went
   * within the page: a slower projector may be about to write it.
   */
  readonly documents: ReadonlyMap<string, Document | null>;
  /** How many of the documents, the first, were put unasked. */
  readonly leading: number;
};

/** The documents that each event of the page will ask for. */
export const idsOfPage = (projection: Projection, page: readonly RecordedEvent[]): readonly (readonly string[])[] =>
  page.map((event) => {
    try {
      return projection.idsOf(event);
    } catch (error) {
      throw new ProjectionFailed(projection.schema.name, event, error);
    }
  });

/**
 * Folds a page, in its order, over the documents `loaded` (all that `ids` names, and others that may be put).
 *
 * A document that is already folded as far as an event is left as it is. What the event puts unasked is then there as
 * well: it is written before what the event names. For that order no document may be of both kinds, so the page ends
 * before the event that would make it so; the first event of a page never does.
 */
export const foldPage = (
  projection: Projection,
  page: readonly RecordedEvent[],
  ids: readonly (readonly string[])[],
  loaded: ReadonlyMap<string, Loaded>,
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

  /** False when the event puts unasked what one before it has named. */
  const apply = (event: RecordedEvent, named: readonly string[]): boolean => {
    const isKnown = named.some((id) => isFolded(id, event));
    let isInOrder = true;
    const documents: Documents = {
      get(id) {
        // It might be there today, because of another event of this page, and not tomorrow in a page cut elsewhere.
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
