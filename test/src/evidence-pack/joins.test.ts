import { createHash } from "node:crypto";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import {
  noAttemptWhileHeld,
  protectedPoliciesApproved,
  releasesApproved,
  votersMayVote,
} from "../../../src/evidence-pack/frameworks/approval-claims.ts";
import { deliveriesEnded } from "../../../src/evidence-pack/frameworks/operation-claims.ts";
import { ask, claimOf } from "../../support/evidence-claims.ts";
import type { ExportedRecord } from "../../support/evidence-export.ts";

const record = (type: string, data: JsonObject, more: Partial<ExportedRecord> = {}): ExportedRecord => ({
  type,
  data,
  ...more,
});

const requested = (more: JsonObject = {}): ExportedRecord =>
  record("ApprovalRequested", {
    ...{ approval_id: "apr_1", digest: "d", min_approvals: 2, exclude_requester: true, requesters: ["mem_r"] },
    ...more,
  });
const vote = (member_id: string, more: JsonObject = {}): ExportedRecord =>
  record("VoteCast", { approval_id: "apr_1", digest: "d", decision: "approve", member_id, ...more });
const granted = (more: JsonObject = {}): ExportedRecord =>
  record("ApprovalGranted", { approval_id: "apr_1", digest: "d", ...more });
const released = (more: JsonObject = {}): ExportedRecord =>
  record("EventReleased", { approval_id: "apr_1", digest: "d", event_id: "evt_1", ...more });

test("a release rests on its request, its votes and its grant, and names them", async () => {
  const records = [requested(), vote("mem_a"), vote("mem_b"), granted(), released()];
  const found = await ask(releasesApproved, records);
  assert.is(found.holds, true);
  const examples = [{ index: 4, needs: [0, 1, 2, 3] }];
  assert.equal(found.result, { count: 1, met: 1, unmet: 0, unmet_first: [], examples });
  assert.is(found.rests_on.sha256, createHash("sha256").update("4 0,1,2,3\n").digest("hex"));
});

const FORGERIES: readonly (readonly [string, readonly ExportedRecord[], RegExp])[] = [
  ["no approval at all", [released()], /the request/],
  ["only one vote", [requested(), vote("mem_a"), granted(), released()], /votes/],
  ["one member's two votes", [requested(), vote("mem_a"), vote("mem_a"), granted(), released()], /votes/],
  ["the requester's vote", [requested(), vote("mem_a"), vote("mem_r"), granted(), released()], /votes/],
  [
    "a vote against it",
    [requested(), vote("mem_a"), vote("mem_b", { decision: "reject" }), granted(), released()],
    /votes/,
  ],
  [
    "a vote on another digest",
    [requested(), vote("mem_a"), vote("mem_b", { digest: "e" }), granted(), released()],
    /votes/,
  ],
  ["no grant", [requested(), vote("mem_a"), vote("mem_b"), released()], /grant/],
  ["a grant after the release", [requested(), vote("mem_a"), vote("mem_b"), released(), granted()], /grant/],
  ["a vote after the release", [requested(), vote("mem_a"), granted(), released(), vote("mem_b")], /votes/],
  [
    "another approval",
    [requested(), vote("mem_a"), vote("mem_b"), granted(), released({ approval_id: "apr_2" })],
    /the request/,
  ],
  ["another digest", [requested(), vote("mem_a"), vote("mem_b"), granted(), released({ digest: "e" })], /the request/],
  [
    "no approval id",
    [requested(), vote("mem_a"), vote("mem_b"), granted(), record("EventReleased", { digest: "d" })],
    /the request/,
  ],
  [
    "a request that does not say who counts as the requester",
    [
      record("ApprovalRequested", { ...requested().data, requesters: "mem_r" }),
      vote("mem_a"),
      vote("mem_b"),
      granted(),
      released(),
    ],
    /votes/,
  ],
];

for (const [name, records, lacks] of FORGERIES) {
  test(`a release does not hold with ${name}`, async () => {
    const found = await ask(releasesApproved, records);
    assert.is(found.holds, false);
    const [first] = found.result.unmet_first as readonly JsonObject[];
    assert.match(String(first?.lacks), lacks);
  });
}

test("the requester's vote counts where it was not excluded", async () => {
  const records = [requested({ exclude_requester: false }), vote("mem_a"), vote("mem_r"), granted(), released()];
  assert.is((await ask(releasesApproved, records)).holds, true);
});

test("an approval from before the period counts", async () => {
  const old = { recorded_at: "2025-12-01T00:00:00.000Z" };
  const records = [requested(), vote("mem_a"), vote("mem_b"), granted()].map((it) => ({ ...it, ...old }));
  assert.is((await ask(releasesApproved, [...records, released()])).holds, true);
  // The release itself is asked about only if it is in the period.
  assert.is((await ask(releasesApproved, [{ ...released(), ...old }])).result.count, 0);
});

test("what is missing from a part of the records is left open, because it may lie before the part", async () => {
  const found = await ask(releasesApproved, [released()], { from: 100 });
  assert.is(found.holds, null);
  assert.is(found.result.unmet, 1);
});

test("a claim about records of which there are none neither holds nor fails", async () => {
  const found = await ask(releasesApproved, [granted()]);
  assert.is(found.holds, null);
  assert.is(found.result.count, 0);
});

const event = (type: string): ExportedRecord => record(type, { event_id: "evt_1" });

test("the last decision before an attempt counts: held again after a release, it may not start", async () => {
  const good = ["EventHeld", "EventReleased", "AttemptStarted"].map(event);
  assert.is((await ask(noAttemptWhileHeld, good)).holds, true);
  const heldAgain = ["EventHeld", "EventReleased", "EventHeldAgain", "AttemptStarted"].map(event);
  assert.is((await ask(noAttemptWhileHeld, heldAgain)).holds, false);
  assert.is((await ask(noAttemptWhileHeld, ["EventBlocked", "AttemptStarted"].map(event))).holds, false);
  assert.is((await ask(noAttemptWhileHeld, ["EventHeld", "AttemptStarted", "EventReleased"].map(event))).holds, false);
  assert.is((await ask(noAttemptWhileHeld, [event("AttemptStarted")])).holds, false);
});

const admitted = (event_id: string): ExportedRecord => record("EventAdmitted", { event_id, endpoint_id: "end_1" });
const delivered = (event_id: string): ExportedRecord => record("EventDelivered", { event_id });

test("an event that has not ended is named, and one that ended twice counts once", async () => {
  const records = [admitted("evt_1"), admitted("evt_2"), delivered("evt_1"), delivered("evt_1")];
  const found = await ask(deliveriesEnded, records);
  assert.equal(found.result.met, 1);
  assert.equal(
    (found.result.unmet_first as readonly JsonObject[]).map(({ index }) => index),
    [1],
  );
});

test("subjects that were fulfilled take no more room", async () => {
  const many = Array.from({ length: 50 }, (_, n) => [admitted(`evt_${n}`), delivered(`evt_${n}`)]).flat();
  assert.is((await ask(deliveriesEnded, many, { keysMax: 2 })).unanswered, null);
});

test("a record is not its own partner", async () => {
  const query = (when: string) => ({
    ask: "every",
    of: { type: ["Noted"] },
    has: [{ name: "another", of: { type: ["Noted"] }, when, key: "/data/id" }],
  });
  const noted = record("Noted", { id: "x" });
  assert.equal((await ask(claimOf(query("before")), [noted, noted])).result.met, 1);
  assert.equal((await ask(claimOf(query("after")), [noted, noted])).result.met, 1);
});

const weakened = record("ControlsWeakened", { change: { kind: "policy", id: "pol_1" }, before: { protected: true } });
const change = (id: string): JsonObject => ({ change: { target: { kind: "policy", id } }, min_approvals: 1 });

test("a weakened protected policy needs an approval of a change of this policy, or a lift", async () => {
  const approved = [requested(change("pol_1")), vote("mem_a"), granted()];
  assert.is((await ask(protectedPoliciesApproved, [...approved, weakened])).holds, true);
  const another = [requested(change("pol_2")), vote("mem_a"), granted()];
  assert.is((await ask(protectedPoliciesApproved, [...another, weakened])).holds, false);
  const lifted = record("ProtectionLifted", { policy_id: "pol_1" });
  assert.is((await ask(protectedPoliciesApproved, [lifted, weakened])).holds, true);
});

test("of several requests for one policy, any that was granted counts", async () => {
  const pending = requested({ ...change("pol_1"), approval_id: "apr_2" });
  const records = [requested(change("pol_1")), vote("mem_a"), granted(), pending, weakened];
  assert.is((await ask(protectedPoliciesApproved, records)).holds, true);
});

test("a vote by a removed member, or after the role was lowered, is found", async () => {
  const added = record("MemberAdded", { member: "mem_a", role: "approver" });
  const lowered = record("MemberRoleChanged", { member: "mem_a", role: "viewer" });
  const removed = record("MemberRemoved", { member: "mem_a" });
  assert.is((await ask(votersMayVote, [added, vote("mem_a")])).holds, true);
  assert.is((await ask(votersMayVote, [added, lowered, vote("mem_a")])).holds, false);
  assert.is((await ask(votersMayVote, [added, removed, vote("mem_a")])).holds, false);
});

test.run();
