import { EventStoreDBClient } from "@eventstore/db-client";
import { withTimeout } from "../with-timeout.ts";
import { type AppendCall, openAppendCall } from "./client-appends.ts";
import { failureOf } from "./client-failures.ts";
import { followRecords, readAllPage, readStreamPage } from "./client-reads.ts";
import { type Connection, ConnectionFailure } from "./connection.ts";

/** The client pings a connection after 10 s of silence, and drops it if no answer comes within this time. */
const KEEP_ALIVE_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_STEPS = 1_000;
const KEEP_ALIVE = /keep[-_]?alive[-_]?timeout=(?<ms>-?\d+)/i;
const NOT_A_URL = "not a connection string of EventStoreDB, such as esdb://127.0.0.1:2113?tls=false";
const DISPOSE_MS = 1_000;

/** gRPC shares a connection, even a dead one, among clients with equal settings, so each client's timeout differs. */
const urlOf = (url: string, generation: number): string => {
  const given = Number(KEEP_ALIVE.exec(url)?.groups?.ms ?? KEEP_ALIVE_TIMEOUT_MS);
  if (given < 0) return url;
  return `${url}${url.includes("?") ? "&" : "?"}keepAliveTimeout=${given + (generation % KEEP_ALIVE_STEPS)}`;
};

type HiddenMembers = {
  readonly getChannel: () => Promise<{ close(): void }>;
  handleError: (...failed: readonly unknown[]) => Promise<void>;
};

/** The client's types hide these members, which other versions may lack; the client's version is pinned. */
const below = (client: EventStoreDBClient): HiddenMembers => client as unknown as HiddenMembers;

/** After a failed call the client checks whether to reconnect; a failure of this check would end the process. */
const calmed = (client: EventStoreDBClient): EventStoreDBClient => {
  const look = below(client).handleError;
  below(client).handleError = (...failed) => look(...failed).catch(() => undefined);
  return client;
};

type Generation = { readonly client: EventStoreDBClient; appends: Promise<AppendCall> | null };

/**
 * The client is replaced when the server is silent, because TCP and the client notice a half-open connection late.
 * Throws a plain `Error` for an invalid connection string.
 */
export const clientConnection = (url: string): Connection => {
  const openCalls = new Set<AppendCall>();
  let generations = 0;
  let isClosed = false;

  const make = (): Generation => {
    generations += 1;
    return { client: calmed(EventStoreDBClient.connectionString(urlOf(url, generations))), appends: null };
  };

  let current: Generation;
  try {
    current = make();
  } catch (error) {
    // The client's message is replaced, because it quotes the connection string, which may contain a password.
    const isText = error instanceof Error && "connectionString" in error;
    throw new Error(isText ? NOT_A_URL : `EventStoreDB's connection string: ${failureOf(error).message}`);
  }

  const closeChannel = async ({ client }: Generation): Promise<void> => {
    const channel = await below(client).getChannel();
    channel.close();
  };

  const retire = async (generation: Generation): Promise<void> => {
    (await generation.appends)?.retire();
    await closeChannel(generation);
  };

  const renew = (seen: Generation): void => {
    if (isClosed || seen !== current) return;
    current = make();
    retire(seen).catch(() => undefined);
  };

  const using = async <T>(call: (generation: Generation) => Promise<T>): Promise<T> => {
    if (isClosed) throw new ConnectionFailure("refused", "closed", "the event log is closed");
    const generation = current;
    try {
      return await call(generation);
    } catch (error) {
      const failure = failureOf(error);
      if (failure.reason === "silent") renew(generation);
      throw failure;
    }
  };

  const openAppends = async (generation: Generation): Promise<AppendCall> => {
    let call: AppendCall | undefined;
    const over = (): void => {
      generation.appends = null;
      if (call !== undefined) openCalls.delete(call);
    };
    try {
      call = await openAppendCall(generation.client, over);
    } catch (error) {
      over();
      throw error;
    }
    if (generation.appends !== null) openCalls.add(call);
    return call;
  };

  return {
    append: (stream, expected, events, timeoutMs) =>
      using(async (generation) => {
        const deadline = performance.now() + timeoutMs;
        generation.appends ??= openAppends(generation);
        // The wait is limited, because finding a cluster's leader may take longer than the append may take.
        const call = await withTimeout(
          timeoutMs,
          `No connection established within ${timeoutMs} ms`,
          generation.appends,
        );
        return call.append(stream, expected, events, Math.max(deadline - performance.now(), 0));
      }),

    readStream: (stream, page, idleMs) => using(({ client }) => readStreamPage(client, stream, page, idleMs)),

    readAll: (page, idleMs) => using(({ client }) => readAllPage(client, page, idleMs)),

    follow: (follower) => followRecords(current.client, follower),

    async close() {
      isClosed = true;
      for (const call of openCalls) call.end(new ConnectionFailure("unknown", "closed", "the event log was closed"));
      await withTimeout(DISPOSE_MS, "the client does not end", current.client.dispose()).catch(() => undefined);
      await closeChannel(current).catch(() => undefined);
    },
  };
};
