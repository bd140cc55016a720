import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Answer } from "../../../domain/ledger/batch.ts";
import { checkpointOf } from "../../../domain/ledger/checkpoint.ts";
import type { LedgerCommand, Limits } from "../../../domain/ledger/commands.ts";
import { decideLedger } from "../../../domain/ledger/decider.ts";
import type { LedgerEvent } from "../../../domain/ledger/events.ts";
import { isSettledBy, withoutReleased } from "../../../domain/ledger/reservations.ts";
import { carriedFrom, emptyLedger, evolveLedger, type Ledger, WINDOW_MS } from "../../../domain/ledger/state.ts";
import { openedLedger as opened, reread } from "../../support/opened-ledger.ts";

const test = suite("ledger");
const T0 = Date.parse("2026-01-01T12:00:00Z");

const reserve = (event: string, cost: number, limits: Limits): LedgerCommand => ({
  type: "Reserve",
  event,
  cost,
  limits,
});

/** Everything a ledger decides by, as plain data. */
const plain = (ledger: Ledger) => ({
  sums: [ledger.reserved, ledger.settled, ledger.openCount, ledger.settledCount, ledger.lastAt],
  open: [...ledger.open].map(([event, p]) => [event, p.at, p.cost, p.reservations]).sort(),
  recent: [...ledger.recent.values()].map((p) => p.at).sort(),
});

test("200 requests at 7 cents share 1 euro: exactly 14 get a place", () => {
  const it = opened();
  const commands = Array.from({ length: 200 }, (_, i) => reserve(`evt_${i}`, 70_000, { budget: 1_000_000 }));
  assert.is(it.send(commands, T0).filter((answer) => answer.granted).length, 14);
  assert.is(it.ledger.reserved, 980_000);
});

test("300 requests against 20 a minute: exactly 20, and the 21st fits one minute after the first", () => {
  const it = opened();
  const commands = Array.from({ length: 300 }, (_, i) => reserve(`evt_${i}`, 0, { rate: 20 }));
  const answers = it.send(commands, T0);
  assert.is(answers.filter((answer) => answer.granted).length, 20);
  assert.is(answers[299]?.rate?.retryAfterMs, WINDOW_MS);
  assert.is(it.send([reserve("late", 0, { rate: 20 })], T0 + WINDOW_MS - 1)[0]?.granted, false);
  assert.is(it.send([reserve("late", 0, { rate: 20 })], T0 + WINDOW_MS)[0]?.granted, true);
});

test("reserving again for the same event takes no second place", () => {
  const it = opened();
  const limits = { rate: 1, budget: 10 };
  assert.is(
    it.send([reserve("a", 10, limits), reserve("a", 10, limits)], T0).every((answer) => answer.granted),
    true,
  );
  assert.is(it.send([reserve("a", 10, limits)], T0 + 5)[0]?.granted, true);
  assert.is(it.ledger.reserved, 10);
  assert.is(it.ledger.recent.size, 1);
});

test("an event that has a place is told how the limits stand besides its own", () => {
  const limits = { rate: 3, budget: 100, count: 3 };
  const readings = (answer: Answer | undefined) => {
    const { granted, rate, budget, count } = answer ?? { granted: null };
    return [granted, rate?.used, budget?.used, count?.used, rate?.over, budget?.over, count?.over];
  };
  const it = opened();
  const [, first, joined] = it.send([reserve("x", 20, limits), reserve("a", 30, limits), reserve("a", 30, limits)], T0);
  assert.equal(readings(first), [true, 1, 20, 1, false, false, false]);
  assert.equal(readings(joined), readings(first));
  it.send([reserve("y", 50, limits)], T0 + 1);
  const again = () => readings(it.send([reserve("a", 30, limits)], T0 + 2)[0]);
  // All is used up, and none of it refuses who is in already.
  assert.equal(again(), [true, 2, 70, 2, false, false, false]);
  assert.equal(readings(it.send([reserve("a", 31, limits)], T0 + 2)[0]), [false, 2, 70, 2, false, true, false]);
  it.send([{ type: "Settle", event: "a", cost: 5 }], T0 + 3);
  assert.equal(again(), [true, 2, 70, 2, false, false, false]);
  // Its place has left the window and is open no less.
  const later = it.send([reserve("x", 20, limits)], T0 + WINDOW_MS)[0];
  assert.equal(readings(later), [true, 1, 55, 2, false, false, false]);
});

test("after one of two holders gives back, the place stays with the other", () => {
  const it = opened();
  it.send([reserve("a", 10, {}), reserve("a", 10, {})], T0);
  it.send([{ type: "Release", event: "a" }], T0);
  assert.is(it.ledger.reserved, 10);
  it.send([{ type: "Release", event: "a" }], T0);
  assert.is(it.ledger.reserved, 0);
  assert.is(it.ledger.recent.size, 0);
});

test("a released place is free for rate, budget and count alike", () => {
  const it = opened();
  const limits = { rate: 1, budget: 10, count: 1 };
  it.send([reserve("a", 10, limits)], T0);
  it.send([{ type: "Release", event: "a" }], T0 + 1);
  assert.is(it.send([reserve("b", 10, limits)], T0 + 2)[0]?.granted, true);
});

test("settling replaces the reserved cost by the real one, once", () => {
  const it = opened();
  it.send([reserve("a", 10, {})], T0);
  const settle = { type: "Settle", event: "a", cost: 25 } as const;
  it.send([settle], T0 + 1);
  it.send([settle], T0 + 2);
  assert.equal([it.ledger.reserved, it.ledger.settled, it.ledger.settledCount], [0, 25, 1]);
});

test("one limit that refuses keeps the request from taking a place of any other", () => {
  const it = opened();
  const limits = { rate: 5, budget: 10 };
  const answers = it.send([reserve("dear", 11, limits), reserve("cheap", 10, limits)], T0);
  assert.equal([answers[0]?.granted, answers[1]?.granted], [false, true]);
  assert.is(answers[1]?.rate?.used, 0);
});

test("a clock that is set back frees nothing", () => {
  const it = opened();
  it.send([reserve("a", 0, { rate: 1 })], T0);
  assert.is(it.send([reserve("b", 0, { rate: 1 })], T0 - 3_600_000)[0]?.granted, false);
});

test("the minute goes on across midnight: what is carried over still counts", () => {
  const yesterday = opened();
  for (let i = 0; i < 5; i += 1) yesterday.send([reserve(`evt_${i}`, 7, { rate: 9 })], T0 + i * 20_000);
  const carried = carriedFrom(yesterday.ledger, T0 + 80_000);
  const today = opened();
  evolveLedger(today.ledger, { type: "LedgerOpened", data: carried }, 0);
  // Of 0, 20, 40, 60 and 80 s the last three lie in the minute before 80 s (20 s is exactly one minute old: it has left).
  assert.is(today.send([reserve("new", 7, { rate: 3 })], T0 + 80_000)[0]?.granted, false);
  assert.is(today.ledger.settled + today.ledger.reserved, 0);
  assert.is(today.send([reserve("new", 7, { rate: 3 })], T0 + 40_000 + WINDOW_MS)[0]?.granted, true);
});

test("a minute at any rate is carried over in one append, place by place", () => {
  const yesterday = emptyLedger();
  const perMs = 10;
  for (let at = 0; at < WINDOW_MS; at += 1) {
    const entries = Array.from({ length: perMs }, (_, nth) => ({
      event: `evt_${at}_${nth}`,
      cost: 1,
      at: T0 + at,
      reservation: at * perMs + nth + 1,
    }));
    evolveLedger(yesterday, { type: "Reserved", data: { entries } }, at);
  }
  const now = T0 + WINDOW_MS - 1;
  const carried = carriedFrom(yesterday, now);
  assert.ok(JSON.stringify(carried).length < 600_000);
  const today = emptyLedger();
  evolveLedger(today, { type: "LedgerOpened", data: carried }, 0);
  const full = decideLedger(today, [reserve("new", 0, { rate: WINDOW_MS * perMs })], now);
  assert.is(full.answers[0]?.rate?.used, WINDOW_MS * perMs);
  const later = decideLedger(today, [reserve("new", 0, { rate: WINDOW_MS * perMs })], now + 1);
  assert.is(later.answers[0]?.rate?.used, (WINDOW_MS - 1) * perMs);
  assert.equal(carriedFrom(today, now), carried);
});

const commands = fc.array(
  fc.record({
    after: fc.nat(30_000),
    batch: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant("Reserve" as const), event: event(), cost: fc.nat(50) }),
        fc.record({ type: fc.constant("Settle" as const), event: event(), cost: fc.nat(50) }),
        fc.record({ type: fc.constant("Release" as const), event: event() }),
      ),
      { maxLength: 8 },
    ),
  }),
  { maxLength: 40 },
);
function event() {
  return fc.integer({ min: 0, max: 30 }).map((n) => `evt_${n}`);
}

/** Rate over every sliding minute, money and count, recomputed from the stream alone. */
const overrun = (stream: readonly LedgerEvent[], limits: Readonly<Record<keyof Limits, number>>): string | null => {
  const live = new Map<string, { at: number; cost: number; reservations: readonly number[] }>();
  const settled: { at: number; cost: number }[] = [];
  for (const record of stream) {
    if (record.type === "Reserved") {
      for (const { event, at, cost, reservation } of record.data.entries) {
        const known = live.get(event);
        if (known === undefined) live.set(event, { at, cost, reservations: [reservation] });
        else known.reservations = [...known.reservations, reservation];
        const times = [...live.values(), ...settled].map((place) => place.at);
        const inWindow = times.filter((time) => time > at - WINDOW_MS && time <= at).length;
        if (inWindow > limits.rate) return `rate ${inWindow}`;
        const money = [...live.values()].reduce((sum, place) => sum + place.cost, 0);
        const spent = settled.reduce((sum, place) => sum + place.cost, 0);
        if (known === undefined && money + spent > limits.budget) return `budget ${money + spent}`;
        if (live.size + settled.length > limits.count) return `count ${live.size + settled.length}`;
      }
    } else if (record.type === "Settled") {
      for (const { event, cost, up_to } of record.data.entries) {
        const place = live.get(event);
        if (place === undefined || !isSettledBy(place.reservations, { up_to })) continue;
        live.delete(event);
        settled.push({ at: place.at, cost });
      }
    } else if (record.type === "Released") {
      for (const release of record.data.entries) {
        const place = live.get(release.event);
        if (place === undefined) continue;
        place.reservations = withoutReleased(place.reservations, release);
        if (place.reservations.length === 0) live.delete(release.event);
      }
    }
  }
  return null;
};

test("in any sequence of commands, no reservation breaks a limit", () => {
  const limits = { rate: 4, budget: 200, count: 12 };
  fc.assert(
    fc.property(commands, (steps) => {
      const it = opened();
      let now = T0;
      for (const { after, batch } of steps) {
        now += after;
        it.send(
          batch.map((command) => (command.type === "Reserve" ? { ...command, limits } : command)),
          now,
        );
      }
      assert.is(overrun(it.stream, limits), null);
    }),
    { numRuns: 300 },
  );
});

test("a ledger read from a checkpoint decides as one folded from the beginning", () => {
  const limits = { rate: 6, budget: 400, count: 100 };
  fc.assert(
    fc.property(commands, fc.nat(100), (steps, cut) => {
      const it = opened();
      let now = T0;
      let checkpoint = checkpointOf(it.ledger, -1);
      for (const [index, { after, batch }] of steps.entries()) {
        now += after;
        it.send(
          batch.map((command) => (command.type === "Reserve" ? { ...command, limits } : command)),
          now,
        );
        if (index === cut % Math.max(steps.length, 1)) checkpoint = checkpointOf(it.ledger, it.stream.length - 1);
      }
      const restored = reread(it.stream, checkpoint);
      assert.equal(plain(restored).sums, plain(it.ledger).sums);
      assert.equal(plain(restored).open, plain(it.ledger).open);
      const probe = (ledger: Ledger) => decideLedger(ledger, [reserve("probe", 1, limits)], now).answers[0];
      assert.equal(probe(restored), probe(it.ledger));
    }),
    { numRuns: 500 },
  );
});

test.run();
