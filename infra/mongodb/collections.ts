import type { AnyBulkWriteOperation, Collection, Db } from "mongodb";
import { endOfRun } from "../batched.ts";
import { mongoCheckpoints } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";
import type { StoredDocument } from "./documents.ts";
import { refusedDuplicates } from "./duplicates.ts";
import type { Collections } from "./folding.ts";

const FOLD_MS = 10_000;
/**
 * Documents of one command. Even a busy server writes so many well within `FOLD_MS`; more at once would be refused and
 * tried again for ever.
 */
const WRITES_MAX = 1_024;
/** A view reads its checkpoint and its documents, writes the leading ones, and then the others (`folding.ts`). */
const STEPS = 4;
const TAKEN_MAX = 8_192;
export const IDS_MAX = 1_000;
const REMOVED_MAX = 2_000;

export const storedIn = (db: Db, view: string): Collection<StoredDocument> => db.collection<StoredDocument>(view);

export const chunksOf = <T>(all: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));

const knownIds = () => {
  const byView = new Map<string, Set<string>>();
  return {
    has: (view: string, id: string): boolean => byView.get(view)?.has(id) ?? false,
    add(view: string, documents: readonly StoredDocument[]): void {
      const present = byView.get(view);
      const ids = present === undefined || present.size > TAKEN_MAX ? new Set<string>() : present;
      for (const { _id } of documents) ids.add(_id);
      byView.set(view, ids);
    },
  };
};

type Operation = AnyBulkWriteOperation<StoredDocument>;

const inserting = (document: StoredDocument): Operation => ({ insertOne: { document } });

const replacing = (replacement: StoredDocument): Operation => ({
  replaceOne: {
    filter: { _id: replacement._id, _position: { $lt: replacement._position } },
    replacement,
    upsert: true,
  },
});

export const mongoCollections = (connection: Connection, ensure: (view: string) => Promise<void>): Collections => {
  const { run } = connection;
  const taken = knownIds();

  const refused = async (
    view: string,
    documents: readonly StoredDocument[],
    operationOf: (document: StoredDocument) => Operation,
  ): Promise<readonly StoredDocument[]> => {
    if (documents.length === 0) return [];
    try {
      await storedIn(connection.db, view).bulkWrite(documents.map(operationOf), { ordered: false });
      return [];
    } catch (error) {
      return refusedDuplicates(error).indexes.flatMap((index) => documents[index] ?? []);
    }
  };

  /** An insert costs half of a comparing replacement, so only documents whose insert was refused are compared. */
  const written = async (view: string, documents: readonly StoredDocument[]): Promise<boolean> => {
    const known = documents.filter(({ _id }) => taken.has(view, _id));
    const fresh = documents.filter(({ _id }) => !taken.has(view, _id));
    const [newer, present] = await Promise.all([refused(view, known, replacing), refused(view, fresh, inserting)]);
    taken.add(view, documents);
    // The store has a document that is not older, or another writer inserted one at this moment: the whole write fails.
    if (newer.length > 0) return false;
    return (await refused(view, present, replacing)).length === 0;
  };

  const writeAll = async (view: string, documents: readonly StoredDocument[]): Promise<boolean> => {
    for (const chunk of chunksOf(documents, WRITES_MAX))
      if (!(await run(FOLD_MS, () => written(view, chunk)))) return false;
    return true;
  };

  const findAll = async (view: string, ids: readonly string[]): Promise<readonly StoredDocument[]> => {
    const found: StoredDocument[] = [];
    for (const chunk of chunksOf(ids, IDS_MAX)) {
      const filter = { _id: { $in: [...chunk] } };
      const options = { batchSize: chunk.length };
      for (const stored of await run(FOLD_MS, (maxTimeMS) =>
        storedIn(connection.db, view)
          .find(filter, { ...options, maxTimeMS })
          .toArray(),
      ))
        found.push(stored);
    }
    taken.add(view, found);
    return found;
  };

  const checkpoints = mongoCheckpoints(connection, FOLD_MS);
  const underWay = new Set<Promise<unknown>>();
  const tracked = <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work);
    return work.finally(() => underWay.delete(work));
  };

  return {
    ...checkpoints,
    checkpoint: (view) => tracked(checkpoints.checkpoint(view)),

    /**
     * Waits for the other views that fold the same page, so that all of them move their checkpoints with one command. What
     * begins later is not waited for, so no view can keep another back for long.
     */
    async advance(view, from, upTo, record) {
      await endOfRun();
      for (let step = 0; step < STEPS && underWay.size > 0; step += 1) {
        await Promise.allSettled(underWay);
        await endOfRun();
      }
      return checkpoints.advance(view, from, upTo, record);
    },

    ensure: (view) => run(FOLD_MS, () => ensure(view)),

    find: (view, ids) => tracked(findAll(view, ids)),
    write: (view, documents) => tracked(writeAll(view, documents)),

    async removeBelow(view, position) {
      const older = { _position: { $lt: position } };
      for (let last = ""; ; ) {
        const found = await run(FOLD_MS, (maxTimeMS) =>
          storedIn(connection.db, view)
            .find({ _id: { $gt: last }, ...older }, { projection: { _id: 1 }, maxTimeMS })
            .sort({ _id: 1 })
            .limit(REMOVED_MAX)
            .toArray(),
        );
        const ids = found.map(({ _id }) => _id);
        const end = ids.at(-1);
        if (end === undefined) return;
        await run(FOLD_MS, () => storedIn(connection.db, view).deleteMany({ _id: { $in: ids }, ...older }));
        last = end;
      }
    },
  };
};
