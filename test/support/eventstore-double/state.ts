/** What the double holds, as EventStoreDB does: one log of records at byte offsets, and streams that number them. */

export type StoredRecord = {
  readonly stream: string;
  /** 0-based; `TOMBSTONE_REVISION` for the record of a tombstone. */
  readonly revision: number;
  /** Where the record begins in the log, in bytes: commit and prepare position are the same, as of every plain write. */
  readonly position: number;
  /** Lower-case UUID. */
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  readonly createdMs: number;
};

export type Proposed = Pick<StoredRecord, "id" | "type" | "contentType" | "data" | "metadata">;

export type Stream = {
  readonly name: string;
  /** By revision; a scavenged one is undefined. */
  readonly records: (StoredRecord | undefined)[];
  /** Revisions below are not read; `DELETED` when the stream is softly deleted. */
  truncateBefore: number;
  tombstoned: boolean;
};

export type State = {
  /** In order of position, without what was scavenged. */
  log: StoredRecord[];
  readonly streams: Map<string, Stream>;
  /** Where the next record will begin. */
  end: number;
  /** Record starts that a scavenge removed: they remain positions that one can read from. */
  readonly scavenged: Set<number>;
  /** What makes a repeat with ANY recognizable; a restart forgets it. */
  readonly recentIds: Map<string, StoredRecord>;
  /** After so many records the server writes some of its own (0: never). */
  readonly systemEventsEvery: number;
  /** By how much the server's clock is ahead; below 0 it is behind. */
  aheadMs: number;
  sinceSystemEvents: number;
  /** Where appends begin that are written, and that nobody can read yet, nor what is behind them. */
  readonly unread: Set<number>;
  /** Told of every write, in order. */
  readonly listeners: Set<(written: readonly StoredRecord[]) => void>;
};

export const DELETED = Number.POSITIVE_INFINITY;
export const TOMBSTONE_REVISION = Number.POSITIVE_INFINITY;
/** EventNumber.DeletedStream of the server: the largest signed 64-bit number. */
export const LARGEST_INT64 = "9223372036854775807";

/** Framing and header of a record: about what a version 1 prepare takes beside its texts and bytes. */
const RECORD_OVERHEAD_BYTES = 117;
/** ESConsts.CommitedEventsMemCacheLimit is 8 MiB, with about 80 bytes an event of a short stream name. */
const RECENT_IDS_MAX = 100_000;
/** More than one, so that a small page of `$all` can hold nothing else. */
const SYSTEM_EVENTS_AT_ONCE = 5;
const SYSTEM_EVENTS_EVERY = 100;
const NOTHING = new Uint8Array();

const encoded = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

/** An empty log, but for what a server writes when it starts. `systemEventsEvery` 0 writes none at all. */
export const newState = (systemEventsEvery = SYSTEM_EVENTS_EVERY): State => {
  const state: State = {
    log: [],
    streams: new Map(),
    end: 0,
    scavenged: new Set(),
    recentIds: new Map(),
    systemEventsEvery,
    aheadMs: 0,
    sinceSystemEvents: 0,
    unread: new Set(),
    listeners: new Set(),
  };
  if (systemEventsEvery > 0) writeSystemEvents(state, SYSTEM_EVENTS_AT_ONCE);
  return state;
};

const streamOf = (state: State, name: string): Stream => {
  const known = state.streams.get(name);
  if (known !== undefined) return known;
  const stream: Stream = { name, records: [], truncateBefore: 0, tombstoned: false };
  state.streams.set(name, stream);
  return stream;
};

export const metastreamOf = (name: string): string => `$$${name}`;

/** -1 when nothing was ever written to it. */
export const lastRevision = (stream: Stream | undefined): number => (stream?.records.length ?? 0) - 1;

export const isTombstoned = (state: State, name: string): boolean =>
  state.streams.get(name)?.tombstoned === true ||
  (name.startsWith("$$") && state.streams.get(name.slice(2))?.tombstoned === true);

/** The stream's metadata are those of the last event of its metastream; only `$tb` matters here. */
const applyMetadata = (state: State, record: StoredRecord): void => {
  if (!record.stream.startsWith("$$")) return;
  try {
    const parsed: unknown = JSON.parse(Buffer.from(record.data).toString());
    const before = typeof parsed === "object" && parsed !== null && "$tb" in parsed ? Number(parsed.$tb) : 0;
    streamOf(state, record.stream.slice(2)).truncateBefore = before > Number.MAX_SAFE_INTEGER ? DELETED : before;
  } catch {
    // What is no JSON says nothing about the stream.
  }
};

const remember = (state: State, record: StoredRecord): void => {
  state.recentIds.set(record.id, record);
  if (state.recentIds.size <= RECENT_IDS_MAX) return;
  for (const oldest of state.recentIds.keys()) {
    state.recentIds.delete(oldest);
    return;
  }
};

const put = (state: State, stream: Stream, revision: number, event: Proposed, createdMs: number): StoredRecord => {
  const position = state.end;
  const record: StoredRecord = {
    stream: stream.name,
    revision,
    position,
    id: event.id,
    type: event.type,
    contentType: event.contentType,
    data: event.data,
    metadata: event.metadata,
    createdMs,
  };
  const { type, data, metadata } = event;
  state.end += RECORD_OVERHEAD_BYTES + stream.name.length + type.length + data.length + metadata.length;
  state.log.push(record);
  remember(state, record);
  return record;
};

const putAll = (state: State, stream: Stream, events: readonly Proposed[]): readonly StoredRecord[] => {
  const createdMs = Date.now() + state.aheadMs;
  return events.map((event) => {
    const record = put(state, stream, stream.records.length, event, createdMs);
    stream.records.push(record);
    applyMetadata(state, record);
    return record;
  });
};

const tell = (state: State, written: readonly StoredRecord[]): void => {
  for (const listener of state.listeners) listener(written);
};

/** What the server writes unasked (`$stats-…`): it is in `$all` like everything else. */
export const writeSystemEvents = (state: State, count: number): void => {
  const events = Array.from({ length: count }, () => ({
    id: crypto.randomUUID(),
    type: "$statsCollected",
    contentType: "application/json",
    data: encoded('{"proc-cpu":0}'),
    metadata: NOTHING,
  }));
  tell(state, putAll(state, streamOf(state, "$stats-127.0.0.1:2113"), events));
};

/** Writes without asking whether it may; now and then the server's own events follow. */
export const write = (state: State, name: string, events: readonly Proposed[]): readonly StoredRecord[] => {
  const written = putAll(state, streamOf(state, name), events);
  tell(state, written);
  state.sinceSystemEvents += written.length;
  if (state.systemEventsEvery > 0 && state.sinceSystemEvents >= state.systemEventsEvery) {
    state.sinceSystemEvents = 0;
    writeSystemEvents(state, SYSTEM_EVENTS_AT_ONCE);
  }
  return written;
};

/** Sets where the stream begins by an event in its metastream, as the server itself does. `before` is JSON of a number. */
export const writeTruncateBefore = (state: State, name: string, before: string): StoredRecord | undefined => {
  const data = encoded(`{"$tb":${before}}`);
  const event = {
    id: crypto.randomUUID(),
    type: "$metadata",
    contentType: "application/json",
    data,
    metadata: NOTHING,
  };
  return write(state, metastreamOf(name), [event])[0];
};

/** Ends the stream for ever. */
export const writeTombstone = (state: State, name: string): StoredRecord => {
  const stream = streamOf(state, name);
  const event = { id: crypto.randomUUID(), type: "$streamDeleted", contentType: "application/octet-stream" };
  const record = put(
    state,
    stream,
    TOMBSTONE_REVISION,
    { ...event, data: NOTHING, metadata: NOTHING },
    Date.now() + state.aheadMs,
  );
  stream.tombstoned = true;
  tell(state, [record]);
  return record;
};

/** The end of what can be read; infinite when that is everything. */
export const readableTo = ({ unread }: State): number => Math.min(...unread);

/** The index in the log of the first record at or behind a position. */
export const indexAt = (state: State, position: number): number => {
  let low = 0;
  let high = state.log.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((state.log[middle]?.position ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Whether a record begins, or began before it was scavenged, at the position. */
export const isRecordStart = (state: State, position: number): boolean =>
  state.log[indexAt(state, position)]?.position === position || state.scavenged.has(position);

/**
 * Removes from the log what truncation and deletion have hidden. The last event of a stream stays, tombstoned or
 * not: EventCalculator.DecideEvent of the server keeps it so that numbering goes on.
 */
export const scavenge = (state: State): void => {
  const goes = ({ stream, revision }: StoredRecord): boolean => {
    const { records, truncateBefore, tombstoned } = streamOf(state, stream);
    if (revision === TOMBSTONE_REVISION) return false;
    return tombstoned || (revision < truncateBefore && revision < records.length - 1);
  };
  state.log = state.log.filter((record) => {
    if (!goes(record)) return true;
    state.scavenged.add(record.position);
    streamOf(state, record.stream).records[record.revision] = undefined;
    return false;
  });
};
