import type { EventStoreDBClient } from "@eventstore/db-client";
import { END, streamNameFilter } from "@eventstore/db-client";
import { StreamsClient } from "@eventstore/db-client/generated/streams_grpc_pb.js";
import type streams from "@eventstore/db-client/generated/streams_pb.js";
import type { CallOptions, Metadata } from "@grpc/grpc-js";
import { ERASABLE_CATEGORIES } from "../stream-name.ts";
import { failureOf } from "./client-failures.ts";
import { allRequest, storedEvent, streamRequest } from "./client-read-messages.ts";
import { type AllPage, ConnectionFailure, type Follower, type StoredEvent, type StreamPage } from "./connection.ts";

/** A subscription is a mere signal, so it also leaves out system streams. */
const SIGNALLED = `^(?!\\$|${ERASABLE_CATEGORIES.map((category) => `${category}-`).join("|")})`;

type ReadCall = ReturnType<StreamsClient["read"]>;

type HiddenMembers = {
  readonly GRPCStreamCreator: (
    Client: typeof StreamsClient,
    name: string,
    create: (client: StreamsClient) => ReadCall,
  ) => () => Promise<ReadCall>;
  readonly callArguments: (
    options: object,
    callOptions: { readonly deadline: number },
  ) => [Metadata, Partial<CallOptions>];
};

type Asked = {
  readonly request: streams.ReadReq;
  readonly wanted: NonNullable<AllPage["wanted"]>;
  readonly idleMs: number;
};

/** A node of the cluster that is not the leader may lack a new payload, which would then look erased. */
const REQUIRES_LEADER = { requiresLeader: true };

/**
 * Replaces the client's reads: its `readAll` passes no filter to the server, and both decode each event more slowly.
 * The client's types hide the members that this uses, which other versions may lack; the client's version is pinned.
 */
const readPage = (client: EventStoreDBClient, { request, wanted, idleMs }: Asked): Promise<readonly StoredEvent[]> =>
  new Promise((resolve, reject) => {
    const below = client as unknown as HiddenMembers;
    const events: StoredEvent[] = [];
    let call: ReadCall | null = null;
    let isOver = false;
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      settle();
    };
    const fail = (error: unknown): void =>
      end(() => {
        call?.cancel();
        reject(failureOf(error));
      });
    const timer = setTimeout(() => {
      fail(new ConnectionFailure("unknown", "silent", `the server was silent for ${Math.round(idleMs)} ms`));
    }, idleMs);
    const create = (grpc: StreamsClient): ReadCall => {
      const made = grpc.read(request, ...below.callArguments(REQUIRES_LEADER, { deadline: Number.POSITIVE_INFINITY }));
      call = made;
      made.on("data", (answer: streams.ReadResp) => {
        if (isOver) return;
        timer.refresh();
        try {
          const event = storedEvent(answer, wanted);
          if (event !== null) events.push(event);
        } catch (error) {
          fail(error);
        }
      });
      made.on("end", () => end(() => resolve(events)));
      // The listener stays, because an error may come after the page's end and would end the process unheard.
      made.on("error", fail);
      // The server was silent while a connection was looked for, and nobody waits for the page any more.
      if (isOver) made.cancel();
      return made;
    };
    below.GRPCStreamCreator(StreamsClient, "read", create)().catch(fail);
  });

const all = (): boolean => true;

export const readStreamPage = (
  client: EventStoreDBClient,
  stream: string,
  page: StreamPage,
  idleMs: number,
): Promise<readonly StoredEvent[]> => readPage(client, { request: streamRequest(stream, page), wanted: all, idleMs });

export const readAllPage = (
  client: EventStoreDBClient,
  page: AllPage,
  idleMs: number,
): Promise<readonly StoredEvent[]> =>
  readPage(client, { request: allRequest(page), wanted: page.wanted ?? all, idleMs });

export const followRecords = (client: EventStoreDBClient, { opened, appended, dropped }: Follower): (() => void) => {
  const subscription = client.subscribeToAll({ fromPosition: END, filter: streamNameFilter({ regex: SIGNALLED }) });
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
