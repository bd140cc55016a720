import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog, GroupedAppend, GroupedOutcome } from "../../../domain/ports/event-log.ts";
import { eventStoreLog } from "../../../infra/eventstoredb/event-log.ts";
import { LogUnavailable, OutcomeUnknown } from "../../../infra/log-errors.ts";
import { event, events, idsOf, newStream, rejection } from "../../contract/event-log-events.ts";
import type { Misbehaviour } from "../../support/eventstore-double/misbehaviour.ts";
import { startEventStoreDouble } from "../../support/eventstore-double/server.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import { sumOfRounds } from "../../support/simulation.ts";
import { until } from "../../support/until.ts";
import { inWorld, SHORT } from "./log-world.ts";

const test = suite("EventStoreDB log: groups");

const one = (
  stream: string,
  expected: GroupedAppend["expected"] = "absent",
  follows: readonly number[] = [],
): GroupedAppend => ({ stream, expected, events: events(1 + follows.length), follows });

test(
  "appends that follow none go out together, and one that follows some when these are answered",
  inWorld(async ({ double, log }) => {
    const [slow, fast, claim, late] = [newStream("ledger"), newStream("ledger"), newStream(), newStream()];
    const isSent = (stream: string) => (): boolean => double.calls("append", stream).length > 0;
    // Not answered before the test has seen what else was sent; a try takes longer than that.
    const held = double.misbehave({ how: "silent", committed: true }, { method: "append", stream: slow });
    const answers = log.appendGroup([one(slow), one(fast), one(claim, "absent", [1]), one(late, "absent", [0])]);
    await until("the claim is sent", isSent(claim));
    assert.is(held.happened(), 1);
    if (double.calls("append", slow).length === 1) assert.not(isSent(late)());
    for (const { outcome } of await answers) assert.is(outcome, "appended");
    const order = double.calls("append").map(({ stream }) => stream);
    assert.ok(order.indexOf(late) > order.indexOf(claim));
  }),
);

test(
  "a part that fails leaves an unknown outcome once anything may be written, and the same group again completes it",
  inWorld(async ({ double, log }) => {
    const group = [one(newStream("ledger")), one(newStream("payload")), one(newStream(), "absent", [0, 1])];
    const [ledger, payload, claim] = group.map(({ stream }) => stream);
    const cut = double.misbehave({ how: "timeout" }, { method: "append", stream: payload ?? "", times: 1_000 });
    assert.instance(await rejection(() => log.appendGroup(group)), OutcomeUnknown);
    assert.is((await log.read(ledger ?? "", null, 10)).length, 1);
    assert.equal(await log.read(claim ?? "", null, 10), []);
    cut.stop();
    for (const { outcome } of await log.appendGroup(group)) assert.is(outcome, "appended");
    for (const { stream, events: batch } of group) assert.equal(idsOf(await log.read(stream, null, 10)), idsOf(batch));
  }, SHORT),
);

test(
  "a group of which nothing can have been sent is unavailable",
  inWorld(async ({ double, log }) => {
    await double.stop();
    // What the first sends on the old connection may have arrived.
    await rejection(() => log.append(newStream(), "absent", events(1)));
    assert.instance(await rejection(() => log.appendGroup([one(newStream()), one(newStream())])), LogUnavailable);
  }, SHORT),
);

/** So short that in every round some groups end with an unknown outcome. */
const IMPATIENT = { ...SHORT, appendTryMs: 60, appendMs: 200, unreachableMs: 100, closeMs: 1 };
const NODES = 2;
const GROUPS = 25;
const SHARED_STREAMS = 3;
const REPEATS_MAX = 3;
const OPENS_MAX = 20;

const MISBEHAVIOURS: readonly Misbehaviour[] = [
  { how: "silent" },
  { how: "silent", committed: true },
  { how: "cut" },
  { how: "cut", committed: true },
  { how: "timeout" },
  { how: "timeout", committed: true },
  { how: "late", ms: 20 },
  { how: "slow", ms: 100 },
];

/** The head as one node knows it: so old that groups of both nodes conflict often. */
const expectedIn = async (log: EventLog, stream: string): Promise<GroupedAppend["expected"]> =>
  (await log.last(stream).catch(() => null))?.revision ?? "absent";

const randomGroup = async (log: EventLog, random: SeededRandom, shared: readonly string[]) => {
  const group: GroupedAppend[] = [];
  for (let count = 2 + random.below(5); count > 0; count -= 1) {
    const stream = random.below(2) === 0 ? shared[random.below(shared.length)] : undefined;
    const follows = group.map((_, index) => index).filter(() => random.below(3) === 0);
    const expected = stream === undefined ? "absent" : await expectedIn(log, stream);
    group.push({ stream: stream ?? newStream(), expected, events: [event()], follows });
  }
  return group;
};

/** A node that cannot open the log, as the other node's connection was cut, which it shares, is started again. */
const opened = async (url: string): Promise<EventLog> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await eventStoreLog({ url, limits: { ...IMPATIENT, openMs: SHORT.openMs * 10 } });
    } catch (error) {
      if (tries === OPENS_MAX) throw error;
    }
  }
};

type Tried = { readonly group: readonly GroupedAppend[]; answers: readonly GroupedOutcome[] | null };

/** Sends the group again while its outcome is unknown, as its caller does. */
const send = async (log: EventLog, tried: Tried): Promise<void> => {
  for (let repeat = 0; repeat <= REPEATS_MAX && tried.answers === null; repeat += 1) {
    try {
      tried.answers = await log.appendGroup(tried.group);
    } catch (error) {
      if (error instanceof LogUnavailable) return;
      if (!(error instanceof OutcomeUnknown)) throw error;
    }
  }
};

/** Asserts what a group may have left, and returns how many of its appends others kept from being written. */
const check = async (log: EventLog, { group, answers }: Tried): Promise<number> => {
  const written = await Promise.all(
    group.map(async ({ stream, events: batch }) => {
      const ids = new Set(idsOf(await log.read(stream, null, 10_000)));
      return batch.every(({ id }) => ids.has(id));
    }),
  );
  for (const [index, { follows }] of group.entries()) {
    if (written[index])
      assert.ok(
        follows.every((earlier) => written[earlier]),
        "written without one that it follows",
      );
    if (answers !== null) assert.is(answers[index]?.outcome === "appended", written[index], "answered as it was not");
  }
  return written.filter((isWritten) => !isWritten).length;
};

test("whatever two nodes send, lose and leave by crashing, no append takes effect without those that it follows", async () => {
  const kept = await sumOfRounds(async (random) => {
    const double = await startEventStoreDouble();
    const shared = Array.from({ length: SHARED_STREAMS }, () => newStream("ledger"));
    const tried: Tried[] = [];
    const runNode = async (): Promise<void> => {
      let log = await opened(double.url);
      for (let n = 0; n < GROUPS; n += 1) {
        const group: Tried = { group: await randomGroup(log, random, shared), answers: null };
        tried.push(group);
        if (random.below(3) === 0) {
          const misbehaviour = MISBEHAVIOURS[random.below(MISBEHAVIOURS.length)];
          const { stream } = group.group[random.below(group.group.length)] ?? {};
          if (misbehaviour !== undefined && stream !== undefined)
            double.misbehave(misbehaviour, { method: "append", stream, times: 1 + random.below(4) });
        }
        const sending = send(log, group);
        if (random.below(10) === 0) {
          // The node crashes in the middle of a group, and nobody sends the rest.
          await log.close();
          await sending.catch(() => undefined);
          log = await opened(double.url);
        }
        await sending;
      }
      await log.close();
    };
    try {
      await Promise.all(Array.from({ length: NODES }, runNode));
      double.behave();
      // A "late" append of a node that has crashed hides itself, and all after it, until it would be answered.
      await until("all can be read", () => double.state.unread.size === 0);
      const reader = await eventStoreLog({ url: double.url });
      let sum = 0;
      for (const group of tried) sum += await check(reader, group);
      await reader.close();
      return sum;
    } finally {
      double.behave();
      await double.stop();
    }
  });
  assert.ok(kept > 0, "no append ever conflicted or was refused");
});

test.run();
