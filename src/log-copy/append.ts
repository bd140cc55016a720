import type { PayloadRef } from "../../domain/delivery/events.ts";
import type { EventLog, Expected, Metadata, NewEvent, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import { APPEND_BYTES_MAX } from "../../infra/event-log-arguments.ts";
import { isErasable, parseStreamName } from "../../infra/stream-name.ts";
import { erasureStream, personalStream } from "../erasure/personal-data.ts";
import { payloadStream } from "../streams/payloads.ts";
import { appendKnown } from "../streams/run-command.ts";
import { pagesOf } from "../streams/stream-pages.ts";
import { eraseUpTo } from "./placeholders.ts";

export class CopyRefused extends Error {
  override readonly name = "CopyRefused";
}

const BATCH_EVENTS_MAX = 500;
/** Less than the 8 MiB and 512 appends of one turn of the event loop that SQLite's writer thread commits at once. */
const FLIGHT_BYTES_MAX = 4 * 1024 * 1024;
/** Last revisions are kept for this many erasable streams. In a forgotten one, a record waits to be appended alone. */
const HEADS_MAX = 100_000;
const READ_PAGE = 500;
/** A longer append goes alone, unless the target has taken one as long. If it is refused, nothing stands after the gap. */
const BYTES_TOGETHER_MAX = 64 * 1024;

type Batch = {
  readonly stream: string;
  readonly expected: Exclude<Expected, "any">;
  readonly events: NewEvent[];
  bytes: number;
};

export type RecordAppender = {
  add(record: RecordedEvent): Promise<void>;
  flush(): Promise<void>;
  /** The streams that the source has erased and the target still shows, each with the last revision to erase. */
  readonly unerased: ReadonlyMap<string, Revision>;
};

const before = (revision: Revision): Exclude<Expected, "any"> => (revision === 0 ? "absent" : revision - 1);
const sizeOf = ({ type, data, meta }: NewEvent): number =>
  Buffer.byteLength(type) + Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(meta));
const tooLong = ({ stream, revision }: RecordedEvent, bytes: number): CopyRefused =>
  new CopyRefused(
    `${stream}, revision ${revision}, has ${bytes} bytes, and no engine takes more than ${APPEND_BYTES_MAX} at once. Erase it in the source, and run the same copy again.`,
  );
const refused = ({ stream, expected }: Batch, actual: Revision | "absent"): CopyRefused =>
  new CopyRefused(
    `The target was written to meanwhile: ${stream} is at ${actual} instead of ${expected}. Stop what writes there, and run the same copy again.`,
  );
const takenByErasure = ({ stream, revision }: RecordedEvent): CopyRefused =>
  new CopyRefused(
    `${stream} was erased in the target by an earlier copy, for which its engine took revision ${revision}, and has come again in the source since. Copy into an empty target.`,
  );
const erasedBy = ({ type, data, stream }: RecordedEvent): string | null => {
  if (type === "PayloadErased" && stream === `delivery-${data.event_id}`) return payloadStream(String(data.event_id));
  if (type === "BundlePayloadErased" && stream === `bundle-${data.bundle_id}`)
    return payloadStream(String(data.bundle_id));
  if (type === "PersonalDataErased" && stream === erasureStream(String(data.id)))
    return personalStream(String(data.id));
  return null;
};

const referredTo = async (source: EventLog, { stream, revision }: RecordedEvent): Promise<Revision> => {
  let highest = 0;
  for await (const page of pagesOf(source, stream, null, READ_PAGE)) {
    for (const record of page) {
      if (record.revision >= revision) return highest;
      // Every decision has the reference of its payload in `payload`. In a record with an `index`, it refers to the
      // stream of a bundle's step.
      const { payload, index } = record.data as { readonly payload?: Partial<PayloadRef>; readonly index?: number };
      if (index === undefined) highest = Math.max(highest, payload?.revision ?? 0);
    }
  }
  return highest;
};

/**
 * Appends in the source's order, so that an interrupted copy is a beginning of the source. `inFlight` is 1 unless the
 * target writes appends that are sent together in their order. If their answers are lost, the engine sends all of them
 * again in that order. As a repeat adds nothing, each record still comes after those before it.
 */
export const recordAppender = (source: EventLog, target: EventLog, inFlight: number): RecordAppender => {
  let flight: Batch[] = [];
  let flightBytes = 0;
  let bytesTaken = BYTES_TOGETHER_MAX;
  const heads = new Map<string, Revision>();
  const unerased = new Map<string, Revision>();

  const send = ({ stream, expected, events }: Batch, isAlone: boolean): ReturnType<EventLog["append"]> =>
    // Only a lone append is retried, because the retry of one append among several could overtake the others.
    isAlone ? appendKnown(target, stream, expected, events) : target.append(stream, expected, events);

  const flush = async (): Promise<void> => {
    const batches = flight;
    flight = [];
    flightBytes = 0;
    const outcomes = await Promise.all(batches.map((batch) => send(batch, batches.length === 1)));
    for (const [index, outcome] of outcomes.entries()) {
      const batch = batches[index];
      if (batch !== undefined && outcome.outcome === "conflict") throw refused(batch, outcome.actual);
    }
    bytesTaken = Math.max(bytesTaken, ...batches.map(({ bytes }) => bytes));
  };

  const eraseTo = async ({ stream, upTo }: { stream: string; upTo: Revision }, meta: Metadata): Promise<void> => {
    if (!(await eraseUpTo(target, stream, upTo, meta))) unerased.set(stream, upTo);
  };

  const isBlank = async ({ stream, revision }: RecordedEvent, actual: Revision | "absent"): Promise<boolean> =>
    actual === revision && (await target.read(stream, revision - 1, 1)).length === 0;

  /** The source may have erased the records before `record`; the target then needs placeholders at their revisions. */
  const addAfterGap = async (batch: Batch, record: RecordedEvent): Promise<void> => {
    await flush();
    const first = await send(batch, true);
    if (first.outcome === "appended") return;
    const isShort = first.actual === "absent" || first.actual < record.revision - 1;
    if (!isShort) {
      if (await isBlank(record, first.actual)) throw takenByErasure(record);
      throw refused(batch, first.actual);
    }
    await eraseTo({ stream: record.stream, upTo: record.revision - 1 }, record.meta);
    const second = await send(batch, true);
    if (second.outcome === "conflict") throw refused(batch, second.actual);
  };

  /** Placeholders take the erased payload's revisions in the target, else a repeated request could bring it back. */
  const erase = async (stream: string, record: RecordedEvent): Promise<void> => {
    const [first] = await source.read(stream, null, 1);
    // The source still shows a payload older than the record of the erasure, so the stream is copied as it is.
    if (first !== undefined && first.position < record.position) return;
    await flush();
    await eraseTo({ stream, upTo: await referredTo(source, record) }, record.meta);
  };

  const follows = ({ stream, revision }: RecordedEvent): boolean => {
    if (!isErasable(parseStreamName(stream))) return true;
    const isNext = revision === 0 || heads.get(stream) === revision - 1;
    if (heads.size >= HEADS_MAX) heads.clear();
    heads.set(stream, revision);
    return isNext;
  };

  return {
    flush,
    unerased,
    async add(record) {
      const { stream, revision, id, type, data, meta } = record;
      const event = { id, type, data, meta };
      const bytes = sizeOf(event);
      // The engine would refuse this append alone and leave a gap among those in flight, so the record is refused here.
      if (bytes > APPEND_BYTES_MAX) throw tooLong(record, bytes);
      const erased = erasedBy(record);
      if (erased !== null) await erase(erased, record);
      const batch = { stream, expected: before(revision), events: [event], bytes };
      if (!follows(record)) return addAfterGap(batch, record);
      const last = flight.at(-1);
      const isSame = last?.stream === stream && last.events.length < BATCH_EVENTS_MAX;
      const room = flight.length === 1 ? APPEND_BYTES_MAX : bytesTaken;
      if (isSame && last.bytes + bytes <= room) {
        last.events.push(event);
        last.bytes += bytes;
      } else {
        const isFull = flight.length >= inFlight || flightBytes + bytes > FLIGHT_BYTES_MAX;
        if (isFull || bytes > bytesTaken || (last?.bytes ?? 0) > bytesTaken) await flush();
        flight.push(batch);
      }
      flightBytes += bytes;
    },
  };
};
