import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ApprovalEvent } from "../../domain/approval/events.ts";
import type { DeliveryEvent } from "../../domain/delivery/events.ts";
import { type ApprovalDocument, approvals } from "../../projections/approvals.ts";
import { approvalFacts, at, bundleFacts, deliveryFacts, history } from "../support/history.ts";
import { folded } from "../support/projected.ts";

const test = suite("approvals view");
const is = approvalFacts();
const event = deliveryFacts();

const after = (...facts: readonly (ApprovalEvent | DeliveryEvent)[]): ApprovalDocument => {
  const log = history();
  for (const fact of facts) {
    const isOfEvent = fact.type === "EventReleased" || fact.type === "HoldEnded" || fact.type === "EventHeld";
    log.add(isOfEvent ? "delivery-evt_1" : "approval-apr_1", fact);
  }
  const document = folded(approvals, log.events).get<ApprovalDocument>("apr_1");
  assert.ok(document);
  return document;
};

test("a requested approval is pending, with everything that people see", () => {
  const document = after(event.held(), is.requested());
  assert.equal(
    [document.status, document.subject_kind, document.subject_id, document.votes, document.decided_at],
    ["pending", "event", "evt_1", [], null],
  );
  assert.equal([document.requested_at, document.expires_at, document.digest], [at(0), at(3_600), "d1"]);
});

test("a granted approval is approved, and consumed once the execution begins", () => {
  const granted = [is.requested(), is.voted("mem_1", "approve", 5), is.granted(5)];
  assert.equal([after(...granted).status, after(...granted).decided_at], ["approved", at(5)]);
  const consumed = after(...granted, event.released(6));
  assert.equal([consumed.status, consumed.decided_at], ["consumed", at(5)]);
  assert.equal(
    consumed.votes.map(({ member_id, decision }) => [member_id, decision]),
    [["mem_1", "approve"]],
  );
});

test("each end has a status, and the end of the hold changes nothing", () => {
  const ends = [
    [is.rejected(5, "no"), "rejected", "no"],
    [is.expired(3_600), "expired", null],
    [is.cancelled(5, "suspended"), "cancelled", "suspended"],
  ] as const;
  for (const [end, status, reason] of ends) {
    const document = after(is.requested(), end);
    assert.equal([document.status, document.reason], [status, reason]);
    assert.equal(after(is.requested(), end, event.holdEnded(9_000, status)), document);
  }
});

test("a stopped request's approval is cancelled, whether pending or granted", () => {
  assert.is(after(is.requested(), event.holdEnded(5, "cancelled")).status, "cancelled");
  assert.is(after(is.requested(), is.granted(4), event.holdEnded(5, "cancelled")).status, "cancelled");
});

test("a member's second vote is listed after the first", () => {
  const both = after(is.requested(), is.voted("mem_1", "approve", 1), is.voted("mem_1", "reject", 2), is.rejected(2));
  assert.equal(
    both.votes.map(({ decision }) => decision),
    ["approve", "reject"],
  );
});

test("a bundle's approval is consumed with its release, and ends with its hold", () => {
  const subject = { kind: "bundle", id: "bun_1" } as const;
  const asked = approvalFacts("apr_1", { subject });
  const bundle = bundleFacts();
  const of = (last: ReturnType<typeof bundle.committed>): ApprovalDocument | null => {
    const log = history();
    log.add("bundle-bun_1", bundle.held());
    for (const fact of [asked.requested(), asked.granted(5)]) log.add("approval-apr_1", fact);
    log.add("payload-bun_1", bundle.released(5));
    log.add("bundle-bun_1", last);
    return folded(approvals, log.events).get<ApprovalDocument>("apr_1");
  };
  assert.equal([of(bundle.released(6))?.status, of(bundle.released(6))?.subject_kind], ["consumed", "bundle"]);
  const cancelled = of(bundle.holdEnded(6, "cancelled"));
  assert.equal([cancelled?.status, cancelled?.decided_at, cancelled?.reason], ["cancelled", at(6), "said so"]);
  assert.is(of(bundle.started(0, 6))?.status, "approved");
});

test("events of other streams make no approval", () => {
  const log = history();
  log.add("delivery-evt_1", event.held());
  log.add("delivery-evt_1", event.released(5));
  log.add("payload-evt_1", event.released(5));
  log.add("approval-apr_1", is.voted("mem_1", "approve", 1));
  log.add("approval-apr_1", { type: "constructor", data: {} });
  assert.equal(folded(approvals, log.events).all(), {});
});

test.run();
