import type { Position } from "../../domain/ports/event-log.ts";
import type { Loaded, RecordName, ViewOrigin, ViewSchema, ViewStore } from "../../domain/ports/view-store.ts";
import { nameOf } from "../record-name.ts";
import { isDocumentId, schemaOf } from "../view-schema.ts";
import { documentOf, type StoredDocument, storedDocument } from "./documents.ts";

/** `generation` counts how often the view was dropped. */
export type Checkpoint = { readonly generation: number; readonly position: Position | null };

/** Of a view that exists also of which log it is. */
export type KeptCheckpoint = Checkpoint & { readonly origin: ViewOrigin | null };

/** The checkpoint behind which documents were loaded, and whether their commit may rely on it without another look. */
type LoadedAt = Checkpoint & { readonly isFresh: boolean };

/** All that folding needs of a database: writes of one document that compare and set. No transactions. */
export type Collections = {
  checkpoint(view: string): Promise<KeptCheckpoint>;
  find(view: string, ids: readonly string[]): Promise<readonly StoredDocument[]>;
  /**
   * Writes the documents, in any order, each where there is none or one of a smaller `_position`. Resolves with false
   * when one could not be; others may have been.
   */
  write(view: string, documents: readonly StoredDocument[]): Promise<boolean>;
  /**
   * Sets the checkpoint's position, and the name of the record there, if it still is as `from`; resolves with whether it was. Also true may be that somebody
   * else has set exactly this: then the view is folded as far, in the same generation.
   */
  advance(view: string, from: Checkpoint, upTo: Position, record: RecordName | null): Promise<boolean>;
  /**
   * Takes the position from the checkpoint and begins the next generation, as one of this log that is not emptied yet;
   * resolves with its number.
   */
  startAgain(view: string, log: string): Promise<number>;
  /** Makes what the view needs beside its checkpoint, if it is not there. */
  ensure(view: string): Promise<void>;
  /** The view is emptied of whatever was before this generation, if that still is the last one. */
  emptied(view: string, generation: number): Promise<void>;
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
 *    is gone counts as missing, and is overwritten by the first page that touches it. Which log the view is of changes
 *    with the generation, so that nobody who follows another one commits to it.
 *
 * A commit that ends anywhere is gone on with by whoever loads next, from each document's own position.
 */
export const folding = (
  collections: Collections,
  schemas: ReadonlyMap<string, ViewSchema>,
): Pick<ViewStore, "position" | "origin" | "load" | "commit" | "drop"> => {
  /** By view, where the fold in hand has loaded its documents: a drop since then makes its commit stale. */
  const loadedAt = new Map<string, LoadedAt>();
  /** By view, the last generation that anybody here has seen. */
  const seenIn = new Map<string, number>();

  const look = async (view: string): Promise<KeptCheckpoint> => {
    const checkpoint = await collections.checkpoint(view);
    seenIn.set(view, checkpoint.generation);
    return checkpoint;
  };

  const stale = (view: string): "stale" => {
    loadedAt.delete(view);
    return "stale";
  };

  /**
   * The checkpoint where the fold in hand begins, or null when it is another by now. A load has just looked at it. With
   * all documents in memory nobody may have looked for long, and then it is looked at before a document is written: a
   * projector that slept for days would bring back what was removed and is forgotten since, and one that slept through
   * a drop would show what is not folded yet.
   */
  const stillAt = async (view: string, after: Position | null, isWriting: boolean): Promise<Checkpoint | null> => {
    const loaded = loadedAt.get(view);
    if (loaded !== undefined) loadedAt.set(view, { ...loaded, isFresh: false });
    if (isWriting && loaded?.isFresh && loaded.position === after && loaded.generation === seenIn.get(view))
      return loaded;
    const checkpoint = await look(view);
    const generation = loaded?.generation ?? checkpoint.generation;
    return checkpoint.position === after && checkpoint.generation === generation ? checkpoint : null;
  };

  return {
    position: async (view) => (await look(schemaOf(schemas, view).name)).position,
    origin: async (view) => (await look(schemaOf(schemas, view).name)).origin,

    async load(view, after, ids) {
      // First the checkpoint: whatever is loaded behind it is at least as far.
      const { generation, position } = await look(schemaOf(schemas, view).name);
      const earlier = loadedAt.get(view);
      // A fold may load twice: all its documents are of one generation.
      const isOther = earlier?.isFresh && earlier.position === after && earlier.generation !== generation;
      if (position !== after || isOther) return stale(view);
      loadedAt.set(view, { generation, position, isFresh: true });
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

    async commit(view, after, upTo, documents, { leading = 0, record } = {}) {
      const schema = schemaOf(schemas, view);
      const named = record === undefined ? null : nameOf(record);
      if (after !== null && upTo <= after) throw new Error(`view ${view}: a commit from ${after} back to ${upTo}`);
      for (const id of documents.keys())
        if (!isDocumentId(id))
          throw new TypeError(`view ${view}: ${JSON.stringify(id.slice(0, 80))} is no document id`);
      const isWriting = documents.size > 0;
      if (!isWriting) {
        // As most commits of a page: there is nothing to be written too much, so comparing the checkpoint is enough.
        const generation = loadedAt.get(view)?.generation ?? seenIn.get(view) ?? 0;
        if (await collections.advance(view, { generation, position: after }, upTo, named)) return "committed";
      }
      const from = await stillAt(view, after, isWriting);
      if (from === null) return stale(view);
      const position = prefixOf(from.generation) + upTo;
      const stored = [...documents].map(([id, document]) => storedDocument(schema, id, position, document));
      for (const part of [stored.slice(0, leading), stored.slice(leading)])
        if (part.length > 0 && !(await collections.write(view, part))) return stale(view);
      return (await collections.advance(view, from, upTo, named)) ? "committed" : stale(view);
    },

    async drop(view, log) {
      const generation = await collections.startAgain(schemaOf(schemas, view).name, log);
      seenIn.set(view, generation);
      await collections.removeBelow(view, prefixOf(generation));
      await collections.ensure(view);
      await collections.emptied(view, generation);
    },
  };
};
