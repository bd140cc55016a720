import { status } from "@grpc/grpc-js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AppendOutcome, EventLog, Expected, NewEvent } from "../../../domain/ports/event-log.ts";
import { withTimeout } from "../../../infra/with-timeout.ts";
import { events, idsOf, newStream, readOn, rejection } from "../../contract/event-log-events.ts";
import type { Misbehaviour } from "../../support/eventstore-double/misbehaviour.ts";
import { startEventStoreDouble } from "../../support/eventstore-double/server.ts";
import { until } from "../../support/until.ts";
import { HANG_MS, inWorld, SHORT } from "./log-world.ts";

/** Each misbehaviour once, and for ever: nothing lost, nothing twice, no hang, and the next call works. */

const test = suite("EventStoreDB log: appends to a misbehaving server");

const soon = <T>(work: Promise<T>): Promise<T> => withTimeout(HANG_MS, "it hangs", work);
const error = (code: status, committed = false): Misbehaviour => ({ how: "error", code, committed });

/** Longer than one try is waited for. */
const SLOW_MS = SHORT.appendTryMs * 2;

const ofWrites: Readonly<Record<string, Misbehaviour>> = {
  silence: { how: "silent" },
  "silence after the commit": { how: "silent", committed: true },
  "an answer that comes too late": { how: "slow", ms: SLOW_MS },
  "an answer that comes too late to what was committed at once": { how: "slow", ms: SLOW_MS, committed: true },
  "a cut": { how: "cut" },
  "a cut after the commit": { how: "cut", committed: true },
  "UNAVAILABLE for all": error(status.UNAVAILABLE),
  "UNAVAILABLE after the commit": error(status.UNAVAILABLE, true),
  "CANCELLED after the commit": error(status.CANCELLED, true),
  "UNKNOWN after the commit": error(status.UNKNOWN, true),
  "RESOURCE_EXHAUSTED for all": error(status.RESOURCE_EXHAUSTED),
  "RESOURCE_EXHAUSTED after the commit": error(status.RESOURCE_EXHAUSTED, true),
  "the end of the call without a reason": error(status.OK, true),
  "a timeout": { how: "timeout" },
  "a timeout after the commit": { how: "timeout", committed: true },
};

type Kind = {
  readonly name: string;
  readonly count: number;
  /** How many events the stream has before; the append expects that, unless it is "any". */
  readonly before: number;
  readonly expected?: "any";
};

const kinds: readonly Kind[] = [
  { name: "a new stream", count: 1, before: 0 },
  { name: "two events at a revision", count: 2, before: 3 },
  { name: "two events at the head", count: 2, before: 3, expected: "any" },
];

const appendedBy = (appended: AppendOutcome): { readonly revision: number; readonly position: string } => {
  if (appended.outcome === "conflict") throw new Error(`a conflict with ${appended.actual}`);
  return appended;
};

type Prepared = {
  readonly stream: string;
  readonly expected: Expected;
  readonly batch: NewEvent[];
  readonly ids: string[];
};

const prepared = async (log: EventLog, { count, before, expected }: Kind): Promise<Prepared> => {
  const stream = newStream();
  const [there, batch] = [events(before), events(count)];
  if (before > 0) await log.append(stream, "absent", there);
  return {
    stream,
    expected: expected ?? (before === 0 ? "absent" : before - 1),
    batch,
    ids: idsOf([...there, ...batch]),
  };
};

/** The stream holds exactly this, the whole log holds it too, and the next append comes behind it. */
const holdsOnce = async (log: EventLog, { stream, ids }: Prepared, appended: AppendOutcome): Promise<void> => {
  const stored = await soon(log.read(stream, null, 100));
  assert.equal(idsOf(stored), ids);
  const { revision, position } = appendedBy(appended);
  assert.is(revision, ids.length - 1);
  assert.is(position, stored.at(-1)?.position);
  const whole = (await soon(readOn(log, null))).filter((event) => event.stream === stream);
  assert.equal(idsOf(whole), ids);
  assert.is(appendedBy(await soon(log.append(stream, revision, events(1)))).revision, revision + 1);
};

for (const [name, misbehaviour] of Object.entries(ofWrites)) {
  test(
    `${name} in answer to an append is not noticed by who appends`,
    inWorld(async ({ double, log }) => {
      const each = kinds.map(async (kind) => {
        const append = await prepared(log, kind);
        const odd = double.misbehave(misbehaviour, { method: "append", stream: append.stream });
        const appended = await soon(log.append(append.stream, append.expected, append.batch));
        assert.is(odd.happened(), 1, kind.name);
        await holdsOnce(log, append, appended);
      });
      await Promise.all(each);
    }),
  );
}

for (const position of ["none", "first", "wrong"] as const) {
  test(
    `the position of several events is read where the server answers ${position}`,
    inWorld(async ({ double, log }) => {
      const isOdd = ({ events: count }: { readonly events: number }): boolean => count > 1 || position === "none";
      double.misbehave({ how: "position", position }, { method: "append", where: isOdd, times: 1_000 });
      for (const kind of kinds) {
        const append = await prepared(log, kind);
        await holdsOnce(log, append, await log.append(append.stream, append.expected, append.batch));
      }
    }),
  );
}

test(
  "a server that tells the last event's position is asked once, and then believed",
  inWorld(async ({ double, log }) => {
    await log.append(newStream(), "absent", events(2));
    const reads = double.calls("read").length;
    const append = await prepared(log, { name: "", count: 3, before: 0 });
    const appended = await log.append(append.stream, append.expected, append.batch);
    assert.is(double.calls("read").length, reads);
    await holdsOnce(log, append, appended);
  }),
);

test(
  "an append that is sent to the leader arrives there, and so does what comes after",
  inWorld(async ({ double, log }) => {
    const leader = await startEventStoreDouble({ keep: double.state });
    const append = await prepared(log, { name: "", count: 1, before: 0 });
    double.misbehave({ how: "not-leader", leader: leader.endpoint }, { method: "append", times: 100 });
    const appended = await soon(log.append(append.stream, append.expected, append.batch));
    await holdsOnce(log, append, appended);
    assert.ok(leader.calls("append").length > 0);
    await leader.stop();
  }),
);

test(
  "a server whose clock is hours ahead takes appends all the same",
  inWorld(async ({ double, log }) => {
    double.state.aheadMs = 24 * 3_600_000;
    assert.is((await soon(log.append(newStream(), "absent", events(1)))).outcome, "appended");
  }),
);

test(
  "a node that has become a follower is neither written to nor read from",
  inWorld(async ({ double, log, open }) => {
    const leader = await startEventStoreDouble();
    const where = (call: { readonly requiresLeader: boolean }): boolean => call.requiresLeader;
    double.misbehave({ how: "not-leader", leader: leader.endpoint }, { where, times: 1_000 });
    const stream = newStream();
    // Only the leader has it, as a follower may be behind.
    await (await open(leader.url)).append(stream, "absent", events(1));
    assert.is((await soon(log.read(stream, null, 10))).length, 1);
    assert.is((await soon(log.readAll(null, 10))).length, 1);
    assert.is((await soon(log.append(stream, 0, events(1)))).outcome, "appended");
    assert.is(double.state.streams.has(stream), false);
    await leader.stop();
  }),
);

test(
  "another's event at the same place is a conflict, also when the first try had no answer",
  inWorld(async ({ double, log, open }) => {
    const other = await open();
    const stream = newStream();
    // The first try never arrives; before the second one somebody else has won.
    double.misbehave({ how: "silent" }, { method: "append", stream });
    const [own, others] = [events(1), events(2)];
    const appending = log.append(stream, "absent", own);
    await soon(other.append(stream, "absent", others));
    assert.equal(await soon(appending), { outcome: "conflict", actual: 1 });
    assert.equal(idsOf(await log.read(stream, null, 10)), idsOf(others));
  }),
);

test(
  "whoever is told of a conflict can read what it is with, though the server tells of it before",
  inWorld(async ({ double, log, open }) => {
    const other = await open();
    for (const category of ["delivery", "payload"]) {
      for (const before of [0, 2]) {
        const append = await prepared(log, { name: "", count: 2, before });
        const stream = `${category}-${append.stream}`;
        if (before > 0) await log.append(stream, "absent", events(before));
        const late = double.misbehave({ how: "late", ms: 150 }, { method: "append" });
        const winning = log.append(stream, append.expected, append.batch);
        await until("it is written", () => late.happened() > 0);
        const lost = await soon(other.append(stream, append.expected, events(1)));
        assert.equal(lost, { outcome: "conflict", actual: before + 1 });
        assert.is((await soon(other.read(stream, null, 10))).length, before + 2);
        assert.is((await soon(other.last(stream)))?.revision, before + 1);
        assert.is((await soon(winning)).outcome, "appended");
      }
    }
  }),
);

test(
  "a conflict with what is erased is told at once: it will never be read",
  inWorld(async ({ double, log }) => {
    const stream = newStream("payload");
    await log.append(stream, "absent", events(2));
    await log.erase(stream);
    const looks = double.calls("read", stream).length;
    assert.equal(await soon(log.append(stream, "absent", events(1))), { outcome: "conflict", actual: 2 });
    assert.is(double.calls("read", stream).length, looks + 1);
  }),
);

for (const name of ["silence", "silence after the commit", "UNAVAILABLE after the commit"]) {
  test(
    `${name} for every append is OutcomeUnknown within the limit, and the same append later happens once`,
    inWorld(async ({ double, log }) => {
      const appends = await Promise.all(kinds.map((kind) => prepared(log, kind)));
      const send = ({ stream, expected, batch }: Prepared) => soon(log.append(stream, expected, batch));
      double.misbehave(ofWrites[name] ?? { how: "silent" }, { method: "append", times: 10_000 });
      const failures = await Promise.all(appends.map((append) => rejection(() => send(append))));
      assert.equal(
        failures.map((failure) => failure.name),
        failures.map(() => "OutcomeUnknown"),
      );
      double.behave();
      for (const append of appends) await holdsOnce(log, append, await send(append));
    }, SHORT),
  );
}

test(
  "a server that refuses access writes nothing: LogUnavailable at once, and the next append works when it admits again",
  inWorld(async ({ double, log }) => {
    const append = await prepared(log, { name: "", count: 1, before: 0 });
    const odd = double.misbehave(error(status.PERMISSION_DENIED), { method: "append", times: 10_000 });
    const send = () => log.append(append.stream, append.expected, append.batch);
    assert.is((await soon(rejection(send))).name, "LogUnavailable");
    assert.is(odd.happened(), 1);
    odd.stop();
    await holdsOnce(log, append, await soon(send()));
  }),
);

test.run();
