import { readFile } from "node:fs/promises";
import { formatSignerKey, isKeyName } from "../../domain/evidence/signed-note.ts";
import { systemClock } from "../../infra/clock.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { makeDirectory } from "../../infra/make-directory.ts";
import { sqliteEvidenceStore } from "../../infra/sqlite/evidence-store.ts";
import { evidenceFileOf, locationsOf, openLog } from "../engine/open-engines.ts";
import { vkeyOf } from "../keys/signer-key.ts";
import { type NewKeyDeps, reopenLog, rotateSigningKey } from "../sealing/new-key.ts";
import { makeSigningKey, signingKeyPlaceOf } from "../sealing/signing-key.ts";
import { type Command, type Env, UsageError } from "./command.ts";
import { checkExists, lockLog } from "./log-location.ts";

const hostOf = ({ PUBLIC_URL: url }: Env): string | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url).host : undefined;

export const auditMakeKey: Command = {
  synopsis: "[host]",
  help: [
    "Prints a new signing key, which belongs in a file that only the service can read (chmod 600), and its",
    "public key to stderr: give that to everyone who verifies what the log proves. The host names the log in",
    "every checkpoint for ever; without it, that of PUBLIC_URL is taken.",
  ],
  async run({ positionals: [given, ...others] }, env, terminal) {
    const host = given ?? hostOf(env);
    if (host === undefined || others.length > 0 || host.includes("/") || !isKeyName(host))
      throw new UsageError("audit make-key takes the host of the service's address, such as hooks.example.com.");
    const key = makeSigningKey(host, randomness);
    terminal.out(formatSignerKey(key));
    terminal.note(`The public key is ${vkeyOf(key)}`);
  },
};

/** With the service's environment: the log, what is folded of it, and the key. */
const onLog = async <T>(env: Env, isOffline: boolean, run: (deps: NewKeyDeps) => Promise<T>): Promise<T> => {
  const dataDir = env.DATA_DIR || "./data";
  const { log: location } = locationsOf({ dataDir, eventstoreUrl: env.EVENTSTORE_URL || null, mongodbUrl: null });
  if (env.EVENTSTORE_URL && !env.AUDIT_KEY_FILE)
    throw new UsageError("With EVENTSTORE_URL, AUDIT_KEY_FILE names the file of the signing key.");
  checkExists(location);
  const locks = isOffline ? lockLog(location) : [];
  makeDirectory(dataDir);
  const log = await openLog(location);
  const store = sqliteEvidenceStore(evidenceFileOf({ dataDir }));
  try {
    const place = signingKeyPlaceOf({ auditKeyFile: env.AUDIT_KEY_FILE || null, dataDir });
    return await run({ log, store, place, clock: systemClock, randomness });
  } finally {
    await store.close();
    await log.close();
    for (const lock of locks) lock.release();
  }
};

const textIn = (value: string | boolean | undefined): string | null => (typeof value === "string" ? value : null);

export const auditRotateKey: Command = {
  synopsis: "[--reason TEXT]",
  help: [
    "Names a new signing key in the log and puts it in place of the present one, with the service's",
    "environment (DATA_DIR or EVENTSTORE_URL, AUDIT_KEY_FILE); the service may run. The checkpoint that ends",
    "with the new key has both signatures. Copy the file of the key to the other nodes: a node without",
    "the new key seals and signs nothing. If it is interrupted, the same call completes it.",
    "--reason  is public: it is part of the log's proofs.",
  ],
  options: { reason: { type: "string" } },
  async run({ positionals, options }, env, terminal) {
    if (positionals.length > 0) throw new UsageError("audit rotate-key takes no arguments.");
    const vkey = await onLog(env, false, (deps) => rotateSigningKey(deps, textIn(options.reason)));
    terminal.out(`Checkpoints are signed with the key ${vkey}`);
  },
};

export const auditReopen: Command = {
  synopsis: "--reason TEXT [--checkpoint FILE]",
  help: [
    "A log that does not continue the last checkpoint that was shown is not signed any more. If it was",
    "restored on purpose, this begins a new generation, whose first leaf names the last known checkpoint",
    "and the reason; whoever verifies sees both. Stop every node first. The signing key must be the newest:",
    "a key that a rotation has replaced is refused. If it is interrupted, the same call, or the service's next",
    "start, completes it.",
    "--reason      is public: why the log was restored.",
    "--checkpoint  a file with the last checkpoint of the installation that anyone knows, with its signature, as",
    "              /v1/audit/instance/checkpoint and a witness show it; else the one beside the key is named.",
  ],
  options: { reason: { type: "string" }, checkpoint: { type: "string" } },
  async run({ positionals, options }, env, terminal) {
    const [reason, file] = [textIn(options.reason), textIn(options.checkpoint)];
    if (positionals.length > 0 || reason === null || reason === "")
      throw new UsageError("audit reopen takes the reason: --reason TEXT.");
    const shown = file === null ? null : await readFile(file, "utf8");
    const vkey = await onLog(env, true, (deps) => reopenLog(deps, reason, shown));
    terminal.out(`A new generation begins, which is signed with the key ${vkey}`);
  },
};
