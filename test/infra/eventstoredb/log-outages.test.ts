import { status } from "@grpc/grpc-js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog, Expected, NewEvent } from "../../../domain/ports/event-log.ts";
import type { Limits } from "../../../infra/eventstoredb/limits.ts";
import { LogUnavailable, OutcomeUnknown } from "../../../infra/log-errors.ts";
import { withTimeout } from "../../../infra/with-timeout.ts";
import { event, events, idsOf, newStream, readOn, rejection } from "../../contract/event-log-events.ts";
import { until } from "../../support/until.ts";
import { type FreezingLine, freezingLine } from "./freezing-line.ts";
import { HANG_MS, inWorld, PATIENT, SHORT, type World } from "./log-world.ts";

/** The server goes away and comes back, or is there and silent. */

const test = suite("EventStoreDB log: outages");

const soon = <T>(work: Promise<T>): Promise<T> => withTimeout(HANG_MS, "it hangs", work);

/** As many as a node has under way at once. */
const APPENDERS = 64;

/** Sends an append again until it is known to stand; gives its revision. */
const appendKnown = async (
  log: EventLog,
  stream: string,
  expected: Expected,
  batch: readonly NewEvent[],
): Promise<number> => {
  for (;;) {
    try {
      const appended = await soon(log.append(stream, expected, batch));
      if (appended.outcome === "conflict") throw new Error(`a conflict with ${appended.actual}`);
      return appended.revision;
    } catch (error) {
      // Both say that the same append may be sent again.
      if (!(error instanceof OutcomeUnknown) && !(error instanceof LogUnavailable)) throw error;
    }
  }
};

/** Appends to a stream of its own, one event after the other; gives what it appended. */
const appendUntil = async (log: EventLog, isOver: () => boolean): Promise<readonly string[]> => {
  const stream = newStream();
  const ids: string[] = [];
  let expected: Expected = "absent";
  while (!isOver()) {
    const next = event();
    expected = await appendKnown(log, stream, expected, [next]);
    ids.push(next.id);
  }
  return ids;
};

const overFreezingLine = (run: (world: World & { readonly line: FreezingLine }) => Promise<void>, limits: Limits) =>
  inWorld(async (world) => {
    const line = await freezingLine(world.double.port);
    try {
      const log = await world.open(`esdb://127.0.0.1:${line.port}?tls=false`);
      await run({ ...world, log, line });
      await log.close();
    } finally {
      await line.close();
    }
  }, limits);

test(
  "while 64 append and their connections are cut again and again, every event stands exactly once",
  inWorld(async ({ double, log }) => {
    let cuts = 0;
    const cutting = setInterval(() => {
      cuts += 1;
      double.crash();
    }, 100);
    const appended = await Promise.all(
      Array.from({ length: APPENDERS }, () => appendUntil(log, () => cuts >= 15)),
    ).finally(() => clearInterval(cutting));
    const stored = idsOf(await readOn(log, null, 1_000)).sort();
    const expected = appended.flat().sort();
    assert.ok(expected.length > APPENDERS);
    assert.ok(stored.join() === expected.join(), `${stored.length} events stand of ${expected.length}`);
  }),
);

test(
  "appends that are under way when the server crashes are done when it is back, and nobody opens the log anew",
  inWorld(async ({ double, log }) => {
    const streams = Array.from({ length: 200 }, () => newStream());
    const appending = Promise.all(streams.map((stream) => log.append(stream, "absent", events(1))));
    await double.stop();
    await double.start();
    for (const { outcome } of await soon(appending)) assert.is(outcome, "appended");
    assert.is((await readOn(log, null, 1_000)).length, streams.length);
  }),
);

test(
  "an 'any' append whose answer was lost in a crash is not written again by the server that has forgotten it",
  inWorld(async ({ double, log }) => {
    const stream = newStream();
    await log.append(stream, "any", events(2));
    const batch = events(2);
    double.misbehave({ how: "silent", committed: true }, { method: "append", stream, times: 10_000 });
    assert.is((await soon(rejection(() => log.append(stream, "any", batch)))).name, "OutcomeUnknown");
    await double.stop();
    await double.start();
    double.behave();
    const again = await soon(log.append(stream, "any", batch));
    assert.is(again.outcome === "appended" && again.revision, 3);
    assert.is((await log.read(stream, null, 10)).length, 4);
  }, SHORT),
);

test(
  "a server that is down is LogUnavailable, for appends and reads, until it is back",
  inWorld(async ({ double, log }) => {
    const stream = newStream();
    await log.append(stream, "absent", events(1));
    await double.stop();
    // What still stands on the old connection may have been sent.
    await soon(rejection(() => log.append(newStream(), "absent", events(1))));
    const batch = events(1);
    const calls = [
      () => log.append(stream, 0, batch),
      () => log.append(stream, "any", events(1)),
      () => log.read(stream, null, 1),
      () => log.last(stream),
      () => log.readAll(null, 1),
      () => log.head(),
    ];
    const failures = await Promise.all(calls.map((call) => soon(rejection(call))));
    assert.equal(
      failures.map(({ name }) => name),
      failures.map(() => "LogUnavailable"),
    );
    await double.start();
    assert.equal((await soon(log.append(stream, 0, batch))).outcome, "appended");
    assert.is((await soon(log.read(stream, null, 10))).length, 2);
  }, SHORT),
);

test(
  "while no node of a cluster can be found, calls fail one after the other, and the process goes on",
  inWorld(async ({ double, open }) => {
    const settings = "tls=false&maxDiscoverAttempts=2&discoveryInterval=100&gossipTimeout=1";
    const log = await open(`esdb://127.0.0.1:${double.port},127.0.0.1:1?${settings}`);
    const unheard: unknown[] = [];
    const hear = (error: unknown): void => void unheard.push(error);
    process.on("unhandledRejection", hear);
    const stop = log.onAppended(() => undefined);
    await until("it is followed", () => double.subscriptions().some(({ live }) => live()));
    const refused = double.misbehave(
      { how: "error", code: status.UNAVAILABLE },
      { method: ["read", "readAll"], times: 10_000 },
    );
    double.misbehave({ how: "silent" }, { method: "gossip", times: 10_000 });
    const reading = rejection(() => log.head());
    await until("it is refused", () => refused.happened() > 0);
    // The look for another node has begun when the subscription ends as well.
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const { fail } of double.subscriptions()) fail(status.UNAVAILABLE, "going down");
    assert.is((await soon(reading)).name, "LogUnavailable");
    await new Promise((resolve) => setTimeout(resolve, 500));
    process.off("unhandledRejection", hear);
    stop();
    assert.equal(unheard, []);
  }, SHORT),
);

test(
  "on a connection that is half open nobody waits longer than for one try: the next is made on another",
  overFreezingLine(async ({ log, line }) => {
    const stream = newStream();
    await log.append(stream, "absent", events(1));
    for (let round = 0; round < 2; round += 1) {
      line.freeze("what is open");
      assert.is((await soon(log.append(stream, round, events(1)))).outcome, "appended");
      line.freeze("what is open");
      assert.is((await soon(log.read(stream, null, 10))).length, round + 2);
    }
  }, PATIENT),
);

test(
  "a frozen server is OutcomeUnknown within the limit, whatever waits in the connection, and works when it goes on",
  overFreezingLine(async ({ log, line }) => {
    line.freeze("everything");
    // More than the connection takes: it must not matter what is never sent.
    const appends = Array.from({ length: 200 }, () => [newStream(), [event({ text: "x".repeat(10_000) })]] as const);
    const failures = await soon(
      Promise.all(appends.map(([stream, batch]) => rejection(() => log.append(stream, "absent", batch)))),
    );
    assert.equal(new Set(failures.map(({ name }) => name)), new Set(["OutcomeUnknown"]));
    line.thaw();
    const revisions = await Promise.all(appends.map(([stream, batch]) => appendKnown(log, stream, "absent", batch)));
    assert.ok(revisions.every((revision) => revision === 0));
    assert.is((await readOn(log, null, 1_000)).length, appends.length);
  }, SHORT),
);

test(
  "two logs in one process do not touch each other: one closes or fails while the other appends",
  inWorld(async ({ double, log, open }) => {
    let isOver = false;
    const appending = Promise.all(Array.from({ length: 16 }, () => appendUntil(log, () => isOver)));
    for (let round = 0; round < 5; round += 1) {
      const other = await open();
      const pending = Promise.allSettled(
        Array.from({ length: 50 }, () => other.append(newStream("other"), "absent", events(1))),
      );
      if (round % 2 === 0) double.crash();
      await other.close();
      await soon(pending);
    }
    isOver = true;
    const ids = (await appending).flat().sort();
    const stored = (await readOn(log, null, 1_000)).filter(({ stream }) => !stream.startsWith("other-"));
    assert.ok(idsOf(stored).sort().join() === ids.join(), `${stored.length} events stand of ${ids.length}`);
  }),
);

test(
  "closing waits for what is under way, but not for ever",
  inWorld(async ({ double, log, open }) => {
    const appending = log.append(newStream(), "absent", events(1));
    await log.close();
    assert.is((await appending).outcome, "appended");
    const stuck = await open();
    const odd = double.misbehave({ how: "silent" }, { method: "append", times: 10_000 });
    const failing = rejection(() => stuck.append(newStream(), "absent", events(1)));
    await until("the append is there", () => odd.happened() > 0);
    await soon(stuck.close());
    assert.is((await soon(failing)).name, "OutcomeUnknown");
    assert.is((await rejection(() => stuck.read(newStream(), null, 1))).name, "LogUnavailable");
  }, SHORT),
);

test.run();
