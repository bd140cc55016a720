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

export const presentKey = (place: KeyPlace): Uint8Array | null => {
  if (place.key !== null) return loadKey({ path: "", env: place.key }, randomness);
  const path = keyFileOf(place);
  return existsSync(path) ? loadKey({ path, mayCreate: false }, randomness) : null;
};

const lockFiles = ({ dataDir }: KeyPlace) => exclusiveLock(join(dataDir, "key.lock"));

/** The new key of an interrupted rotation that has sealed the ring but not replaced the key file; else null. */
const unfinishedKey = async (place: KeyPlace, ring: KeyRing): Promise<Uint8Array | null> => {
  if (place.key !== null || !existsSync(nextKeyFileOf(place))) return null;
  const next = loadKey({ path: nextKeyFileOf(place), mayCreate: false }, randomness);
  return (await ring.isSealedUnder(next)) ? next : null;
};

const putInPlace = (place: KeyPlace, next: Uint8Array): void =>
  replaceKeyFile(keyFileOf(place), nextKeyFileOf(place), next, randomness);

const completeRotation = async (place: KeyPlace, ring: KeyRing): Promise<void> => {
  const lock = lockFiles(place);
  if (lock === null) return;
  try {
    // The files may belong to a later rotation by the time the lock is taken.
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
    await ring.forgetOlder(key);
    return dataKey;
  } catch (error) {
    // A rotation may have ended between reading the file and reading the log.
    if (!(error instanceof KeyUnusable) || !isReplaced(place, key)) throw error;
    return openDataKey(log, place, presentKey(place) ?? key, clock);
  }
};

/**
 * The new key is on disk before it seals anything, and replaces the old file after the seal is durable, so a crash at
 * any point leaves a key that opens the log.
 */
export const rotateKeyFile = async (log: EventLog, place: KeyPlace, clock: Clock): Promise<void> => {
  const ring = keyRing(log, { clock, randomness });
  const path = keyFileOf(place);
  const lock = lockFiles(place);
  if (lock === null) throw new KeyUnusable(`Another process changes ${path} at the moment: run the command again.`);
  try {
    const current = loadKey({ path, mayCreate: false }, randomness);
    const unfinished = await unfinishedKey(place, ring);
    // A new key that has sealed nothing may be in a backup, so an interrupted rotation's key is not used.
    if (unfinished === null) rmSync(nextKeyFileOf(place), { force: true });
    const next = unfinished ?? loadKey({ path: nextKeyFileOf(place) }, randomness);
    await ring.sealAnew(current, next);
    putInPlace(place, next);
    await ring.forgetOlder(next);
  } finally {
    lock.release();
  }
};
