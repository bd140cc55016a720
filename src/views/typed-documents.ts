import { defined } from "../../domain/defined.ts";
import type { Document, FoundDocument, ViewQuery, ViewStore } from "../../domain/ports/view-store.ts";
import type { Projection } from "../../projections/projection.ts";

/** Only a view's own projection writes its documents, so they have the type `D` that this projection puts. */
export const typedDocument = <D extends object>(document: Document): D => document as Document & D;

/** Reads a document; null if there is none. If the projection puts several kinds, D is the kind that has this id. */
export const documentIn = async <D extends object>(
  views: Pick<ViewStore, "get">,
  { schema }: Projection<D>,
  id: string,
): Promise<D | null> => {
  const document = await views.get(schema.name, id);
  return document === null ? null : typedDocument<D>(document);
};

type Found<D> = { readonly id: string; readonly document: D };

const foundIn = <D extends object>({ id, document }: FoundDocument): Found<D> => ({
  id,
  document: typedDocument<D>(document),
});

export const pageIn = async <D extends object>(
  views: Pick<ViewStore, "page">,
  { schema }: Projection<D>,
  query: ViewQuery,
): Promise<readonly Found<D>[]> => (await views.page(schema.name, query)).map(foundIn<D>);

/** Yields all pages of a search; a page is read only after the previous one was used. `limit` is the size of a page. */
export async function* pagesIn<D extends object>(
  views: Pick<ViewStore, "page">,
  { schema }: Projection<D>,
  query: Omit<ViewQuery, "after">,
): AsyncGenerator<readonly Found<D>[]> {
  let last: FoundDocument | undefined;
  do {
    const after = last && { value: String(last.document[query.sort.field]), id: last.id };
    const page: readonly FoundDocument[] = await views.page(schema.name, { ...query, ...defined({ after }) });
    yield page.map(foundIn<D>);
    last = page.length < query.limit ? undefined : page.at(-1);
  } while (last !== undefined);
}
