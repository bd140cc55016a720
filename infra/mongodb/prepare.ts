import { type Collection, type Db, type IndexDescription, MongoServerError } from "mongodb";
import type { ViewSchema } from "../../domain/ports.ts";
import { CHECKPOINTS, type StoredCheckpoint } from "./checkpoints.ts";
import { storedIn } from "./collections.ts";
import { isDuplicate } from "./duplicates.ts";

/** Raised when what lies in the database changes its shape. */
const FORMAT_VERSION = 1;
type Format = { readonly _id: string; readonly version: number };
const FORMAT = "format";

/** A day: no commit takes so long that it could still be about to write what has been removed before it. */
const REMOVED_KEPT_S = 24 * 3_600;

/** IndexOptionsConflict: the same index is there under another name, made by somebody else. */
const THERE_ALREADY = 85;

const checkFormat = async (db: Db): Promise<void> => {
  const formats: Collection<Format> = db.collection(CHECKPOINTS);
  const kept = await formats.findOne({ _id: FORMAT });
  if (kept === null) {
    await formats.insertOne({ _id: FORMAT, version: FORMAT_VERSION }).catch((error: unknown) => {
      if (!isDuplicate(error)) throw error;
    });
  } else if (kept.version > FORMAT_VERSION) {
    throw new Error(
      `The MongoDB database ${db.databaseName} was written by a newer version (views format ${kept.version}, this one ` +
        `knows ${FORMAT_VERSION}): run the newer version, or name another database in MONGODB_URL.`,
    );
  }
};

/**
 * Equality, sort, range, and the id for ties, in this order: a field's name is no number, which an object would put
 * first. What is removed is taken away by the server.
 */
export const indexesOf = ({ indexes }: ViewSchema): IndexDescription[] => [
  ...indexes.map((fields) => ({ key: Object.fromEntries([...fields, "_id"].map((field) => [field, 1] as const)) })),
  // Sparse: documents that are there cost it nothing.
  { key: { _removed: 1 }, sparse: true, expireAfterSeconds: REMOVED_KEPT_S },
];

/** NamespaceNotFound: there is no such collection. */
const NOT_THERE = 26;

const hasOwnIndexes = async (db: Db, { name }: ViewSchema): Promise<boolean> => {
  try {
    const indexes = await storedIn(db, name).listIndexes().toArray();
    // That of the ids comes with the collection.
    return indexes.length > 1;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NOT_THERE) return false;
    throw error;
  }
};

/**
 * A view whose collection is gone, whatever its checkpoint says, is begun again; so is one whose collection is only
 * there again because somebody has written to it since. Before the indexes are made: several nodes may look at once.
 */
const beginAgainIfLost = async (db: Db, schema: ViewSchema): Promise<void> => {
  if (await hasOwnIndexes(db, schema)) return;
  await db
    .collection<StoredCheckpoint>(CHECKPOINTS)
    .updateOne(
      { _id: schema.name, position: { $ne: null } },
      { $inc: { generation: 1 }, $set: { position: null, record: null, emptying: true } },
    );
};

export const createIndexes = async (db: Db, schema: ViewSchema): Promise<void> => {
  // One at a time, so that one which is there already does not keep the others from being made.
  for (const { key, ...options } of indexesOf(schema))
    await storedIn(db, schema.name)
      .createIndex(key, options)
      .catch((error: unknown) => {
        if (!(error instanceof MongoServerError && error.code === THERE_ALREADY)) throw error;
      });
};

/** Makes collections and indexes that are missing, and begins views again that were lost. Several nodes may do so at once. */
export const prepare = async (db: Db, schemas: Iterable<ViewSchema>): Promise<void> => {
  await checkFormat(db);
  await Promise.all(
    [...schemas].map(async (schema) => {
      await beginAgainIfLost(db, schema);
      await createIndexes(db, schema);
    }),
  );
};
