import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import type { GateResult } from "../../../domain/gate/verdict.ts";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { askLedgers } from "../../../src/admission/ask-ledgers.ts";
import { type LedgerVerdict, ledgerGates } from "../../../src/admission/ledger-gates.ts";
import { ledgers } from "../../../src/ledgers/ledgers.ts";

const test = suite("the gates that count");

const NOON = Date.parse("2026-05-05T12:00:00Z");
const TWO_A_MONTH = { ...PLANS.free, eventsPerMonth: 2 };

/** Asks the gates of one policy, event after event. */
const asking = (definition: Omit<PolicyDefinition, "name">) => {
  const places = ledgers({
    log: memoryEventLog(),
    clock: { now: () => NOON },
    randomness,
    placeStatus: async () => "open",
    orphanAgeMs: 30_000,
    onError: (error) => {
      throw error;
    },
  });
  let asked = 0;
  return (cost: number | null, again = false): Promise<LedgerVerdict> => {
    if (!again) asked += 1;
    return askLedgers(
      ledgerGates(
        {
          account: "acc_1",
          plan: TWO_A_MONTH,
          timeZone: "UTC",
          eventId: `evt_${asked}`,
          policies: [
            {
              id: "pol_1",
              definition: { name: "p", ...definition },
              cost,
              identical: () => new Map([["d".repeat(64), 1]]),
            },
          ],
          run: null,
          trace: { trace_id: "1".repeat(32), span_id: "1".repeat(16) },
        },
        NOON,
      ),
      places,
    );
  };
};

const gatesOf = ({ gates, quota }: LedgerVerdict): readonly GateResult[] => [...gates.flat(), ...quota];
const codesOf = (it: LedgerVerdict): string[] => gatesOf(it).map(({ gate, code }) => `${gate} ${code}`);

test("under an observing policy an unknown cost takes a place in the quota and none in the rate", async () => {
  const ask = asking({ block_on_violation: false, budget_eur_day: 1, rate_per_minute: 1 });
  assert.equal(codesOf(await ask(null)), ["budget cost-unknown", "quota ok"]);
  assert.equal(codesOf(await ask(10_000)), ["rate ok", "budget ok", "quota ok"]);
  const third = await ask(null);
  assert.equal(codesOf(third), ["budget cost-unknown", "quota quota-reached"]);
  assert.equal(third.reservations, []);
});

test("under a blocking policy an unknown cost is denied and takes no place", async () => {
  const ask = asking({ budget_eur_day: 1, rate_per_minute: 1 });
  const refused = await ask(null);
  assert.equal([codesOf(refused), refused.reservations], [["budget cost-unknown"], []]);
  assert.ok(Number(refused.retryAfterS) >= 12 * 60 * 60, "not before midnight");
  assert.equal(codesOf(await ask(10_000)), ["rate ok", "budget ok", "quota ok"]);
});

test("an unknown cost of a policy without a cost rule says that there is none", async () => {
  const [gate] = gatesOf(await asking({ budget_eur_day: 1 })(null));
  assert.match(gate?.detail ?? "", /the policy has no cost rule/);
});

test("an event that an observed budget would deny counts against the quota", async () => {
  const ask = asking({ block_on_violation: false, budget_eur_day: 1 });
  for (const quota of ["quota ok", "quota ok", "quota quota-reached"])
    assert.equal(codesOf(await ask(2_000_000)), ["budget budget-spent", quota]);
});

test("a second verdict on an event whose places are reserved names the same gates", async () => {
  const ask = asking({ budget_eur_day: 1, rate_per_minute: 1, loop: { max_identical: 1, window_s: 60 } });
  const first = await ask(400_000);
  assert.equal(codesOf(first), ["rate ok", "loop ok", "budget ok", "quota ok"]);
  assert.equal(gatesOf(await ask(400_000, true)), gatesOf(first));
});

test.run();
