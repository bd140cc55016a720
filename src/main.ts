import { accessSync, constants, existsSync } from "node:fs";
import { type AddressInfo, isIP } from "node:net";
import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import type { EventLog } from "../domain/ports/event-log.ts";
import { systemClock } from "../infra/clock.ts";
import { KeyUnusable, loadKey } from "../infra/crypto/keyfile.ts";
import { randomness } from "../infra/crypto/randomness.ts";
import { isCidr } from "../infra/http/addresses.ts";
import { makeDirectory } from "../infra/make-directory.ts";
import { isThere } from "../infra/sqlite/database-file.ts";
import { type ExclusiveLock, exclusiveLock } from "../infra/sqlite/exclusive-lock.ts";
import { PROJECTIONS } from "../projections/all.ts";
import { followLog } from "./composition/follow-log.ts";
import { foldedEvidence, openEvidence, openEvidenceStore, reopening } from "./composition/opened-evidence.ts";
import { checkPort, notListening } from "./composition/port-check.ts";
import { type Config, type Role, readConfig } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { type EarlierTraces, hasFolded, lossOf } from "./engine/lost-log.ts";
import {
  type EngineLocations,
  locationsOf,
  openFeed,
  openLog,
  openSpanExporter,
  openViewReader,
} from "./engine/open-engines.ts";
import { mapSealing } from "./evidence/map-sealing.ts";
import { bufferedLines, type LineStream } from "./http/buffered-lines.ts";
import { type ProgramLogger, programLogger } from "./http/program-logger.ts";
import { hasRing } from "./keys/key-ring.ts";
import { keyFileOf, openDataKey, presentKey } from "./keys/server-key.ts";
import { measuredLog } from "./observability/measured-log.ts";
import type { Service } from "./service.ts";
import { limitHeapGrowth } from "./threads/garbage-collection.ts";
import { throttledReports } from "./traces/throttled-reports.ts";
import type { ProjectorFailure } from "./views/projector.ts";
import { projectorThread } from "./views/projector-thread.ts";
import type { DropReason } from "./views/view-follower.ts";
import { eventsBetweenIn } from "./views/view-lag.ts";
import { watchedViews } from "./views/watched-views.ts";

const STOP_MS = 10_000;
const EXIT_CONFIG = 2;
/** The longest delay (ms) that a Node timer can have. */
const AWAKE_MS = 2 ** 31 - 1;

const LOCKED: Readonly<Record<Role, { readonly engine: keyof EngineLocations; readonly does: string }>> = {
  api: { engine: "log", does: "answers requests" },
  projector: { engine: "views", does: "writes the views" },
  deliverer: { engine: "log", does: "delivers" },
  feed: { engine: "log", does: "feeds Kafka" },
};

/** A second process with an embedded role would take the first one's leases and places for those of a dead process. */
const lockRoles = ({ dataDir, roles, kafka }: Config, locations: EngineLocations): void => {
  const held: ExclusiveLock[] = [];
  // This listener refers to the locks, so that the garbage collector does not close them, which would release them.
  process.once("exit", () => {
    for (const { release } of held) release();
  });
  for (const role of roles) {
    const locked = LOCKED[role];
    if (locations[locked.engine].engine !== "sqlite" || (role === "feed" && kafka === null)) continue;
    const lock = exclusiveLock(join(dataDir, `${role}.lock`));
    if (lock === null) {
      throw new ConfigError(`Another process ${locked.does} on DATA_DIR ${dataDir} already: stop it, or set ROLES.`);
    }
    held.push(lock);
  }
};

/** The machine's error becomes a ConfigError: the operator can mend its cause and needs no stack trace. */
const usable = async <T>(sentence: string, step: () => T | Promise<T>): Promise<T> => {
  try {
    return await step();
  } catch (error) {
    const isBug = error instanceof TypeError || error instanceof RangeError;
    const isSaid = error instanceof ConfigError || error instanceof KeyUnusable;
    if (isBug || isSaid || !(error instanceof Error)) throw error;
    throw new ConfigError(`${sentence}: ${error.message}`);
  }
};

const PROXY_NAMES: readonly string[] = ["loopback", "linklocal", "uniquelocal"];

const checkRanges = ({ deliveryAllowCidrs, trustProxy }: Config): void => {
  for (const cidr of deliveryAllowCidrs) {
    if (!isCidr(cidr))
      throw new ConfigError(`DELIVERY_ALLOW_CIDRS names "${cidr}": it takes ranges such as 127.0.0.0/8.`);
  }
  for (const proxy of Array.isArray(trustProxy) ? trustProxy : []) {
    if (!isCidr(proxy) && isIP(proxy) === 0 && !PROXY_NAMES.includes(proxy))
      throw new ConfigError(
        `TRUST_PROXY names "${proxy}": it takes true, false, addresses, ranges, or ${PROXY_NAMES.join(", ")}.`,
      );
  }
};

const openDataDir = (config: Config, locations: EngineLocations): Promise<void> =>
  usable(`DATA_DIR ${config.dataDir} has to be a folder that this user can read and write`, () => {
    makeDirectory(config.dataDir);
    accessSync(config.dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    lockRoles(config, locations);
  });

/** For a log with a key ring no key is made, because a new key would open none of the log's secrets. */
const keyFor = async (config: Config, log: EventLog): Promise<Uint8Array> =>
  loadKey({ path: keyFileOf(config), mayCreate: !(await hasRing(log)) }, randomness);

const refuseLoss = (locations: EngineLocations, traces: EarlierTraces): void => {
  const loss = lossOf(locations, traces);
  if (loss !== null) throw new ConfigError(loss);
};

const projectionFailed =
  (logger: FastifyBaseLogger) =>
  ({ view, position, error: err, retryInMs }: ProjectorFailure): void => {
    const at = position === null ? "" : ` at ${position}`;
    logger.error({ err }, `${view ?? "the log"} could not be read or folded${at}; again in ${retryInMs} ms`);
  };

const DROPPED: Readonly<Record<DropReason, string>> = {
  "unknown-log": "Views of another log, or incomplete ones, are folded again from the log",
  "record-missing":
    "The log lacks the last records of its views, as after it was restored from a backup: they are folded again",
};

const onDropped = (views: readonly string[], reason: DropReason): void =>
  console.error(`${DROPPED[reason]}: ${views.join(", ")}.`);

/** Lines of the log are written in batches, and the last ones when the process exits. Only SIGKILL loses lines. */
const logLines = (): LineStream => {
  const lines = bufferedLines((text) => void process.stdout.write(text));
  process.once("exit", lines.flush);
  // If the reader of stdout has gone, that is no reason to stop the service.
  process.stdout.on("error", () => undefined);
  return lines;
};

const open = async (config: Config, logger: ProgramLogger): Promise<Service> => {
  checkRanges(config);
  const locations = locationsOf(config);
  const isEmbedded = Object.values(locations).some(({ engine }) => engine === "sqlite");
  const evidenceFile = foldedEvidence(config);
  // Without the folder this is a first start, which makes none if it cannot listen. Later, a lock says best that the
  // service runs already, so it is taken before the port is tried.
  const isFirstStart = !existsSync(config.dataDir);
  if (isFirstStart) await checkPort(config);
  if (isEmbedded || evidenceFile !== null) await openDataDir(config, locations);
  if (!isFirstStart) await checkPort(config);
  // These load slowly: a refused start should not wait for them, and from here on the engines are opened meanwhile.
  const loadingMetrics = import("./observability/metrics.ts");
  const loadingService = import("./service.ts");
  const inDataDir = `in DATA_DIR ${config.dataDir}`;
  const logIs = locations.log.engine === "sqlite" ? `The event log ${inDataDir}` : "The event log at EVENTSTORE_URL";
  const viewsAre = locations.views.engine === "sqlite" ? `The views ${inDataDir}` : "The views at MONGODB_URL";
  const schemas = PROJECTIONS.map(({ schema }) => schema);
  const names = schemas.map(({ name }) => name);
  // The traces of an earlier log are read before the log: another process that starts for the first time creates the
  // log first, so that a trace without a log means a lost log.
  const present = presentKey(config);
  const keyFile = present === null || config.key !== null ? null : keyFileOf(config);
  const [views, folded] = await usable(`${viewsAre} cannot be used`, async () => {
    const opened = await openViewReader(locations.views, schemas);
    return [opened, await hasFolded(opened, names)] as const;
  });
  if (locations.log.engine === "sqlite" && !isThere(locations.log.path))
    refuseLoss(locations, { keyFile, hasFolded: folded });
  const { metrics } = await loadingMetrics;
  const meters = metrics(config);
  let clockProblem: string | null = null;
  const onClock = (problem: string | null): void => {
    clockProblem = problem;
    logger.warn(problem === null ? "The clock is right again: this node goes on." : `Nothing is written: ${problem}`);
  };
  const measured = await usable(`${logIs} cannot be used`, async () =>
    measuredLog(await openLog(locations.log, { onGroup: meters.grouped, onClock }), meters),
  );
  const { appends } = measured;
  const { log, recent } = followLog(measured.log, config, locations);
  const key = await usable(`${logIs} cannot be used`, async () => {
    // The key is no trace here, because an interrupted first start leaves a key and an empty log.
    if ((await log.head()) === null) refuseLoss(locations, { keyFile: null, hasFolded: folded });
    const serverKey = present ?? (await keyFor(config, log));
    return openDataKey(log, config, serverKey, systemClock);
  });
  const store = await usable(`The evidence ${inDataDir} cannot be used`, () => openEvidenceStore(config));
  const onError = reopening(store, projectionFailed(logger));
  const here = config.roles.includes("projector")
    ? await usable(`${viewsAre} cannot be used`, () =>
        projectorThread({
          locations,
          evidence: evidenceFile,
          options: { hearsHurry: config.roles.includes("api") },
          onError,
          onDropped,
          onMap: mapSealing(log, systemClock, (err) =>
            logger.error({ err }, "a key map could not be sealed; it is tried again"),
          ),
          recent: locations.log.engine === "sqlite" ? null : recent,
        }),
      )
    : null;
  const projector =
    here ?? watchedViews({ log, views, names, clock: systemClock, eventsBetween: eventsBetweenIn(locations.log) });
  const evidence = await openEvidence(store, locations, { projector: here, file: evidenceFile, onError });
  const { kafka } = config;
  const feed =
    kafka === null || !config.roles.includes("feed")
      ? null
      : await usable("The feed to KAFKA_BROKERS cannot be used", () => openFeed(kafka));
  const { otlp, serviceName, version } = config;
  const refused = throttledReports((err, count) =>
    logger.error({ err }, `the collector has refused ${count} spans: they are dropped`),
  );
  const exporter =
    otlp === null || !config.roles.includes("deliverer")
      ? null
      : await openSpanExporter({
          ...otlp,
          serviceName,
          version,
          onExported: (count) => meters.traced(count, "exported"),
          onDropped(error, count) {
            meters.traced(count, "dropped");
            refused(error, count);
          },
        });
  const { service } = await loadingService;
  return service({
    config,
    locations,
    key,
    log,
    recent,
    views,
    projector,
    evidence,
    feed,
    exporter,
    meters,
    logger,
    appends,
    clockProblem: () => clockProblem,
    clock: systemClock,
    randomness,
  });
};

const urlOf = ({ address, port, family }: AddressInfo): string =>
  `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;

/** The link goes to stdout, so that the person who has started the process can create the first account with it. */
const printStartLink = async (running: Service, logger: FastifyBaseLogger): Promise<void> => {
  try {
    const url = await running.startLink();
    if (url !== null)
      console.log(`There is no account yet, and sign-up is closed. Make the first one here, once: ${url}`);
  } catch (err) {
    logger.error({ err }, "the link for the first account could not be made: start again to get one");
  }
};

const run = async (): Promise<void> => {
  const config = readConfig(process.env);
  const logger = programLogger(config, logLines());
  const opening = open(config, logger);
  let isStopping = false;
  const stop = async (signal: string): Promise<void> => {
    // The signal may come twice, because npm forwards what the terminal has sent to the program already.
    if (isStopping) return;
    isStopping = true;
    // The process exits after `STOP_MS` in any case, so that no open connection or hanging receiver keeps it alive.
    setTimeout(() => process.exit(0), STOP_MS).unref();
    // The start is first awaited to its end, because ending a thread inside an SQLite statement aborts the process.
    const running = await opening.catch(() => process.exit(0));
    logger.info({ signal }, "stopping");
    await running.stop(STOP_MS);
    process.exit(0);
  };
  // A container's first process ignores signals without a listener. So the listeners come before the start, during
  // which a signal would else end in SIGKILL.
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  const running = await opening;
  if (isStopping) return;
  // Not earlier: what is allocated while modules load mostly stays, so collecting it often would only slow the start.
  limitHeapGrowth();
  const { version, roles } = config;
  const at = await running.start().catch((error: NodeJS.ErrnoException) => {
    throw error.syscall === undefined ? error : notListening(config, error);
  });
  // Without a server the process has only unreferenced threads and timers and would exit; this timer keeps it running.
  if (at === null) setInterval(() => undefined, AWAKE_MS);
  console.log(`Countersign ${version} ${at === null ? `runs ${roles.join(",")}` : `listening on ${urlOf(at)}`}`);
  if (at !== null) await printStartLink(running, logger);
};

run().catch((error: unknown) => {
  if (error instanceof ConfigError || error instanceof KeyUnusable) {
    console.error(error.message);
    process.exit(EXIT_CONFIG);
  }
  console.error(error);
  process.exit(1);
});
