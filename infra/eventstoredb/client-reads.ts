import type { AllStreamResolvedEvent, EventStoreDBClient, ResolvedEvent, StreamingRead } from "@eventstore/db-client";
import { END, streamNameFilter } from "@eventstore/db-client";
import type { JsonObject } from "../../domain/json.ts";
import { ERASABLE_CATEGORIES } from "../stream-name.ts";
import { cursorFrom } from "./client-append-messages.ts";
import { failureOf, isStreamNotFound } from "./client-failures.ts";
import { type AllPage, ConnectionFailure, type Follower, type StoredEvent, type StreamPage } from "./connection.ts";

type Resolved = ResolvedEvent | AllStreamResolvedEvent;

const TOO_OLD = "EventStoreDB 22.6 or newer is needed: this one does not say where in the log an event is";
/** The server, a .NET program, leaves system streams and erasable streams out by this regular expression. */
const RECORDS = `^(?!\\$|${ERASABLE_CATEGORIES.map((category) => `${category}-`).join("|")})`;
const BUFFER_EVENTS = 256;

const jsonObject = (value: unknown): JsonObject | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? // The client parsed the value from JSON.
      (value as JsonObject)
    : null;

/** By this field a damaged event of ours is recognised: hardly any other program writes metadata with such a field. */
const OWN_META = "command_id";

const isOwn = (meta: unknown): boolean =>
  meta instanceof Uint8Array
    ? Buffer.from(meta).includes(`"${OWN_META}"`)
    : typeof meta === "object" && meta !== null && OWN_META in meta;

type IsWanted = NonNullable<AllPage["wanted"]>;

const stored = ({ event }: Resolved, wanted: IsWanted): StoredEvent[] => {
  if (event === undefined) return [];
  const { id, type, streamId, revision, position, data, metadata, created } = event;
  const at = position === undefined ? null : cursorFrom(position.commit, position.prepare);
  if (at === null) throw new ConnectionFailure("refused", "too-old", TOO_OLD);
  const [stream, json, meta] = [streamId, jsonObject(data), jsonObject(metadata)];
  const kept = json === null || wanted({ stream, type }) ? json : {};
  const writtenMs = created.getTime() || null;
  const isDamaged = (json === null || meta === null) && isOwn(metadata);
  return [{ id, type, stream, revision: Number(revision), at, writtenMs, data: kept, meta, isDamaged }];
};

const giveUp = (read: { cancel(): Promise<void> }): void => {
  read.cancel().catch(() => undefined);
};

const all: IsWanted = () => true;

const collected = (
  read: StreamingRead<Resolved>,
  idleMs: number,
  wanted: IsWanted = all,
): Promise<readonly StoredEvent[]> =>
  new Promise((resolve, reject) => {
    const events: StoredEvent[] = [];
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      giveUp(read);
      if (isStreamNotFound(error)) resolve([]);
      else reject(failureOf(error));
    };
    const timer = setTimeout(() => {
      fail(new ConnectionFailure("unknown", "silent", `the server was silent for ${Math.round(idleMs)} ms`));
    }, idleMs);
    read.on("data", (event: Resolved) => {
      timer.refresh();
      try {
        events.push(...stored(event, wanted));
      } catch (error) {
        fail(error);
      }
    });
    read.on("end", () => {
      clearTimeout(timer);
      resolve(events);
    });
    // The listener stays, because an error may come after the page's end and would end the process unheard.
    read.on("error", fail);
  });

const buffered = { highWaterMark: BUFFER_EVENTS };
/** A node of the cluster that is not the leader may lack a new payload, which would then look erased. */
const requiresLeader = true;

export const readStreamPage = (
  client: EventStoreDBClient,
  stream: string,
  page: StreamPage,
  idleMs: number,
): Promise<readonly StoredEvent[]> => {
  const { direction, count, from } = page;
  const fromRevision = from === "end" ? from : BigInt(from);
  return collected(
    client.readStream(stream, { direction, fromRevision, maxCount: count, requiresLeader }, buffered),
    idleMs,
  );
};

export const readAllPage = (
  client: EventStoreDBClient,
  { direction, from, count, wanted }: AllPage,
  idleMs: number,
): Promise<readonly StoredEvent[]> => {
  const read = client.readAll({ direction, fromPosition: from, maxCount: count, requiresLeader }, buffered);
  return collected(read, idleMs, wanted);
};

export const followRecords = (client: EventStoreDBClient, { opened, appended, dropped }: Follower): (() => void) => {
  const subscription = client.subscribeToAll({ fromPosition: END, filter: streamNameFilter({ regex: RECORDS }) });
  let isOver = false;
  const leave = (): void => {
    isOver = true;
    subscription.unsubscribe().catch(() => undefined);
  };
  const drop = (): void => {
    if (isOver) return;
    leave();
    dropped();
  };
  subscription.on("confirmation", () => isOver || opened());
  subscription.on("data", ({ event }) => isOver || event === undefined || appended(event.position));
  subscription.on("error", drop);
  subscription.on("end", drop);
  subscription.on("close", drop);
  return leave;
};
