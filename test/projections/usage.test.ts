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

test("only admitted events of sources count, each once; refusals are counted apart", () => {
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
  const told = { kind: "system", id: "approval.requested", name: "approval.requested", type: "notification" } as const;
  log.add("delivery-evt_5", facts.admitted({ origin: told }));
  assert.equal(of(log, "2026-03"), [2, 2, 1]);
});

test("a month begins and ends in UTC, by the time of the decision", () => {
  const log = history();
  log.add("delivery-evt_1", facts.admitted({ at: "2026-03-31T23:59:59.999Z" }));
  log.add("delivery-evt_2", facts.admitted({ at: "2026-04-01T00:00:00.000Z" }));
  assert.equal([of(log, "2026-03"), of(log, "2026-04"), of(log, "2026-05")], [[1, 0, 0], [1, 0, 0], null]);
});

test("a held event counts once, when it is released, in the month whose quota it took; one that ends held never", () => {
  const log = history();
  log.add("delivery-evt_1", facts.held());
  log.add("delivery-evt_2", facts.held());
  assert.is(of(log, "2026-03"), null);
  log.add("delivery-evt_1", facts.released(40 * 86_400));
  log.add("delivery-evt_2", facts.holdEnded(5, "rejected"));
  log.add("delivery-evt_1", facts.delivered(40 * 86_400));
  assert.equal([of(log, "2026-03"), of(log, "2026-04")], [[1, 0, 0], null]);

  const { data } = facts.released(9) as { data: object };
  log.add("delivery-evt_3", { type: "EventReleased", data: { ...data, origin_kind: "agent", observed: true } });
  assert.equal(of(log, "2026-03"), [1, 0, 1]);
});

test("a sample counts neither when it is admitted or blocked nor when it is released", () => {
  const log = history();
  const sample = { by: { kind: "key", id: "key_1" } } as const;
  log.add("delivery-evt_1", facts.admitted({ sample }));
  log.add("delivery-evt_2", facts.blocked({ sample }));
  log.add("delivery-evt_3", facts.held({}, { sample }));
  const { data } = facts.released(9) as { data: object };
  log.add("delivery-evt_3", { type: "EventReleased", data: { ...data, sample: true } });
  assert.is(of(log, "2026-03"), null);
});

test.run();
