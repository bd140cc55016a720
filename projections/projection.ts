import type { RecordedEvent } from "../domain/ports/event-log.ts";
import type { Document, ViewSchema } from "../domain/ports/view-store.ts";

/** `get` has only the documents that `idsOf` named, because these are loaded. Any other document may only be put. */
export type Documents<D extends object = Document> = {
  get(id: string): D | null;
  put(id: string, document: D | null): void;
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
