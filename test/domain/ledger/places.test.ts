import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LedgerBatch } from "../../../domain/ledger/batch.ts";
import { checkpointOf } from "../../../domain/ledger/checkpoint.ts";
import type { LedgerCommand, Limits } from "../../../domain/ledger/commands.ts";
import { decideLedger } from "../../../domain/ledger/decider.ts";
import type { LedgerCheckpoint, LedgerEvent } from "../../../domain/ledger/events.ts";
import { carriedFrom, emptyLedger, evolveLedger, type Ledger, WINDOW_MS } from "../../../domain/ledger/state.ts";
import { openedLedger as opened, reread, type SentCommand } from "../../support/opened-ledger.ts";

/** A bundle takes as many places as it has steps, under one name. */
const test = suite("places of a ledger");
const T0 = Date.parse("2026-01-01T12:00:00Z");
const NAMES = 12;

type Reserve = Extract<LedgerCommand, { type: "Reserve" }>;

const reserve = (event: string, places: number, limits: Limits, cost = 0): Reserve => ({
  type: "Reserve",
  event,
  cost,
  places,
  limits,
});

test("a batch that retracts its last reservation decides as one that never made it", () => {
  const answers = fc.record({ cost: fc.integer({ min: 0, max: 40 }), places: fc.integer({ min: 1, max: 3 }) });
  const asked = fc.array(fc.record({ name: fc.integer({ min: 0, max: 5 }), more: answers, isRetracted: fc.boolean() }));
  fc.assert(
    fc.property(asked, (requests) => {
      const limits = { budget: 100, rate: 8, count: 9 };
      const batches = [new LedgerBatch(emptyLedger(), T0), new LedgerBatch(emptyLedger(), T0)] as const;
      for (const { name, more, isRetracted } of requests) {
        const command = { type: "Reserve", event: `evt_${name}`, ...more, limits } as const;
        const { reservation } = batches[0].decide(command);
        if (!isRetracted) batches[1].decide(command);
        else if (reservation !== undefined) batches[0].retract(reservation);
      }
      assert.equal(batches[0].events(), batches[1].events());
    }),
  );
});

test("five steps take five places of a rate and of a count, or none", () => {
  const it = opened();
  const limits = { rate: 7, count: 7 };
  assert.equal(
    it.send([reserve("a", 5, limits), reserve("b", 3, limits), reserve("c", 2, limits)], T0).map((a) => a.granted),
    [true, false, true],
  );
  assert.equal([it.ledger.openCount, it.ledger.recentCount], [7, 7]);
  it.send([{ type: "Settle", event: "a", cost: 1 }], T0 + 1);
  assert.equal([it.ledger.openCount, it.ledger.settledCount, it.ledger.recentCount], [2, 5, 7]);
  it.send([{ type: "Release", event: "c" }], T0 + 2);
  assert.equal([it.ledger.openCount, it.ledger.settledCount, it.ledger.recentCount], [0, 5, 5]);
  it.send([reserve("one", 1, {})], T0 + 3);
  assert.equal(it.stream.at(-1)?.data, { entries: [{ event: "one", cost: 0, at: T0 + 3, reservation: 3 }] });
});

test("a request that waits for the retry time finds room for all of its places", () => {
  const it = opened();
  const limits = { rate: 6 };
  for (const [at, event, places] of [
    [0, "a", 1],
    [1_000, "b", 3],
    [2_000, "c", 2],
  ] as const)
    it.send([reserve(event, places, limits)], T0 + at);
  const waits = (places: number) => it.send([reserve("late", places, limits)], T0 + 3_000)[0]?.rate?.retryAfterMs;
  assert.equal([1, 2, 4, 5, 6].map(waits), [57_000, 58_000, 58_000, 59_000, 59_000]);
});

test("a request with places reads the limits without them, and gets no more places under its name", () => {
  const it = opened();
  const limits = { rate: 9, count: 9 };
  it.send([reserve("x", 2, limits), reserve("a", 4, limits)], T0);
  const [again, fewer, more] = it.send([reserve("a", 4, limits), reserve("a", 1, limits), reserve("a", 5, limits)], T0);
  assert.equal([again?.granted, again?.rate?.used, again?.count?.used], [true, 2, 2]);
  assert.equal([fewer?.granted, more], [true, { granted: false, isContested: true }]);
  assert.equal([it.ledger.openCount, it.ledger.recentCount], [6, 6]);
  const [first, second] = opened().send([reserve("b", 1, limits), reserve("b", 2, limits)], T0);
  assert.equal([first?.granted, second?.isContested], [true, true]);
});

test("places of the previous evening count in the minute across midnight", () => {
  const yesterday = opened();
  yesterday.send([reserve("a", 3, {}), reserve("b", 1, {})], T0);
  yesterday.send([reserve("c", 2, {})], T0 + 10);
  const carried = carriedFrom(yesterday.ledger, T0 + 20);
  assert.equal(carried, { carried: [T0, 10], counts: [4, 2] });
  const today = emptyLedger();
  evolveLedger(today, { type: "LedgerOpened", data: carried }, 0);
  const ask = (places: number, now: number) =>
    decideLedger(today, [reserve("new", places, { rate: 8 })], now).answers[0]?.granted;
  assert.equal(
    [ask(2, T0 + 20), ask(3, T0 + 20), ask(6, T0 + WINDOW_MS), ask(7, T0 + WINDOW_MS)],
    [true, false, true, false],
  );
});

test("an entry of a record or checkpoint without places has one place", () => {
  const entries = ["a", "b", "c"].map((event, index) => ({ event, cost: 5, at: T0, reservation: index + 1 }));
  const stream: LedgerEvent[] = [
    { type: "Reserved", data: { entries } },
    { type: "Settled", data: { entries: [{ event: "a", cost: 5, up_to: 1 }] } },
  ];
  const folded = emptyLedger();
  for (const [revision, event] of stream.entries()) evolveLedger(folded, event, revision);
  const old: LedgerCheckpoint = {
    ...{ revision: 1, window_from: 0, settled: 5, overrun: 0, reservation: 3, settled_count: 1, last_at: T0 },
    open: [
      ["b", 5, T0, [2], 0],
      ["c", 5, T0, [3], 0],
    ],
  };
  const restored = reread(stream, old);
  for (const it of [folded, restored]) assert.equal([it.openCount, it.settledCount, it.recentCount], [2, 1, 3]);
  assert.equal(checkpointOf(folded, 1).open, old.open);
});

type Held = {
  readonly event: string;
  readonly at: number;
  cost: number;
  readonly places: number;
  holders: number;
  isOpen: boolean;
};

/** What a ledger is, told without counters: each place that was taken, looked through again for every question. */
const naive = () => {
  let all: Held[] = [];
  let lastAt = 0;
  /** The time of the last batch: what had left its window is forgotten. */
  let knownAt = 0;
  const sum = (of: readonly Held[], value: (it: Held) => number): number =>
    of.reduce((total, it) => total + value(it), 0);

  const ask = ({ event, cost, places = 1, limits }: Reserve, at: number) => {
    const own = all.find((it) => it.event === event && (it.isOpen || it.at > knownAt - WINDOW_MS));
    if (own?.isOpen === true && places > own.places) return { granted: false };
    const others = all.filter((it) => it !== own);
    const rate = sum(
      others.filter((it) => it.at > at - WINDOW_MS),
      (it) => it.places,
    );
    const count = sum(others, (it) => it.places);
    const budget = sum(others, (it) => it.cost);
    const isOver =
      own === undefined
        ? rate + places > (limits.rate ?? Infinity) ||
          count + places > (limits.count ?? Infinity) ||
          budget + cost > (limits.budget ?? Infinity)
        : own.isOpen && cost > own.cost && budget + cost > (limits.budget ?? Infinity);
    if (!isOver && own === undefined) {
      all.push({ event, at, cost, places, holders: 1, isOpen: true });
      lastAt = Math.max(lastAt, at);
    } else if (!isOver && own?.isOpen === true) {
      own.holders += 1;
      own.cost = Math.max(own.cost, cost);
    }
    return { granted: !isOver, rate, count, budget };
  };

  return {
    send(commands: readonly SentCommand[], now: number) {
      const at = Math.max(now, lastAt);
      knownAt = lastAt;
      // A batch settles the places, and gives back the reservations, of the batches before it.
      const before = new Map(all.filter((it) => it.isOpen).map((it) => [it, it.holders]));
      const openOf = (event: string) => all.find((it) => it.event === event && before.has(it) && it.isOpen);
      const answers = commands.map((command) => (command.type === "Reserve" ? ask(command, at) : { granted: true }));
      for (const command of commands) {
        const it = command.type === "Settle" ? openOf(command.event) : undefined;
        if (it === undefined || command.type !== "Settle") continue;
        it.isOpen = false;
        it.cost = command.cost ?? it.cost;
      }
      for (const command of commands) {
        const it = command.type === "Release" ? openOf(command.event) : undefined;
        const left = it === undefined ? 0 : (before.get(it) ?? 0);
        if (it === undefined || left === 0) continue;
        before.set(it, left - 1);
        it.holders -= 1;
        if (it.holders <= 0) all = all.filter((other) => other !== it);
      }
      return answers;
    },
    counts: () => [
      sum(
        all.filter((it) => it.isOpen),
        (it) => it.places,
      ),
      sum(
        all.filter((it) => !it.isOpen),
        (it) => it.places,
      ),
    ],
  };
};

const LIMITS = { rate: 12, budget: 300, count: 60 };
const name = fc.nat(NAMES).map((n) => `bun_${n}`);
const command: fc.Arbitrary<SentCommand> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(name, fc.integer({ min: 1, max: 5 }), fc.nat(40))
      .map(([event, places, cost]) => reserve(event, places, LIMITS, cost)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(name, fc.nat(50)).map(([event, cost]) => ({ type: "Settle", event, cost }) as const),
  },
  { weight: 1, arbitrary: name.map((event) => ({ type: "Release", event }) as const) },
);
const batches = fc.array(fc.tuple(fc.integer({ min: -5_000, max: 30_000 }), fc.array(command, { maxLength: 6 })), {
  maxLength: 40,
});

test("in any sequence of commands, the ledger answers like one that counts every place anew, also after a checkpoint", () => {
  fc.assert(
    fc.property(batches, fc.nat(40), (steps, cut) => {
      const it = opened();
      const model = naive();
      let now = T0;
      let checkpoint = checkpointOf(it.ledger, -1);
      for (const [index, [after, batch]] of steps.entries()) {
        now += after;
        const [told, expected] = [it.send(batch, now), model.send(batch, now)];
        for (const [nth, answer] of told.entries()) {
          const { rate, count, budget, granted } = answer;
          const wanted = expected[nth] ?? { granted: null };
          assert.is(granted, wanted.granted);
          if (rate === undefined || !("rate" in wanted)) continue;
          assert.equal([rate.used, count?.used, budget?.used], [wanted.rate, wanted.count, wanted.budget]);
        }
        assert.equal([it.ledger.openCount, it.ledger.settledCount], model.counts());
        if (index === cut) checkpoint = checkpointOf(it.ledger, it.stream.length - 1);
      }
      const restored = reread(it.stream, checkpoint);
      const probe = (ledger: Ledger) => decideLedger(ledger, [reserve("probe", 3, LIMITS, 1)], now).answers[0];
      assert.equal(probe(restored), probe(it.ledger));
      assert.equal(
        [restored.openCount, restored.settledCount, restored.reserved],
        [it.ledger.openCount, it.ledger.settledCount, it.ledger.reserved],
      );
      for (const ledger of [restored, it.ledger])
        assert.is(
          ledger.recentCount,
          [...ledger.recent.values()].reduce((sum, { places }) => sum + places, 0),
        );
    }),
    { numRuns: 500 },
  );
});

test.run();
