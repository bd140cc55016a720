import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { checkpointOf } from "../../../domain/ledger/checkpoint.ts";
import type { LedgerCommand } from "../../../domain/ledger/commands.ts";
import type { LedgerEvent } from "../../../domain/ledger/events.ts";
import { emptyLedger, evolveLedger, type Ledger } from "../../../domain/ledger/state.ts";
import { openedLedger, reread, type SentCommand } from "../../support/opened-ledger.ts";

const test = suite("checkpoints of a ledger");
const T0 = Date.parse("2026-01-01T12:00:00Z");
/** So short that places leave the window in most runs. */
const WINDOW_MS = 1_000;

/** All that is known of a ledger, the places of the window in their order. */
const plain = ({ open, recent, charged, ...rest }: Ledger) => ({
  ...rest,
  open: [...open].sort(([a], [b]) => (a < b ? -1 : 1)),
  recent: [...recent],
  charged: [...charged].sort(),
});

const LIMITS = { budget: 300, rate: 10, count: 60 };
const event = fc.nat(5).map((n) => `evt_${n}`);
const command: fc.Arbitrary<SentCommand> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(event, fc.nat(50), fc.integer({ min: 1, max: 3 }))
      .map(([it, cost, places]): LedgerCommand => ({ type: "Reserve", event: it, cost, places, limits: LIMITS })),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("Settle" as const), event, cost: fc.nat(70) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("Release" as const), event }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("Release" as const), event, upTo: fc.nat(40) }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.nat(4), fc.nat(20))
      .map(([n, cost]) => ({ type: "Charge", event: `rpl_${n}`, cost }) as const),
  },
);
const step = fc.record({
  after: fc.integer({ min: -400, max: 300 }),
  batch: fc.array(command, { minLength: 1, maxLength: 4 }),
  closes: fc.nat(40).map((n) => n === 0),
});
const CARRIED = [null, { carried: [T0 - 500, 100, 50] }, { carried: [T0 - 500, 100], counts: [2, 3] }];

test("a ledger that is read from any checkpoint is the same as one that is folded from the beginning", () => {
  const run = fc.record({
    carried: fc.constantFrom(...CARRIED),
    steps: fc.array(step, { minLength: 3, maxLength: 28 }),
    cut: fc.nat(100),
  });
  fc.assert(
    fc.property(run, ({ carried, steps, cut }) => {
      const it = openedLedger(emptyLedger(WINDOW_MS));
      const tell = (record: LedgerEvent): void => {
        evolveLedger(it.ledger, record, it.stream.length);
        it.stream.push(record);
      };
      if (carried !== null) tell({ type: "LedgerOpened", data: carried });
      let now = T0;
      for (const { after, batch, closes } of steps) {
        now += after;
        it.send(batch, now);
        if (closes) tell({ type: "LedgerClosed", data: { at: now } });
      }
      const length = Math.min(it.stream.length, cut);
      if (length === 0) return;
      const before = emptyLedger(WINDOW_MS);
      for (const [revision, record] of it.stream.slice(0, length).entries()) evolveLedger(before, record, revision);
      assert.equal(plain(reread(it.stream, checkpointOf(before, length - 1), WINDOW_MS)), plain(it.ledger));
    }),
    { numRuns: 1_000 },
  );
});

test.run();
