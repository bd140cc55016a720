import { EventStoreDBClient } from "@eventstore/db-client";
import { within } from "../within.ts";
import { type AppendCall, openAppendCall } from "./client-appends.ts";
import { failureOf } from "./client-failures.ts";
import { followRecords, readAllPage, readStreamPage } from "./client-reads.ts";
import { type Connection, ConnectionFailure } from "./connection.ts";

/** `Connection` on `@eventstore/db-client`. Nothing outside of `client.ts` and `client-*.ts` knows that client. */

/** A connection on which nothing is heard is asked after the client's 10 s for a sign of life, and dropped after this. */
const KEEP_ALIVE_TIMEOUT_MS = 5_000;
/** By how many milliseconds, one for each client, that may be longer. */
const KEEP_ALIVE_STEPS = 1_000;
const KEEP_ALIVE = /keep[-_]?alive[-_]?timeout=(?<ms>-?\d+)/i;
const NOT_A_URL = "not a connection string of EventStoreDB, such as esdb://127.0.0.1:2113?tls=false";
/** What is left to end when the connection is closed ends by being cancelled, which takes no time. */
const DISPOSE_MS = 1_000;

/**
 * gRPC shares a connection among clients of the same settings, also one on which nothing is heard any more. A setting that
 * differs, by what is of no account, gives a client a connection of its own.
 */
const urlOf = (url: string, generation: number): string => {
  const given = Number(KEEP_ALIVE.exec(url)?.groups?.ms ?? KEEP_ALIVE_TIMEOUT_MS);
  if (given < 0) return url;
  return `${url}${url.includes("?") ? "&" : "?"}keepAliveTimeout=${given + (generation % KEEP_ALIVE_STEPS)}`;
};

/** What the client's own commands are made of; its types hide it from everybody else. */
type Below = {
  readonly getChannel: () => Promise<{ close(): void }>;
  handleError: (...failed: readonly unknown[]) => Promise<void>;
};

/** Private in the types alone, and the version is pinned. */
const below = (client: EventStoreDBClient): Below => client as unknown as Below;

/**
 * Behind each call that failed the client looks whether it has to connect elsewhere. Nobody waits for that look, which
 * fails as well while no node of a cluster can be found: an unhandled rejection, and the end of the process.
 */
const calmed = (client: EventStoreDBClient): EventStoreDBClient => {
  const look = below(client).handleError;
  below(client).handleError = (...failed) => look(...failed).catch(() => undefined);
  return client;
};

type Generation = { readonly client: EventStoreDBClient; appends: Promise<AppendCall> | null };

/**
 * One client at a time. It is replaced when the server is silent: its connection may be half open, which TCP notices late
 * and the client after 15 s. What was begun on the old one goes on there as far as it can, and everything new dials
 * anew. (A connection that breaks is noticed at once, and dialled again by the client itself.) Throws a plain `Error` for
 * what is no connection string.
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
    // What it says of the text shows a part of it, in which a password may be; else it is about a file of a certificate.
    const isText = error instanceof Error && "connectionString" in error;
    throw new Error(isText ? NOT_A_URL : `EventStoreDB's connection string: ${failureOf(error).message}`);
  }

  /** Calls that are under way go on. */
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
    // What cannot be closed was never opened.
    retire(seen).catch(() => undefined);
  };

  /** Runs one call; after a silent one the next is made on a new client. */
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
    // Unless it is over already.
    if (generation.appends !== null) openCalls.add(call);
    return call;
  };

  return {
    append: (stream, expected, events, timeoutMs) =>
      using(async (generation) => {
        const deadline = performance.now() + timeoutMs;
        generation.appends ??= openAppends(generation);
        // Finding a cluster's leader may take longer.
        const call = await within(timeoutMs, `No connection established within ${timeoutMs} ms`, generation.appends);
        return call.append(stream, expected, events, Math.max(deadline - performance.now(), 0));
      }),

    readStream: (stream, page, idleMs) => using(({ client }) => readStreamPage(client, stream, page, idleMs)),

    readAll: (page, idleMs) => using(({ client }) => readAllPage(client, page, idleMs)),

    follow: (follower) => followRecords(current.client, follower),

    async close() {
      isClosed = true;
      for (const call of openCalls) call.end(new ConnectionFailure("unknown", "closed", "the event log was closed"));
      await within(DISPOSE_MS, "the client does not end", current.client.dispose()).catch(() => undefined);
      await closeChannel(current).catch(() => undefined);
    },
  };
};
