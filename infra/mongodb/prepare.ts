import { type Collection, type Db, type IndexDescription, MongoServerError } from "mongodb";
import type { ViewSchema } from "../../domain/ports/view-store.ts";
import { OtherFormat } from "../other-format.ts";
import { CHECKPOINTS, type StoredCheckpoint } from "./checkpoints.ts";
import { storedIn } from "./collections.ts";
import { isDuplicate } from "./duplicates.ts";

const FORMAT_VERSION = 2;
type Format = { readonly _id: string; readonly version: number };
const FORMAT = "format";

const REMOVED_KEPT_S = 24 * 3_600;

/** MongoDB's code IndexOptionsConflict: an equal index exists under another name. */
const THERE_ALREADY = 85;

/** True if the database has views already. A new node names the format before it makes anything else. */
const isBegun = async (db: Db, schemas: readonly ViewSchema[]): Promise<boolean> => {
  if ((await db.collection(CHECKPOINTS).findOne({})) !== null) return true;
  const filter = { name: { $in: schemas.map(({ name }) => name) } };
  return (await db.listCollections(filter, { nameOnly: true, authorizedCollections: true }).toArray()).length > 0;
};

const named = async (formats: Collection<Format>): Promise<Format | null> => {
  const name = { $setOnInsert: { version: FORMAT_VERSION } };
  try {
    return await formats.findOneAndUpdate({ _id: FORMAT }, name, { upsert: true, returnDocument: "after" });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return named(formats);
  }
};

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

/** An index has the fields compared for equality, then sort and range fields, and the id to order equal values. */
export const indexesOf = ({ indexes }: ViewSchema): IndexDescription[] => [
  ...indexes.map((fields) => ({ key: Object.fromEntries([...fields, "_id"].map((field) => [field, 1] as const)) })),
  // The index is sparse, so it holds only removed documents; the server deletes them when they expire.
  { key: { _removed: 1 }, sparse: true, expireAfterSeconds: REMOVED_KEPT_S },
];

/** MongoDB's code NamespaceNotFound: the collection does not exist. */
const NOT_THERE = 26;

const hasOwnIndexes = async (db: Db, { name }: ViewSchema): Promise<boolean> => {
  try {
    const indexes = await storedIn(db, name).listIndexes().toArray();
    return indexes.length > 1;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NOT_THERE) return false;
    throw error;
  }
};

/** A view without indexes is folded again: its collection was lost and only made anew by a later write. */
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
  for (const { key, ...options } of indexesOf(schema))
    await storedIn(db, schema.name)
      .createIndex(key, options)
      .catch((error: unknown) => {
        if (!(error instanceof MongoServerError && error.code === THERE_ALREADY)) throw error;
      });
};

export const prepare = async (db: Db, schemas: readonly ViewSchema[]): Promise<void> => {
  await checkFormat(db, schemas);
  await Promise.all(
    schemas.map(async (schema) => {
      await beginAgainIfLost(db, schema);
      await createIndexes(db, schema);
    }),
  );
};
