import type { RecordedEvent } from "../domain/ports/event-log.ts";
import type { Document, ViewSchema } from "../domain/ports/view-store.ts";

/** The documents of one page: what `idsOf` named is loaded before; whatever else is put is written unasked. */
export type Documents = {
  get(id: string): Document | null;
  put(id: string, document: Document | null): void;
};

/**
 * A pure fold from recorded events to documents. What a named document becomes depends on nothing but itself and the
 * event, as of two named ones a crash may have left one folded and the other not. What is put without being named may
 * depend on all that are: it is written before them, and so is there when one of them shows that the event was folded.
 */
export type Projection = {
  readonly schema: ViewSchema;
  /** The documents that `apply` will ask for. An empty list: the event is of no interest. */
  idsOf(event: RecordedEvent): readonly string[];
  apply(event: RecordedEvent, documents: Documents): void;
};

/** The common case: an event touches one document, and what it becomes depends on nothing else. */
export const perDocument = <D extends Document>(
  schema: ViewSchema,
  idOf: (event: RecordedEvent) => string | null,
  evolve: (document: D | null, event: RecordedEvent) => D | null,
): Projection => ({
  schema,
  idsOf: (event) => {
    const id = idOf(event);
    return id === null ? [] : [id];
  },
  apply: (event, documents) => {
    const id = idOf(event);
    // The view's own documents come back as they were put: D is what this projection alone writes.
    if (id !== null) documents.put(id, evolve(documents.get(id) as D | null, event));
  },
});
