import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { createSecretFile, readSecretFile } from "../../infra/crypto/keyfile.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { makeDirectory } from "../../infra/make-directory.ts";
import { backUpLog } from "../../infra/sqlite/log-backup.ts";
import { sqliteLogIn } from "../engine/open-engines.ts";
import { type Command, UsageError } from "./command.ts";
import { checkExists } from "./log-location.ts";

/** The keys that open and sign the log, each also as the next one of a rotation that was interrupted. */
const KEY_FILES = ["key", "key.new", "audit-key", "audit-key.new"];

type KeyTexts = ReadonlyMap<string, string>;

const keysIn = (dataDir: string): KeyTexts =>
  new Map(
    KEY_FILES.flatMap((name) => {
      const text = readSecretFile(join(dataDir, name));
      return text === null ? [] : [[name, text] as const];
    }),
  );

const isSame = (one: KeyTexts, other: KeyTexts): boolean =>
  KEY_FILES.every((name) => one.get(name) === other.get(name));

const emptyFolder = (path: string): string => {
  const folder = resolve(path);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new UsageError(`${folder} is not empty: name a folder of its own for each backup.`);
  makeDirectory(folder);
  return folder;
};

export const backup: Command = {
  synopsis: "--to <folder> [--data-dir <folder>]",
  help: [
    "Copies what cannot be made again from DATA_DIR into a folder that is empty or not there yet: the log",
    "as it is at one moment, and the files of the keys. The service may run. To restore, put the files into",
    "an empty folder and start the service with it as DATA_DIR; the views and the evidence are folded again.",
    "Keys in the environment (COUNTERSIGN_KEY, AUDIT_KEY_FILE) are not copied: keep them elsewhere.",
    "The last checkpoint (….checkpoint beside the signing key) is not copied either, because a restore must",
    "not bring back an older one: keep the newest. After a restore, see countersign audit reopen --help.",
    "EventStoreDB has backups of its own: see docs/engines.md.",
    "--to <folder>        where the copy is made",
    "--data-dir <folder>  DATA_DIR of the service; default: the environment's, or ./data",
  ],
  options: { to: { type: "string" }, "data-dir": { type: "string" } },
  async run({ positionals, options: { to, "data-dir": from } }, env, terminal) {
    if (positionals.length > 0 || typeof to !== "string" || to === "")
      throw new UsageError("backup takes --to <folder>.");
    if (from === "") throw new UsageError("--data-dir names a folder.");
    if (env.EVENTSTORE_URL && from === undefined)
      throw new UsageError("backup copies an embedded log, and EVENTSTORE_URL names a server.");
    const dataDir = String(from ?? (env.DATA_DIR || "./data"));
    const log = sqliteLogIn(dataDir);
    checkExists(log);
    const folder = emptyFolder(to);
    const keys = keysIn(dataDir);
    backUpLog(log.path, join(folder, "log.db"));
    // A rotation between the two would leave a log that none of the copied keys opens.
    if (!isSame(keys, keysIn(dataDir)))
      throw new Error(`A key was rotated during the backup: remove ${folder} and run the command again.`);
    for (const [name, text] of keys) createSecretFile(join(folder, name), text, randomness);
    terminal.out(`${["log.db", ...keys.keys()].join(", ")} in ${folder}`);
    if (!keys.has("key")) terminal.note("COUNTERSIGN_KEY opens this log and is not part of the backup.");
    terminal.note("Keep the keys apart from the log. countersign log verify checks the copy.");
  },
};
