import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { approvalsWorld, person } from "../../support/approvals-world.ts";
import { failingLog } from "../../support/failing-log.ts";
import { approvalFacts } from "../../support/history.ts";
import { addressed } from "../../support/personal-words.ts";

const test = suite("approvals, from the hold to the execution");

const ANA = person("mem_ana");
const BEN = person("mem_ben");
const HOUR_MS = 3_600_000;

/** A held request that ends unsent has spent nothing of its estimate. */
const ENDED = ["EventHeld", "HoldEnded", "CostDetermined"];

test("a request approved by two people is released exactly once, whichever nodes react and wherever one crashes", async () => {
  for (const dies of ["approval-", "delivery-"]) {
    const world = approvalsWorld();
    const { log } = world;
    let isDead = true;
    const dying = world.another(failingLog(log, (stream) => isDead && stream.startsWith(dies)));
    const other = world.another();
    const { eventId, approvalId, digest } = await world.hold(1, { rule: { min_approvals: 2 } });

    if (dies === "approval-") {
      // The hold is durable, the process is gone before anybody was asked.
      let failed = "";
      await dying.react().catch((error: Error) => (failed = error.message));
      assert.match(failed, /no append/);
      isDead = false;
    }
    await Promise.all([world.react(), other.react(), world.react()]);
    assert.equal(await world.ofApproval(approvalId), ["ApprovalRequested"]);

    const first = await world.vote(ANA, "approve", approvalId, { digest });
    assert.equal([first.outcome, first.body.status], [200, "pending"]);
    await Promise.all([world.react(), other.react()]);
    assert.equal(await world.ofEvent(eventId), ["EventHeld"]);

    const body = { digest, comment: " fine " };
    if (dies === "delivery-") {
      // Granted, and gone before the release.
      let failed = "";
      await dying.vote(BEN, "approve", approvalId, body).catch((error: Error) => (failed = error.message));
      assert.match(failed, /no append/);
      assert.is((await world.get(approvalId)).body.status, "approved");
    } else {
      const second = await other.vote(BEN, "approve", approvalId, body);
      assert.equal([second.outcome, second.body.status], [200, "consumed"]);
    }
    isDead = false;
    await Promise.all([world.react(), other.react(), dying.react(), other.react()]);
    await world.react();
    assert.equal(await world.ofEvent(eventId), ["EventHeld", "EventReleased"]);
    assert.equal(await world.ofApproval(approvalId), ["ApprovalRequested", "VoteCast", "VoteCast", "ApprovalGranted"]);
    assert.equal(other.offered[0], { kind: "due", eventId, account: "acc_a", endpointId: "end_1" });

    await world.project();
    const [listed] = (await world.list()).body.data as Record<string, unknown>[];
    for (const body of [(await other.get(approvalId)).body, listed]) {
      assert.is(body?.status, "consumed");
      const votes = body?.votes as { member_id: string; comment: string | null }[];
      assert.equal(
        votes.map(({ member_id, comment }) => [member_id, comment]),
        [
          ["mem_ana", null],
          ["mem_ben", "fine"],
        ],
      );
    }
  }
});

test("two tabs on two nodes give one vote, one grant and one release, and each sees the release", async () => {
  const world = approvalsWorld();
  const other = world.another();
  const { eventId, approvalId, digest } = await world.asked(1);
  const answers = await Promise.all([
    world.vote(ANA, "approve", approvalId, { digest }),
    other.vote(ANA, "approve", approvalId, { digest }),
    world.vote(ANA, "approve", approvalId, { digest }),
  ]);
  assert.equal(
    answers.map(({ outcome, body }) => [outcome, body.status]),
    answers.map(() => [200, "consumed"]),
  );
  await Promise.all([world.react(), other.react()]);
  assert.equal(await world.ofApproval(approvalId), ["ApprovalRequested", "VoteCast", "ApprovalGranted"]);
  assert.equal(await world.ofEvent(eventId), ["EventHeld", "EventReleased"]);
  const again = await other.vote(ANA, "approve", approvalId, { digest });
  assert.equal([again.outcome, again.body.status], [200, "consumed"]);
});

test("the deciding vote and its repeat both answer with the position of the release", async () => {
  const world = approvalsWorld();
  const { eventId, approvalId, digest } = await world.asked(1);
  const lastOf = async (stream: string) => (await world.log.last(stream))?.position;
  for (const vote of ["first", "repeated"]) {
    const { body, position } = await world.vote(ANA, "approve", approvalId, { digest });
    assert.equal([body.status, position], ["consumed", await lastOf(`delivery-${eventId}`)], vote);
    assert.equal(body.outcome, { status: "queued", reason: null });
  }
  await world.react();
  assert.equal(await world.ofEvent(eventId), ["EventHeld", "EventReleased"]);
});

test("a rejection and an approval at once end one way, and only a grant is executed", async () => {
  const world = approvalsWorld();
  const other = world.another();
  for (const number of [1, 2, 3, 4]) {
    const { eventId, approvalId, digest } = await world.asked(number);
    const votes = [
      world.vote(ANA, "approve", approvalId, { digest }),
      other.vote(BEN, "reject", approvalId, { digest, comment: "no" }),
    ];
    const outcomes = (await Promise.all(number % 2 === 0 ? votes : votes.reverse())).map(({ outcome }) => outcome);
    assert.equal(outcomes.map(String).sort(), ["200", "already-decided"]);
    await Promise.all([world.react(), other.react()]);
    const granted = (await world.ofApproval(approvalId)).includes("ApprovalGranted");
    assert.equal(await world.ofEvent(eventId), granted ? ["EventHeld", "EventReleased"] : ENDED);
  }
});

test("a rejected request says why and is never executed", async () => {
  const world = approvalsWorld();
  const { eventId, approvalId, digest } = await world.asked(1);
  const no = await world.vote(ANA, "reject", approvalId, { digest, comment: "too much" });
  assert.equal([no.outcome, no.body.status, no.body.reason], [200, "rejected", "too much"]);
  await world.react();
  assert.is((await world.vote(BEN, "approve", approvalId, { digest })).outcome, "already-decided");
  await world.react();
  assert.equal(await world.ofEvent(eventId), ENDED);
  await world.project();
  assert.is((await world.views.get("events.v3", eventId))?.status, "rejected");
  assert.is((await world.views.get("approvals.v2", approvalId))?.status, "rejected");
  assert.equal(world.offered, []);
});

test("after its time nothing is approved, before the timer or after it, and it is shown as expired", async () => {
  const world = approvalsWorld();
  const other = world.another();
  const { eventId, approvalId, digest } = await world.asked(1);
  await world.project();
  assert.is(await world.expiry.expireDue(), 0);
  world.clock.advance(HOUR_MS);
  assert.is((await world.vote(ANA, "approve", approvalId, { digest })).outcome, "expired");
  assert.is((await world.get(approvalId)).body.status, "expired");
  assert.equal(
    ((await world.list()).body.data as { status: string }[]).map(({ status }) => status),
    ["expired"],
  );

  // Every node has the timer, and the view is behind.
  const looked = await Promise.all([world.expiry.expireDue(), other.expiry.expireDue(), other.expiry.expireDue()]);
  assert.is(Math.max(...looked), 1);
  await world.expiry.expireDue();
  assert.equal(await world.ofApproval(approvalId), ["ApprovalRequested", "ApprovalExpired"]);
  await Promise.all([world.react(), other.react()]);
  assert.is((await other.vote(ANA, "approve", approvalId, { digest })).outcome, "expired");
  await world.react();
  assert.equal(await world.ofEvent(eventId), ENDED);
  await world.project();
  assert.is((await world.views.get("events.v3", eventId))?.status, "expired");
  assert.is((await world.views.get("approvals.v2", approvalId))?.status, "expired");
  assert.is(await world.expiry.expireDue(), 0);
});

test("a grant at the last moment is valid, however late its release comes", async () => {
  const world = approvalsWorld();
  const { eventId, approvalId, digest } = await world.asked(1);
  await world.project();
  world.clock.advance(HOUR_MS - 1);
  assert.is((await world.vote(ANA, "approve", approvalId, { digest })).outcome, 200);
  world.clock.advance(2 * HOUR_MS);
  assert.is(await world.expiry.expireDue(), 0);
  await world.react();
  assert.equal(await world.ofEvent(eventId), ["EventHeld", "EventReleased"]);
});

test("a vote by a member who was shown something else decides nothing", async () => {
  const world = approvalsWorld();
  const one = await world.asked(1, { body: '{"amount":120}' });
  const edited = await world.asked(2, { body: '{"amount":121}' });
  const elsewhere = await world.asked(3, { body: '{"amount":120}', endpointId: "end_2" });
  assert.is(new Set([one.digest, edited.digest, elsewhere.digest]).size, 3);
  for (const digest of [edited.digest, elsewhere.digest, one.digest.toUpperCase(), "0"]) {
    for (const decision of ["approve", "reject"] as const)
      assert.is((await world.vote(ANA, decision, one.approvalId, { digest, comment: "x" })).outcome, "digest-mismatch");
  }
  await world.react();
  assert.equal(await world.ofEvent(one.eventId), ["EventHeld"]);
});

test("a request that is cancelled before its decision asks nobody, and one cancelled after its grant is not executed", async () => {
  const world = approvalsWorld();
  const pending = await world.asked(1);
  await world.cancel(pending.eventId, "the agent was suspended");
  await world.react();
  assert.equal(await world.ofApproval(pending.approvalId), ["ApprovalRequested", "ApprovalCancelled"]);
  const late = await world.vote(ANA, "approve", pending.approvalId, { digest: pending.digest });
  assert.equal([late.outcome, /cancelled/.test(late.detail)], ["already-decided", true]);

  const granted = await world.asked(2);
  await world.voteAndDie(ANA, granted.approvalId, granted.digest);
  await world.cancel(granted.eventId, "the agent was suspended");
  await world.react();
  assert.equal(await world.ofEvent(granted.eventId), ENDED);
  assert.equal(world.offered, []);
  await world.project();
  for (const { approvalId } of [pending, granted]) {
    assert.is((await world.get(approvalId)).body.status, "cancelled");
    assert.is((await world.views.get("approvals.v2", approvalId))?.status, "cancelled");
  }
});

test("a request that is cancelled before its approval exists has it requested and withdrawn", async () => {
  const world = approvalsWorld();
  const { eventId, approvalId } = await world.hold(1);
  await world.cancel(eventId, "suspended");
  await world.react();
  assert.equal(await world.ofApproval(approvalId), ["ApprovalRequested", "ApprovalCancelled"]);
});

test("a policy that changes meanwhile does not change the request for approval", async () => {
  const world = approvalsWorld();
  const { eventId, approvalId, digest } = await world.asked(1, {
    rule: { when: "cost_eur >= 100.0", min_approvals: 2, exclude_requester: true },
  });
  const before = (await world.get(approvalId)).body;
  assert.equal(before.reasons, ["The policy asks for an approval when cost_eur >= 100.0"]);
  assert.is((before.policy as { newest_version: number }).newest_version, 1);
  await world.publish({ name: "payments", approval: { min_approvals: 1, expires_after_s: 60 } });
  await world.publish({ name: "payments", deny: [{ name: "all", when: "true" }] });
  world.clock.advance(120_000);
  const { policy, ...after } = (await world.get(approvalId)).body;
  assert.equal(policy, { ...(before.policy as object), newest_version: 3 });
  assert.equal({ ...after, policy: before.policy }, before);

  assert.is((await world.vote(ANA, "approve", approvalId, { digest })).body.status, "pending");
  assert.is((await world.vote(BEN, "approve", approvalId, { digest })).body.status, "consumed");
  await world.react();
  assert.equal(await world.ofEvent(eventId), ["EventHeld", "EventReleased"]);
});

test("an approved request without a destination is recorded", async () => {
  const world = approvalsWorld();
  const { eventId, approvalId, digest } = await world.asked(1, { endpointId: null });
  await world.vote(ANA, "approve", approvalId, { digest });
  await world.react();
  assert.equal(world.offered, []);
  await world.project();
  assert.is((await world.views.get("events.v3", eventId))?.status, "recorded");
});

test("the approval of a bundle releases no delivery", async () => {
  const log = memoryEventLog();
  const world = approvalsWorld({ log });
  const { approvalId, digest } = await world.asked(1);
  // As one that was asked for a bundle: nothing of a delivery follows from it.
  const id = `apr_${"b".repeat(32)}`;
  const is = approvalFacts(id, { account: "acc_a", digest, subject: { kind: "bundle", id: "bun_1" }, policy: null });
  const meta = (await log.last(`approval-${approvalId}`))?.meta;
  assert.ok(meta);
  const requested = is.requested();
  await log.append(`approval-${id}`, "absent", [
    { id: "00000000-0000-8000-a000-000000000001", type: requested.type, data: requested.data as never, meta },
  ]);
  world.clock.advance(1 - HOUR_MS);
  const answer = await world.vote(ANA, "approve", id, { digest });
  assert.equal([answer.outcome, answer.body.status, answer.body.bundle_id], [200, "approved", "bun_1"]);
  assert.equal([answer.body.event_id, answer.body.payload, answer.body.policy], [null, null, null]);
  await world.react();
  assert.equal(await world.ofApproval(id), ["ApprovalRequested", "VoteCast", "ApprovalGranted"]);
});

test("a person who is removed and added again counts once", async () => {
  const world = approvalsWorld();
  const { approvalId, digest } = await world.asked(1, { rule: { min_approvals: 2 } });
  await world.vote(ANA, "approve", approvalId, { digest });
  await world.leave("mem_ana");
  const again = { ...person("mem_ana2"), ...addressed("mem_ana@a.example") } as const;
  const voted = await world.vote(again, "approve", approvalId, { digest });
  assert.equal([voted.outcome, voted.body.status], [200, "pending"]);
  // Nor does what somebody said who has left since, beside the vote of another.
  await world.leave("mem_ana2");
  assert.is((await world.vote(BEN, "approve", approvalId, { digest })).body.status, "pending");
  assert.is((await world.vote(person("mem_cid"), "approve", approvalId, { digest })).body.status, "consumed");
});

test.run();
