import type { BytesRemoved, EventLog } from "../../domain/ports/event-log.ts";
import { systemClock } from "../../infra/clock.ts";
import { loadKey } from "../../infra/crypto/keyfile.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { openLog, placesOf } from "../engine/engines.ts";
import { keyRing } from "../keys/key-ring.ts";
import { keyFileOf, rotateKeyFile } from "../keys/server-key.ts";
import { type Command, type Env, UsageError } from "./command.ts";
import { checkExists } from "./log-place.ts";

/** What is left to do where the environment has the key, or the key's file. */
const NEXT = {
  environment: [
    "Set COUNTERSIGN_KEY to the new key and restart every node: a start with the old key is refused.",
    "The first start with the new key removes what the old key opens in the log.",
  ],
  file: ["The old key opens nothing in the log any more."],
};

const ON_DISK: Readonly<Record<BytesRemoved, readonly string[]>> = {
  "within-seconds": [],
  "with-the-next-scavenge": ["On the disks of EventStoreDB, what it opens stays until the next scavenge."],
};

/** What a rotation does not undo, and what to do where the old key was disclosed. */
const LIMITS: readonly string[] = [
  "A copy of the log from before, as a backup is, still opens with the old key. Whoever has both can read what was",
  "recorded before, and what is recorded later if they get that as well: the keys that protect data stay the same.",
  "Was the old key disclosed? Then rotate all that it protected:",
  "  the secret of each source, here and at its provider     POST /v1/sources/{id}/secret",
  "  the signing secret of each endpoint, and its receiver's POST /v1/endpoints/{id}/secret",
  "  secret headers of endpoints                             PATCH /v1/endpoints/{id}",
  "  API keys                                                POST and DELETE /v1/api-keys",
  "  keys of agents                                          POST /v1/agents/{id}/key",
  "  passwords, which also ends the sessions                 POST /v1/auth/password",
  "  open invitations and reset links                        made again, or withdrawn",
];

const rotateInLog = async (log: EventLog, env: Env): Promise<void> => {
  const from = loadKey({ path: "", env: env.COUNTERSIGN_KEY }, randomness);
  const to = loadKey({ path: "", env: env.COUNTERSIGN_NEW_KEY, name: "COUNTERSIGN_NEW_KEY" }, randomness);
  await keyRing(log, { clock: systemClock, randomness }).sealAnew(from, to);
};

/** Whether the service keeps its key in DATA_DIR. Throws `UsageError` for keys that do not go together. */
const isKeyInFile = ({ COUNTERSIGN_KEY: current, COUNTERSIGN_NEW_KEY: next, EVENTSTORE_URL: server }: Env): boolean => {
  const isFile = !current;
  if (isFile && server)
    throw new UsageError(
      "With EVENTSTORE_URL, COUNTERSIGN_KEY has the current key and COUNTERSIGN_NEW_KEY the new one.",
    );
  if (isFile && next)
    throw new UsageError(
      "COUNTERSIGN_NEW_KEY goes with COUNTERSIGN_KEY: without it the new key is made in DATA_DIR/key.",
    );
  if (!isFile && !next)
    throw new UsageError("COUNTERSIGN_NEW_KEY is missing: make a key (openssl rand -base64 32), store it, and set it.");
  if (!isFile && next === current)
    throw new UsageError("COUNTERSIGN_NEW_KEY is the current key: make another one (openssl rand -base64 32).");
  return isFile;
};

export const keyRotate: Command = {
  name: "key rotate",
  synopsis: "",
  summary: "seals the keys in the log under a new COUNTERSIGN_KEY, on the service's machine",
  help: [
    "Seals the keys that protect data under a new server's key, with the service's environment (DATA_DIR",
    "or EVENTSTORE_URL, COUNTERSIGN_KEY); the service may run. Sessions, keys, secrets and counts stay.",
    "Without COUNTERSIGN_KEY it makes a new key in DATA_DIR/key. With it, COUNTERSIGN_NEW_KEY has the new",
    'key ("openssl rand -base64 32"): store it first, then rotate, then set it on each node and restart.',
    "Whatever interrupts it, the same call again completes it.",
  ],
  async run({ positionals }, env, terminal) {
    if (positionals.length > 0) throw new UsageError("key rotate takes no arguments.");
    const dataDir = env.DATA_DIR || "./data";
    const place = placesOf({ dataDir, eventstoreUrl: env.EVENTSTORE_URL || null, mongodbUrl: null }).log;
    const isFile = isKeyInFile(env);
    checkExists(place);
    const log = await openLog(place);
    try {
      if (isFile) await rotateKeyFile(log, { dataDir, key: null }, systemClock);
      else await rotateInLog(log, env);
      terminal.out(`The keys in the log are sealed under the new key${isFile ? ` in ${keyFileOf({ dataDir })}` : ""}.`);
      const next = isFile ? NEXT.file : NEXT.environment;
      for (const line of [...next, ...ON_DISK[log.bytesRemoved], ...LIMITS]) terminal.note(line);
    } finally {
      await log.close();
    }
  },
};
