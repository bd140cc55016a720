import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { nextApprovalId } from "../../../src/approvals/approvals.ts";
import { approvalsWorld, person } from "../../support/approvals-world.ts";
import { failingLog } from "../../support/failing-log.ts";

const test = suite("approval renewal");

const ANA = person("mem_ana");
const FINDER = { account: "acc_a", trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) } };
const OTHER = { url: "https://other.example/" };

test("several nodes that find the same changed target hold the request again once, under one approval", async () => {
  const world = approvalsWorld();
  const { eventId, approvalId } = await world.asked(1);
  await world.changeEndpoint("end_1", OTHER);
  const nodes = [world.another(), world.another(), world.another()];
  await Promise.all(nodes.map(({ renewal }) => renewal.event(eventId, FINDER)));
  assert.equal(await world.ofEvent(eventId), ["EventHeld", "EventHeldAgain"]);
  assert.equal(await world.ofApproval(approvalId), ["ApprovalRequested", "ApprovalVoided"]);
  assert.equal(await world.ofApproval(nextApprovalId("acc_a", approvalId)), ["ApprovalRequested"]);
});

test("after a crash following the hold the new approval is requested and the replaced one becomes void", async () => {
  const world = approvalsWorld();
  const { eventId, approvalId } = await world.asked(1);
  await world.changeEndpoint("end_1", OTHER);
  const dying = world.another(failingLog(world.log, (stream) => stream.startsWith("approval-")));
  const failed = await dying.renewal.event(eventId, FINDER).catch((error: unknown) => error);
  assert.instance(failed, LogUnavailable);
  const before = await world.get(approvalId);
  assert.is(before.body.status, "void", "as its event is held under another");
  await world.react();
  const { body } = await world.get(approvalId);
  const next = nextApprovalId("acc_a", approvalId);
  assert.equal([body.status, body.replaced_by, (await world.get(next)).body.status], ["void", next, "pending"]);
});

test("an approval that is granted while its target changes releases nothing, and is void", async () => {
  const world = approvalsWorld();
  const { eventId, approvalId, digest } = await world.asked(1);
  await world.voteAndDie({ ...ANA, kind: "member" } as Extract<typeof ANA, { kind: "member" }>, approvalId, digest);
  await world.changeEndpoint("end_1", OTHER);
  await world.renewal.event(eventId, FINDER);
  await world.react();
  assert.equal(await world.ofEvent(eventId), ["EventHeld", "EventHeldAgain"]);
  assert.equal(world.offered, []);
  assert.equal((await world.ofApproval(approvalId)).at(-1), "ApprovalVoided");
  assert.is((await world.get(approvalId)).body.status, "void");
});

test("the new approval has as much time as the first, whose expiry changes nothing", async () => {
  const world = approvalsWorld();
  const { eventId, approvalId } = await world.asked(1, { rule: { expires_after_s: 60 } });
  world.clock.advance(50_000);
  await world.changeEndpoint("end_1", OTHER);
  await world.renewal.event(eventId, FINDER);
  world.clock.advance(20_000);
  await world.project();
  await world.expiry.expireDue();
  await world.react();
  const next = (await world.get(nextApprovalId("acc_a", approvalId))).body;
  assert.equal([next.status, await world.ofEvent(eventId)], ["pending", ["EventHeld", "EventHeldAgain"]]);
  world.clock.advance(40_000);
  await world.project();
  await world.expiry.expireDue();
  await world.react();
  assert.equal((await world.ofEvent(eventId)).slice(2), ["HoldEnded", "CostDetermined"]);
});

test("each change of the target needs another approval, which says what has changed", async () => {
  const world = approvalsWorld();
  const { eventId, approvalId } = await world.asked(1);
  await world.changeEndpoint("end_1", { headers: { "x-team": { sealed: "s", digest: "d" } } });
  await world.renewal.event(eventId, FINDER);
  const second = nextApprovalId("acc_a", approvalId);
  assert.match(String((await world.get(second)).body.reasons), /the headers x-team of the endpoint were changed/);
  await world.changeEndpoint("end_1", { headers: {} });
  await world.renewal.event(eventId, FINDER);
  const third = (await world.get(nextApprovalId("acc_a", second))).body;
  assert.equal([(third.reasons as string[]).length, third.replaces], [2, second]);
});

test("a request whose target is unchanged or deleted is not held again", async () => {
  const world = approvalsWorld();
  const { eventId } = await world.asked(1);
  await world.changeEndpoint("end_1", { name: "renamed", timeout_ms: 5_000 });
  await world.renewal.event(eventId, FINDER);
  await world.deleteEndpoint("end_1");
  await world.renewal.event(eventId, FINDER);
  assert.equal(await world.ofEvent(eventId), ["EventHeld"]);
});

test.run();
