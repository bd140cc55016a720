import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type AuditDocument, type AuditHead, audit, recordId } from "../../projections/audit.ts";
import { at, deliveryFacts, history } from "../support/history.ts";
import { folded } from "../support/projected.ts";

const test = suite("audit view");
const facts = deliveryFacts();

test("each account's records are counted from 0 without a gap, in the order of the log", () => {
  const log = history();
  log.add("account-acc_1", { type: "AccountOpened", data: {} }, { actor: { kind: "member", id: "mem_1" } });
  log.add("account-acc_2", { type: "AccountOpened", data: {} }, { account: "acc_2" });
  log.add("payload-evt_1", { type: "PayloadKept", data: {} });
  log.add("delivery-evt_1", facts.admitted());
  log.add("checkpoint-ledger-x", { type: "Checkpoint", data: {} });
  log.add("ledger-pol_1-2026-03-01", { type: "Reserved", data: { entries: [] } });
  log.add("delivery-evt_2", facts.admitted(), { account: "acc_2" });
  const view = folded(audit, log.events);

  assert.is(view.get<AuditHead>("acc_1")?.count, 3);
  assert.is(view.get<AuditHead>("acc_2")?.count, 2);
  assert.equal(view.get<AuditDocument>(recordId("acc_1", 0)), {
    account: "acc_1",
    index: 0,
    stream: "account-acc_1",
    revision: 0,
    position: "0000000000000001",
    type: "AccountOpened",
    recorded_at: at(1),
    actor_kind: "member",
    actor_id: "mem_1",
    subject: "acc_1",
  });
  assert.is(view.get<AuditDocument>(recordId("acc_1", 2))?.subject, "pol_1-2026-03-01");
  assert.is(view.get<AuditDocument>(recordId("acc_2", 1))?.stream, "delivery-evt_2");
  assert.is(view.get(recordId("acc_1", 3)), null);
});

test("a record copies nothing of what was recorded", () => {
  const log = history();
  log.add("source-src_1", { type: "SourceRegistered", data: { secret: "sealed", name: "private" } });
  assert.not.match(JSON.stringify(folded(audit, log.events).all()), /sealed|private/);
});

test("after a clock was set back, records have the latest earlier time, and the head the difference", () => {
  const log = history();
  for (const second of [10, 4, 7, 11]) log.add("account-acc_1", { type: "X", data: {} }, { at: at(second) });
  const view = folded(audit, log.events);
  const latest = [0, 1, 2, 3].map((index) => view.get<AuditDocument>(recordId("acc_1", index))?.latest);
  assert.equal(latest, [undefined, at(10), at(10), undefined]);
  assert.equal(view.get<AuditHead>("acc_1"), {
    count: 4,
    latest: at(11),
    disorder_ms: 6_000,
    categories: ["account"],
  });
});

test.run();
