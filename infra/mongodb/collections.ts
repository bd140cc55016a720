import { type AnyBulkWriteOperation, type Collection, type Db, MongoBulkWriteError, MongoServerError } from "mongodb";
import type { Position } from "../../domain/ports.ts";
import type { Connection } from "./connection.ts";
import type { StoredDocument } from "./documents.ts";
import type { Collections } from "./folding.ts";

/** Views' names end in their version, so that none of them is called this. */
export const CHECKPOINTS = "checkpoints";

export type StoredCheckpoint = {
  readonly _id: string;
  readonly position: Position | null;
  readonly generation: number;
};

/** What a page of the projector reads or writes may take: far less than a slow request of a person would be worth. */
const FOLD_MS = 10_000;
/** Documents in one command: some MB at most, and a stop does not wait for long. */
const WRITES_MAX = 500;
/** Ids in one look-up, so that neither the command nor its answer grows without end. */
export const IDS_MAX = 1_000;
/** Removed at once when a view is dropped: within the time that a command may take. */
const REMOVED_MAX = 2_000;

/** The code of E11000: a document with this `_id` is there, and it was not what the filter asked for. */
const DUPLICATE_KEY = 11_000;

export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE_KEY;

export const storedIn = (db: Db, view: string): Collection<StoredDocument> => db.collection<StoredDocument>(view);

export const chunksOf = <T>(all: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));

/** What the view store asks of its collections, as commands for MongoDB. */
export const mongoCollections = ({ db, run }: Connection): Collections => {
  const checkpoints = db.collection<StoredCheckpoint>(CHECKPOINTS);

  const written = async (view: string, documents: readonly StoredDocument[]): Promise<boolean> => {
    const operations = documents.map(
      (replacement): AnyBulkWriteOperation<StoredDocument> => ({
        replaceOne: {
          filter: { _id: replacement._id, _position: { $lt: replacement._position } },
          replacement,
          upsert: true,
        },
      }),
    );
    try {
      await storedIn(db, view).bulkWrite(operations, { ordered: true });
      return true;
    } catch (error) {
      // Not older, or made at this very moment by somebody else.
      if (error instanceof MongoBulkWriteError && isDuplicate(error)) return false;
      throw error;
    }
  };

  return {
    async checkpoint(view) {
      const kept = await run(FOLD_MS, (maxTimeMS) => checkpoints.findOne({ _id: view }, { maxTimeMS }));
      return { generation: kept?.generation ?? 0, position: kept?.position ?? null };
    },

    async find(view, ids) {
      const found: StoredDocument[] = [];
      for (const chunk of chunksOf(ids, IDS_MAX)) {
        const filter = { _id: { $in: [...chunk] } };
        const options = { batchSize: chunk.length };
        for (const stored of await run(FOLD_MS, (maxTimeMS) =>
          storedIn(db, view)
            .find(filter, { ...options, maxTimeMS })
            .toArray(),
        ))
          found.push(stored);
      }
      return found;
    },

    async write(view, documents) {
      for (const chunk of chunksOf(documents, WRITES_MAX))
        if (!(await run(FOLD_MS, () => written(view, chunk)))) return false;
      return true;
    },

    advance: (view, { generation, position }, upTo) =>
      run(FOLD_MS, async () => {
        const filter = { _id: view, generation, position };
        try {
          const isFirst = position === null;
          const { matchedCount, upsertedCount } = await checkpoints.replaceOne(
            filter,
            { generation, position: upTo },
            { upsert: isFirst },
          );
          return matchedCount + upsertedCount === 1;
        } catch (error) {
          if (isDuplicate(error)) return false;
          throw error;
        }
      }),

    async startAgain(view) {
      const change = { $inc: { generation: 1 }, $set: { position: null } };
      const kept = await run(FOLD_MS, () =>
        checkpoints.findOneAndUpdate({ _id: view }, change, { upsert: true, returnDocument: "after" }),
      );
      if (kept === null) throw new Error(`${view}: an upsert without a document`);
      return kept.generation;
    },

    async removeBelow(view, position) {
      const older = { _position: { $lt: position } };
      for (let last = ""; ; ) {
        const found = await run(FOLD_MS, (maxTimeMS) =>
          storedIn(db, view)
            .find({ _id: { $gt: last }, ...older }, { projection: { _id: 1 }, maxTimeMS })
            .sort({ _id: 1 })
            .limit(REMOVED_MAX)
            .toArray(),
        );
        const ids = found.map(({ _id }) => _id);
        const end = ids.at(-1);
        if (end === undefined) return;
        await run(FOLD_MS, () => storedIn(db, view).deleteMany({ _id: { $in: ids }, ...older }));
        last = end;
      }
    },
  };
};
