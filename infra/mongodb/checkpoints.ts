import type { AnyBulkWriteOperation } from "mongodb";
import type { Position } from "../../domain/ports/event-log.ts";
import type { RecordName } from "../../domain/ports/view-store.ts";
import { batched } from "../batched.ts";
import type { Connection } from "./connection.ts";
import { refusedDuplicates } from "./duplicates.ts";
import type { Checkpoint, Collections, ViewCheckpoint } from "./folding.ts";

export const CHECKPOINTS = "checkpoints";

export type StoredCheckpoint = Checkpoint & {
  readonly _id: string;
  /** The identity of the log that the view was folded from; absent before the view is first dropped. */
  readonly log?: string;
  readonly emptying?: boolean;
  readonly record?: RecordName | null;
};

type Advance = {
  readonly view: string;
  readonly from: Checkpoint;
  readonly upTo: Position;
  readonly record: RecordName | null;
};

const BEGINNING: ViewCheckpoint = { generation: 0, position: null, origin: null };

const operationOf = ({ view, from, upTo, record }: Advance): AnyBulkWriteOperation<StoredCheckpoint> => ({
  updateOne: {
    filter: { _id: view, generation: from.generation, position: from.position },
    update: { $set: { position: upTo, record } },
    upsert: from.position === null,
  },
});

const checkpointIn = (stored: StoredCheckpoint): ViewCheckpoint => {
  const { generation, position, log, emptying = false, record = null } = stored;
  const last = position === null || record === null ? null : { ...record, position };
  return { generation, position, origin: log === undefined ? null : { log, isEmptied: !emptying, last } };
};

/** A page of the log moves the checkpoints of all views at once, so concurrent reads share a command, as do writes. */
export const mongoCheckpoints = (
  connection: Connection,
  limitMs: number,
): Pick<Collections, "checkpoint" | "advance" | "startAgain" | "emptied"> => {
  const { run } = connection;
  const collection = () => connection.db.collection<StoredCheckpoint>(CHECKPOINTS);

  const find = async (views: readonly string[]): Promise<ReadonlyMap<string, ViewCheckpoint>> => {
    const filter = { _id: { $in: [...new Set(views)] } };
    const found = await run(limitMs, (maxTimeMS) => collection().find(filter, { maxTimeMS }).toArray());
    return new Map(found.map((it) => [it._id, checkpointIn(it)]));
  };

  const set = (advances: readonly Advance[]): Promise<number> =>
    run(limitMs, async () => {
      const { matchedCount, upsertedCount } = await collection()
        .bulkWrite(advances.map(operationOf), { ordered: false })
        .catch((error: unknown) => refusedDuplicates(error).result);
      return matchedCount + upsertedCount;
    });

  /** MongoDB answers only how many checkpoints were set; if it was a part, reading them shows which. */
  const done = async (advances: readonly Advance[]): Promise<ReadonlySet<Advance>> => {
    const count = await set(advances);
    if (count === 0 || count === advances.length) return new Set(advances.slice(0, count));
    const found = await find(advances.map(({ view }) => view));
    const isDone = ({ view, from, upTo }: Advance): boolean => {
      const { generation, position } = found.get(view) ?? BEGINNING;
      return generation === from.generation && position === upTo;
    };
    return new Set(advances.filter(isDone));
  };

  const findTogether = batched(find);
  const doneTogether = batched(done);

  return {
    checkpoint: async (view) => (await findTogether(view)).get(view) ?? BEGINNING,

    async advance(view, from, upTo, record) {
      const advance: Advance = { view, from, upTo, record };
      return (await doneTogether(advance)).has(advance);
    },

    async startAgain(view, log) {
      const change = { $inc: { generation: 1 }, $set: { position: null, record: null, log, emptying: true } };
      const found = await run(limitMs, () =>
        collection().findOneAndUpdate({ _id: view }, change, { upsert: true, returnDocument: "after" }),
      );
      if (found === null) throw new Error(`${view}: an upsert without a document`);
      return found.generation;
    },

    async emptied(view, generation) {
      await run(limitMs, () => collection().updateOne({ _id: view, generation }, { $unset: { emptying: true } }));
    },
  };
};
