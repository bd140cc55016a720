import type { Document } from "../../domain/ports/view-store.ts";

/** The documents that were used last, at most `max`. */
export type RecentDocuments = {
  /** Undefined: not kept here. Null: known not to exist. */
  get(id: string): Document | null | undefined;
  set(id: string, document: Document | null): void;
  clear(): void;
};

export const recentDocuments = (max: number): RecentDocuments => {
  // A Map lists its keys in the order in which they were set: the first is the one unused for longest.
  const kept = new Map<string, Document | null>();
  return {
    get: (id) => kept.get(id),
    set(id, document) {
      kept.delete(id);
      kept.set(id, document);
      if (kept.size <= max) return;
      const [oldest] = kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
    },
    clear: () => kept.clear(),
  };
};
