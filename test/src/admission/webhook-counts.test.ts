import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { LogUnavailable, OutcomeUnknown } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { webhookCounts } from "../../../src/admission/webhook-counts.ts";
import { Tallies } from "../../../src/calls/tallies.ts";
import { toEvents } from "../../../src/streams/envelope.ts";
import { onEachLog } from "../../support/each-log.ts";
import { testClock } from "../../support/http-app.ts";

const test = suite("counts");
const SOURCE = { account: "acc_1", id: "src_1" };
const TRACE = { trace_id: "1".repeat(32), span_id: "2".repeat(16) };
/** More than one append is repeated for by itself. */
const REPLIES_LOST = 10;
const COUNTS_MAX = 20_000;

const fail = (error: unknown): never => {
  throw error;
};

/** A node that counts. Each of its appends is `over`'s, in place of the log's. */
const nodeOn = (log: EventLog, over: Partial<EventLog> = {}, onError: (error: unknown) => void = fail) => {
  const clock = testClock();
  const all = new Tallies({ log: { ...log, ...over }, clock, randomness, onError });
  const counted = {
    ...webhookCounts(all, clock),
    flush: (everything: boolean) => all.flush(everything),
    stop: () => all.stop(),
  };
  return {
    ...{ clock, counted },
    reject: (times: number, source = SOURCE) => {
      for (let n = 0; n < times; n += 1) counted.signatureFailed(source, "mismatch", "192.0.2.1", "curl/8");
    },
    reuse: (times: number, id = "evt_1") => {
      for (let n = 0; n < times; n += 1) counted.reused({ account: "acc_1", id }, TRACE);
    },
    repeat: (times: number, id = "evt_1") => {
      // Each event of another account, so that what one account may leave in a minute does not matter.
      for (let n = 0; n < times; n += 1) counted.duplicate({ account: `acc_${id}`, id }, TRACE);
    },
  };
};

/** What the records of a log add up to. */
const recorded = async (log: EventLog) => {
  const sums = { rejected: 0, duplicates: 0, reused: 0, records: 0 };
  for (const { type, data } of await log.readAll(null, 100_000, "records")) {
    if (type === "Other") continue;
    sums.records += 1;
    if (type === "DuplicatesCounted") sums.duplicates += Number(data.count);
    else if (type === "DeliveryIdReused") sums.reused += Number(data.count);
    else for (const count of Object.values(data.counts as Record<string, number>)) sums.rejected += count;
  }
  return sums;
};

const append = (log: EventLog, stream: string) => {
  const actor = { kind: "system", id: "test" } as const;
  const envelope = { commandId: `cmd_${randomness.number()}`, account: "acc_1", actor, trace: TRACE, at: "" };
  return log.append(stream, "any", toEvents([{ type: "Other", data: {} }], envelope));
};

test("counts that the log does not take are kept and written when it takes appends again", async () => {
  const log = memoryEventLog();
  let isAway = true;
  const node = nodeOn(log, {
    append: async (...args) => (isAway ? fail(new LogUnavailable("away")) : log.append(...args)),
  });
  for (let minute = 0; minute < 3; minute += 1) {
    node.reject(500);
    node.reuse(7);
    node.repeat(2);
    await node.counted.flush(minute === 2).then(
      () => assert.unreachable("the log was away"),
      (error: Error) => assert.instance(error, LogUnavailable),
    );
    node.reject(1);
    node.clock.advance(60_000);
  }
  isAway = false;
  await node.counted.flush(false);
  await node.counted.flush(true);
  const { records, ...sums } = await recorded(log);
  assert.equal(sums, { rejected: 1_503, duplicates: 6, reused: 21 });
  await node.counted.flush(true);
  assert.is((await recorded(log)).records, records);
});

test("failed signatures are recorded for their minute, however much later they are written", async () => {
  const log = memoryEventLog();
  let isAway = true;
  const node = nodeOn(log, {
    append: async (...args) => (isAway ? fail(new LogUnavailable("away")) : log.append(...args)),
  });
  for (const times of [3, 4]) {
    node.reject(times);
    await node.counted.flush(false).catch(() => undefined);
    node.clock.advance(60_000);
  }
  isAway = false;
  await node.counted.flush(true);
  const minutes = (await log.readAll(null, 100, "records")).map(({ data }) => [data.minute, data.counts]);
  assert.equal(minutes, [
    ["2026-03-01T12:00:00.000Z", { mismatch: 3 }],
    ["2026-03-01T12:01:00.000Z", { mismatch: 4 }],
  ]);
});

for (const isWritten of [true, false]) {
  const what = isWritten ? "was written, and its reply lost," : "was not written, which was not known,";
  test(
    `a count that ${what} is recorded once, also when others have written to its stream meanwhile`,
    onEachLog(async (log) => {
      let lost = 0;
      const node = nodeOn(log, {
        async append(stream, expected, events) {
          if (lost >= REPLIES_LOST) return log.append(stream, expected, events);
          lost += 1;
          if (isWritten) await log.append(stream, expected, events);
          throw new OutcomeUnknown("no reply");
        },
      });
      await append(log, "delivery-evt_1");
      node.reject(5);
      node.reuse(3);
      for (let tries = 0; tries < REPLIES_LOST && lost < REPLIES_LOST; tries += 1) {
        await node.counted.flush(false).catch(() => undefined);
        for (const stream of ["delivery-evt_1", "source-src_1"]) await append(log, stream);
      }
      node.reuse(1);
      await node.counted.flush(false);
      await node.counted.flush(true);
      assert.equal(await recorded(log), { rejected: 5, duplicates: 0, reused: 4, records: 3 });
    }),
  );
}

test("a stream that cannot be written keeps no other one waiting", async () => {
  const log = memoryEventLog();
  const node = nodeOn(log, {
    append: async (stream, ...rest) =>
      stream === "delivery-evt_0" ? fail(new LogUnavailable("away")) : log.append(stream, ...rest),
  });
  for (let n = 0; n < 200; n += 1) node.repeat(1, `evt_${n}`);
  for (let n = 0; n < 2; n += 1) await node.counted.flush(false).catch(() => undefined);
  assert.is((await recorded(log)).duplicates, 199);
});

test("everything is written at the end of the process, even if the log is away for a moment", async () => {
  const log = memoryEventLog();
  let refusals = 2;
  const node = nodeOn(log, {
    async append(...args) {
      refusals -= 1;
      return refusals >= 0 ? fail(new LogUnavailable("away")) : log.append(...args);
    },
  });
  node.reject(5);
  await node.counted.flush(false).catch(() => undefined);
  node.reject(6);
  await node.counted.stop();
  assert.is((await recorded(log)).rejected, 11);
});

test("the counts of two nodes add up", async () => {
  const log = memoryEventLog();
  const nodes = [nodeOn(log), nodeOn(log)];
  for (const node of nodes) {
    node.reject(2);
    node.repeat(3);
  }
  await Promise.all(nodes.map(({ counted }) => counted.flush(true)));
  assert.equal(await recorded(log), { rejected: 4, duplicates: 6, reused: 0, records: 4 });
});

test("counts in memory are limited while the log is away, and a loss is reported", async () => {
  let isAway = true;
  let duplicates = 0;
  const errors: string[] = [];
  const log: Partial<EventLog> = {
    last: async () => null,
    async append(_stream, _expected, events) {
      if (isAway) throw new LogUnavailable("away");
      for (const { data } of events) duplicates += Number(data.count);
      return { outcome: "appended", revision: 0, position: "" };
    },
  };
  const node = nodeOn(memoryEventLog(), log, (error) => void errors.push(String(error)));
  for (let n = 0; n < COUNTS_MAX + 5; n += 1) node.repeat(1, `evt_${n}`);
  node.reject(4);
  node.repeat(1, "evt_1");
  isAway = false;
  await node.counted.flush(true);
  assert.is(duplicates, COUNTS_MAX + 1);
  const reported = errors.filter((error) => error.includes("were not counted"));
  assert.is(reported.length, 1);
  assert.match(reported[0] ?? "", /^Error: 9 refused requests or repeats were not counted/);
});

test("the repeats of one account are a bounded number of records a minute, and each is counted", async () => {
  const log = memoryEventLog();
  const { counted, clock } = nodeOn(log);
  const EVENTS = 1_000;
  const FLUSHES = 5;
  for (let flush = 0; flush < FLUSHES; flush += 1) {
    for (let n = 0; n < EVENTS; n += 1) counted.duplicate({ account: "acc_1", id: `evt_${n}` }, TRACE);
    counted.reused({ account: "acc_1", id: "evt_999" }, TRACE);
    counted.duplicate({ account: "acc_2", id: "evt_victim" }, TRACE);
    await counted.flush(false);
  }
  clock.advance(60_000);
  counted.duplicate({ account: "acc_1", id: "evt_1" }, TRACE);
  await counted.flush(false);
  const records = await log.readAll(null, 10_000, "records");
  const sum = (type: string, name: string, account: string): number =>
    records
      .filter((it) => it.type === type && it.meta.account === account)
      .reduce((all, { data }) => all + Number(data[name]), 0);
  assert.is(records.filter(({ type, meta }) => type === "DuplicatesCounted" && meta.account === "acc_1").length, 101);
  const more = records.filter(({ type }) => type === "MoreRepeatsCounted");
  assert.ok(more.length <= 2, "the first ones of a minute, and the others when it is over");
  assert.is(
    sum("DuplicatesCounted", "count", "acc_1") + sum("MoreRepeatsCounted", "duplicates", "acc_1"),
    EVENTS * FLUSHES + 1,
  );
  assert.is(sum("MoreRepeatsCounted", "reused", "acc_1"), FLUSHES);
  assert.is(sum("DuplicatesCounted", "count", "acc_2"), FLUSHES, "another account's are told apart");
});

test.run();
