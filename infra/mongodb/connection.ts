import { setTimeout as pause } from "node:timers/promises";
import {
  type Db,
  type DbOptions,
  MongoClient,
  type MongoClientOptions,
  MongoError,
  MongoNetworkError,
  MongoServerSelectionError,
  ReadConcern,
} from "mongodb";
import { ViewsUnavailable } from "../view-errors.ts";
import { withTimeout } from "../with-timeout.ts";

export type Connection = {
  /** The database of the present client, which may be replaced; so callers read this anew for each command. */
  readonly db: Db;
  /** `work` passes `limitMs` on to the server. Failures of MongoDB or the network become `ViewsUnavailable`. */
  run<T>(limitMs: number, work: (limitMs: number) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

const SELECTION_MS = 5_000;
const CONNECT_MS = 5_000;
const SOCKET_MS = 30_000;
const POOL_MAX = 32;
const POOL_WAIT_MS = 5_000;
const MAJORITY_MS = 10_000;
const CLOSE_MS = 5_000;
/** For so long a start tries again when the server is there but too busy to answer. */
const BUSY_MS = 30_000;
const BUSY_PAUSE_MS = 250;

/** These guarantees are set on the database, because some settings of a URL override those of its client. */
const GUARANTEES: DbOptions = {
  readPreference: "primary",
  readConcern: new ReadConcern("majority"),
  // Without the journal a single server acknowledges writes that a power loss takes back.
  writeConcern: { w: "majority", journal: true, wtimeoutMS: MAJORITY_MS },
};

const OPTIONS: MongoClientOptions = {
  ...GUARANTEES,
  appName: "countersign",
  retryReads: true,
  retryWrites: true,
  serverSelectionTimeoutMS: SELECTION_MS,
  connectTimeoutMS: CONNECT_MS,
  socketTimeoutMS: SOCKET_MS,
  maxPoolSize: POOL_MAX,
  waitQueueTimeoutMS: POOL_WAIT_MS,
  ignoreUndefined: true,
};

const URL_WITH_DATABASE = /^mongodb(?:\+srv)?:\/\/[^/?]+\/[^/?]+(?:\?.*)?$/;

const DATABASE = /^[^/\\. "$*<>:|?@]{1,63}$/;

const WANTED = "mongodb://<host>:<port>/<database>";

const NOT_ALLOWED = 13;
/** MongoDB's code AuthenticationFailed, and the code that Atlas has for it. */
const REFUSED: ReadonlySet<unknown> = new Set([18, 8000]);

const isOfSocket = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && (error.code === "EPIPE" || error.code === "ECONNRESET");

/** The part of the settings to correct: servers of another set, or without TLS, look silent to the driver. */
const wrongPart = ({ reason }: MongoServerSelectionError, { replicaSet, tls }: MongoClient["options"]): string => {
  if (reason?.type === "ReplicaSetNoPrimary")
    return `MONGODB_URL, where replicaSet=${replicaSet} has to be the name of their set, which has to have a primary`;
  return tls ? "MONGODB_URL, where TLS is asked for (tls=false is for a server without)" : "MONGODB_URL";
};

const sentenceOf = (error: unknown, { options }: MongoClient, hosts: string, database: string): string | null => {
  if (error instanceof Error && "syscall" in error && error.syscall === "querySrv")
    return (
      `There are no addresses of a MongoDB under ${hosts} (${error.message}): ` +
      "correct MONGODB_URL, where mongodb+srv:// takes a name that has SRV records in DNS and mongodb:// takes hosts."
    );
  if (!(error instanceof MongoError)) return null;
  if (REFUSED.has(error.code)) return `MongoDB at ${hosts} refuses the user name or the password in MONGODB_URL.`;
  if (error.code === NOT_ALLOWED)
    return (
      `MongoDB at ${hosts} does not let the program read and write the database ${database}: ` +
      "name a user in MONGODB_URL that has the role readWrite on it."
    );
  const reason = error.message.replace(/\.$/, "");
  if (error instanceof MongoServerSelectionError)
    return `No MongoDB that takes writes answers at ${hosts} (${reason}): start it, or correct ${wrongPart(error, options)}.`;
  return `MongoDB at ${hosts} cannot be used (${reason}).`;
};

const clientOf = (url: string): MongoClient => {
  if (!/^mongodb(?:\+srv)?:\/\//.test(url)) throw new Error(`MONGODB_URL is no MongoDB URL: give ${WANTED}.`);
  if (/^[^:]+:\/\/(?:[^/?]*@)?(?:[/?]|$)/.test(url)) throw new Error(`MONGODB_URL names no host: give ${WANTED}.`);
  if (!URL_WITH_DATABASE.test(url)) throw new Error(`MONGODB_URL names no database: give ${WANTED}.`);
  let client: MongoClient;
  try {
    client = new MongoClient(url, OPTIONS);
  } catch {
    // The driver's own message is replaced, because it may repeat a part of the URL, with the password.
    throw new Error(
      `MONGODB_URL cannot be understood: give ${WANTED}, with the special characters of a password percent-encoded.`,
    );
  }
  if (!DATABASE.test(client.options.dbName))
    throw new Error(
      "MONGODB_URL names a database as none can be called: up to 63 letters, digits, dashes and underscores are safe.",
    );
  return client;
};

/** The driver has a class of its own for this error, and does not export it. */
const isOfPool = (error: unknown): boolean =>
  error instanceof MongoError && error.name === "MongoWaitQueueTimeoutError";

/** A server that could not be chosen is missing, not busy, and is another error: the driver has waited for it already. */
const isBusy = (error: unknown): boolean => isOfPool(error) || error instanceof MongoNetworkError;

/** `prepare` is safe to repeat, because several processes may prepare one database at the same time. */
const prepared = async (db: Db, prepare: (db: Db) => Promise<void>): Promise<void> => {
  const until = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return await prepare(db);
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error;
      await pause(BUSY_PAUSE_MS);
    }
  }
};

const hostsOf = ({ options }: MongoClient): string => options.srvHost ?? options.hosts.join(", ");

/**
 * A client that finds no server is replaced: when all its connections break at once, the driver can write to an ended
 * socket and wait for ever.
 */
export const openConnection = async (url: string, prepare: (db: Db) => Promise<void>): Promise<Connection> => {
  let client = clientOf(url);
  let db = client.db(undefined, GUARANTEES);
  const hosts = hostsOf(client);
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;

  try {
    await client.connect();
    await prepared(db, prepare);
  } catch (error) {
    await client.close().catch(() => undefined);
    const sentence = sentenceOf(error, client, hosts, db.databaseName);
    throw sentence === null ? error : new Error(sentence, { cause: error });
  }

  const unavailable = (error: unknown): unknown =>
    error instanceof MongoError || isOfSocket(error)
      ? new ViewsUnavailable(`MongoDB at ${hosts}: ${error.message}`, { cause: error })
      : error;

  /** The driver's limits each cover the choice of a server, the pool or the answer; this one covers them together. */
  const withinMs = <T>(limitMs: number, answer: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const late = () => reject(new ViewsUnavailable(`no answer from MongoDB at ${hosts} within ${limitMs} ms`));
      const timer = setTimeout(late, limitMs);
      answer.then(resolve, (error: unknown) => reject(unavailable(error))).finally(() => clearTimeout(timer));
    });

  const replace = (seen: MongoClient): void => {
    if (isClosed || seen !== client) return;
    client = clientOf(url);
    db = client.db(undefined, GUARANTEES);
    seen.close().catch(() => undefined);
  };

  return {
    get db() {
      return db;
    },
    async run(limitMs, work) {
      if (isClosed) throw new ViewsUnavailable("the views are closed");
      const asked = client;
      const working = work(limitMs);
      working.catch((error: unknown) => error instanceof MongoServerSelectionError && replace(asked));
      const answer = withinMs(limitMs, working);
      const settled = answer.catch(() => undefined).finally(() => underWay.delete(settled));
      underWay.add(settled);
      return answer;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await withTimeout(CLOSE_MS, "commands are still under way", Promise.all(underWay)).catch(() => undefined);
      await client.close();
    },
  };
};
