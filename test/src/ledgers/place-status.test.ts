import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { BundleEvent } from "../../../domain/bundle/events.ts";
import type { DeliveryEvent, Request } from "../../../domain/delivery/events.ts";
import { runLedger } from "../../../domain/ledger/loop.ts";
import type { SlotFreed } from "../../../domain/slot.ts";
import type { SourceEvent } from "../../../domain/source/events.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { placeStatus, stepPlace } from "../../../src/ledgers/place-status.ts";
import { appendTo, bundleFacts, deliveryFacts, history } from "../../support/history.ts";

const test = suite("what became of the holder of a place");
const clock = { now: () => Date.parse("2026-05-05T12:00:00Z") };
const DAY = "ledger-pol_1-2026-05-05";
const AGENTS: Partial<Request> = {
  origin: { kind: "agent", id: "agt_1", name: "helper", type: "agent" },
  ledgers: [DAY],
};
const facts = deliveryFacts();
const determined = (cost: number | null): DeliveryEvent => ({
  type: "CostDetermined",
  data: { event_id: "evt_1", ledgers: [DAY], estimate: 1, cost, basis: "estimate", at: "2026-05-05T12:00:00.000Z" },
});

const after = async (ledger: string, ...events: readonly DeliveryEvent[]) => {
  const it = history();
  for (const event of events) it.add("delivery-evt_1", event);
  const log = memoryEventLog();
  await appendTo(log, it.events);
  const became = await placeStatus(log, clock, randomness)("acc_1", "evt_1", ledger);
  return [became, (await log.last("delivery-evt_1"))?.type];
};

test("a source's event spends its place by its admission; one that was not admitted is fenced first", async () => {
  assert.equal(await after(DAY, facts.admitted()), ["spent", "EventAdmitted"]);
  assert.equal(await after(DAY), ["free", "AdmissionAbandoned"]);
  assert.equal(await after(DAY, facts.blocked()), ["free", "AdmissionAbandoned"]);
});

test("an agent's event holds its place until its end records the cost", async () => {
  assert.equal(await after(DAY, facts.admitted(AGENTS)), ["kept", "EventAdmitted"]);
  assert.equal(await after(DAY, facts.held({}, AGENTS)), ["kept", "EventHeld"]);
  const ended = [facts.admitted(AGENTS), facts.started(1, 1), facts.succeeded(1, 2), facts.delivered(2)];
  assert.equal((await after(DAY, ...ended, determined(7)))[0], { spent: 7 });
  assert.is((await after(DAY, facts.held({}, AGENTS), facts.holdEnded(2, "expired"), determined(null)))[0], "free");
});

test("an agent's event that reached no receiver frees its place, but still counts as a repetition", async () => {
  const failed = [facts.admitted(AGENTS), facts.failed(2), determined(null)];
  assert.equal(await after(DAY, ...failed), ["free", "AdmissionAbandoned"]);
  assert.is((await after(runLedger("pol_1", "r"), ...failed))[0], "spent");
});

test("a place that the event does not name belongs to a request that died, unless it counts repetitions", async () => {
  assert.is((await after("ledger-pol_1-2026-05-04", facts.admitted(AGENTS)))[0], "free");
  assert.is((await after(runLedger("pol_1", "r"), facts.admitted(AGENTS)))[0], "spent");
  assert.is((await after(runLedger("pol_1", "r"), facts.held({}, AGENTS)))[0], "spent");
  // A held event of a source names its places as well.
  assert.is((await after("ledger-pol_2-2026-05-05", facts.held({}, { ledgers: [DAY] })))[0], "free");
});

const AT = "2026-05-05T12:00:00.000Z";
const freed: SlotFreed = { type: "SlotFreed", data: { id: "src_1", at: AT } };
const registered: SourceEvent = {
  type: "SourceRegistered",
  data: {
    ...{
      source_id: "src_1",
      account: "acc_1",
      type: "github",
      auth: null,
      dedupe: null,
      secret: "sealed",
      made_by: "mem_1",
      at: AT,
    },
    ...{ name: "shop", policy_id: null, endpoint_id: null, status: "active" },
  },
};
const deleted: SourceEvent = { type: "SourceDeleted", data: { source_id: "src_1", at: AT } };

const LEDGER = "ledger-pol_1-2026-03-01";
const bundles = bundleFacts();

const afterBundle = async (ledger: string, ...events: readonly BundleEvent[]) => {
  const it = history();
  for (const event of events) it.add("bundle-bun_1", event);
  const log = memoryEventLog();
  await appendTo(log, it.events);
  const became = await placeStatus(log, clock, randomness)("acc_1", "bun_1", ledger);
  return [became, (await log.last("bundle-bun_1"))?.type];
};

test("a bundle is fenced until it is decided, holds its places until it has ended, then spends its cost", async () => {
  const admitted = bundles.admitted({ ledgers: [LEDGER] });
  const held = bundles.held({}, { ledgers: [LEDGER] });
  assert.equal(await afterBundle(LEDGER), ["free", "BundleAbandoned"]);
  assert.equal(await afterBundle(LEDGER, bundles.blocked()), ["free", "BundleAbandoned"]);
  assert.equal(await afterBundle(LEDGER, admitted), ["kept", "BundleAdmitted"]);
  assert.equal(await afterBundle(LEDGER, held), ["kept", "BundleHeld"]);
  assert.equal((await afterBundle(LEDGER, held, bundles.holdEnded(2, "expired"), bundles.spent(2, null)))[0], "free");
  const ended = [admitted, bundles.rollback(2), bundles.rolledBack(2)];
  assert.equal((await afterBundle(LEDGER, ...ended, bundles.spent(2, 7)))[0], { spent: 7 });
  assert.is((await afterBundle(LEDGER, ...ended, bundles.spent(2, null)))[0], "free");
  // As an event's: of another day, and of a loop.
  assert.is((await afterBundle("ledger-pol_1-2026-02-28", admitted))[0], "free");
  assert.is((await afterBundle(runLedger("pol_1", "r"), held))[0], "spent");
});

test("a bundle's step with its own place has spent it by asking, and nothing is fenced", async () => {
  const log = memoryEventLog();
  assert.is(
    await placeStatus(log, clock, randomness)("acc_1", stepPlace("bun_1", 1), runLedger("pol_1", "r")),
    "spent",
  );
  assert.equal(await log.readAll(null, 1), []);
});

test("a source holds its slot as long as it is registered; one that is not registered is fenced first", async () => {
  const log = memoryEventLog();
  const ledger = "ledger-acc_1-sources";
  const ask = () => placeStatus(log, clock, randomness)("acc_1", "src_1", ledger);
  const last = async () => (await log.last("source-src_1"))?.type;
  for (let times = 0; times < 2; times += 1) assert.equal([await ask(), await last()], ["free", "SlotFreed"]);
  const it = history();
  for (const event of [freed, freed, registered, deleted]) it.add("source-src_1", event);
  const [, , present, gone] = it.events;
  if (present === undefined || gone === undefined) throw new Error("the history is shorter than it was made");
  await appendTo(log, [present]);
  assert.equal([await ask(), await last()], ["kept", "SourceRegistered"]);
  await appendTo(log, [gone]);
  assert.equal([await ask(), await last()], ["free", "SourceDeleted"]);
});

test.run();
