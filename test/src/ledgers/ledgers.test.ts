import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { LedgerEvent } from "../../../domain/ledger/events.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { type Ledgers, ledgers } from "../../../src/ledgers/ledgers.ts";

const test = suite("ledgers");
const NOON = Date.parse("2026-05-05T12:00:00Z");
const TRACE = { trace_id: "1".repeat(32), span_id: "1".repeat(16) };
const POLICY = { account: "acc_1", id: "pol_1", timeZone: "UTC" };

type PlaceStatus = "free" | "spent" | "open";
const node = (
  log: EventLog,
  clock: { ms: number },
  fates: Record<string, PlaceStatus> = {},
  orphanAgeMs = 30_000,
  asked: string[] = [],
): Ledgers =>
  ledgers({
    log,
    clock: { now: () => clock.ms },
    randomness,
    placeStatus: async (_account, event) => {
      asked.push(event);
      return fates[event] ?? "open";
    },
    orphanAgeMs,
    onError: (error) => {
      throw error;
    },
  });

const recordsOf = async (log: EventLog, stream: string): Promise<LedgerEvent[]> => {
  const found: LedgerEvent[] = [];
  for (let after: number | null = null; ; ) {
    const page = await log.read(stream, after, 1_000);
    for (const event of page) {
      found.push(event as unknown as LedgerEvent);
      after = event.revision;
    }
    if (page.length === 0) return found;
  }
};

const granted = (all: readonly { answer: { granted: boolean } }[]): number =>
  all.filter(({ answer }) => answer.granted).length;

test("200 at once from two nodes share one euro: exactly 14 are granted", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  const nodes = [node(log, clock), node(log, clock)];
  const asked = Array.from({ length: 200 }, (_, n) =>
    nodes[n % 2]?.reserveDay({
      policy: POLICY,
      event: `evt_${n}`,
      cost: 70_000,
      limits: { budget: 1_000_000 },
      trace: TRACE,
    }),
  );
  assert.is(granted((await Promise.all(asked)).filter((it) => it !== undefined)), 14);
});

test("settlements are recorded with the next append, and count as made for whoever asks for figures", async () => {
  const log = memoryEventLog();
  const a = node(log, { ms: NOON });
  const reserve = (event: string) =>
    a.reserveDay({ policy: POLICY, event, cost: 10, limits: { budget: 1_000 }, trace: TRACE });
  const first = await reserve("evt_1");
  a.settle(first, 4);
  const second = await reserve("evt_2");
  assert.equal(
    (await recordsOf(log, first.stream)).map(({ type }) => type),
    ["LedgerOpened", "Reserved", "Reserved", "Settled"],
  );
  a.settle(second, 5);
  const { settled, open, spent } = await a.figures(first.stream, "acc_1");
  assert.equal([settled, open, spent], [9, 0, 2]);
});

test("while a group has a ledger's turn, others wait, and decide on what the group has appended", async () => {
  const log = memoryEventLog();
  const a = node(log, { ms: NOON });
  const limits = { budget: 100 };
  const { stream } = await a.reserveDay({ policy: POLICY, event: "evt_1", cost: 10, limits, trace: TRACE });
  assert.is(a.turns.dayLedger(POLICY), stream);
  await a.turns.whenFree(stream, "acc_1");
  const turn = a.turns.take(stream, "acc_1");
  if (turn === null) throw new Error("a ledger at rest gives its turn");
  assert.is(a.turns.take(stream, "acc_1"), null);
  const late = a.reserveDay({ policy: POLICY, event: "evt_late", cost: 50, limits, trace: TRACE });
  const command = { type: "Reserve", cost: 60, limits } as const;
  assert.ok(turn.reserve({ ...command, event: "evt_2" }).granted);
  const draft = turn.draft(TRACE);
  if (draft === null) throw new Error("there is a reservation to append");
  const appended = await log.append(stream, draft.expected, draft.events);
  if (appended.outcome === "conflict") throw new Error("another node has appended");
  turn.appended(appended.revision);
  assert.is((await late).answer.granted, false);
  assert.is((await a.figures(stream, "acc_1")).reserved, 70);
});

test("a turn that lost its append to another node leaves a ledger that knows the other's places", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  const [a, b] = [node(log, clock), node(log, clock)];
  const limits = { budget: 100 };
  const { stream } = await a.reserveDay({ policy: POLICY, event: "evt_1", cost: 10, limits, trace: TRACE });
  await a.turns.whenFree(stream, "acc_1");
  const turn = a.turns.take(stream, "acc_1");
  assert.ok(turn?.reserve({ type: "Reserve", event: "evt_2", cost: 60, limits }).granted);
  await b.reserveDay({ policy: POLICY, event: "evt_3", cost: 80, limits, trace: TRACE });
  const draft = turn?.draft(TRACE);
  assert.is((await log.append(stream, draft?.expected ?? "absent", draft?.events ?? [])).outcome, "conflict");
  turn?.end("conflicted");
  await a.turns.whenFree(stream, "acc_1");
  const next = a.turns.take(stream, "acc_1");
  assert.is(next?.reserve({ type: "Reserve", event: "evt_2", cost: 60, limits }).granted, false);
  assert.is(next?.draft(TRACE), null);
  next?.end("cancelled");
  assert.is(
    (await a.reserveDay({ policy: POLICY, event: "evt_4", cost: 10, limits, trace: TRACE })).answer.granted,
    true,
  );
});

test("two nodes and a third that settles reach each threshold of the day once", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  const [a, b, c] = [node(log, clock), node(log, clock), node(log, clock)];
  const ask = (event: string, at: Ledgers) =>
    at.reserveDay({ policy: POLICY, event, cost: 50_000, limits: { budget: 1_000_000 }, trace: TRACE });
  const asked = await Promise.all(Array.from({ length: 12 }, (_, n) => ask(`evt_${n}`, n % 2 === 0 ? a : b)));
  await Promise.all(
    asked.map(({ stream }, n) =>
      (n % 2 === 0 ? c : a).settleNow({ stream, account: "acc_1", event: `evt_${n}`, cost: 100_000, trace: TRACE }),
    ),
  );
  assert.is((await ask("evt_late", b)).answer.granted, false);
  const told = (await recordsOf(log, "ledger-pol_1-2026-05-05")).flatMap((it) =>
    it.type === "BudgetThresholdReached" ? [it.data] : [],
  );
  assert.equal(
    told.map(({ threshold }) => threshold),
    [50, 80, 100],
  );
  for (const { threshold, used, limit } of told) assert.ok(used * 100 >= threshold * limit && limit === 1_000_000);
});

test("300 at once from two nodes against 20 a minute: exactly 20, also across midnight", async () => {
  const log = memoryEventLog();
  const clock = { ms: Date.parse("2026-05-05T23:59:59.500Z") };
  const nodes = [node(log, clock), node(log, clock)];
  const ask = (from: number, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        (nodes[n % 2] as Ledgers).reserveDay({
          policy: POLICY,
          event: `evt_${from + n}`,
          cost: 0,
          limits: { rate: 20 },
          trace: TRACE,
        }),
      ),
    );
  const before = granted(await ask(0, 12));
  clock.ms += 1_000;
  const behind = granted(await ask(100, 300));
  assert.is(before + behind, 20);
  clock.ms += 60_000;
  assert.is(granted(await ask(1_000, 300)), 20);
});

test("once a day has begun nothing more is reserved in the one before, even by a node whose clock is behind", async () => {
  const log = memoryEventLog();
  const [slow, fast] = [{ ms: Date.parse("2026-05-05T23:59:50Z") }, { ms: Date.parse("2026-05-06T00:00:05Z") }];
  const [a, b] = [node(log, slow), node(log, fast)];
  await a.reserveDay({ policy: POLICY, event: "evt_1", cost: 5, limits: { budget: 100 }, trace: TRACE });
  await b.reserveDay({ policy: POLICY, event: "evt_2", cost: 5, limits: { budget: 100 }, trace: TRACE });
  const late = await a.reserveDay({ policy: POLICY, event: "evt_3", cost: 5, limits: { budget: 100 }, trace: TRACE });
  assert.is(late.stream, "ledger-pol_1-2026-05-06");
});

test("another time zone gives no budget of a day twice, also after a restart", async () => {
  const log = memoryEventLog();
  const clock = { ms: Date.parse("2026-05-05T22:30:00Z") };
  const ask = (by: Ledgers, event: string, timeZone: string) =>
    by.reserveDay({ policy: { ...POLICY, timeZone }, event, cost: 60, limits: { budget: 100 }, trace: TRACE });
  const a = node(log, clock);
  assert.ok((await ask(a, "evt_1", "UTC")).answer.granted);
  // In Berlin it is 00:30 of the next day.
  assert.ok((await ask(a, "evt_2", "Europe/Berlin")).answer.granted);
  for (const [event, by] of [
    ["evt_3", a],
    ["evt_4", node(log, clock)],
  ] as const) {
    const { stream, answer } = await ask(by, event, "UTC");
    assert.equal([stream, answer.granted], ["ledger-pol_1-2026-05-06", false]);
  }
});

test("a day that has ended stays closed for a node that reads it from a checkpoint written later", async () => {
  const log = memoryEventLog();
  const midnight = Date.parse("2026-05-06T00:00:00Z");
  const clock = { ms: midnight - 3_600_000 };
  const it = node(log, clock);
  const ask = async (by: Ledgers, from: number, count: number) => {
    const asked = Array.from({ length: count }, (_, n) =>
      by.reserveDay({ policy: POLICY, event: `evt_${from + n}`, cost: 0, limits: { rate: 20 }, trace: TRACE }),
    );
    return granted(await Promise.all(asked));
  };
  const late = Array.from({ length: 1_100 }, (_, n) => `evt_late_${n}`);
  await Promise.all(
    late.map((event) => it.reserveDay({ policy: POLICY, event, cost: 0, limits: { rate: 10_000 }, trace: TRACE })),
  );
  clock.ms = midnight - 10_000;
  assert.is(await ask(it, 0, 10), 10);
  clock.ms = midnight + 200;
  assert.is(await ask(it, 100, 20), 10);
  for (const event of late)
    await it.settleNow({ stream: "ledger-pol_1-2026-05-05", account: "acc_1", event, cost: 0, trace: TRACE });
  await it.idle();
  assert.ok((await log.last("checkpoint-ledger-pol_1-2026-05-05")) !== null);
  // The clock of the other node is behind, so it asks the old day's ledger first.
  assert.is(await ask(node(log, { ms: midnight - 1_000 }), 200, 20), 0);
});

test("many at once are a few appends", async () => {
  const log = memoryEventLog();
  const it = node(log, { ms: NOON });
  await Promise.all(
    Array.from({ length: 500 }, (_, n) =>
      it.reserveDay({ policy: POLICY, event: `evt_${n}`, cost: 1, limits: { budget: 1e9 }, trace: TRACE }),
    ),
  );
  assert.ok((await recordsOf(log, "ledger-pol_1-2026-05-05")).length < 20);
});

test("after a crash what was admitted stays spent and what was not is given back", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  const limits = { budget: 100 };
  const first = node(log, clock);
  for (const event of ["evt_admitted", "evt_lost", "evt_held"])
    await first.reserveDay({ policy: POLICY, event, cost: 30, limits, trace: TRACE });
  const restarted = node(log, clock, { evt_admitted: "spent", evt_lost: "free" }, 0);
  const { answer } = await restarted.reserveDay({ policy: POLICY, event: "evt_new", cost: 41, limits, trace: TRACE });
  assert.equal([answer.granted, answer.budget?.used], [false, 60]);
  assert.is(
    (await restarted.reserveDay({ policy: POLICY, event: "evt_new", cost: 40, limits, trace: TRACE })).answer.granted,
    true,
  );
});

test("a place is not given back while its request may still be under way on another node", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  await node(log, clock).reserveDay({
    policy: POLICY,
    event: "evt_1",
    cost: 100,
    limits: { budget: 100 },
    trace: TRACE,
  });
  const other = node(log, clock, { evt_1: "free" });
  assert.is(
    (await other.reserveDay({ policy: POLICY, event: "evt_2", cost: 1, limits: { budget: 100 }, trace: TRACE })).answer
      .granted,
    false,
  );
  clock.ms += 30_000;
  await other.sweep();
  assert.is(
    (await other.reserveDay({ policy: POLICY, event: "evt_2", cost: 1, limits: { budget: 100 }, trace: TRACE })).answer
      .granted,
    true,
  );
});

test("a place that another node gave back, or settled for less, is free on every node", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  const [a, b] = [node(log, clock), node(log, clock)];
  const limits = { budget: 100 };
  const first = await a.reserveDay({ policy: POLICY, event: "evt_1", cost: 60, limits, trace: TRACE });
  const second = await a.reserveDay({ policy: POLICY, event: "evt_2", cost: 40, limits, trace: TRACE });
  assert.is(
    (await b.reserveDay({ policy: POLICY, event: "evt_3", cost: 1, limits, trace: TRACE })).answer.granted,
    false,
  );
  await a.release(first, TRACE);
  const { answer } = await b.reserveDay({ policy: POLICY, event: "evt_4", cost: 60, limits, trace: TRACE });
  assert.equal([answer.granted, answer.budget?.used], [true, 40]);
  assert.is(
    (await b.reserveDay({ policy: POLICY, event: "evt_5", cost: 10, limits, trace: TRACE })).answer.granted,
    false,
  );
  a.settle(second, 30);
  await a.idle();
  assert.is(
    (await b.reserveDay({ policy: POLICY, event: "evt_6", cost: 10, limits, trace: TRACE })).answer.granted,
    true,
  );
});

test("a place that one node took is given back by another that had not heard of it", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  const [a, b] = [node(log, clock), node(log, clock)];
  const take = (at: Ledgers, id: string) =>
    at.reserve({ stream: "ledger-acc_1-sources", account: "acc_1", event: id, limits: { count: 2 }, trace: TRACE });
  await take(b, "src_1");
  await b.release(await take(a, "src_2"), TRACE);
  assert.is((await take(a, "src_3")).answer.granted, true);
  assert.is((await take(b, "src_4")).answer.granted, false);
});

test("places of a dead node are given back when they are 30 s old and a request is refused, and not before", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  const limits = { budget: 100 };
  const other = node(log, clock, { evt_dead: "free" });
  await other.reserveDay({ policy: POLICY, event: "evt_1", cost: 40, limits, trace: TRACE });
  await node(log, clock).reserveDay({ policy: POLICY, event: "evt_dead", cost: 60, limits, trace: TRACE });
  const ask = async (event: string) =>
    (await other.reserveDay({ policy: POLICY, event, cost: 60, limits, trace: TRACE })).answer.granted;
  assert.is(await ask("evt_2"), false);
  clock.ms += 29_999;
  assert.is(await ask("evt_3"), false);
  clock.ms += 1;
  assert.is(await ask("evt_4"), true);
  assert.is(await ask("evt_5"), false);
});

test("a source's lasting slot is checked by a sweep once an hour, and when the ledger is full", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  const fates: Record<string, PlaceStatus> = {};
  const asked: string[] = [];
  const it = node(log, clock, fates, 30_000, asked);
  const take = async (id: string) =>
    (
      await it.reserve({
        stream: "ledger-acc_1-sources",
        account: "acc_1",
        event: id,
        limits: { count: 1 },
        trace: TRACE,
      })
    ).answer;
  await take("src_1");
  for (let minute = 0; minute < 59; minute += 1) {
    clock.ms += 60_000;
    await it.sweep();
  }
  assert.equal(asked, ["src_1"]);
  clock.ms += 120_000;
  await it.sweep();
  assert.equal(asked, ["src_1", "src_1"]);
  assert.is((await take("src_2")).granted, false);
  fates.src_1 = "free";
  clock.ms += 5_000;
  assert.is((await take("src_2")).granted, true);
});

test("a long ledger is read from its checkpoint and still decides exactly", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  const limits = { rate: 5_000, budget: 3_000 };
  const writer = node(log, clock);
  for (let n = 0; n < 2_500; n += 1) {
    clock.ms += 100;
    writer.settle(await writer.reserveDay({ policy: POLICY, event: `evt_${n}`, cost: 1, limits, trace: TRACE }), 1);
  }
  await writer.idle();
  assert.ok((await log.last("checkpoint-ledger-pol_1-2026-05-05")) !== null);
  let read = 0;
  const counting: EventLog = {
    ...log,
    read: async (...args) => {
      const page = await log.read(...args);
      read += page.length;
      return page;
    },
  };
  const restarted = node(counting, clock);
  const { answer } = await restarted.reserveDay({
    policy: POLICY,
    event: "evt_probe",
    cost: 501,
    limits,
    trace: TRACE,
  });
  assert.equal(answer.budget, { used: 2_500, limit: 3_000, over: true });
  // One every 100 ms: 600 of them in the minute behind the last, which is exactly one minute younger than the oldest.
  assert.is(answer.rate?.used, 600);
  assert.ok(read < 3_000, `${read} of 5,000 records were read`);
});

test("an amount is charged once by all nodes, however late, on the day on which it was spent", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  const [a, b, late] = [node(log, clock), node(log, clock), node(log, clock)];
  const [today, tomorrow] = ["ledger-pol_1-2026-05-05", "ledger-pol_1-2026-05-06"];
  const charge = (at: Ledgers) => at.charge({ policy: POLICY, name: "evt_1/rpl_1", cost: 5, at: NOON, trace: TRACE });
  await Promise.all([charge(a), charge(b), charge(a)]);
  const spent = async (at: Ledgers, stream = today) => {
    const { settled, overrun, open, reserved } = await at.figures(stream, "acc_1");
    return [settled, overrun, open, reserved];
  };
  assert.equal(await spent(b), [5, 5, 0, 0]);
  // So many records behind it that a checkpoint is made.
  for (let n = 0; n < 1_100; n += 1) {
    clock.ms += 1_000;
    const reservation = await a.reserveDay({
      policy: POLICY,
      event: `evt_${n}`,
      cost: 0,
      limits: { rate: 1_000 },
      trace: TRACE,
    });
    if (n > 100) await a.release(reservation, TRACE);
  }
  assert.ok((await log.last(`checkpoint-${today}`)) !== null);
  await charge(node(log, clock));
  clock.ms = NOON + 24 * 60 * 60 * 1_000;
  await a.reserveDay({ policy: POLICY, event: "evt_next", cost: 1, limits: { budget: 100 }, trace: TRACE });
  await charge(late);
  await charge(node(log, clock));
  assert.equal((await spent(late))[0], 5);
  assert.equal(await spent(late, tomorrow), [0, 0, 1, 1]);
  await late.charge({ policy: POLICY, name: "evt_1/rpl_2", cost: 7, at: NOON, trace: TRACE });
  assert.equal((await spent(a))[0], 12, "also when the day is closed");
  assert.is(
    (await late.reserveDay({ policy: POLICY, event: "evt_then", cost: 99, limits: { budget: 100 }, trace: TRACE }))
      .answer.granted,
    true,
  );
});

test("a charge counts against the budget and records the thresholds that it reaches", async () => {
  const log = memoryEventLog();
  const it = node(log, { ms: NOON });
  await it.reserveDay({ policy: POLICY, event: "evt_1", cost: 10, limits: { budget: 100 }, trace: TRACE });
  await it.charge({ policy: POLICY, name: "evt_2/rpl_1", cost: 75, at: NOON, trace: TRACE });
  const records = await recordsOf(log, "ledger-pol_1-2026-05-05");
  const told = records.filter((record) => record.type === "BudgetThresholdReached");
  assert.equal(
    told.map(({ data }) => data),
    [
      { threshold: 50, used: 85, limit: 100 },
      { threshold: 80, used: 85, limit: 100 },
    ],
  );
  const { answer } = await it.reserveDay({
    policy: POLICY,
    event: "evt_3",
    cost: 16,
    limits: { budget: 100 },
    trace: TRACE,
  });
  assert.equal(answer.budget, { used: 85, limit: 100, over: true });
});

test("a failed append refuses its requests and the next ones are decided on what is in the stream", async () => {
  const log = memoryEventLog();
  const clock = { ms: NOON };
  let broken = false;
  const flaky: EventLog = {
    ...log,
    append: async (...args) => {
      const outcome = await log.append(...args);
      // Written, and the reply lost for good.
      if (broken) throw new Error("cut");
      return outcome;
    },
  };
  const it = node(flaky, clock);
  await it.reserveDay({ policy: POLICY, event: "evt_0", cost: 10, limits: { budget: 20 }, trace: TRACE });
  broken = true;
  let refused = false;
  await it.reserveDay({ policy: POLICY, event: "evt_1", cost: 10, limits: { budget: 20 }, trace: TRACE }).catch(() => {
    refused = true;
  });
  broken = false;
  assert.is(refused, true);
  const { answer } = await it.reserveDay({
    policy: POLICY,
    event: "evt_2",
    cost: 10,
    limits: { budget: 20 },
    trace: TRACE,
  });
  assert.equal([answer.granted, answer.budget?.used], [false, 20]);
});

test.run();
