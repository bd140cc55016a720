import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DatabaseSync } from "../../../infra/sqlite/driver.ts";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { event, events, idsOf, newStream, readOn, rejection } from "../../contract/event-log-events.ts";
import { printSkipped } from "../../support/skipped.ts";
import { inDirectory } from "./event-log-children.ts";

/** Full disks, locks, dead threads and too much at once: nothing is lost, and it works again afterwards. */
const test = suite("sqlite event log: failure");

const inNewFile = (use: (path: string) => Promise<void>): Promise<void> =>
  inDirectory((directory) => use(join(directory, "log.db")));

/** Nearly as large as an append may be. */
const big = () => event({ filler: "x".repeat(900_000) });

test("a full disk refuses an append that does not fit and takes one that does", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path, maxPages: 50 });
    const [stream, small] = [newStream(), event()];
    assert.is((await rejection(() => log.append(stream, "absent", [small, big()]))).name, "LogUnavailable");
    assert.equal(await log.read(stream, null, 10), []);
    assert.equal(await log.append(stream, "absent", [small]), {
      outcome: "appended",
      revision: 0,
      position: await log.head(),
    });
    assert.is((await readOn(log, null)).length, 1);
    await log.close();
  }));

test("a full disk refuses the whole of a group, and what it left out is written once there is room", () =>
  inNewFile(async (path) => {
    const small = await sqliteEventLog({ path, maxPages: 100 });
    const group = [event(), big(), event()].map((one, index) => ({
      ...{ stream: newStream(), expected: "absent" as const, events: [one] },
      follows: index === 0 ? [] : [index - 1],
    }));
    assert.is((await rejection(() => small.appendGroup(group))).name, "LogUnavailable");
    assert.equal(await readOn(small, null), []);
    await small.close();
    const log = await sqliteEventLog({ path });
    for (const { outcome } of await log.appendGroup(group)) assert.is(outcome, "appended");
    assert.is((await readOn(log, null)).length, 3);
    await log.close();
  }));

test("when a group fails, each of its appends may be sent again", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path, maxPages: 100 });
    const appends = Array.from({ length: 20 }, () => ({ stream: newStream(), batch: events(2) }));
    const send = ({ stream, batch }: (typeof appends)[number]) => log.append(stream, "absent", batch);
    const tooBig = rejection(() => log.append(newStream(), "absent", [big()]));
    const results = await Promise.allSettled(appends.map(send));
    assert.is((await tooBig).name, "LogUnavailable");
    for (const result of results) if (result.status === "rejected") assert.is(result.reason.name, "LogUnavailable");
    for (const append of appends) assert.is((await send(append)).outcome, "appended");
    assert.is((await readOn(log, null)).length, 40);
    await log.close();
  }));

test("another process's lock is waited for, then refused, and does not matter once released", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path, busyTimeoutMs: 50 });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const [stream, batch] = [newStream(), events(2)];
    assert.is((await rejection(() => log.append(stream, "absent", batch))).name, "LogUnavailable");
    other.exec("COMMIT");
    other.close();
    assert.is((await log.append(stream, "absent", batch)).outcome, "appended");
    await log.close();
  }));

/**
 * A message that throws in the thread; resolves when the thread has ended. Terminating it would do so inside a
 * statement, where the driver ends the process.
 */
const fail = async (writer: Worker | undefined): Promise<void> => {
  if (writer === undefined) throw new Error("there is no writer");
  // The appender lets the thread go once nothing is pending: nothing else would keep this process until it has ended.
  const awake = setInterval(() => undefined, 1_000);
  const ended = new Promise<void>((resolve) => writer.once("exit", () => resolve()));
  writer.postMessage({ kind: "operations", heads: "no JSON" });
  await ended;
  clearInterval(awake);
};

test("a writer thread that dies leaves unknown outcomes, and the next append finds another", () =>
  inNewFile(async (path) => {
    const writers: Worker[] = [];
    const log = await sqliteEventLog({ path, onWriter: (worker) => writers.push(worker) });
    const appends = Array.from({ length: 200 }, () => ({ stream: newStream(), batch: events(2) }));
    const send = ({ stream, batch }: (typeof appends)[number]) => log.append(stream, "absent", batch);
    const pending = Promise.allSettled(appends.map(send));
    await log.head();
    await new Promise((resolve) => setImmediate(resolve));
    // All may be committed before the thread reads its last message: what is sent again must find it gone.
    await fail(writers[0]);
    for (const result of await pending)
      if (result.status === "rejected") assert.is(result.reason.name, "OutcomeUnknown");
    // Sent again, whatever became of it, each append happens once.
    for (const result of await Promise.all(appends.map(send))) assert.is(result.outcome, "appended");
    assert.is(writers.length, 2);
    const stored = await readOn(log, null);
    assert.is(stored.length, 400);
    assert.is(Number(stored.at(-1)?.position), 400);
    await log.close();
  }));

test("operations submitted to a dying writer are taken by the next, without another append", () =>
  inNewFile(async (path) => {
    const writers: Worker[] = [];
    const log = await sqliteEventLog({ path, onWriter: (worker) => writers.push(worker) });
    const first = log.append(newStream(), "absent", events(2)).catch((error: unknown) => error);
    const ended = fail(writers[0]);
    await new Promise((resolve) => setImmediate(resolve));
    const second = await log.append(newStream(), "absent", [event()]);
    assert.is(second.outcome, "appended");
    await Promise.all([first, ended]);
    await log.close();
  }));

test("an idle writer thread that dies is replaced as well", () =>
  inNewFile(async (path) => {
    const writers: Worker[] = [];
    const log = await sqliteEventLog({ path, onWriter: (worker) => writers.push(worker) });
    await fail(writers[0]);
    const stream = newStream();
    assert.is((await log.append(stream, "absent", [event()])).outcome, "appended");
    assert.is((await log.append(stream, 0, [event()])).outcome, "appended");
    await log.close();
  }));

/** The system's list of file locks (proc_locks(5)): those of this process on the file, as Linux tells them. */
const LOCKS = "/proc/locks";
const locksOn = (path: string): number => {
  if (!existsSync(LOCKS)) return 0;
  const isOurs = new RegExp(` ${process.pid} \\w+:\\w+:${statSync(path).ino} `);
  return readFileSync(LOCKS, "utf8")
    .split("\n")
    .filter((line) => isOurs.test(line)).length;
};

test("a replaced writer thread leaves the process its lock on the file, without which others would remove the WAL", () =>
  inNewFile(async (path) => {
    const writers: Worker[] = [];
    const log = await sqliteEventLog({ path, onWriter: (worker) => writers.push(worker) });
    // Not every file system shows its files there by the number that it gives them elsewhere.
    const areTold = locksOn(path) > 0;
    if (!areTold) printSkipped("the locks on the log", "this system does not tell them");
    await fail(writers[0]);
    await log.append(newStream(), "absent", [event()]);
    assert.is(writers.length, 2);
    assert.is(locksOn(path) > 0, areTold);
    await log.close();
  }));

test("appends over the limit are refused at once, and accepted ones are not lost", () =>
  inNewFile(async (path) => {
    const log = await sqliteEventLog({ path });
    const appends = Array.from({ length: 80 }, () => ({ stream: newStream(), batch: [big()] }));
    const results = await Promise.allSettled(appends.map(({ stream, batch }) => log.append(stream, "absent", batch)));
    const refused = results.filter(({ status }) => status === "rejected");
    assert.ok(refused.length > 0 && refused.length < 40, `${refused.length} refused`);
    for (const result of results) if (result.status === "rejected") assert.is(result.reason.name, "LogUnavailable");
    for (const [index, { stream, batch }] of appends.entries()) {
      const expected = results[index]?.status === "fulfilled" ? idsOf(batch) : [];
      assert.equal(idsOf(await log.read(stream, null, 10)), expected);
    }
    await log.close();
  }));

test.run();
