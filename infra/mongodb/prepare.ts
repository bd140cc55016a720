import { type Collection, type Db, type IndexDescription, MongoServerError } from "mongodb";
import type { ViewSchema } from "../../domain/ports/view-store.ts";
import { OtherFormat } from "../other-format.ts";
import { CHECKPOINTS, type StoredCheckpoint } from "./checkpoints.ts";
import { storedIn } from "./collections.ts";
import { isDuplicate } from "./duplicates.ts";

/** Raised when what lies in the database changes its shape. */
const FORMAT_VERSION = 2;
type Format = { readonly _id: string; readonly version: number };
const FORMAT = "format";

/** A day: no commit takes so long that it could still be about to write what has been removed before it. */
const REMOVED_KEPT_S = 24 * 3_600;

/** IndexOptionsConflict: the same index is there under another name, made by somebody else. */
const THERE_ALREADY = 85;

/** Whether there is anything of ours. A node names the format before it makes the first checkpoint or collection. */
const isBegun = async (db: Db, schemas: readonly ViewSchema[]): Promise<boolean> => {
  if ((await db.collection(CHECKPOINTS).findOne({})) !== null) return true;
  const filter = { name: { $in: schemas.map(({ name }) => name) } };
  return (await db.listCollections(filter, { nameOnly: true, authorizedCollections: true }).toArray()).length > 0;
};

/** The name that is there, or ours if there was none: several nodes may begin at once. */
const named = async (formats: Collection<Format>): Promise<Format | null> => {
  const name = { $setOnInsert: { version: FORMAT_VERSION } };
  try {
    return await formats.findOneAndUpdate({ _id: FORMAT }, name, { upsert: true, returnDocument: "after" });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return named(formats);
  }
};

/** Rejects with `OtherFormat`. */
const checkFormat = async (db: Db, schemas: readonly ViewSchema[]): Promise<void> => {
  const formats: Collection<Format> = db.collection(CHECKPOINTS);
  const begun = await isBegun(db, schemas);
  const format = begun ? await formats.findOne({ _id: FORMAT }) : await named(formats);
  if (format?.version === FORMAT_VERSION) return;
  throw new OtherFormat(
    `the MongoDB database ${db.databaseName}`,
    format?.version ?? null,
    FORMAT_VERSION,
    "drop it or name another one in MONGODB_URL, as the views are folded again from the log",
  );
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
export const prepare = async (db: Db, schemas: readonly ViewSchema[]): Promise<void> => {
  await checkFormat(db, schemas);
  await Promise.all(
    schemas.map(async (schema) => {
      await beginAgainIfLost(db, schema);
      await createIndexes(db, schema);
    }),
  );
};
