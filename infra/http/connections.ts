import Client from "undici/lib/dispatcher/client.js";
import type { Target } from "./addresses.ts";
import type { Connector } from "./connector.ts";
import { type InterimAnswers, interimAnswers, withoutInterim } from "./interim-answers.ts";
import type { Stopwatch } from "./stopwatch.ts";

export type Connection = {
  readonly origin: string;
  readonly client: Client;
  /** True if an earlier request used the socket, so that the receiver may be closing it at this moment. */
  reused: boolean;
  /** Stopwatch and account of the present request, for which undici opens a new socket if the old one is gone. */
  stopwatch: Stopwatch;
  account: string;
  readonly interim: InterimAnswers;
  readonly ended: AbortController;
};

export type Connections = {
  /** Takes the idle connection that was used last, because its TCP window is warm; opens one if none is idle. */
  take(target: Target, account: string, stopwatch: Stopwatch): Connection;
  open(target: Target, account: string, stopwatch: Stopwatch): Connection;
  give(connection: Connection): void;
  drop(connection: Connection): void;
  /** Closes a connection that ended under a request. From then on no connection to this receiver is kept alive. */
  distrust(connection: Connection): void;
  close(): void;
};

/**
 * Idle connections are closed early, because a POST on one that the receiver is just closing has an unknown effect.
 * gunicorn closes after 2 s, Node after 5 s.
 */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MARGIN_MS = 1_000;
/** An idle connection takes a file descriptor; beyond this number, the one that was idle longest is closed. */
const IDLE_MAX = 1_024;
/** Beyond this number, all distrusted receivers are trusted again, because they may be repaired by then. */
const DISTRUSTED_MAX = 1_000;
const RESPONSE_HEADERS_BYTES_MAX = 32 * 1_024;

export const connections = (connect: Connector): Connections => {
  const idleByOrigin = new Map<string, Connection[]>();
  const idle = new Set<Connection>();
  const distrusted = new Set<string>();
  let isClosed = false;

  const forget = (connection: Connection): void => {
    if (!idle.delete(connection)) return;
    const list = idleByOrigin.get(connection.origin);
    if (list === undefined) return;
    if (list.at(-1) === connection) list.pop();
    else list.splice(list.indexOf(connection), 1);
    if (list.length === 0) idleByOrigin.delete(connection.origin);
  };

  const drop = (connection: Connection): void => {
    forget(connection);
    connection.ended.abort();
    void connection.client.destroy();
  };

  const open = (target: Target, account: string, watch: Stopwatch): Connection => {
    const client = new Client(target.origin, {
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      maxHeaderSize: RESPONSE_HEADERS_BYTES_MAX,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_options, callback) => {
        connection.reused = false;
        connection.interim.expectAnswer();
        connect(target, connection.account, connection.stopwatch, connection.ended.signal).then(
          (socket) => callback(null, withoutInterim(socket, connection.interim)),
          (error: Error) => callback(error, null),
        );
      },
    });
    const { origin } = target;
    const connection: Connection = {
      origin,
      client,
      reused: false,
      stopwatch: watch,
      account,
      interim: interimAnswers(),
      ended: new AbortController(),
    };
    client.on("disconnect", () => forget(connection));
    return connection;
  };

  return {
    take(target, account, watch) {
      const connection = idleByOrigin.get(target.origin)?.at(-1);
      if (connection === undefined) return open(target, account, watch);
      forget(connection);
      connection.stopwatch = watch;
      connection.account = account;
      connection.reused = true;
      connection.interim.expectAnswer();
      return connection;
    },
    open,
    give(connection) {
      if (isClosed || distrusted.has(connection.origin)) {
        drop(connection);
        return;
      }
      const list = idleByOrigin.get(connection.origin);
      if (list === undefined) idleByOrigin.set(connection.origin, [connection]);
      else list.push(connection);
      idle.add(connection);
      if (idle.size <= IDLE_MAX) return;
      const [oldest] = idle;
      if (oldest !== undefined) drop(oldest);
    },
    drop,
    distrust(connection) {
      drop(connection);
      if (distrusted.size >= DISTRUSTED_MAX) distrusted.clear();
      distrusted.add(connection.origin);
    },
    close() {
      isClosed = true;
      for (const connection of [...idle]) drop(connection);
    },
  };
};
