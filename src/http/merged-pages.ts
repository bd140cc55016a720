import { defined } from "../../domain/defined.ts";
import type { FoundDocument, ViewQuery, ViewStore } from "../../domain/ports/view-store.ts";

/** Reads a list, newest documents first; fewer than `limit` documents mean that the list has ended. */
export type Newest = (query: Omit<ViewQuery, "where" | "lead">) => Promise<readonly FoundDocument[]>;

const FEW = 8;
const CHUNK_MIN = 4;

type Reader = { readonly list: Newest; waiting: FoundDocument[]; after: ViewQuery["after"]; hasEnded: boolean };

/** Compares two documents of a list by the time in this field; of the same time, the greater id comes first. */
export const newestFirst =
  (field: string) =>
  (a: FoundDocument, b: FoundDocument): number => {
    const [left, right] = [String(a.document[field]), String(b.document[field])];
    if (left !== right) return left < right ? 1 : -1;
    return a.id === b.id ? 0 : a.id < b.id ? 1 : -1;
  };

const refill = async (reader: Reader, query: ViewQuery, chunk: number): Promise<void> => {
  const { sort } = query;
  const found = await reader.list(defined({ sort, limit: chunk, after: reader.after }));
  const last = found.at(-1);
  reader.waiting = [...found];
  reader.hasEnded = found.length < chunk;
  if (last !== undefined) reader.after = { value: String(last.document[sort.field]), id: last.id };
};

/**
 * Merges several lists, newest documents first, each read by its own index: one query for all of them would have to
 * sort. Of many lists only small chunks are read, and a document in several lists appears once.
 */
export const mergedPages = (lists: readonly Newest[]): Pick<ViewStore, "page"> => ({
  async page(_view, query) {
    const readers = lists.map((list): Reader => ({ list, waiting: [], after: query.after, hasEnded: false }));
    const page: FoundDocument[] = [];
    const compared = newestFirst(query.sort.field);
    let chunk = lists.length <= FEW ? query.limit : Math.max(CHUNK_MIN, Math.ceil((2 * query.limit) / lists.length));
    while (page.length < query.limit) {
      const dry = readers.filter(({ waiting, hasEnded }) => waiting.length === 0 && !hasEnded);
      if (dry.length > 0) {
        await Promise.all(dry.map((reader) => refill(reader, query, chunk)));
        chunk = Math.min(2 * chunk, query.limit);
        continue;
      }
      let first: Reader | undefined;
      for (const reader of readers) {
        const [found] = reader.waiting;
        const [best] = first?.waiting ?? [];
        if (found !== undefined && (best === undefined || compared(found, best) < 0)) first = reader;
      }
      const found = first?.waiting.shift();
      if (found === undefined) break;
      if (page.at(-1)?.id !== found.id) page.push(found);
    }
    return page;
  },
});
