import { type BulkWriteResult, MongoBulkWriteError, MongoServerError } from "mongodb";

/** MongoDB's error for an insert whose `_id` another document has. */
const DUPLICATE_KEY = 11_000;

export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE_KEY;

export type RefusedWrites = {
  readonly result: BulkWriteResult;
  readonly indexes: readonly number[];
};

export const refusedDuplicates = (error: unknown): RefusedWrites => {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError() !== undefined) throw error;
  const errors = [error.writeErrors].flat();
  if (errors.length === 0 || errors.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
  return { result: error.result, indexes: errors.map(({ index }) => index) };
};
