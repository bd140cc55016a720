import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { KeyUnusable, loadKey, replaceKeyFile } from "../../infra/crypto/keyfile.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { exclusiveLock } from "../../infra/sqlite/exclusive-lock.ts";
import { type KeyRing, keyRing } from "./key-ring.ts";

type KeyLocation = { readonly dataDir: string; readonly key: string | null };

export const keyFileOf = ({ dataDir }: Pick<KeyLocation, "dataDir">): string => join(dataDir, "key");

const nextKeyFileOf = (location: KeyLocation): string => `${keyFileOf(location)}.new`;

export const presentKey = (location: KeyLocation): Uint8Array | null => {
  if (location.key !== null) return loadKey({ path: "", env: location.key }, randomness);
  const path = keyFileOf(location);
  return existsSync(path) ? loadKey({ path, mayCreate: false }, randomness) : null;
};

const lockFiles = ({ dataDir }: KeyLocation) => exclusiveLock(join(dataDir, "key.lock"));

/** The key in `key.new` if an interrupted rotation has sealed the ring with it but not replaced `key`; else null. */
const unfinishedKey = async (location: KeyLocation, ring: KeyRing): Promise<Uint8Array | null> => {
  if (location.key !== null || !existsSync(nextKeyFileOf(location))) return null;
  const next = loadKey({ path: nextKeyFileOf(location), mayCreate: false }, randomness);
  return (await ring.isSealedUnder(next)) ? next : null;
};

const putInPlace = (location: KeyLocation, next: Uint8Array): void =>
  replaceKeyFile(keyFileOf(location), nextKeyFileOf(location), next, randomness);

const completeRotation = async (location: KeyLocation, ring: KeyRing): Promise<void> => {
  const lock = lockFiles(location);
  if (lock === null) return;
  try {
    // The file is read again, because it may belong to a later rotation by the time the lock is taken.
    const next = await unfinishedKey(location, ring);
    if (next !== null) putInPlace(location, next);
  } finally {
    lock.release();
  }
};

const isReplaced = (location: KeyLocation, serverKey: Uint8Array): boolean => {
  const now = location.key === null ? presentKey(location) : null;
  return now !== null && Buffer.compare(now, serverKey) !== 0;
};

export const openDataKey = async (
  log: EventLog,
  location: KeyLocation,
  serverKey: Uint8Array,
  clock: Clock,
): Promise<Uint8Array> => {
  const ring = keyRing(log, { clock, randomness });
  const next = await unfinishedKey(location, ring);
  if (next !== null) await completeRotation(location, ring);
  const key = next ?? serverKey;
  try {
    const dataKey = await ring.open(key);
    await ring.forgetOlder(key);
    return dataKey;
  } catch (error) {
    // A rotation may have ended after the key file and before the log was read, so the new key file is tried.
    if (!(error instanceof KeyUnusable) || !isReplaced(location, key)) throw error;
    return openDataKey(log, location, presentKey(location) ?? key, clock);
  }
};

/**
 * The new key is on disk before it seals the data key, and replaces the old key file once that record is durable, so
 * after a crash at any point a key file opens the log.
 */
export const rotateKeyFile = async (log: EventLog, location: KeyLocation, clock: Clock): Promise<void> => {
  const ring = keyRing(log, { clock, randomness });
  const path = keyFileOf(location);
  const lock = lockFiles(location);
  if (lock === null) throw new KeyUnusable(`Another process changes ${path} at the moment: run the command again.`);
  try {
    const current = loadKey({ path, mayCreate: false }, randomness);
    const unfinished = await unfinishedKey(location, ring);
    // A key that an interrupted rotation left behind may be in a backup of the files, so it is replaced if it has
    // sealed nothing.
    if (unfinished === null) rmSync(nextKeyFileOf(location), { force: true });
    const next = unfinished ?? loadKey({ path: nextKeyFileOf(location) }, randomness);
    await ring.sealAnew(current, next);
    putInPlace(location, next);
    await ring.forgetOlder(next);
  } finally {
    lock.release();
  }
};
