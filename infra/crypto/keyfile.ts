import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { isCode } from "../system-error.ts";
import { KEY_BYTES } from "./subkey.ts";

export class KeyUnusable extends Error {
  override readonly name = "KeyUnusable";
}

export type KeySource = {
  /** The value of the environment variable `name`. If it is neither absent nor empty, the file is not read. */
  readonly env?: string | undefined;
  readonly name?: string;
  readonly path: string;
  /** False refuses a missing file, because a new key would open none of the existing secrets. */
  readonly mayCreate?: boolean;
};

export const loadKey = (source: KeySource, randomness: Randomness): Uint8Array => {
  const { env, name = "COUNTERSIGN_KEY", path, mayCreate = true } = source;
  if (env !== undefined && env !== "") return parseKey(env, name);
  const there = readKeyFile(path);
  if (there !== null) return there;
  if (!mayCreate)
    throw new KeyUnusable(`The key file ${path} is missing, and without it the secrets in the data cannot be opened.`);
  createKeyFile(path, randomness);
  const created = readKeyFile(path);
  if (created === null) throw new KeyUnusable(`The key file ${path} was removed while it was being created.`);
  return created;
};

/** Only canonical base64 is accepted, so that a mistyped key does not become another key. */
const parseKey = (text: string, name: string): Uint8Array => {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text || bytes.length !== KEY_BYTES)
    throw new KeyUnusable(
      `${name} must be ${KEY_BYTES} bytes in base64 (44 characters, as "openssl rand -base64 ${KEY_BYTES}" prints them).`,
    );
  return new Uint8Array(bytes);
};

const readKeyFile = (path: string): Uint8Array | null => {
  const text = readSecretFile(path);
  return text === null ? null : parseKey(text, `The key file ${path}`);
};

/** The file's text without the newline at its end; null if there is none. A file that others can read is refused. */
export const readSecretFile = (path: string): string | null => {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY);
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw new KeyUnusable(`The key file ${path} cannot be read: ${String(error)}.`);
  }
  try {
    const { mode } = fstatSync(file);
    // Windows has no file modes: Node reports every file there as readable by all.
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw new KeyUnusable(
        `The key file ${path} has mode ${(mode & 0o777).toString(8)}, others can read it: run "chmod 600 ${path}".`,
      );
    return readFileSync(file, "utf8").trimEnd();
  } finally {
    closeSync(file);
  }
};

const createKeyFile = (path: string, randomness: Randomness): void =>
  createSecretFile(path, Buffer.from(randomness.bytes(KEY_BYTES)).toString("base64"), randomness);

/**
 * The text is written to a draft and synced, and then linked to `path`, so that the file appears once and complete. A
 * file that is there already stays.
 */
export const createSecretFile = (path: string, text: string, randomness: Randomness): void => {
  const draft = `${path}.${Buffer.from(randomness.bytes(8)).toString("hex")}`;
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      writeSync(file, `${text}\n`);
      fsyncSync(file);
      linkSync(draft, path);
    } finally {
      closeSync(file);
      unlinkSync(draft);
    }
    syncDirectory(dirname(path));
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw new KeyUnusable(`The key file ${path} cannot be created: ${String(error)}.`);
  }
};

/** At any moment `path` has the old or the new key. The file `next`, which has the new key too, is removed last. */
export const replaceKeyFile = (path: string, next: string, key: Uint8Array, randomness: Randomness): void =>
  replaceSecretFile(path, next, Buffer.from(key).toString("base64"), randomness);

/** As `replaceKeyFile`, for any text. */
export const replaceSecretFile = (path: string, next: string, text: string, randomness: Randomness): void => {
  const draft = `${path}.${Buffer.from(randomness.bytes(8)).toString("hex")}`;
  const owner = statSync(path);
  const file = openSync(draft, "wx", 0o600);
  try {
    writeSync(file, `${text}\n`);
    // If root runs the rotation, the file is given to its previous owner, else the service could not read it.
    if (process.geteuid?.() === 0) fchownSync(file, owner.uid, owner.gid);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  // The new key must be durable in `path` before `next`, the only other copy of it, is removed.
  syncDirectory(dirname(path));
  rmSync(next, { force: true });
};

const syncDirectory = (path: string): void => {
  if (process.platform === "win32") return;
  const directory = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
};
