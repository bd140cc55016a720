import streams from "@eventstore/db-client/generated/streams_pb.js";
import { status } from "@grpc/grpc-js";
import type { Filter } from "./filter.ts";
import { indexAt, type State, type StoredRecord } from "./state.ts";
import { callError, checkpointMessage, eventMessage } from "./wire.ts";
import { type ReadCall, writeMessage } from "./write-message.ts";

/** A subscription that a client has open, to be ended in every way. */
export type LiveSubscription = {
  /** Null for `$all`. */
  readonly stream: string | null;
  /** Whether it has caught up. */
  readonly live: () => boolean;
  /** Ends it as if the server had nothing more to say. */
  readonly end: () => void;
  readonly fail: (code: status, details: string) => void;
  /** It stays open and gives nothing more. */
  readonly silence: () => void;
};

/** Where the events of a subscription come from; a cursor is a position of `$all` or a revision of a stream. */
export type Source = {
  readonly stream: string | null;
  readonly after: (cursor: number, limit: number) => readonly StoredRecord[];
  readonly cursorOf: (record: StoredRecord) => number;
};

export type Subscribing = {
  readonly source: Source;
  /** The last event that is not wanted any more; -1 for everything. */
  readonly after: number;
  readonly filter: Filter | null;
  /** How many events may wait for the client once the subscription is live. */
  readonly liveBuffer: number;
  /** Is called for each event that the client is given. */
  readonly onGiven: () => void;
};

/** Enumerators.ReadBatchSize of the server. */
const PAGE = 32;

export const allSource = (state: State): Source => ({
  stream: null,
  after: (cursor, limit) => {
    const first = indexAt(state, cursor + 1);
    return state.log.slice(first, first + limit);
  },
  cursorOf: (record) => record.position,
});

export const streamSource = (state: State, name: string): Source => ({
  stream: name,
  after: (cursor, limit) => {
    const { records, truncateBefore } = state.streams.get(name) ?? { records: [], truncateBefore: 0 };
    const first = Math.max(cursor + 1, truncateBefore);
    return records.slice(first, first + limit).filter((record) => record !== undefined);
  },
  cursorOf: (record) => record.revision,
});

const confirmation = (): streams.ReadResp =>
  new streams.ReadResp().setConfirmation(
    new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(crypto.randomUUID()),
  );

/** Opens the subscription; it closes itself with the call. Gives what there is, says that it caught up, and follows. */
export const subscribe = (
  state: State,
  call: ReadCall,
  { source, after, filter, liveBuffer, onGiven }: Subscribing,
  opened: Set<LiveSubscription>,
): LiveSubscription => {
  let cursor = after;
  let live = false;
  let open = true;
  let silent = false;
  let pumping = false;
  /** Events that were written since it is live and that the client has not been given. */
  let waiting = 0;
  let looked = 0;

  const wanted = (record: StoredRecord): boolean =>
    (source.stream === null || source.stream === record.stream) && (filter === null || filter.allows(record));

  const close = (): void => {
    open = false;
    opened.delete(subscription);
    state.listeners.delete(onWritten);
  };

  const giveRecord = async (record: StoredRecord): Promise<void> => {
    cursor = source.cursorOf(record);
    looked += 1;
    if (wanted(record)) {
      if (live) waiting -= 1;
      onGiven();
      await writeMessage(call, eventMessage(record));
    }
    if (filter === null || looked < filter.checkpointEvery || !open || silent) return;
    looked = 0;
    await writeMessage(call, checkpointMessage(record.position));
  };

  const pump = async (): Promise<void> => {
    if (pumping) return;
    pumping = true;
    while (open && !silent) {
      const page = source.after(cursor, PAGE);
      for (const record of page) if (open && !silent) await giveRecord(record);
      if (page.length > 0) continue;
      if (live) break;
      live = true;
      await writeMessage(call, new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()));
    }
    pumping = false;
  };

  const onWritten = (written: readonly StoredRecord[]) => {
    if (live) for (const record of written) if (wanted(record)) waiting += 1;
    if (silent) return;
    if (waiting > liveBuffer) {
      return subscription.fail(status.ABORTED, "Operation timed out: Consumer too slow to handle event while live");
    }
    void pump();
  };

  const subscription: LiveSubscription = {
    stream: source.stream,
    live: () => live,
    end() {
      close();
      call.end();
    },
    fail(code, details) {
      close();
      call.emit("error", callError(code, details));
    },
    silence() {
      silent = true;
    },
  };

  opened.add(subscription);
  state.listeners.add(onWritten);
  call.on("cancelled", close);
  call.on("close", close);
  call.write(confirmation());
  void pump();
  return subscription;
};
