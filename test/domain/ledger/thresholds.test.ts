import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { checkpointOf } from "../../../domain/ledger/checkpoint.ts";
import type { LedgerCommand } from "../../../domain/ledger/commands.ts";
import type { LedgerEvent } from "../../../domain/ledger/events.ts";
import { emptyLedger, evolveLedger, type Ledger } from "../../../domain/ledger/state.ts";
import { openedLedger, reread, type SentCommand } from "../../support/opened-ledger.ts";

const test = suite("thresholds of a budget");
const T0 = Date.parse("2026-01-01T12:00:00Z");

/** Answers with the records that a batch of commands adds to the stream. */
const opened = (from?: Ledger) => {
  const { ledger, stream, send } = openedLedger(from);
  return {
    ledger,
    stream,
    send(...commands: readonly SentCommand[]): readonly LedgerEvent[] {
      const { length } = stream;
      send(commands, T0);
      return stream.slice(length);
    },
  };
};

const reserve = (event: string, cost: number, budget?: number): LedgerCommand => ({
  type: "Reserve",
  event,
  cost,
  limits: budget === undefined ? { rate: 1_000 } : { budget },
});

/** As "50: 50 of 100". */
const reached = (events: readonly LedgerEvent[]): readonly string[] =>
  events.flatMap((event) => {
    if (event.type !== "BudgetThresholdReached") return [];
    const { threshold, used, limit } = event.data;
    return [`${threshold}: ${used} of ${limit}`];
  });

test("each threshold is recorded once, in the append of the places that reach it", () => {
  const it = opened();
  assert.equal(reached(it.send(reserve("evt_1", 49, 100))), []);
  assert.equal(
    it.send(reserve("evt_2", 1, 100)).map(({ type }) => type),
    ["Reserved", "BudgetThresholdReached"],
  );
  it.send({ type: "Release", event: "evt_1" });
  assert.equal(reached(it.send(reserve("evt_3", 79, 100))), ["80: 80 of 100"]);
  assert.equal(reached(it.send(reserve("evt_4", 20, 100))), ["100: 100 of 100"]);
  assert.equal(reached(it.send(reserve("evt_5", 1, 100))), []);
  assert.equal(reached(it.stream), ["50: 50 of 100", "80: 80 of 100", "100: 100 of 100"]);
});

test("a place that reaches several thresholds records each of them", () => {
  assert.equal(reached(opened().send(reserve("evt_1", 85, 100))), ["50: 85 of 100", "80: 85 of 100"]);
});

test("a settlement above its reservation reaches thresholds of the recorded budget", () => {
  const it = opened();
  it.send(reserve("evt_1", 10, 100));
  const other = opened(reread(it.stream, checkpointOf(it.ledger, 0)));
  const settled = { type: "Settle", event: "evt_1", cost: 130 } as const;
  assert.equal(reached(other.send(settled)), ["50: 130 of 100", "80: 130 of 100", "100: 130 of 100"]);
});

test("a place that is given back in the same batch has reached the threshold before", () => {
  const it = opened();
  it.send(reserve("evt_1", 30, 100));
  const events = it.send(reserve("evt_2", 30, 100), { type: "Release", event: "evt_1" });
  assert.equal(
    events.map(({ type }) => type),
    ["Reserved", "BudgetThresholdReached", "Released"],
  );
});

test("a changed budget is recorded, and a recorded threshold is not recorded again", () => {
  const it = opened();
  const budgets = (events: readonly LedgerEvent[]) =>
    events.flatMap((event) => (event.type === "Reserved" ? [event.data.budget] : []));
  assert.equal(budgets(it.send(reserve("evt_1", 60, 100))), [100]);
  assert.equal(budgets(it.send(reserve("evt_2", 1, 100))), [undefined]);
  assert.equal(reached(it.send(reserve("evt_3", 1, 1_000))), []);
  assert.equal(reached(it.send(reserve("evt_4", 450, 1_000))), []);
  assert.equal(reached(it.send(reserve("evt_5", 300, 1_000))), ["80: 812 of 1000"]);
  assert.equal(budgets(it.send(reserve("evt_6", 1_000))), [null]);
  assert.equal(reached(it.stream), ["50: 60 of 100", "80: 812 of 1000"]);
});

test("a budget made smaller than its use records its thresholds with the first refused request only", () => {
  const it = opened();
  it.send(reserve("evt_1", 40, 100));
  assert.equal(reached(it.send(reserve("evt_2", 1, 30))), ["50: 40 of 30", "80: 40 of 30", "100: 40 of 30"]);
  assert.equal(it.send(reserve("evt_3", 1, 30)), []);
});

test("no threshold is recorded without a budget or with a budget of zero", () => {
  const it = opened();
  it.send(reserve("evt_1", 0), { type: "Settle", event: "evt_1", cost: 0 });
  assert.equal(reached(opened().send(reserve("evt_1", 0, 0))), []);
  assert.equal(
    it.stream.map(({ data }) => Object.keys(data)),
    [["entries"]],
  );
});

const event = fc.integer({ min: 0, max: 8 }).map((n) => `evt_${n}`);
const batches = fc.array(
  fc.array(
    fc.oneof(
      fc.record({
        type: fc.constant("Reserve" as const),
        event,
        cost: fc.nat(40),
        limits: fc.constant({ budget: 100 }),
      }),
      fc.record({ type: fc.constant("Settle" as const), event, cost: fc.nat(60) }),
      fc.record({ type: fc.constant("Release" as const), event }),
      fc.record({ type: fc.constant("Release" as const), event, upTo: fc.nat(60) }),
    ),
    { minLength: 1, maxLength: 6 },
  ),
  { maxLength: 30 },
);

test("in any sequence of commands, the first record that reaches a threshold records it once, with the sum", () => {
  fc.assert(
    fc.property(batches, fc.nat(30), (steps, cut) => {
      let it = opened();
      const stream: LedgerEvent[] = [];
      for (const [index, batch] of steps.entries()) {
        // Somewhere it is read again from a checkpoint.
        if (index === cut) {
          it = opened(reread(stream, checkpointOf(it.ledger, stream.length - 1)));
        }
        stream.push(...it.send(...batch));
      }
      const expected: string[] = [];
      const due = [50, 80, 100];
      const ledger = emptyLedger();
      for (const [revision, record] of stream.entries()) {
        evolveLedger(ledger, record, revision);
        const used = ledger.reserved + ledger.settled;
        while (used >= (due[0] ?? Number.POSITIVE_INFINITY)) expected.push(`${due.shift()}: ${used} of 100`);
      }
      assert.equal(reached(stream), expected);
    }),
    { numRuns: 500 },
  );
});

test.run();
