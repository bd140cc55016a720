import type { Loaded, Position, ViewSchema, ViewStore } from "../../domain/ports.ts";
import { isDocumentId, schemaOf } from "../view-schema.ts";
import { documentOf, type StoredDocument, storedDocument } from "./documents.ts";

/** `generation` counts how often the view was dropped. */
export type Checkpoint = { readonly generation: number; readonly position: Position | null };

/** All that folding needs of a database: writes of one document that compare and set. No transactions. */
export type Collections = {
  checkpoint(view: string): Promise<Checkpoint>;
  find(view: string, ids: readonly string[]): Promise<readonly StoredDocument[]>;
  /**
   * Writes the documents, in any order, each where there is none or one of a smaller `_position`. Resolves with false
   * when one could not be; others may have been.
   */
  write(view: string, documents: readonly StoredDocument[]): Promise<boolean>;
  /** Sets the checkpoint's position if it still is as `from`; resolves with whether it was. */
  advance(view: string, from: Checkpoint, upTo: Position): Promise<boolean>;
  /** Takes the position from the checkpoint and begins the next generation; resolves with its number. */
  startAgain(view: string): Promise<number>;
  /** Removes the documents whose `_position` is smaller. */
  removeBelow(view: string, position: string): Promise<void>;
};

/** More drops than anyone makes: of one width, so that every position of a generation sorts behind those before it. */
const GENERATION_DIGITS = 6;

const prefixOf = (generation: number): string => `${String(generation).padStart(GENERATION_DIGITS, "0")}.`;

/**
 * How documents and checkpoint stay together where each is written by itself. Rules on which all else rests:
 *
 * 1. A document at `_position` p is what the fold gives at p, whoever wrote it; it is only ever replaced by a later one,
 *    and every document that a page touches is written, so that a projector that is late finds a later one there.
 * 2. The leading documents of a commit are written before the others, and the checkpoint behind all of them. So whatever
 *    is at or before the checkpoint is complete, and one of the others that is further than the checkpoint shows that
 *    those which led it are there.
 * 3. A drop begins a new generation before it removes a document. One that a commit writes later for a generation that
 *    is gone counts as missing, and is overwritten by the first page that touches it.
 *
 * A commit that ends anywhere is gone on with by whoever loads next, from each document's own position.
 */
export const folding = (
  collections: Collections,
  schemas: ReadonlyMap<string, ViewSchema>,
): Pick<ViewStore, "position" | "load" | "commit" | "drop"> => {
  /** In which the documents of the fold in hand were loaded: a drop since then makes its commit stale. */
  const loadedIn = new Map<string, number>();

  return {
    position: async (view) => (await collections.checkpoint(schemaOf(schemas, view).name)).position,

    async load(view, after, ids) {
      // First the checkpoint: whatever is loaded behind it is at least as far.
      const { generation, position } = await collections.checkpoint(schemaOf(schemas, view).name);
      if (position !== after) return "stale";
      loadedIn.set(view, generation);
      const prefix = prefixOf(generation);
      const loaded = new Map<string, Loaded>(ids.map((id) => [id, { document: null, position: null }]));
      for (const stored of await collections.find(view, ids.filter(isDocumentId))) {
        if (!stored._position.startsWith(prefix)) continue;
        const reached = stored._position.slice(prefix.length);
        const isFurther = after === null || reached > after;
        loaded.set(stored._id, { document: documentOf(stored), position: isFurther ? reached : null });
      }
      return loaded;
    },

    async commit(view, after, upTo, documents, leading = 0) {
      const schema = schemaOf(schemas, view);
      if (after !== null && upTo <= after) throw new Error(`view ${view}: a commit from ${after} back to ${upTo}`);
      for (const id of documents.keys())
        if (!isDocumentId(id))
          throw new TypeError(`view ${view}: ${JSON.stringify(id.slice(0, 80))} is no document id`);
      const checkpoint = await collections.checkpoint(view);
      const generation = loadedIn.get(view) ?? checkpoint.generation;
      if (checkpoint.position !== after || checkpoint.generation !== generation) {
        loadedIn.delete(view);
        return "stale";
      }
      const position = prefixOf(generation) + upTo;
      const stored = [...documents].map(([id, document]) => storedDocument(schema, id, position, document));
      for (const part of [stored.slice(0, leading), stored.slice(leading)])
        if (part.length > 0 && !(await collections.write(view, part))) return "stale";
      return (await collections.advance(view, checkpoint, upTo)) ? "committed" : "stale";
    },

    async drop(view) {
      const generation = await collections.startAgain(schemaOf(schemas, view).name);
      await collections.removeBelow(view, prefixOf(generation));
    },
  };
};
