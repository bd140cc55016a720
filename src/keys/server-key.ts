import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { KeyUnusable, loadKey, replaceKeyFile } from "../../infra/crypto/keyfile.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { exclusiveLock } from "../../infra/sqlite/exclusive-lock.ts";
import { type KeyRing, keyRing } from "./key-ring.ts";

type KeyPlace = { readonly dataDir: string; readonly key: string | null };

/** Where an installation without COUNTERSIGN_KEY keeps its key. */
export const keyFileOf = ({ dataDir }: Pick<KeyPlace, "dataDir">): string => join(dataDir, "key");

/** The key that a rotation is about to put in the place of the other one. */
const nextKeyFileOf = (place: KeyPlace): string => `${keyFileOf(place)}.new`;

/** The key that is there; null if none is. Throws `KeyUnusable`. */
export const presentKey = (place: KeyPlace): Uint8Array | null => {
  if (place.key !== null) return loadKey({ path: "", env: place.key }, randomness);
  const path = keyFileOf(place);
  return existsSync(path) ? loadKey({ path, mayCreate: false }, randomness) : null;
};

/** One process at a time changes the key's files. Null while another one does. */
const lockFiles = ({ dataDir }: KeyPlace) => exclusiveLock(join(dataDir, "key.lock"));

/** The new key of a rotation that has sealed the keys anew, and has not put its key into the file; null where there is none. */
const unfinishedKey = async (place: KeyPlace, ring: KeyRing): Promise<Uint8Array | null> => {
  if (place.key !== null || !existsSync(nextKeyFileOf(place))) return null;
  const next = loadKey({ path: nextKeyFileOf(place), mayCreate: false }, randomness);
  return (await ring.isSealedUnder(next)) ? next : null;
};

const putInPlace = (place: KeyPlace, next: Uint8Array): void =>
  replaceKeyFile(keyFileOf(place), nextKeyFileOf(place), next, randomness);

/** Completes a rotation that was cut off. Without the lock, the rotation is under way and does it itself. */
const completeRotation = async (place: KeyPlace, ring: KeyRing): Promise<void> => {
  const lock = lockFiles(place);
  if (lock === null) return;
  try {
    // Looked at under the lock: by now the files may be those of a later rotation.
    const next = await unfinishedKey(place, ring);
    if (next !== null) putInPlace(place, next);
  } finally {
    lock.release();
  }
};

/** Whether a rotation has put another key into the file since this one was read from it. */
const isReplaced = (place: KeyPlace, serverKey: Uint8Array): boolean => {
  const now = place.key === null ? presentKey(place) : null;
  return now !== null && Buffer.compare(now, serverKey) !== 0;
};

/** The key that protects data, opened with the server's. Throws `KeyUnusable`. */
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
    // This key is the one that the operator has set, so no other one is needed any more.
    await ring.forgetOlder(key);
    return dataKey;
  } catch (error) {
    // A rotation ended between the two looks, at the file and at the log.
    if (!(error instanceof KeyUnusable) || !isReplaced(place, key)) throw error;
    return openDataKey(log, place, presentKey(place) ?? key, clock);
  }
};

/**
 * Puts a new random key into the key's file and seals the keys in the log under it. The new key is on disk before it seals
 * anything, and the old one is replaced when that is durable: a crash at any point leaves a key that opens the log. The
 * same call again, or the next start, completes what was cut off.
 */
export const rotateKeyFile = async (log: EventLog, place: KeyPlace, clock: Clock): Promise<void> => {
  const ring = keyRing(log, { clock, randomness });
  const path = keyFileOf(place);
  const lock = lockFiles(place);
  if (lock === null) throw new KeyUnusable(`Another process changes ${path} at the moment: run the command again.`);
  try {
    const current = loadKey({ path, mayCreate: false }, randomness);
    const unfinished = await unfinishedKey(place, ring);
    // A new key that seals nothing was left by a rotation that was cut off, and may be in a backup by now.
    if (unfinished === null) rmSync(nextKeyFileOf(place), { force: true });
    const next = unfinished ?? loadKey({ path: nextKeyFileOf(place) }, randomness);
    await ring.sealAnew(current, next);
    putInPlace(place, next);
    await ring.forgetOlder(next);
  } finally {
    lock.release();
  }
};
