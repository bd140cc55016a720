import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type UsageDocument, usage, usageId } from "../../projections/usage.ts";
import { deliveryFacts, history } from "../support/history.ts";
import { folded } from "../support/projected.ts";

const test = suite("usage view");
const facts = deliveryFacts();
const of = (log: ReturnType<typeof history>, month: string) => {
  const used = folded(usage, log.events).get<UsageDocument>(usageId("acc_1", month));
  return used === null ? null : [used.events, used.blocked, used.observed];
};

test("only admitted events of sources count, each once; refusals are counted beside them", () => {
  const log = history();
  log.add("delivery-evt_1", facts.blocked());
  log.add("delivery-evt_1", facts.blocked());
  log.add("delivery-evt_1", facts.admitted());
  log.add("delivery-evt_1", facts.duplicates(7, 3));
  log.add(
    "delivery-evt_2",
    facts.admitted({ verdict: { decision: "allow", policy: null, gates: [], observed: true } }),
  );
  log.add("delivery-evt_3", facts.admitted({ origin: { kind: "agent", id: "agt_1", name: "a", type: "agent" } }));
  log.add("delivery-evt_4", facts.admitted(), { account: "acc_2" });
  assert.equal(of(log, "2026-03"), [2, 2, 1]);
});

test("a month begins and ends in UTC, by the time of the decision", () => {
  const log = history();
  log.add("delivery-evt_1", facts.admitted({ at: "2026-03-31T23:59:59.999Z" }));
  log.add("delivery-evt_2", facts.admitted({ at: "2026-04-01T00:00:00.000Z" }));
  assert.equal([of(log, "2026-03"), of(log, "2026-04"), of(log, "2026-05")], [[1, 0, 0], [1, 0, 0], null]);
});

test.run();
