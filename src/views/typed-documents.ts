import type { Document, ViewQuery, ViewStore } from "../../domain/ports/view-store.ts";
import type { Projection } from "../../projections/projection.ts";

/** Only a view's own projection writes to it, so its documents have the type that the projection puts. */
export const typedDocument = <D extends object>(document: Document): D => document as Document & D;

/** If the projection puts several kinds of documents, D names the kind that has this id. */
export const documentIn = async <D extends object>(
  views: Pick<ViewStore, "get">,
  { schema }: Projection<D>,
  id: string,
): Promise<D | null> => {
  const document = await views.get(schema.name, id);
  return document === null ? null : typedDocument<D>(document);
};

export const pageIn = async <D extends object>(
  views: Pick<ViewStore, "page">,
  { schema }: Projection<D>,
  query: ViewQuery,
): Promise<readonly { readonly id: string; readonly document: D }[]> =>
  (await views.page(schema.name, query)).map(({ id, document }) => ({ id, document: typedDocument<D>(document) }));
