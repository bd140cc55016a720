import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { type Ledgers, ledgers } from "../../../src/ledgers/ledgers.ts";
import type { LedgerMemory } from "../../../src/ledgers/ledgers-in-memory.ts";

const test = suite("ledgers in memory");
const TRACE = { trace_id: "1".repeat(32), span_id: "1".repeat(16) };
const NOON = Date.parse("2026-05-05T12:00:00Z");
const LIMITS = { rate: 1_000_000 };

const world = (memory?: LedgerMemory) => {
  const whole = memoryEventLog();
  const clock = { ms: NOON };
  /** By stream. */
  const read = new Map<string, number>();
  const asked: string[] = [];
  let paused: Promise<void> | null = null;
  const log: EventLog = {
    ...whole,
    async append(...args) {
      await paused;
      return whole.append(...args);
    },
    async read(stream, after, limit) {
      const page = await whole.read(stream, after, limit);
      read.set(stream, (read.get(stream) ?? 0) + page.length);
      return page;
    },
  };
  const deps = {
    ...{ log, clock: { now: () => clock.ms }, randomness, orphanAgeMs: 30_000 },
    placeStatus: async (_account: string, event: string) => {
      asked.push(event);
      return event.startsWith("dead") ? ("free" as const) : ("open" as const);
    },
    onError: (error: unknown) => {
      throw error;
    },
  };
  return {
    clock,
    asked,
    node: (): Ledgers => ledgers(deps, memory),
    pause(until: Promise<void>): void {
      paused = until;
    },
    /** The records of all streams whose names begin so that were read since this was asked last. */
    readOf(prefix: string): number {
      let sum = 0;
      for (const [stream, count] of read) {
        if (!stream.startsWith(prefix)) continue;
        sum += count;
        read.delete(stream);
      }
      return sum;
    },
  };
};

const takeSlot = (it: Ledgers, account: number, holder = `src_${account}`) =>
  it.reserve({
    stream: `ledger-acc_${account}-sources`,
    account: `acc_${account}`,
    event: holder,
    limits: { count: 1 },
    trace: TRACE,
  });

const webhook = async (it: Ledgers, n: number, policy = "pol_1"): Promise<void> => {
  const reservation = await it.reserveDay({
    policy: { account: "acc_0", id: policy, timeZone: "UTC" },
    event: `evt_${n}`,
    cost: 0,
    limits: LIMITS,
    trace: TRACE,
  });
  await it.settleNow({ stream: reservation.stream, account: "acc_0", event: `evt_${n}`, cost: 0, trace: TRACE });
};

test("more accounts with a source than ledgers in memory cost a webhook nothing", async () => {
  const it = world();
  const node = it.node();
  for (let account = 0; account < 5_010; account += 1) await takeSlot(node, account);
  await webhook(node, 0);
  it.readOf("ledger-");
  for (let n = 1; n <= 50; n += 1) await webhook(node, n);
  assert.is(it.readOf("ledger-"), 0);
});

test("a ledger with open places is forgotten when many others are used, and then read again as it was", async () => {
  const it = world({ ledgersMax: 20, entriesMax: 1_000 });
  const node = it.node();
  for (let account = 0; account < 100; account += 1) await takeSlot(node, account);
  it.readOf("ledger-");
  for (let account = 80; account < 100; account += 1)
    assert.is((await takeSlot(node, account, "src_x")).answer.granted, false);
  assert.is(it.readOf("ledger-"), 0);
  for (let account = 0; account < 20; account += 1)
    assert.is((await takeSlot(node, account, "src_x")).answer.granted, false);
  assert.is(it.readOf("ledger-"), 20);
});

test("registrations push no ledger out that is used between them", async () => {
  const it = world({ ledgersMax: 20, entriesMax: 1_000 });
  const node = it.node();
  for (let n = 0; n < 200; n += 1) {
    await takeSlot(node, n);
    if (n % 10 === 0) await webhook(node, n);
  }
  assert.is(it.readOf("ledger-pol_1"), 0);
});

test("ledgers with many places are forgotten before there are too many places in memory", async () => {
  const it = world({ ledgersMax: 1_000, entriesMax: 300 });
  const node = it.node();
  const fill = async (policy: string) => {
    const day = { account: "acc_0", id: policy, timeZone: "UTC" };
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        node.reserveDay({ policy: day, event: `evt_${n}`, cost: 0, limits: LIMITS, trace: TRACE }),
      ),
    );
  };
  for (let n = 0; n < 10; n += 1) await fill(`pol_${n}`);
  it.readOf("ledger-");
  await webhook(node, 50, "pol_9");
  assert.is(it.readOf("ledger-pol_9"), 0);
  await webhook(node, 50, "pol_0");
  assert.ok(it.readOf("ledger-pol_0") > 0);
});

test("a ledger in which something is under way is not forgotten", async () => {
  const it = world({ ledgersMax: 2, entriesMax: 1_000 });
  const node = it.node();
  let goOn = (): void => undefined;
  it.pause(
    new Promise((resolve) => {
      goOn = resolve;
    }),
  );
  const taken = [takeSlot(node, 0), takeSlot(node, 1), takeSlot(node, 2), takeSlot(node, 3)];
  goOn();
  for (const { answer } of await Promise.all(taken)) assert.is(answer.granted, true);
  it.readOf("ledger-");
  for (let account = 0; account < 4; account += 1)
    assert.is((await takeSlot(node, account, "src_x")).answer.granted, false);
});

test("the place of a request that died in a ledger that was forgotten is given back when that is next used", async () => {
  const it = world({ ledgersMax: 2, entriesMax: 1_000 });
  const node = it.node();
  const stream = "ledger-acc_1-sources";
  await node.reserve({ stream, account: "acc_1", event: "dead", limits: { count: 9 }, trace: TRACE });
  for (let account = 10; account < 20; account += 1) await takeSlot(node, account);
  it.clock.ms += 31_000;
  await node.sweep();
  assert.not(it.asked.includes("dead"));
  // This one is not refused: nobody waits for the place of the dead request.
  await node.reserve({ stream, account: "acc_1", event: "src_1", limits: { count: 9 }, trace: TRACE });
  await node.idle();
  assert.ok(it.asked.includes("dead"));
  assert.is((await node.figures(stream, "acc_1")).open, 1);
});

test.run();
