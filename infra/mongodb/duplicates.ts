import { type BulkWriteResult, MongoBulkWriteError, MongoServerError } from "mongodb";

/** The code of E11000: a document with this `_id` is there, and it was not what the filter asked for. */
const DUPLICATE_KEY = 11_000;

export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE_KEY;

export type Refused = {
  readonly result: BulkWriteResult;
  /** Which of the operations were refused, by their place in the command. */
  readonly indexes: readonly number[];
};

/** What a bulk write did that was refused nothing but ids which are taken; throws whatever else failed. */
export const refusedDuplicates = (error: unknown): Refused => {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError() !== undefined) throw error;
  const errors = [error.writeErrors].flat();
  if (errors.length === 0 || errors.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
  return { result: error.result, indexes: errors.map(({ index }) => index) };
};
