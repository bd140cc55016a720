import type { RecordedEvent } from "../domain/ports/event-log.ts";
import type { Document, ViewSchema } from "../domain/ports/view-store.ts";

/** The documents that `idsOf` named are loaded; any other may only be put. */
export type Documents<D extends object = Document> = {
  get(id: string): D | null;
  put(id: string, document: D | null): void;
};

/**
 * A pure fold from recorded events to documents. A named document may depend only on itself and the event, because a
 * crash can leave one of two named documents folded and the other not. A document that is put without being named may
 * depend on all named ones: it is written before them. `D`: a union if the view has several kinds of documents.
 */
export type Projection<D extends object = Document> = {
  readonly schema: ViewSchema;
  /** Empty if the event is ignored. */
  idsOf(event: RecordedEvent): readonly string[];
  apply(event: RecordedEvent, documents: Documents<D>): void;
};

/** The stream's category determines the type of the data; `type` may be unknown. */
export const eventOf = <E extends { readonly type: string }>(recorded: RecordedEvent): E =>
  recorded as RecordedEvent & E;

/** In a view with several kinds of documents, the id determines the kind D. */
export const documentOf = <D extends object>(documents: Documents<object>, id: string): D | null =>
  documents.get(id) as D | null;

/** A view in which each event changes one document, depending on nothing else. */
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
