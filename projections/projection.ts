import type { Position, RecordedEvent } from "../domain/ports/event-log.ts";
import type { Document, LoadedDocument, ViewSchema } from "../domain/ports/view-store.ts";

/** `get` has only the documents that `idsOf` named, because these are loaded. Any other document may only be put. */
export type Documents<D extends object = Document> = {
  get(id: string): D | null;
  put(id: string, document: D | null): void;
};

/** What one record changed in the named document `id`. */
export type DocumentChange<D extends object = Document> = {
  readonly id: string;
  readonly position: Position;
  readonly before: D | null;
  readonly after: D | null;
};

/**
 * Sums over a view's named documents, kept in the same view. They are written before the named documents: after a crash
 * between the two, a named document is still as it was before the change that its sums contain already, and the sums know
 * by their position that they do.
 */
export type Totals<D extends object = Document> = {
  sum(changes: readonly DocumentChange<D>[]): Summed;
  /** True for a document that cannot change any more, so that it is removed and only its totals stay. */
  isFinal(document: D): boolean;
};

type Summed = {
  /** Of the totals that the changes touch. */
  readonly ids: readonly string[];
  /**
   * Folds the changes, except those that a loaded total contains. Returns every total that one of the others touched, even
   * if they cancel each other out: a slower projector may be about to write it as it was in between.
   */
  fold(loaded: ReadonlyMap<string, LoadedDocument>): ReadonlyMap<string, Document>;
};

/**
 * A pure fold from records to documents. A named document may depend only on itself and the record, because a crash can
 * leave one of two named documents folded and the other not. A document that is put without being named may depend on
 * all named ones, because it is written before them. `D` is a union if the view has several kinds of documents.
 */
export type Projection<D extends object = Document> = {
  readonly schema: ViewSchema;
  /** Ids of the documents that the record may change; empty if the view ignores the record. */
  idsOf(event: RecordedEvent): readonly string[];
  apply(event: RecordedEvent, documents: Documents<D>): void;
  readonly totals?: Totals<D>;
};

/** The stream's category determines the type of a record's data. Its `type` may be unknown to this version. */
export const eventOf = <E extends { readonly type: string }>(recorded: RecordedEvent): E =>
  recorded as RecordedEvent & E;

/** For a view with several kinds of documents: the caller knows from the id which kind D the document is. */
export const documentOf = <D extends object>(documents: Documents<object>, id: string): D | null =>
  documents.get(id) as D | null;

/** A view in which each record changes at most one document, which depends on that document and the record alone. */
export const perDocument = <D extends Document>(
  schema: ViewSchema,
  idOf: (event: RecordedEvent) => string | null,
  evolve: (document: D | null, event: RecordedEvent) => D | null,
): Projection<D> => ({
  schema,
  idsOf: (event) => {
    const id = idOf(event);
    return id === null ? [] : [id];
  },
  apply: (event, documents) => {
    const id = idOf(event);
    if (id !== null) documents.put(id, evolve(documents.get(id), event));
  },
});
