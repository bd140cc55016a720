import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../infra/clock.ts";
import { KeyUnusable, loadKey } from "../infra/crypto/keyfile.ts";
import { randomness } from "../infra/crypto/randomness.ts";
import { isCidr } from "../infra/http/addresses.ts";
import { sqliteEventLog } from "../infra/sqlite/event-log.ts";
import { exclusiveLock } from "../infra/sqlite/exclusive-lock.ts";
import { sqliteViewReader } from "../infra/sqlite/view-reader.ts";
import { PROJECTIONS } from "../projections/all.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { projectorThread } from "./loops/projector-thread.ts";
import { watchedViews } from "./loops/watched-views.ts";
import { type Service, service } from "./service.ts";

/** What is under way when the program is told to stop has this long to finish. */
const STOP_MS = 10_000;
const EXIT_CONFIG = 2;

const LOCKED: Readonly<Record<string, string>> = {
  api: "answers requests",
  projector: "writes the views",
  deliverer: "delivers",
};

/** One process an embedded role: a second one would take the first one's leases and places for those of a dead process. */
const lockRoles = (config: Config): void => {
  for (const role of config.roles) {
    if (LOCKED[role] === undefined || exclusiveLock(join(config.dataDir, `${role}.lock`)) !== null) continue;
    throw new ConfigError(
      `Another process ${LOCKED[role]} on DATA_DIR ${config.dataDir} already: stop it, or set ROLES.`,
    );
  }
};

const open = async (config: Config): Promise<Service> => {
  for (const cidr of config.deliveryAllowCidrs) {
    if (!isCidr(cidr))
      throw new ConfigError(`DELIVERY_ALLOW_CIDRS names "${cidr}": it takes ranges such as 127.0.0.0/8.`);
  }
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  lockRoles(config);
  const logPath = join(config.dataDir, "log.db");
  const viewsPath = join(config.dataDir, "views.db");
  // A new key beside an old log would open none of its secrets.
  const keyAt = { path: join(config.dataDir, "key"), mayCreate: !existsSync(logPath) };
  const key = loadKey(config.key === null ? keyAt : { ...keyAt, env: config.key }, randomness);
  const log = await sqliteEventLog({ path: logPath });
  const here = config.roles.includes("projector") ? await projectorThread({ logPath, viewsPath }) : null;
  const schemas = PROJECTIONS.map(({ schema }) => schema);
  const views = await sqliteViewReader({ path: viewsPath, schemas });
  const projector =
    here ??
    watchedViews(
      views,
      schemas.map(({ name }) => name),
    );
  return service({ config, key, log, views, projector, clock: systemClock, randomness });
};

const run = async (): Promise<void> => {
  const config = readConfig(process.env);
  const running = await open(config);
  const stop = async (signal: string): Promise<void> => {
    // A client that holds its connection, or a receiver that never answers, does not keep the program.
    setTimeout(() => process.exit(0), STOP_MS).unref();
    running.logger.info({ signal }, "stopping");
    await running.stop(STOP_MS);
    process.exit(0);
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  const { address, port, family } = await running.start();
  const host = family === "IPv6" ? `[${address}]` : address;
  console.log(`Countersign ${config.version} listening on http://${host}:${port}`);
};

run().catch((error: unknown) => {
  if (error instanceof ConfigError || error instanceof KeyUnusable) {
    console.error(error.message);
    process.exit(EXIT_CONFIG);
  }
  console.error(error);
  process.exit(1);
});
