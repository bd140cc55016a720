import { status } from "@grpc/grpc-js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { event, events, newStream } from "../../contract/event-log-events.ts";
import type { EventStoreDouble } from "../../support/eventstore-double/server.ts";
import { until } from "../../support/until.ts";
import { inWorld } from "./log-world.ts";

/** Whoever follows the log is woken by what others append, whatever becomes of the subscription. */

const test = suite("EventStoreDB log: wakes");

const listening = (log: EventLog) => {
  let woken = 0;
  const stop = log.onAppended(() => {
    woken += 1;
  });
  return { woken: () => woken, stop };
};

const isLive = (double: EventStoreDouble): boolean => double.subscriptions().some(({ live }) => live());

/** Appends on one log and waits until the listener on another has heard; tells how often it was woken by then. */
const isHeard = async (other: EventLog, woken: () => number): Promise<void> => {
  const before = woken();
  await other.append(newStream(), "absent", events(1));
  await until("the append is heard", () => woken() > before);
};

test(
  "nobody listens, nothing is open; one subscription serves all who do, and it is gone with the last",
  inWorld(async ({ double, log, open }) => {
    const other = await open();
    assert.is(double.subscriptions().length, 0);
    const listeners = [listening(log), listening(log)];
    await until("it is live", () => isLive(double));
    assert.is(double.subscriptions().length, 1);
    for (const { woken } of listeners) await isHeard(other, woken);
    for (const { stop } of listeners) stop();
    await until("it is gone", () => double.subscriptions().length === 0);
  }),
);

test(
  "a payload wakes nobody on another node, as nothing follows payloads alone",
  inWorld(async ({ double, log, open }) => {
    const other = await open();
    const { woken, stop } = listening(log);
    await until("it is live", () => isLive(double));
    await until("its opening was heard", () => woken() > 0);
    const before = woken();
    await other.append(newStream("payload"), "absent", events(1));
    // A record behind it is told, and nothing was told before.
    await other.append(newStream(), "absent", events(1));
    await until("the record is told", () => woken() > before);
    assert.is(double.given("subscribe"), 1);
    stop();
  }),
);

type Drop = readonly [string, (double: EventStoreDouble) => void];
const drops: readonly Drop[] = [
  ["ends", (double) => double.subscriptions().map(({ end }) => end())],
  ["is dropped as too slow", (double) => double.subscriptions().map(({ fail }) => fail(status.ABORTED, "too slow"))],
  ["is refused", (double) => double.subscriptions().map(({ fail }) => fail(status.UNAVAILABLE, "not ready"))],
  ["is cut", (double) => double.crash()],
];

for (const [name, drop] of drops) {
  test(
    `a subscription that ${name} is opened again, every time, and who listens looks at what came meanwhile`,
    inWorld(async ({ double, log, open }) => {
      const other = await open();
      const { woken, stop } = listening(log);
      for (let round = 0; round < 3; round += 1) {
        await isHeard(other, woken);
        await until("it is live", () => isLive(double));
        const [before, [gone]] = [woken(), double.subscriptions()];
        drop(double);
        await until("it is another", () => double.subscriptions().some((now) => now !== gone && now.live()));
        await until("its opening wakes", () => woken() > before);
      }
      stop();
    }),
  );
}

test(
  "a subscription that cannot be opened for a while is opened in the end, and the head is watched meanwhile",
  inWorld(async ({ double, log, open }) => {
    const other = await open();
    const odd = double.misbehave({ how: "error", code: status.UNAVAILABLE }, { method: "subscribe", times: 5 });
    const { woken, stop } = listening(log);
    await until("it was refused", () => odd.happened() > 0);
    await isHeard(other, woken);
    await until("it is live", () => isLive(double));
    stop();
  }),
);

test(
  "a subscription that falls silent is noticed by the head, and opened anew",
  inWorld(async ({ double, log, open }) => {
    const other = await open();
    const { woken, stop } = listening(log);
    await isHeard(other, woken);
    await log.readAll(null, 100, "records");
    await until("it is live", () => isLive(double));
    const [silent] = double.subscriptions();
    silent?.silence();
    await isHeard(other, woken);
    await until("it is another", () => {
      const [now] = double.subscriptions();
      return now !== undefined && now !== silent && now.live();
    });
    await isHeard(other, woken);
    stop();
  }),
);

test(
  "a burst that drops the subscription loses nothing that is followed",
  inWorld(async ({ log, open }) => {
    const other = await open();
    const seen: string[] = [];
    let at = await log.head();
    let isDue = true;
    const stop = log.onAppended(() => {
      isDue = true;
    });
    const streams = Array.from({ length: 10 }, () => newStream());
    const sent = streams.flatMap(() => events(200).map(({ id }) => id)).length;
    const appending = Promise.all(
      streams.map((stream) =>
        other.append(
          stream,
          "absent",
          Array.from({ length: 200 }, () => event()),
        ),
      ),
    );
    // Awaited below, when everything was followed.
    appending.catch(() => undefined);
    await until("everything was followed", async () => {
      if (!isDue) return false;
      isDue = false;
      try {
        for (let page = await log.readAll(at, 500); page.length > 0; page = await log.readAll(at, 500)) {
          seen.push(...page.map(({ id }) => id));
          at = page.at(-1)?.position ?? at;
        }
      } catch (error) {
        // A busy machine is silent for longer than the limits of this test: as every follower, it looks again.
        if ((error as Error).name !== "LogUnavailable") throw error;
        isDue = true;
      }
      return seen.length === sent;
    });
    await appending;
    assert.is(new Set(seen).size, sent);
    stop();
  }),
);

test(
  "closing the log ends the subscription, also while it is being opened again",
  inWorld(async ({ double, open }) => {
    const log = await open();
    listening(log);
    await until("it is live", () => isLive(double));
    double.subscriptions()[0]?.end();
    await log.close();
    await until("nothing is open", () => double.subscriptions().length === 0 && double.open() <= 1);
  }),
);

test.run();
