import type { Document, Position, RecordedEvent } from "../../domain/ports.ts";
import type { Documents, Projection } from "../../projections/projection.ts";

/** A projection threw: a bug in it. Nothing of the event at `index` of the page, or behind it, has been folded. */
export class ProjectionFailed extends Error {
  override readonly name = "ProjectionFailed";
  readonly index: number;
  readonly position: Position;

  constructor(view: string, index: number, event: RecordedEvent, cause: unknown) {
    super(`${view} failed at ${event.type} of ${event.stream}, position ${event.position}`, { cause });
    this.index = index;
    this.position = event.position;
  }
}

/** Documents by id; null: it is known that there is none. */
export type Changes = ReadonlyMap<string, Document | null>;

/** The documents that each event of the page will ask for. */
export const idsOfPage = (projection: Projection, page: readonly RecordedEvent[]): readonly (readonly string[])[] =>
  page.map((event, index) => {
    try {
      return projection.idsOf(event);
    } catch (error) {
      throw new ProjectionFailed(projection.schema.name, index, event, error);
    }
  });

/**
 * Folds a page, in its order, over the documents `loaded` (all that `ids` names), and returns what has changed.
 * What begins and ends within the page never was, as far as the store is concerned.
 */
export const foldPage = (
  projection: Projection,
  page: readonly RecordedEvent[],
  ids: readonly (readonly string[])[],
  loaded: Changes,
): Changes => {
  const changed = new Map<string, Document | null>();
  let named: readonly string[] = [];
  const current = (id: string): Document | null => {
    const document = changed.get(id);
    return document === undefined ? (loaded.get(id) ?? null) : document;
  };
  const documents: Documents = {
    get(id) {
      // It might be there today, because of another event of this page, and not tomorrow in a page cut elsewhere.
      if (!named.includes(id)) throw new Error(`${projection.schema.name} asks for ${id}, which idsOf did not name`);
      return current(id);
    },
    put(id, document) {
      const isKnown = loaded.has(id) || changed.has(id);
      if (!isKnown || document !== current(id)) changed.set(id, document);
    },
  };
  for (const [index, event] of page.entries()) {
    named = ids[index] ?? [];
    if (named.length === 0) continue;
    try {
      projection.apply(event, documents);
    } catch (error) {
      throw new ProjectionFailed(projection.schema.name, index, event, error);
    }
  }
  for (const [id, document] of changed) if (document === loaded.get(id)) changed.delete(id);
  return changed;
};
