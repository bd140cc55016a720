import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { KeyUnusable, loadKey, replaceKeyFile } from "../../infra/crypto/keyfile.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { exclusiveLock } from "../../infra/sqlite/exclusive-lock.ts";
import { type KeyRing, keyRing } from "./key-ring.ts";

type KeyPlace = { readonly dataDir: string; readonly key: string | null };

export const keyFileOf = ({ dataDir }: Pick<KeyPlace, "dataDir">): string => join(dataDir, "key");

const nextKeyFileOf = (place: KeyPlace): string => `${keyFileOf(place)}.new`;

/** Null if there is no key file. Throws `KeyUnusable`. */
export const presentKey = (place: KeyPlace): Uint8Array | null => {
  if (place.key !== null) return loadKey({ path: "", env: place.key }, randomness);
  const path = keyFileOf(place);
  return existsSync(path) ? loadKey({ path, mayCreate: false }, randomness) : null;
};

const lockFiles = ({ dataDir }: KeyPlace) => exclusiveLock(join(dataDir, "key.lock"));

/**
 * The new key of an interrupted rotation that has sealed the ring but not replaced the key file; null if there is none.
 */
const unfinishedKey = async (place: KeyPlace, ring: KeyRing): Promise<Uint8Array | null> => {
  if (place.key !== null || !existsSync(nextKeyFileOf(place))) return null;
  const next = loadKey({ path: nextKeyFileOf(place), mayCreate: false }, randomness);
  return (await ring.isSealedUnder(next)) ? next : null;
};

const putInPlace = (place: KeyPlace, next: Uint8Array): void =>
  replaceKeyFile(keyFileOf(place), nextKeyFileOf(place), next, randomness);

/** If the lock is taken, the rotation is still running and completes itself. */
const completeRotation = async (place: KeyPlace, ring: KeyRing): Promise<void> => {
  const lock = lockFiles(place);
  if (lock === null) return;
  try {
    // Checked under the lock: the files may be those of a later rotation by now.
    const next = await unfinishedKey(place, ring);
    if (next !== null) putInPlace(place, next);
  } finally {
    lock.release();
  }
};

const isReplaced = (place: KeyPlace, serverKey: Uint8Array): boolean => {
  const now = place.key === null ? presentKey(place) : null;
  return now !== null && Buffer.compare(now, serverKey) !== 0;
};

/** Throws `KeyUnusable`. */
export const openDataKey = async (
  log: EventLog,
  place: KeyPlace,
  serverKey: Uint8Array,
  clock: Clock,
): Promise<Uint8Array> => {
  const ring = keyRing(log, { clock, randomness });
  const next = await unfinishedKey(place, ring);
  if (next !== null) await completeRotation(place, ring);
  const key = next ?? serverKey;
  try {
    const dataKey = await ring.open(key);
    // The log opens with the operator's key, so older records are no longer needed.
    await ring.forgetOlder(key);
    return dataKey;
  } catch (error) {
    // A rotation ended between reading the file and reading the log.
    if (!(error instanceof KeyUnusable) || !isReplaced(place, key)) throw error;
    return openDataKey(log, place, presentKey(place) ?? key, clock);
  }
};

/**
 * Replaces the server's key. The new key is on disk before it seals anything, and replaces the old one after the seal
 * is durable, so a crash at any point leaves a key that opens the log. Another call, or the next start, completes an
 * interrupted rotation.
 */
export const rotateKeyFile = async (log: EventLog, place: KeyPlace, clock: Clock): Promise<void> => {
  const ring = keyRing(log, { clock, randomness });
  const path = keyFileOf(place);
  const lock = lockFiles(place);
  if (lock === null) throw new KeyUnusable(`Another process changes ${path} at the moment: run the command again.`);
  try {
    const current = loadKey({ path, mayCreate: false }, randomness);
    const unfinished = await unfinishedKey(place, ring);
    // An interrupted rotation may have left a new key that seals nothing; it may be in a backup, so it is not used.
    if (unfinished === null) rmSync(nextKeyFileOf(place), { force: true });
    const next = unfinished ?? loadKey({ path: nextKeyFileOf(place) }, randomness);
    await ring.sealAnew(current, next);
    putInPlace(place, next);
    await ring.forgetOlder(next);
  } finally {
    lock.release();
  }
};
