import type { ViewStore } from "../../domain/ports/view-store.ts";
import { schemasByName } from "../view-schema.ts";
import type { ViewQueries } from "./view-queries.ts";
import { QueryThread, type QueryThreadLimits, type QueryThreadOptions } from "./view-reader-thread.ts";
import { documentsOf, foundOf, parseDocument } from "./view-store.ts";

export type SqliteViewReaderOptions = Omit<QueryThreadOptions, keyof QueryThreadLimits> & Partial<QueryThreadLimits>;

const PENDING_MAX = 256;
const QUERY_MS = 2_000;

/** Queries run on a thread, so that a slow search never blocks the event loop. */
export const sqliteViewReader = async (options: SqliteViewReaderOptions): Promise<ViewStore> => {
  schemasByName(options.schemas);
  const thread = await QueryThread.open({ pendingMax: PENDING_MAX, queryMs: QUERY_MS, ...options });

  const ask = <Method extends keyof ViewQueries>(method: Method, ...args: Parameters<ViewQueries[Method]>) =>
    // The thread runs this method with these arguments, so the answer has the method's type.
    thread.ask({ method, args } as Parameters<typeof thread.ask>[0]) as Promise<ReturnType<ViewQueries[Method]>>;

  return {
    async get(view, id) {
      const text = await ask("get", view, id);
      return text === null ? null : parseDocument(text);
    },
    getMany: async (view, ids) => documentsOf(await ask("getMany", view, ids)),
    page: async (view, query) => foundOf(await ask("page", view, query)),
    count: (view, where, atMost) => ask("count", view, where, atMost),
    next: (view, field, after) => ask("next", view, field, after),
    position: (view) => ask("position", view),
    origin: (view) => ask("origin", view),
    load: async () => {
      throw new Error("a fold over views that were opened for reading");
    },
    commit: async () => {
      throw new Error("a commit to views that were opened for reading");
    },
    drop: async () => {
      throw new Error("a drop of views that were opened for reading");
    },
    close: () => thread.close(),
  };
};
