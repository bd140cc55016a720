import { test } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import { ask, claimOf } from "../../support/evidence-claims.ts";
import { BEFORE_PERIOD, type ExportedRecord } from "../../support/evidence-export.ts";

const BUDGETS = claimOf({ ask: "budgets" });
const STREAM = "ledger-pol_a-2026-01-15";

let revision = 0;
const ledger = (type: string, data: JsonObject, stream = STREAM): ExportedRecord => {
  revision += 1;
  return { type, stream, revision: revision - 1, data };
};
const reserved = (event: string, cost: number, more: JsonObject = {}): ExportedRecord =>
  ledger("Reserved", { entries: [{ event, cost, at: 1_000, reservation: 1 }], ...more });

test.before.each(() => {
  revision = 0;
});

test("reservations within the budget hold, and what is released is free again", async () => {
  const released = ledger("Released", { entries: [{ event: "evt_1", up_to: 1 }] });
  const found = await ask(BUDGETS, [reserved("evt_1", 60, { budget: 100 }), released, reserved("evt_2", 100)]);
  assert.is(found.holds, true);
  assert.is(found.result.count, 2);
  assert.equal(found.rests_on.indexes, [0, 2]);
});

test("a reservation beyond the budget is named with its policy and day", async () => {
  const settled = ledger("Settled", { entries: [{ event: "evt_1", cost: 60, up_to: 1 }] });
  const found = await ask(BUDGETS, [reserved("evt_1", 60, { budget: 100 }), settled, reserved("evt_2", 41)]);
  assert.is(found.holds, false);
  const over = { index: 2, policy: "pol_a", day: "2026-01-15", used_micro_eur: 101, limit_micro_eur: 100 };
  assert.equal(found.result.over_first, [over]);
});

test("what a receiver reports beyond its reservation is counted as overrun, and is no breach by the gate", async () => {
  const settled = ledger("Settled", { entries: [{ event: "evt_1", cost: 500, up_to: 1 }] });
  const found = await ask(BUDGETS, [reserved("evt_1", 60, { budget: 100 }), settled]);
  assert.is(found.holds, true);
  assert.equal(found.result.overrun_first, [{ policy: "pol_a", day: "2026-01-15", micro_eur: 440 }]);
});

test("a ledger that begins before the export is not added up", async () => {
  revision = 5;
  const found = await ask(BUDGETS, [reserved("evt_1", 600, { budget: 100 })], { from: 10 });
  assert.is(found.holds, null);
  assert.is(found.result.not_followed, 1);
});

test("budgets stay open if one of several ledgers begins before the export", async () => {
  const whole = reserved("evt_1", 60, { budget: 100 });
  const cut = { ...reserved("evt_2", 60), stream: "ledger-pol_b-2026-01-15" };
  const found = await ask(BUDGETS, [BEFORE_PERIOD, whole, cut], { from: 10 });
  assert.equal([found.in_export, found.holds], [true, null]);
  assert.match(found.open ?? "", /needs the records before it/);
});

test("a record of another form leaves the question without an answer", async () => {
  const found = await ask(BUDGETS, [ledger("Reserved", { entries: null })]);
  assert.match(String(found.unanswered), /record 0 has not the form of a ledger's/);
});

test("ledgers of other things are left alone", async () => {
  const slots = ledger(
    "Reserved",
    { entries: [{ event: "x", cost: 9, at: 1, reservation: 1 }], budget: 1 },
    "ledger-acc_a-agents",
  );
  assert.is((await ask(BUDGETS, [slots])).result.ledgers, 0);
});

test.run();
