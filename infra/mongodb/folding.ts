import type { Position } from "../../domain/ports/event-log.ts";
import type { LoadedDocument, RecordName, ViewOrigin, ViewSchema, ViewStore } from "../../domain/ports/view-store.ts";
import { nameOf } from "../record-name.ts";
import { isDocumentId, schemaOf } from "../view-schema.ts";
import { documentOf, type StoredDocument, storedDocument } from "./documents.ts";

/** `generation` counts how often the view was dropped; a null `position` is the log's beginning. */
export type Checkpoint = { readonly generation: number; readonly position: Position | null };

export type ViewCheckpoint = Checkpoint & { readonly origin: ViewOrigin | null };

type LoadedAt = Checkpoint & { readonly isFresh: boolean };

export type Collections = {
  checkpoint(view: string): Promise<ViewCheckpoint>;
  find(view: string, ids: readonly string[]): Promise<readonly StoredDocument[]>;
  /** Writes each document that is absent or older in the store. False if one of them could not be written. */
  write(view: string, documents: readonly StoredDocument[]): Promise<boolean>;
  /** Moves the checkpoint if it still equals `from`; true also if another projector has made the same move. */
  advance(view: string, from: Checkpoint, upTo: Position, record: RecordName | null): Promise<boolean>;
  startAgain(view: string, log: string): Promise<number>;
  ensure(view: string): Promise<void>;
  emptied(view: string, generation: number): Promise<void>;
  removeBelow(view: string, position: string): Promise<void>;
};

/** Generations have a fixed width, so that positions of later generations sort later as text. */
const GENERATION_DIGITS = 6;

const prefixOf = (generation: number): string => `${String(generation).padStart(GENERATION_DIGITS, "0")}.`;

/**
 * Keeps documents and checkpoint consistent without transactions, by three rules:
 *
 * 1. A document at `_position` p is the fold's result at p, whichever projector wrote it. Only a later one replaces it,
 *    and every document that a page touches is written, so that a late projector finds a later one.
 * 2. A commit writes the leading documents first (those to which the others refer: `fold-page.ts`), then the others, then
 *    the checkpoint. So everything up to the checkpoint is complete, and if one of the others is ahead of the checkpoint,
 *    the leading ones of its commit exist.
 * 3. A drop begins a new generation, for one log, before it removes a document. A document written later for an old
 *    generation counts as missing, and the first page that touches it overwrites it.
 *
 * After a crash the next load continues an unfinished commit from each document's position.
 */
export const folding = (
  collections: Collections,
  schemas: ReadonlyMap<string, ViewSchema>,
): Pick<ViewStore, "position" | "origin" | "load" | "commit" | "drop"> => {
  const loadedAt = new Map<string, LoadedAt>();
  const seenIn = new Map<string, number>();

  const look = async (view: string): Promise<ViewCheckpoint> => {
    const checkpoint = await collections.checkpoint(view);
    seenIn.set(view, checkpoint.generation);
    return checkpoint;
  };

  const stale = (view: string): "stale" => {
    loadedAt.delete(view);
    return "stale";
  };

  /**
   * Null if the checkpoint has moved since `load`. Without this check a projector that slept could restore removed
   * documents, or show documents ahead of the fold after a drop.
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
      // The checkpoint is read before the documents, so that the documents are folded at least as far as the
      // checkpoint.
      const { generation, position } = await look(schemaOf(schemas, view).name);
      const earlier = loadedAt.get(view);
      // A fold that loads twice for a page needs all documents from one generation.
      const isOther = earlier?.isFresh && earlier.position === after && earlier.generation !== generation;
      if (position !== after || isOther) return stale(view);
      loadedAt.set(view, { generation, position, isFresh: true });
      const prefix = prefixOf(generation);
      const loaded = new Map<string, LoadedDocument>(ids.map((id) => [id, { document: null, position: null }]));
      for (const stored of await collections.find(view, ids.filter(isDocumentId))) {
        if (!stored._position.startsWith(prefix)) continue;
        const reached = stored._position.slice(prefix.length);
        const isFurther = after === null || reached > after;
        loaded.set(stored._id, { document: documentOf(stored), position: isFurther ? reached : null });
      }
      return loaded;
    },

    async commit(view, after, upTo, { documents, leading = 0, record }) {
      const schema = schemaOf(schemas, view);
      const named = record === undefined ? null : nameOf(record);
      if (after !== null && upTo <= after) throw new Error(`view ${view}: a commit from ${after} back to ${upTo}`);
      for (const id of documents.keys())
        if (!isDocumentId(id))
          throw new TypeError(`view ${view}: ${JSON.stringify(id.slice(0, 80))} is no document id`);
      const isWriting = documents.size > 0;
      if (!isWriting) {
        // Most commits have no document; for them it suffices that the checkpoint's update compares the old position.
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
