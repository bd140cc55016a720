import {
  type Db,
  type DbOptions,
  MongoClient,
  type MongoClientOptions,
  MongoError,
  MongoServerSelectionError,
  ReadConcern,
} from "mongodb";
import { ViewsUnavailable } from "../view-errors.ts";

export type Connection = {
  /** To be asked for by each command: another may take its place. */
  readonly db: Db;
  /**
   * One question to the server and its answer, within so many ms; `work` gets the time as what the server is told.
   * Throws `ViewsUnavailable` for whatever MongoDB or the way to it answers, and when the time is over.
   */
  run<T>(limitMs: number, work: (limitMs: number) => Promise<T>): Promise<T>;
  /** Waits for what is under way, for a bounded time. */
  close(): Promise<void>;
};

/** Time for a replica set to choose a new primary is longer: whoever asks meanwhile is told to ask again. */
const SELECTION_MS = 5_000;
const CONNECT_MS = 5_000;
/** The longest that a socket may be silent while an answer is due; above all limits of single questions. */
const SOCKET_MS = 30_000;
/** Followed views commit side by side, and lists are read beside them. */
const POOL_MAX = 32;
/** As for a connection that is made; who has less time says so himself. */
const POOL_WAIT_MS = 5_000;
/** For a majority to have a write, so that no change of the primary takes it back. */
const MAJORITY_MS = 10_000;
const CLOSE_MS = 5_000;

/** What folding rests on: said of the database as well, as some settings of a URL win over those of its client. */
const GUARANTEES: DbOptions = {
  readPreference: "primary",
  readConcern: new ReadConcern("majority"),
  // Journaled: a single server would else acknowledge what a loss of power takes back.
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
  // As JSON does.
  ignoreUndefined: true,
};

/** mongodb://user:password@one:27017,two:27017/database?options (MongoDB, Connection String Specification). */
const URL_WITH_DATABASE = /^mongodb(?:\+srv)?:\/\/[^/?]+\/[^/?]+(?:\?.*)?$/;

/** What every MongoDB takes: https://www.mongodb.com/docs/manual/reference/limits/#naming-restrictions */
const DATABASE = /^[^/\\. "$*<>:|?@]{1,63}$/;

const WANTED = "mongodb://<host>:<port>/<database>";

/** Unauthorized. */
const NOT_ALLOWED = 13;
/** AuthenticationFailed, and what MongoDB Atlas says instead. */
const REFUSED: ReadonlySet<unknown> = new Set([18, 8000]);

/** What the driver lets through of a connection that ends while it writes. */
const isOfSocket = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && (error.code === "EPIPE" || error.code === "ECONNRESET");

/** What a choice of a server that only timed out leaves unsaid: servers of another set, or without TLS, look silent. */
const wrongPart = ({ reason }: MongoServerSelectionError, { replicaSet, tls }: MongoClient["options"]): string => {
  if (reason?.type === "ReplicaSetNoPrimary")
    return `MONGODB_URL, where replicaSet=${replicaSet} has to be the name of their set, which has to have a primary`;
  return tls ? "MONGODB_URL, where TLS is asked for (tls=false is for a server without)" : "MONGODB_URL";
};

/** For whoever starts the program; the message of the driver names hosts, never a password. */
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
    // The driver's own message may repeat a part of the URL, and with it the password.
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

const hostsOf = ({ options }: MongoClient): string => options.srvHost ?? options.hosts.join(", ");

/**
 * Connects to the database that the URL names, and prepares it with `prepare`. Rejects with one sentence that says what
 * to do. One client is one pool: what is asked afterwards goes to whichever server is the primary by then.
 *
 * A client that finds no server is replaced. It may never look for one again: when all connections break at once, the
 * driver can write its next look to a socket that has ended and is not closed yet, and waits for that for ever.
 */
export const openConnection = async (url: string, prepare: (db: Db) => Promise<void>): Promise<Connection> => {
  let client = clientOf(url);
  let db = client.db(undefined, GUARANTEES);
  const hosts = hostsOf(client);
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;

  try {
    await client.connect();
    await prepare(db);
  } catch (error) {
    await client.close().catch(() => undefined);
    const sentence = sentenceOf(error, client, hosts, db.databaseName);
    throw sentence === null ? error : new Error(sentence, { cause: error });
  }

  const unavailable = (error: unknown): unknown =>
    error instanceof MongoError || isOfSocket(error)
      ? new ViewsUnavailable(`MongoDB at ${hosts}: ${error.message}`, { cause: error })
      : error;

  /** The driver has no limit of its own that covers the choice of a server, the pool and the answer together. */
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
    // What is under way there has no server either. The new one connects when it is asked for something.
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
      // Whoever asked may have been told before that it takes too long.
      working.catch((error: unknown) => error instanceof MongoServerSelectionError && replace(asked));
      const answer = withinMs(limitMs, working);
      const settled = answer.catch(() => undefined).finally(() => underWay.delete(settled));
      underWay.add(settled);
      return answer;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
      });
      await Promise.race([Promise.all(underWay), late]);
      clearTimeout(timer);
      await client.close();
    },
  };
};
