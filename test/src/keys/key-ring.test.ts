import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { loadKey } from "../../../infra/crypto/keyfile.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { hasRing, keyRing } from "../../../src/keys/key-ring.ts";
import { openDataKey, presentKey, rotateKeyFile } from "../../../src/keys/server-key.ts";
import { onEachLog } from "../../support/each-log.ts";
import { testClock } from "../../support/http-app.ts";

const test = suite<{ dir: string }>("the key ring");
test.before.each((context) => {
  context.dir = mkdtempSync(join(tmpdir(), "countersign-ring-"));
});
test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

const [OLD, NEW, THIRD] = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const clock = testClock();
const ringOf = (log: EventLog) => keyRing(log, { clock, randomness });
const hex = (key: Uint8Array): string => Buffer.from(key).toString("hex");

const refused = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    assert.is((error as Error).name, "KeyUnusable", String(error));
    return (error as Error).message;
  }
  throw new Error("it was not refused");
};

test("nodes that start at the same time share one random data key, which the log holds only sealed", async () => {
  const log = memoryEventLog();
  const keys = await Promise.all(Array.from({ length: 5 }, () => ringOf(log).open(OLD)));
  const [key = new Uint8Array()] = keys;
  for (const other of keys) assert.is(hex(other), hex(key));
  assert.is.not(hex(await ringOf(memoryEventLog()).open(OLD)), hex(key));
  const text = JSON.stringify(await log.readAll(null, 100));
  for (const form of [hex(key), Buffer.from(key).toString("base64")]) assert.not.ok(text.includes(form));
});

test("another server's key is refused, and so is a log whose ring was lost", async () => {
  const log = memoryEventLog();
  await ringOf(log).open(OLD);
  assert.match(await refused(ringOf(log).open(NEW)), /sealed under another COUNTERSIGN_KEY: set that one/);
  await log.erase("payload-keyring");
  assert.ok(await hasRing(log));
  assert.match(await refused(ringOf(log).open(OLD)), /are missing, .*: restore the log from a backup/);
});

test("a ring of another log is refused", async () => {
  const [log, other] = [memoryEventLog(), memoryEventLog()];
  await Promise.all([ringOf(log).open(OLD), ringOf(other).open(OLD)]);
  const foreign = await other.read("payload-keyring", null, 1);
  await log.append("payload-keyring", 0, foreign);
  assert.match(await refused(ringOf(log).open(OLD)), /are missing/);
});

test("a data key sealed anew opens only with the new server key, and the old record is gone after the next start", async ({
  dir,
}) => {
  const log = memoryEventLog();
  const key = await ringOf(log).open(OLD);
  await ringOf(log).sealAnew(OLD, NEW);
  await ringOf(log).sealAnew(OLD, NEW);
  assert.is((await log.read("payload-keyring", null, 10)).length, 2);
  assert.match(await refused(ringOf(log).open(OLD)), /another COUNTERSIGN_KEY/);
  const place = { dataDir: dir, key: Buffer.from(NEW).toString("base64") };
  assert.is(hex(await openDataKey(log, place, NEW, clock)), hex(key));
  assert.is((await log.read("payload-keyring", null, 10)).length, 1);
  assert.match(await refused(ringOf(log).sealAnew(OLD, THIRD)), /another COUNTERSIGN_KEY/);
  await ringOf(log).sealAnew(NEW, THIRD);
  assert.is(hex(await ringOf(log).open(THIRD)), hex(key));
});

test(
  "a new key that was lost before any node had it is replaced with the old one",
  onEachLog(async (log) => {
    const key = await ringOf(log).open(OLD);
    await ringOf(log).sealAnew(OLD, NEW);
    await ringOf(log).sealAnew(OLD, THIRD);
    assert.is(hex(await ringOf(log).open(THIRD)), hex(key));
  }),
);

test(
  "rotations at the same time leave one newest record, which opens",
  onEachLog(async (log) => {
    const key = await ringOf(log).open(OLD);
    await Promise.allSettled([NEW, THIRD].map((to) => ringOf(log).sealAnew(OLD, to)));
    const opened = await Promise.allSettled([NEW, THIRD].map((to) => ringOf(log).open(to)));
    const keys = opened.flatMap((it) => (it.status === "fulfilled" ? [hex(it.value)] : []));
    assert.equal(keys, [hex(key)]);
  }),
);

test(
  "a rotation that is cut off, and completed by the next start, leaves one record on each engine",
  onEachLog(async (log) => {
    const key = await ringOf(log).open(OLD);
    const cut = dyingLog(log, 1);
    await ringOf(cut).sealAnew(OLD, NEW);
    await ringOf(cut)
      .forgetOlder(NEW)
      .catch(() => undefined);
    assert.is((await log.read("payload-keyring", null, 10)).length, 2);
    const place = { dataDir: "", key: Buffer.from(NEW).toString("base64") };
    assert.is(hex(await openDataKey(log, place, NEW, clock)), hex(key));
    assert.is((await log.read("payload-keyring", null, 10)).length, 1);
    assert.match(await refused(ringOf(log).open(OLD)), /another COUNTERSIGN_KEY/);
  }),
);

/** A log in which something else happens once, right before or after the first read of a stream's last record or of a stream. */
const interrupted = (log: EventLog, when: "before last" | "after read", what: () => Promise<void>): EventLog => {
  let isDone = false;
  const once = async (): Promise<void> => {
    if (isDone) return;
    isDone = true;
    await what();
  };
  return {
    ...log,
    async last(...args) {
      if (when === "before last") await once();
      return log.last(...args);
    },
    async read(...args) {
      const page = await log.read(...args);
      if (when === "after read") await once();
      return page;
    },
  };
};

test(
  "a node that starts with the old key while it is being replaced removes nothing that a lost new key needs",
  onEachLog(async (log) => {
    const key = await ringOf(log).open(OLD);
    const starting = ringOf(log);
    assert.is(hex(await starting.open(OLD)), hex(key));
    await ringOf(log).sealAnew(OLD, NEW);
    await starting.forgetOlder(OLD);
    // The new key was lost before any node had it.
    await ringOf(log).sealAnew(OLD, THIRD);
    assert.is(hex(await ringOf(log).open(THIRD)), hex(key));
  }),
);

test("a process that starts in the middle of a rotation of the key's file opens the keys", async ({ dir }) => {
  const log = memoryEventLog();
  const place = { dataDir: dir, key: null };
  const old = loadKey({ path: join(dir, "key") }, randomness);
  const key = await openDataKey(log, place, old, clock);
  const rotating = interrupted(log, "before last", () => rotateKeyFile(log, place, clock));
  assert.is(hex(await openDataKey(rotating, place, old, clock)), hex(key));
  assert.is.not(hex(loadKey({ path: join(dir, "key") }, randomness)), hex(old));
});

test("completing a rotation does not replace the key of a later rotation", async ({ dir }) => {
  const log = memoryEventLog();
  const place = { dataDir: dir, key: null };
  const path = join(dir, "key");
  const old = loadKey({ path }, randomness);
  const key = await openDataKey(log, place, old, clock);
  await rotateKeyFile(dyingLog(log, 1), place, clock).catch(() => undefined);
  writeFileSync(`${path}.new`, readFileSync(path), { mode: 0o600 });
  writeFileSync(path, `${Buffer.from(old).toString("base64")}\n`, { mode: 0o600 });
  // As the crash leaves it: the keys are sealed under the new key, which is in its own file.
  const rotated = interrupted(log, "after read", async () => {
    await rotateKeyFile(log, place, clock);
    await rotateKeyFile(log, place, clock);
  });
  assert.is(hex(await openDataKey(rotated, place, old, clock)), hex(key));
  assert.is(hex(await openDataKey(log, place, loadKey({ path }, randomness), clock)), hex(key));
});

/** A log that ends the process, as it were, at the given write of the rotation. */
const dyingLog = (log: EventLog, writes: number): EventLog => {
  let left = writes;
  const dying =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      left -= 1;
      return left < 0 ? Promise.reject(new LogUnavailable("the process has ended")) : write(...args);
    };
  return { ...log, append: dying(log.append), erase: dying(log.erase) };
};

test("a rotation of the key file that is interrupted anywhere leaves a key that opens the log, and is completed", async ({
  dir,
}) => {
  for (const [index, cut] of (["nothing", "before sealing", "before the file", "before removing"] as const).entries()) {
    const place = { dataDir: join(dir, String(index)), key: null };
    const path = join(place.dataDir, "key");
    mkdirSync(place.dataDir);
    const log = memoryEventLog();
    const old = loadKey({ path }, randomness);
    const key = await openDataKey(log, place, old, clock);
    const restarted = async (): Promise<string> => {
      const present = presentKey(place);
      assert.ok(present);
      return hex(await openDataKey(log, place, present, clock));
    };
    if (cut === "nothing") await rotateKeyFile(log, place, clock);
    if (cut === "before sealing") await rotateKeyFile(dyingLog(log, 0), place, clock).catch(() => undefined);
    const left = existsSync(`${path}.new`) ? hex(loadKey({ path: `${path}.new` }, randomness)) : null;
    if (cut === "before the file") {
      // As the crash leaves it: sealed under the new key, which is in its own file.
      const next = loadKey({ path: `${path}.new` }, randomness);
      await ringOf(log).sealAnew(old, next);
    }
    if (cut === "before removing") await rotateKeyFile(dyingLog(log, 1), place, clock).catch(() => undefined);
    assert.is(await restarted(), hex(key), cut);
    assert.is(hex(loadKey({ path }, randomness)) === hex(old), cut === "before sealing", cut);
    await rotateKeyFile(log, place, clock);
    assert.is(await restarted(), hex(key), cut);
    assert.is.not(hex(loadKey({ path }, randomness)), hex(old), cut);
    assert.is.not(hex(loadKey({ path }, randomness)), left, "a key that was left over is not used");
    assert.is((await log.read("payload-keyring", null, 10)).length, 1, cut);
    assert.is(existsSync(`${path}.new`), false, cut);
    assert.is(statSync(path).mode & 0o777, 0o600);
    writeFileSync(path, `${Buffer.from(old).toString("base64")}\n`);
    assert.match(await refused(restarted()), /another COUNTERSIGN_KEY/);
    assert.ok(readFileSync(path, "utf8").startsWith(Buffer.from(old).toString("base64")));
  }
});

test.run();
