import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { checkpointOf } from "../../../domain/ledger/checkpoint.ts";
import type { LedgerCommand } from "../../../domain/ledger/commands.ts";
import { decideLedger } from "../../../domain/ledger/decider.ts";
import type { LedgerEvent } from "../../../domain/ledger/events.ts";
import { isLoopLedger, runLedger, sameLedger, windowMsOf } from "../../../domain/ledger/loop.ts";
import { emptyLedger, WINDOW_MS } from "../../../domain/ledger/state.ts";
import { openedLedger, reread } from "../../support/opened-ledger.ts";

/** Money that is settled long after it was reserved, and windows of hours. */
const test = suite("spending and repetitions");
const T0 = Date.parse("2026-01-01T12:00:00Z");
const BUDGET = 200;
/** As high as no reservation's number is. */
const NEWEST = 1_000_000;

const opened = (windowMs?: number) => openedLedger(emptyLedger(windowMs));
const reserve = (event: string, cost: number, limits = { budget: BUDGET }): LedgerCommand => ({
  type: "Reserve",
  event,
  cost,
  limits,
});

test("a settlement above its reservation counts at once, and its overrun is counted separately", () => {
  const it = opened();
  it.send([reserve("a", 100), reserve("b", 50)], T0);
  it.send([{ type: "Settle", event: "a", cost: 130 }], T0 + 1);
  it.send([{ type: "Settle", event: "b", cost: 20 }], T0 + 2);
  assert.equal([it.ledger.reserved, it.ledger.settled, it.ledger.overrun], [0, 150, 30]);
  assert.is(it.send([reserve("c", 51)], T0 + 3)[0]?.granted, false);
  assert.is(it.send([reserve("c", 50)], T0 + 3)[0]?.granted, true);
  const restored = reread(it.stream, checkpointOf(it.ledger, it.stream.length - 1));
  assert.equal([restored.reserved, restored.settled, restored.overrun], [50, 150, 30]);
});

test("an event that is reserved again at a higher cost takes the difference, or no more than it has", () => {
  const it = opened();
  it.send([reserve("a", 10)], T0);
  assert.is(it.send([reserve("a", 150)], T0)[0]?.granted, true);
  assert.is(it.ledger.reserved, 150);
  const [refused, lower] = it.send([reserve("a", 201), reserve("a", 5)], T0);
  assert.equal([refused?.granted, refused?.budget?.over, lower?.granted], [false, true, true]);
  assert.is(it.ledger.reserved, 150);
  // In one batch as well.
  const other = opened();
  const answers = other.send([reserve("b", 10), reserve("b", 200), reserve("c", 1)], T0);
  assert.equal(
    answers.map(({ granted }) => granted),
    [true, true, false],
  );
  assert.is(other.ledger.reserved, 200);
});

test("a place that is settled without a cost is spent for what it costs by then, if a named reservation holds it", () => {
  const it = opened();
  it.send([reserve("a", 10)], T0);
  it.send([reserve("a", 25)], T0);
  it.send([{ type: "Settle", event: "a", upTo: 1 }], T0 + 1);
  assert.equal([it.ledger.reserved, it.ledger.settled], [0, 25]);
  it.send([reserve("b", 10)], T0 + 1);
  it.send([{ type: "Release", event: "b", upTo: 3 }, reserve("b", 10)], T0 + 1);
  it.send([{ type: "Settle", event: "b", upTo: 3 }], T0 + 1);
  assert.equal([it.ledger.reserved, it.ledger.settled], [10, 25]);
});

test("a ledger with a longer window counts an hour-old place, which leaves to the millisecond", () => {
  const hour = 3_600_000;
  const it = opened(hour);
  const ask = (event: string, now: number) =>
    it.send(
      [
        { type: "Reserve", event, cost: 0, limits: { rate: 1 } },
        { type: "Settle", event, cost: 0 },
      ],
      now,
    )[0];
  assert.is(ask("a", T0)?.granted, true);
  const refused = ask("b", T0 + hour - 1);
  assert.equal([refused?.granted, refused?.rate?.retryAfterMs], [false, 1]);
  assert.is(ask("b", T0 + hour)?.granted, true);
  // As it is read again from a checkpoint.
  const restored = reread(it.stream, checkpointOf(it.ledger, it.stream.length - 1), hour);
  const probe = { type: "Reserve", event: "c", cost: 0, limits: { rate: 1 } } as const;
  assert.equal(decideLedger(restored, [probe], T0 + hour + 1), decideLedger(it.ledger, [probe], T0 + hour + 1));
});

test("the name of a ledger says what it counts and how long", () => {
  assert.is(windowMsOf(sameLedger("pol_1", 600, "d")), 600_000);
  for (const stream of [
    runLedger("pol_1", "r"),
    "ledger-pol_1-2026-01-01",
    "ledger-acc_1-2026-01",
    "ledger-acc_1-sources",
  ])
    assert.is(windowMsOf(stream), WINDOW_MS, stream);
  assert.equal([sameLedger("pol_1", 1, "d"), runLedger("pol_1", "r"), "ledger-pol_1-2026-01-01"].map(isLoopLedger), [
    true,
    true,
    false,
  ]);
});

const event = fc.integer({ min: 0, max: 20 }).map((n) => `evt_${n}`);
const command: fc.Arbitrary<LedgerCommand> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(event, fc.nat(80)).map(([it, cost]) => reserve(it, cost)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(event, fc.nat(100))
      .map(([it, percent]) => ({ type: "Settle", event: it, cost: percent }) as const),
  },
  { weight: 1, arbitrary: event.map((it) => ({ type: "Release", event: it, upTo: NEWEST }) as const) },
);

/** What is reserved and settled together behind each record, by the records' own account. */
const totals = (stream: readonly LedgerEvent[]): readonly number[] => {
  const open = new Map<string, number>();
  let settled = 0;
  return stream.map((record) => {
    if (record.type === "Reserved") {
      for (const { event, cost } of record.data.entries) open.set(event, Math.max(cost, open.get(event) ?? 0));
    } else if (record.type === "Settled") {
      for (const { event, cost } of record.data.entries) if (open.delete(event)) settled += cost;
    } else if (record.type === "Released") {
      for (const { event } of record.data.entries) open.delete(event);
    }
    return settled + [...open.values()].reduce((sum, cost) => sum + cost, 0);
  });
};

test("without overruns, reserved and settled together never exceed the budget at any record", () => {
  fc.assert(
    fc.property(fc.array(fc.array(command, { maxLength: 6 }), { maxLength: 40 }), (batches) => {
      const it = opened();
      for (const [index, batch] of batches.entries()) {
        // A settlement's number is a share of what was reserved.
        const commands = batch.map((command) =>
          command.type === "Settle"
            ? {
                ...command,
                cost: Math.floor(((it.ledger.open.get(command.event)?.cost ?? 0) * (command.cost ?? 100)) / 100),
              }
            : command,
        );
        it.send(commands, T0 + index * 7_000);
      }
      const all = totals(it.stream);
      assert.ok(
        all.every((total) => total <= BUDGET),
        String(all),
      );
      assert.is(it.ledger.reserved + it.ledger.settled, all.at(-1) ?? 0);
      assert.is(it.ledger.overrun, 0);
    }),
    { numRuns: 400 },
  );
});

test("with overruns counted, a reservation is granted only if there is room for it", () => {
  fc.assert(
    fc.property(fc.array(fc.array(command, { maxLength: 6 }), { maxLength: 40 }), (batches) => {
      const it = opened();
      for (const [index, batch] of batches.entries()) {
        const before = totals(it.stream).at(-1) ?? 0;
        const length = it.stream.length;
        it.send(batch, T0 + index * 7_000);
        // The places of a batch come first in it.
        if (it.stream[length]?.type === "Reserved") {
          const after = totals(it.stream)[length] ?? 0;
          assert.ok(after <= BUDGET || after === before, `${before} became ${after}`);
        }
      }
    }),
    { numRuns: 400 },
  );
});

test.run();
