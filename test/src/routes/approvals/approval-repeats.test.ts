import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { nextApprovalId } from "../../../../src/approvals/approvals.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { approvalsWorld, person } from "../../../support/approvals-world.ts";
import { SAME_ORIGIN, testApp } from "../../../support/http-app.ts";
import { unansweringLog } from "../../../support/unanswering-log.ts";

const test = suite("a vote that is repeated because its answer was lost");

const BODY = '{"amount":120,"card":"4111"}';
const REVEAL = { reveal: ["approver"] } as const;

const started = async () => {
  const { log, silence, answerAgain } = unansweringLog(memoryEventLog());
  const world = approvalsWorld({ log });
  const people = new Map<string, Principal>([
    ["ana", person("mem_ana")],
    ["bo", person("mem_bo")],
  ]);
  for (const who of people.values()) await world.join(who);
  const authenticate = async ({ token }: { readonly token: string }) => people.get(token) ?? null;
  const app = await testApp(world.routes, { log, clock: world.clock, authenticate });
  const call = async (who: string, path: string, payload?: object) => {
    const headers = { cookie: `__Host-session=${who}`, ...SAME_ORIGIN };
    const method = path.includes("/") ? "POST" : "GET";
    const sent = payload === undefined ? {} : { payload };
    const answer = await app.inject({ method, url: `/v1/approvals/${path}`, headers, ...sent });
    return { status: answer.statusCode, body: answer.json() };
  };
  /** The first answer is lost, with or without what it was about. */
  const lost = async (stream: string, isWritten: boolean, send: () => ReturnType<typeof call>) => {
    silence((it) => it.startsWith(stream), isWritten);
    const first = await send();
    answerAgain();
    assert.equal([first.status, first.body.retryable], [503, true], JSON.stringify(first.body));
  };
  return { ...world, call, lost, close: () => app.close() };
};

for (const isWritten of [true, false])
  for (const stream of ["approval-", "delivery-"]) {
    const what = `${isWritten ? "written" : "not written"} to ${stream}*`;

    test(`an approval is given once, and its repeat says what has become of it (${what})`, async () => {
      const { asked, call, lost, react, ofApproval, ofEvent, close } = await started();
      const { approvalId, eventId, digest } = await asked(1, { body: BODY });
      const { shown_digest } = (await call("ana", approvalId)).body;
      const send = () => call("ana", `${approvalId}/approve`, { digest, shown_digest, comment: "fine" });
      await lost(stream, isWritten, send);
      for (let repeat = 0; repeat < 2; repeat += 1) {
        const { status, body } = await send();
        assert.equal([status, body.status, body.outcome.status], [200, "consumed", "queued"]);
        assert.equal([body.votes.length, body.votes[0].shown_digest], [1, shown_digest]);
      }
      await react();
      assert.equal(await ofApproval(approvalId), ["ApprovalRequested", "VoteCast", "ApprovalGranted"]);
      assert.is((await ofEvent(eventId)).filter((type) => type === "EventReleased").length, 1);
      await close();
    });

    test(`a rejection is given once, and its repeat says what has become of it (${what})`, async () => {
      const { asked, call, lost, react, ofApproval, ofEvent, close } = await started();
      const { approvalId, eventId, digest } = await asked(1, { body: BODY });
      const send = () => call("ana", `${approvalId}/reject`, { digest, comment: "no" });
      await lost(stream, isWritten, send);
      for (let repeat = 0; repeat < 2; repeat += 1) {
        const { status, body } = await send();
        assert.equal([status, body.status, body.outcome], [200, "rejected", { status: "rejected", reason: "no" }]);
      }
      await react();
      assert.equal(await ofApproval(approvalId), ["ApprovalRequested", "VoteCast", "ApprovalRejected"]);
      assert.is((await ofEvent(eventId)).filter((type) => type === "HoldEnded").length, 1);
      const late = await call("bo", `${approvalId}/approve`, { digest });
      assert.equal([late.status, late.body.code], [409, "already-decided"]);
      await close();
    });
  }

test("one of two approvals whose answer was lost counts once, and a rejection in between is told to the repeat", async () => {
  const { asked, call, lost, ofApproval, close } = await started();
  const { approvalId, digest } = await asked(1, { rule: { min_approvals: 2 } });
  const send = () => call("ana", `${approvalId}/approve`, { digest });
  await lost("approval-", true, send);
  const { status, body } = await send();
  assert.equal([status, body.status, body.votes.length], [200, "pending", 1]);
  assert.is((await call("bo", `${approvalId}/reject`, { digest, comment: "no" })).status, 200);
  const told = await send();
  assert.equal([told.status, told.body.code], [409, "already-decided"]);
  assert.match(told.body.detail, /It was rejected at/);
  assert.equal((await ofApproval(approvalId)).filter((type) => type === "VoteCast").length, 2);
  await close();
});

test("an approval whose answer was lost says that its target has changed since, and releases nothing", async () => {
  const { asked, call, lost, changeEndpoint, renewal, ofEvent, close } = await started();
  const { approvalId, eventId, digest } = await asked(1);
  const send = () => call("ana", `${approvalId}/approve`, { digest });
  await lost("delivery-", false, send);
  await changeEndpoint("end_1", { url: "https://other.example/" });
  const finder = { account: "acc_a", trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) } };
  await renewal.event(eventId, finder);
  const { status, body } = await send();
  assert.equal([status, body.code], [409, "already-decided"]);
  assert.match(body.detail, /It was void at/);
  assert.is(body.approval_id, nextApprovalId("acc_a", approvalId));
  assert.equal(await ofEvent(eventId), ["EventHeld", "EventHeldAgain"]);
  await close();
});

for (const isWritten of [true, false])
  test(`hidden fields are revealed after the record of it, once (${isWritten ? "written" : "not written"})`, async () => {
    const { asked, call, lost, ofApproval, close } = await started();
    const { approvalId } = await asked(1, { body: BODY, rule: REVEAL });
    await lost("approval-", isWritten, () => call("ana", `${approvalId}/reveal`));
    for (let repeat = 0; repeat < 2; repeat += 1)
      assert.equal((await call("ana", `${approvalId}/reveal`)).body.payload, { amount: 120, card: "4111" });
    assert.equal(await ofApproval(approvalId), ["ApprovalRequested", "HiddenFieldsRevealed"]);
    await close();
  });

test.run();
