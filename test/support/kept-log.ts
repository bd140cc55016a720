import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ED25519, formatSignerKey, formatVerifierKey, verifierKey } from "../../domain/evidence/signed-note.ts";
import { ed25519Signer } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";

/** Logs of releases, which later versions have to read: `<name>.db.gz` and, with what it holds, `<name>.json`. */
export const KEPT_LOGS = join("test", "fixtures");

/** What is known of a kept log. Its two keys are those below, so that no file of the project has a key. */
export type KeptLog = {
  readonly version: string;
  /** As `countersign log verify` prints it. */
  readonly chain: string;
  /** An owner of the account that the program has written, whose password is that of `test/support/client.ts`. */
  readonly email: string;
  /** The events of that account with their statuses, oldest first. */
  readonly events: readonly (readonly [id: string, status: string])[];
  /** All types of records in the log. */
  readonly types: readonly string[];
};

const SEED = new Uint8Array(32).fill(7);
const KEY = verifierKey(sha256, "localhost/instance", ED25519, ed25519Signer(SEED).publicKey);

/** The key with which an auditor verifies what the log's checkpoints have signed. */
export const KEPT_VKEY = formatVerifierKey(KEY);

/** The environment of a program on a kept log in `dir`: the key of the server, and the one that signs. */
export const keptEnvironment = (dir: string): Record<string, string> => {
  const file = join(dir, "kept-audit-key");
  const key = formatSignerKey({ name: KEY.name, keyId: KEY.keyId, type: ED25519, seed: SEED });
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  return { AUDIT_KEY_FILE: file, COUNTERSIGN_KEY: Buffer.from(SEED).toString("base64") };
};

export const keptLogs = (): readonly string[] =>
  readdirSync(KEPT_LOGS).flatMap((file) => (file.endsWith(".db.gz") ? [file.slice(0, -".db.gz".length)] : []));

/** Unpacks a kept log to `log.db` in `dir`. */
export const unpackKeptLog = (name: string, dir: string): KeptLog => {
  writeFileSync(join(dir, "log.db"), gunzipSync(readFileSync(join(KEPT_LOGS, `${name}.db.gz`))), { mode: 0o600 });
  // Written by scripts/kept-log.ts in this shape.
  return JSON.parse(readFileSync(join(KEPT_LOGS, `${name}.json`), "utf8")) as KeptLog;
};
