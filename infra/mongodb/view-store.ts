import type { Document, ViewSchema, ViewStore } from "../../domain/ports/view-store.ts";
import { comparableText, fieldType, isDocumentId, schemaOf, schemasByName } from "../view-schema.ts";
import { chunksOf, IDS_MAX, mongoCollections, storedIn } from "./collections.ts";
import { openConnection } from "./connection.ts";
import { documentOf } from "./documents.ts";
import { folding } from "./folding.ts";
import { createIndexes, prepare } from "./prepare.ts";
import { countFilter, pageQuery } from "./queries.ts";

export type MongoViewStoreOptions = {
  readonly url: string;
  readonly schemas: readonly ViewSchema[];
};

const QUERY_MS = 2_000;

/** No transactions are used, so a single server suffices. Rejects with one sentence if the database cannot be used. */
export const mongoViewStore = async ({ url, schemas }: MongoViewStoreOptions): Promise<ViewStore> => {
  const byName = schemasByName(schemas);
  const connection = await openConnection(url, (db) => prepare(db, schemas));
  const { run, close } = connection;
  const collections = mongoCollections(connection, (view) => createIndexes(connection.db, schemaOf(byName, view)));

  const getMany = async (view: string, ids: readonly string[]): Promise<ReadonlyMap<string, Document>> => {
    const { name } = schemaOf(byName, view);
    const found = new Map<string, Document>();
    for (const chunk of chunksOf(ids.filter(isDocumentId), IDS_MAX)) {
      const options = { batchSize: chunk.length, maxTimeMS: QUERY_MS };
      const stored = await run(QUERY_MS, () =>
        storedIn(connection.db, name)
          .find({ _id: { $in: [...chunk] } }, options)
          .toArray(),
      );
      for (const one of stored) {
        const document = documentOf(one);
        if (document !== null) found.set(one._id, document);
      }
    }
    return found;
  };

  return {
    ...folding(collections, byName),

    get: async (view, id) => (await getMany(view, [id])).get(id) ?? null,
    getMany,

    async page(view, query) {
      const schema = schemaOf(byName, view);
      const asked = pageQuery(schema, query);
      if (asked === null) return [];
      const { filter, sort, limit } = asked;
      const options = { sort, limit, batchSize: limit, maxTimeMS: QUERY_MS };
      const stored = await run(QUERY_MS, () => storedIn(connection.db, view).find(filter, options).toArray());
      return stored.flatMap((one) => {
        const document = documentOf(one);
        return document === null ? [] : [{ id: one._id, document }];
      });
    },

    async count(view, where, atMost) {
      const filter = countFilter(schemaOf(byName, view), where);
      if (filter === null || atMost <= 0) return 0;
      const options = { limit: atMost, maxTimeMS: QUERY_MS };
      return run(QUERY_MS, () => storedIn(connection.db, view).countDocuments(filter, options));
    },

    async next(view, field, after) {
      fieldType(schemaOf(byName, view), field);
      const options = { sort: { [field]: 1 }, limit: 1, projection: { [field]: 1 }, maxTimeMS: QUERY_MS } as const;
      const found = await run(QUERY_MS, () =>
        storedIn(connection.db, view).findOne({ [field]: { $gt: comparableText(after) } }, options),
      );
      const value = found?.[field];
      return typeof value === "string" ? value : null;
    },

    close,
  };
};
