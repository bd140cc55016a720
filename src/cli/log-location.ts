import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { makeDirectory } from "../../infra/make-directory.ts";
import { type ExclusiveLock, exclusiveLock } from "../../infra/sqlite/exclusive-lock.ts";
import { type LogLocation, sqliteLogIn } from "../engine/open-engines.ts";
import { UsageError } from "./command.ts";

const EMBEDDED = "sqlite:";
const EVENTSTOREDB = /^esdb(?:\+discover)?:\/\/./;

export const LOG_PLACES = "sqlite:<DATA_DIR> or esdb://<host>:<port>?tls=…";

export const parseLogLocation = (text: string): LogLocation => {
  if (EVENTSTOREDB.test(text)) return { engine: "eventstoredb", url: text };
  const dataDir = text.startsWith(EMBEDDED) ? text.slice(EMBEDDED.length) : "";
  if (dataDir !== "") return sqliteLogIn(resolve(dataDir));
  // A connection string may contain a password, so the message does not repeat it.
  throw new UsageError(`A place of a log is ${LOG_PLACES}.`);
};

/** Says it clearly, because the engine's own error for a missing log is hard to understand. */
export const checkExists = (location: LogLocation): void => {
  if (location.engine === "sqlite" && !existsSync(location.path))
    throw new UsageError(`There is no log.db in ${dirname(location.path)}.`);
};

/** The roles of a service that append to the log; a service holds a lock for each of its roles. */
const WRITING_ROLES = ["api", "projector", "deliverer", "feed"];

/** Takes the locks of services on an embedded log, so that none starts during a copy. Throws if one is running. */
export const lockLog = (location: LogLocation): readonly ExclusiveLock[] => {
  if (location.engine !== "sqlite") return [];
  const dataDir = dirname(location.path);
  try {
    makeDirectory(dataDir);
  } catch (error) {
    throw new UsageError(`${dataDir} cannot be made a folder (${error instanceof Error ? error.message : error}).`);
  }
  return WRITING_ROLES.map((role) => {
    const lock = exclusiveLock(join(dataDir, `${role}.lock`));
    if (lock === null) throw new Error(`Another process uses ${dataDir}: stop it, as it must not write to the target.`);
    return lock;
  });
};
