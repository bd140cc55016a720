import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog, NewEvent } from "../../../domain/ports/event-log.ts";
import { eventStoreLog } from "../../../infra/eventstoredb/event-log.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { events, newStream, rejection } from "../../contract/event-log-events.ts";
import { type EventStoreDouble, startEventStoreDouble } from "../../support/eventstore-double/server.ts";
import { until } from "../../support/until.ts";
import { PATIENT } from "./log-world.ts";

const test = suite("EventStoreDB: clocks");

const HOUR_MS = 3_600_000;

type World = {
  readonly log: EventLog;
  readonly double: EventStoreDouble;
  /** Sets this machine's clock, and the server's. */
  readonly set: (ms: number) => void;
  readonly setServer: (ms: number) => void;
  /** What the log told of the clock. */
  readonly told: readonly (string | null)[];
};

const inWorld =
  (run: (world: World) => Promise<void>, limits: Partial<typeof PATIENT> = {}): (() => Promise<void>) =>
  async () => {
    const double = await startEventStoreDouble();
    let aheadMs = 0;
    const told: (string | null)[] = [];
    const log = await eventStoreLog({
      url: double.url,
      limits: { ...PATIENT, clockLookMs: 20, clockTickMs: 10, ...limits },
      clock: { now: () => Date.now() + aheadMs },
      onClock: (problem) => told.push(problem),
    });
    const set = (ms: number): void => {
      aheadMs = ms;
    };
    const setServer = (ms: number): void => {
      double.state.aheadMs = ms;
    };
    try {
      await run({ log, double, set, setServer, told });
    } finally {
      await log.close();
      await double.stop();
    }
  };

const at = (ms: number): readonly NewEvent[] =>
  events(1).map((it) => ({ ...it, meta: { ...it.meta, recorded_at: new Date(ms).toISOString() } }));

/** No tick and no look falls into the test: what is known is known from the append alone. */
const SELDOM = { clockLookMs: HOUR_MS, clockTickMs: HOUR_MS };

for (const [what, ms] of [
  ["ahead", HOUR_MS],
  ["back", -HOUR_MS],
] as const) {
  test(
    `a node whose clock is set ${what} writes and erases nothing from that moment on, until it is right again`,
    inWorld(async ({ log, double, set, told }) => {
      const [stream, payload] = [newStream(), newStream("payload")];
      await log.append(payload, "absent", at(Date.now()));
      set(ms);
      const refused = await rejection(() => log.append(stream, "absent", at(Date.now() + ms)));
      assert.instance(refused, LogUnavailable);
      assert.match(String(refused), /this machine's clock is 3(?:600|599)\.\d s (?:ahead of|behind) the server's/);
      assert.instance(await rejection(() => log.erase(payload)), LogUnavailable);
      assert.is(double.state.streams.has(stream), false);
      assert.is((await log.read(payload, null, 10)).length, 1);
      assert.is(told.length, 1);
      set(0);
      assert.is((await log.append(stream, "absent", at(Date.now()))).outcome, "appended");
    }, SELDOM),
  );
}

test(
  "what was decided while the clock was ahead is not written when it is right again",
  inWorld(async ({ log }) => {
    assert.instance(await rejection(() => log.append(newStream(), "absent", at(Date.now() + HOUR_MS))), LogUnavailable);
    assert.is((await log.append(newStream(), "absent", at(Date.now() - HOUR_MS))).outcome, "appended");
  }, SELDOM),
);

test(
  "a clock that drifts is noticed without anything being written, and told once, as is that it is right again",
  inWorld(async ({ log, setServer, told }) => {
    setServer(6_000);
    await until("it is told", () => told.length > 0);
    assert.match(String(told[0]), /this machine's clock is (?:6\.0|5\.9) s behind the server's/);
    assert.instance(await rejection(() => log.append(newStream(), "absent", at(Date.now()))), LogUnavailable);
    setServer(0);
    await until("it is told that it is right", () => told.length > 1);
    assert.is((await log.append(newStream(), "absent", at(Date.now()))).outcome, "appended");
    assert.equal(told.slice(1), [null]);
  }),
);

test(
  "a machine that was suspended, and whose time the server confirms, goes on at once",
  inWorld(async ({ log, set, setServer, told }) => {
    set(HOUR_MS);
    setServer(HOUR_MS);
    const now = Date.now() + HOUR_MS;
    const appended = await Promise.all([1, 2, 3].map(() => log.append(newStream(), "absent", at(now))));
    assert.equal(
      appended.map(({ outcome }) => outcome),
      ["appended", "appended", "appended"],
    );
    assert.equal(told, []);
  }, SELDOM),
);

test(
  "while the server cannot say what time it is, a clock that was set is not believed, and one that was not is",
  inWorld(async ({ log, double, set }) => {
    double.misbehave({ how: "silent" }, { stream: "$$countersign", times: 1_000 });
    assert.is((await log.append(newStream(), "absent", at(Date.now()))).outcome, "appended");
    set(HOUR_MS);
    assert.instance(await rejection(() => log.append(newStream(), "absent", at(Date.now() + HOUR_MS))), LogUnavailable);
    double.behave();
  }, SELDOM),
);

test.run();
