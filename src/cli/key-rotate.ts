import type { BytesRemoved, EventLog } from "../../domain/ports/event-log.ts";
import { systemClock } from "../../infra/clock.ts";
import { loadKey } from "../../infra/crypto/keyfile.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { locationsOf, openLog } from "../engine/open-engines.ts";
import { keyRing } from "../keys/key-ring.ts";
import { keyFileOf, rotateKeyFile } from "../keys/server-key.ts";
import { type Command, type Env, UsageError } from "./command.ts";
import { checkExists } from "./log-location.ts";

/** What the operator does next, if the key is in the environment, or if it is in the key file. */
const NEXT = {
  environment: [
    "Set COUNTERSIGN_KEY to the new key and restart every node: a start with the old key is refused.",
    "The first start with the new key removes everything in the log that the old key opens.",
  ],
  file: ["The old key no longer opens anything in the log."],
};

const ON_DISK: Readonly<Record<BytesRemoved, readonly string[]>> = {
  "within-seconds": [],
  "with-the-next-scavenge": ["On the disks of EventStoreDB, records that it opens stay until the next scavenge."],
};

const LIMITS: readonly string[] = [
  "An earlier copy of the log, such as a backup, still opens with the old key. A person with both can read the",
  "earlier records, and later ones once they get those too: the keys that protect data stay the same.",
  "If the old key was disclosed, rotate everything that it protected:",
  "  the secret of each source, here and at its provider     POST /v1/sources/{id}/secret",
  "  the signing secret of each endpoint, and its receiver's POST /v1/endpoints/{id}/secret",
  "  secret headers of endpoints                             PATCH /v1/endpoints/{id}",
  "  API keys                                                POST and DELETE /v1/api-keys",
  "  keys of agents                                          POST /v1/agents/{id}/key",
  "  passwords, which also ends the sessions                 POST /v1/auth/password",
  "  open invitations and reset links                        make them again, or withdraw them",
];

const rotateInLog = async (log: EventLog, env: Env): Promise<void> => {
  const from = loadKey({ path: "", env: env.COUNTERSIGN_KEY }, randomness);
  const to = loadKey({ path: "", env: env.COUNTERSIGN_NEW_KEY, name: "COUNTERSIGN_NEW_KEY" }, randomness);
  await keyRing(log, { clock: systemClock, randomness }).sealAnew(from, to);
};

/** True if the key is in its file, false if in the environment. Throws `UsageError` if the variables contradict. */
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
  synopsis: "",
  help: [
    "Seals the keys that protect data under a new server's key, with the service's environment (DATA_DIR",
    "or EVENTSTORE_URL, COUNTERSIGN_KEY); the service may run. Sessions, keys, secrets and counts stay.",
    "Without COUNTERSIGN_KEY it makes a new key in DATA_DIR/key. With it, COUNTERSIGN_NEW_KEY has the new",
    'key ("openssl rand -base64 32"): store it first, then rotate, then set it on each node and restart.',
    "If it is interrupted, the same call completes it.",
  ],
  async run({ positionals }, env, terminal) {
    if (positionals.length > 0) throw new UsageError("key rotate takes no arguments.");
    const dataDir = env.DATA_DIR || "./data";
    const location = locationsOf({ dataDir, eventstoreUrl: env.EVENTSTORE_URL || null, mongodbUrl: null }).log;
    const isFile = isKeyInFile(env);
    checkExists(location);
    const log = await openLog(location);
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
