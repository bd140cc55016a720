import { suite } from "uvu";
import * as assert from "uvu/assert";
import { session } from "../../../../domain/account/session.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { nextApprovalId } from "../../../../src/approvals/approvals.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { NO_TRACE } from "../../../../src/streams/envelope.ts";
import { approvalsWorld, POLICY_ID, person } from "../../../support/approvals-world.ts";
import { damagedLog } from "../../../support/damaged-log.ts";
import { failingLog } from "../../../support/failing-log.ts";
import { bearer, SAME_ORIGIN, testApp } from "../../../support/http-app.ts";
import { CLIENT } from "../../../support/members.ts";
import { keepWords } from "../../../support/personal-words.ts";

const test = suite("approval routes");

const ANA = person("mem_ana");

/** The world behind the app; sessions and keys by their names. */
const started = async () => {
  const world = approvalsWorld();
  const { log, clock, routes } = world;
  await keepWords(log, ANA.account, "mem_ana@a.example");
  const people = new Map<string, Principal>([
    ["approver", ANA],
    ["viewer", person("mem_v", "viewer")],
    ["stranger", person("mem_ana", "approver", "acc_b")],
    ["csk_admin", { kind: "key", account: "acc_a", id: "key_a", role: "admin" }],
    ["csk_viewer", { kind: "key", account: "acc_a", id: "key_v", role: "viewer" }],
    ["csa_agent", { kind: "agent", account: "acc_a", id: "agt_a" }],
  ]);
  const app = await testApp(routes, { log, clock, authenticate: async ({ token }) => people.get(token) ?? null });
  const call = async (who: string, method: "GET" | "POST", path: string, payload?: object) => {
    const credential = who.startsWith("cs") ? bearer(who) : { cookie: `__Host-session=${who}`, ...SAME_ORIGIN };
    const answer = await app.inject({
      method,
      url: `/v1/approvals${path}`,
      headers: credential,
      ...(payload === undefined ? {} : { payload }),
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  };
  return { ...world, call, close: () => app.close() };
};

test("a person approves what was shown; the answer is the approval as it then is, and says where in the log", async () => {
  const { call, asked, project, close } = await started();
  const { approvalId, eventId, digest } = await asked(1);
  const shown = await call("viewer", "GET", `/${approvalId}`);
  assert.is(shown.status, 200);
  const { votes, decided_at, status, shown_digest, ...rest } = shown.body;
  assert.equal([status, votes, decided_at], ["pending", [], null]);
  assert.match(shown_digest, /^[0-9a-f]{64}$/);
  assert.equal(rest, {
    id: approvalId,
    event_id: eventId,
    bundle_id: null,
    action: "payout.created",
    summary: 'Source "shop" (stripe) sent payout.created, 120.00 EUR',
    digest,
    cost_eur: 120,
    requested_by: { kind: "source", id: "src_1", name: "shop" },
    requested_at: "2026-03-01T12:00:00.000Z",
    expires_at: "2026-03-01T13:00:00.000Z",
    min_approvals: 1,
    exclude_requester: false,
    requesters: [],
    policy: { id: POLICY_ID, version: 1, newest_version: 1 },
    reasons: ["The policy asks for an approval of every request."],
    reason: null,
    replaces: null,
    replaced_by: null,
    endpoint: { id: "end_1", name: "payments", url: "https://pay.example/hooks", headers: [] },
    title: null,
    payload: { amount: 120 },
    payload_format: "json",
    redacted: true,
    hidden: ["/card"],
    can_decide: [],
    hand_overs: [],
    outcome: { status: "held", reason: null },
  });
  const approved = await call("approver", "POST", `/${approvalId}/approve`, {
    digest: shown.body.digest,
    comment: "ok",
  });
  assert.equal([approved.status, approved.body.status], [200, "consumed"]);
  assert.equal(approved.body.outcome, { status: "queued", reason: null });
  assert.equal(approved.body.votes, [
    {
      member_id: "mem_ana",
      email: "mem_ana@a.example",
      decision: "approve",
      comment: "ok",
      shown: { form: "not stated", hidden: [] },
      shown_digest: null,
      at: "2026-03-01T12:00:00.000Z",
    },
  ]);
  assert.ok(approved.headers["countersign-position"]);
  await project();
  const [listed] = (await call("csk_viewer", "GET", "")).body.data;
  const {
    title: _title,
    payload: _,
    payload_format: _format,
    redacted: _redacted,
    hidden: _hidden,
    shown_digest: _shown,
    outcome: _outcome,
    can_decide: _people,
    hand_overs: _links,
    endpoint: _endpoint,
    policy,
    ...summary
  } = approved.body;
  const { newest_version: _newest, ...held } = policy;
  assert.equal(listed, { ...summary, policy: held });
  await close();
});

test("only a person of the account with the role decides: no key, no agent, no viewer", async () => {
  const { call, asked, ofApproval, close } = await started();
  const { approvalId, digest } = await asked(1);
  for (const who of ["csk_admin", "csa_agent", "viewer"]) {
    for (const [way, body] of [
      ["approve", { digest }],
      ["reject", { digest, comment: "no" }],
    ] as const) {
      const { status, body: answer } = await call(who, "POST", `/${approvalId}/${way}`, body);
      assert.equal([status, answer.code], [403, "forbidden"], `${who} ${way}`);
    }
  }
  assert.is((await call("csa_agent", "GET", `/${approvalId}`)).status, 403);
  assert.equal(await ofApproval(approvalId), ["ApprovalRequested"]);
  await close();
});

test("another account's approval is as one that never was", async () => {
  const { call, asked, project, close } = await started();
  const { approvalId, digest } = await asked(1);
  await project();
  const bodyOf = async (...args: Parameters<typeof call>) => {
    const { status, body } = await call(...args);
    const { trace_id: _, ...rest } = body;
    assert.is(status, 404);
    return rest;
  };
  const never = await bodyOf("approver", "GET", `/apr_${"z".repeat(32)}`);
  for (const path of [`/${approvalId}`, "/apr_1", "/x"]) assert.equal(await bodyOf("stranger", "GET", path), never);
  for (const id of [approvalId, `apr_${"z".repeat(32)}`, "apr_1"]) {
    assert.equal(await bodyOf("stranger", "POST", `/${id}/approve`, { digest }), never);
    assert.equal(await bodyOf("stranger", "POST", `/${id}/reject`, { digest, comment: "x" }), never);
  }
  assert.equal((await call("stranger", "GET", "")).body.data, []);
  await close();
});

test("a decision names its digest, and a rejection its reason", async () => {
  const { call, asked, close } = await started();
  const { approvalId, digest } = await asked(1);
  for (const [way, body] of [
    ["approve", {}],
    ["approve", { digest: 5 }],
    ["approve", { digest, extra: true }],
    ["approve", { digest, comment: "x".repeat(1_001) }],
    ["reject", { digest }],
    ["reject", { digest, comment: "  " }],
  ] as const) {
    const { status, body: answer } = await call("approver", "POST", `/${approvalId}/${way}`, body);
    assert.equal([status, answer.code], [400, "invalid-request"], JSON.stringify([way, body]));
  }
  const other = await call("approver", "POST", `/${approvalId}/approve`, { digest: "0".repeat(64) });
  assert.equal([other.status, other.body.code, other.body.retryable], [409, "digest-mismatch", false]);
  await close();
});

test("every refusal has its status", async () => {
  const world = await started();
  const { call, asked, clock } = world;
  const decided = await asked(1);
  const late = await asked(2);
  const own = await asked(3, { rule: { exclude_requester: true, expires_after_s: 86_400 }, member: ANA.id });
  const cancelled = await asked(4);
  // Its approval is told a moment later.
  await world.cancel(cancelled.eventId, "a mistake");
  await call("approver", "POST", `/${decided.approvalId}/reject`, { digest: decided.digest, comment: "no" });
  const outcome = async ({ approvalId, digest }: typeof own) => {
    const { status, body } = await call("approver", "POST", `/${approvalId}/approve`, { digest });
    return [status, body.code];
  };
  assert.equal(await outcome(cancelled), [409, "already-decided"]);
  clock.advance(3_600_000);
  assert.equal(await outcome(decided), [409, "already-decided"]);
  assert.equal(await outcome(late), [409, "expired"]);
  assert.equal(await outcome(own), [403, "self-approval"]);
  const rejected = await call("approver", "POST", `/${own.approvalId}/reject`, { digest: own.digest, comment: "mine" });
  assert.equal([rejected.status, rejected.body.status], [200, "rejected"]);
  await world.close();
});

test("who lost the role while the body was under way decides nothing", async () => {
  const world = approvalsWorld();
  const { approvalId, digest } = await world.asked(1);
  const answer = await world.vote(ANA, "approve", approvalId, { digest }, { isStillAllowed: async () => false });
  assert.is(answer.outcome, "forbidden");
  assert.equal(await world.ofApproval(approvalId), ["ApprovalRequested"]);
});

test("the list is filtered by how they stand, newest first, page by page", async () => {
  const { call, asked, clock, project, react, close } = await started();
  const all = [];
  for (const number of [1, 2, 3, 4]) {
    clock.advance(1_000);
    all.push(await asked(number));
  }
  const [one, two, three, four] = all;
  assert.ok(one && two && three && four);
  await call("approver", "POST", `/${one.approvalId}/approve`, { digest: one.digest });
  await call("approver", "POST", `/${two.approvalId}/reject`, { digest: two.digest, comment: "no" });
  await react();
  await project();
  const ids = async (query: string): Promise<readonly string[]> =>
    (await call("viewer", "GET", query)).body.data.map(({ id }: { id: string }) => id);
  assert.equal(
    await ids(""),
    [four, three, two, one].map(({ approvalId }) => approvalId),
  );
  assert.equal(
    await ids("?status=pending"),
    [four, three].map(({ approvalId }) => approvalId),
  );
  assert.equal(await ids("?status=consumed"), [one.approvalId]);
  assert.equal(await ids("?status=rejected"), [two.approvalId]);
  assert.equal(await ids("?status=expired"), []);
  assert.is((await call("viewer", "GET", "?status=held")).status, 400);
  const first = await call("viewer", "GET", "?limit=3");
  assert.equal(await ids(`?limit=3&cursor=${first.body.next_cursor}`), [one.approvalId]);
  await close();
});

test("what waits is listed by its expiry, page by page, and no other list has that order", async () => {
  const { call, asked, clock, project, react, close } = await started();
  const all = [];
  for (const [index, expires_after_s] of [3_600, 60, 1_800, 120, 600].entries()) {
    clock.advance(1_000);
    all.push((await asked(index + 1, { rule: { expires_after_s } })).approvalId);
  }
  await react();
  await project();
  const [hour, minute, half, two, ten] = all;
  const page = async (query: string, who = "approver") => {
    const { status, body } = await call(who, "GET", `?order=expiry&${query}`);
    return { status, ids: (body.data ?? []).map(({ id }: { id: string }) => id), cursor: body.next_cursor };
  };
  for (const list of ["all", "me"]) {
    const first = await page(`for=${list}&limit=3`);
    assert.equal(first.ids, [minute, two, ten], list);
    assert.equal((await page(`for=${list}&limit=3&cursor=${first.cursor}`)).ids, [half, hour], list);
    const newest = (await call("approver", "GET", `?for=${list}&limit=3`)).body.next_cursor;
    for (const other of [`order=expiry&cursor=${newest}`, `cursor=${first.cursor}`]) {
      const { status, body } = await call("approver", "GET", `?for=${list}&limit=3&${other}`);
      assert.is(status, 400, other);
      assert.equal(body.errors, [{ path: "/cursor", message: "must be the next_cursor of a page before" }], other);
    }
  }
  assert.equal((await page("for=all", "stranger")).ids, []);
  for (const query of ["", "for=decided", "for=me&status=pending", `for=all&ids=${hour}`])
    assert.is((await page(query)).status, 400, query);
  clock.advance(90_000);
  assert.equal((await page("for=me")).ids, [two, ten, half, hour], "what is overdue waits for nobody");
  await close();
});

test("the payload is shown as it is executed, without what the policy hides from this reader", async () => {
  const world = approvalsWorld();
  const admin = person("mem_adm", "admin");
  const shown = async (number: number, body: string | Buffer, who = admin) => {
    const { approvalId } = await world.asked(number, { body });
    const { payload, payload_format, redacted } = (await world.get(approvalId, who)).body;
    return [payload, payload_format, redacted];
  };
  const card = '{"amount":120,"card":{"number":"4111"}}';
  assert.equal(await shown(1, card), [JSON.parse(card), "json", false]);
  assert.equal(await shown(2, card, ANA), [{ amount: 120, card: "[redacted]" }, "json", true]);
  // A parser would make other numbers of these.
  for (const [number, text] of [
    [3, '{"amount":120,"id":12345678901234567891}'],
    [4, '{"amount":120,"id":1e400}'],
    [5, "amount=120&currency=EUR"],
  ] as const)
    assert.equal(await shown(number, text), [text, "text", false]);
  assert.equal(await shown(6, '{"amount":120.10,"note":"12345678901234567891"}'), [
    { amount: 120.1, note: "12345678901234567891" },
    "json",
    false,
  ]);
  const bytes = Buffer.from([0xff, 0xfe, 0]);
  assert.equal(await shown(7, bytes), [bytes.toString("base64"), "base64", false]);
  const { approvalId, eventId } = await world.asked(0, { body: "card=4111" });
  const hidden = (await world.get(approvalId, ANA)).body;
  assert.equal([hidden.payload, hidden.payload_format, hidden.redacted], [null, null, true]);
  await world.log.erase(`payload-${eventId}`);
  const erased = (await world.get(approvalId, admin)).body;
  assert.equal([erased.payload, erased.payload_format, erased.redacted], [null, null, false]);
});

const AGENT = { kind: "agent", id: `agt_${"a".repeat(32)}`, name: "refunds", type: "agent" } as const;
const BECAUSE = "The agent was suspended: it asked for too much";

test("right after the agent's suspension nothing is approved, and the answer says that nothing will be sent", async () => {
  const { call, asked, suspended, ofApproval, ofEvent, close } = await started();
  const { approvalId, eventId, digest } = await asked(1, { origin: AGENT });
  await suspended(AGENT.id, "it asked for too much");
  const { status, body } = await call("approver", "POST", `/${approvalId}/approve`, { digest });
  assert.equal([status, body.code], [409, "already-decided"]);
  assert.is(body.detail, "Nothing is left to decide, because nothing will be sent. The agent was suspended.");
  assert.is(body.reason, BECAUSE);
  assert.equal(await ofApproval(approvalId), ["ApprovalRequested"]);
  assert.equal(await ofEvent(eventId), ["EventHeld"]);
  await close();
});

test("an agent that is suspended between the vote and the release: nothing is released, and everybody sees why", async () => {
  const { call, asked, suspended, voteAndDie, react, project, ofEvent, close } = await started();
  const { approvalId, eventId, digest } = await asked(1, { origin: AGENT });
  await voteAndDie(person("mem_ana"), approvalId, digest);
  await suspended(AGENT.id, "it asked for too much");
  const repeated = await call("approver", "POST", `/${approvalId}/approve`, { digest });
  assert.equal([repeated.status, repeated.body.status, repeated.body.reason], [200, "cancelled", BECAUSE]);
  assert.equal(repeated.body.outcome, { status: "cancelled", reason: BECAUSE });
  await react();
  await project();
  assert.equal((await ofEvent(eventId)).slice(0, 2), ["EventHeld", "HoldEnded"]);
  assert.not((await ofEvent(eventId)).includes("EventReleased"));
  const [listed] = (await call("viewer", "GET", "")).body.data;
  assert.equal([listed.status, listed.reason], ["cancelled", BECAUSE]);
  await close();
});

test("a rejection answers when its request has ended, and an approval that is asked for instead releases nothing", async () => {
  const { call, asked, another, changeEndpoint, log, react, project, ofEvent, close } = await started();
  const first = await asked(1);
  const answer = await call("approver", "POST", `/${first.approvalId}/reject`, { digest: first.digest, comment: "no" });
  assert.equal([answer.body.status, answer.body.outcome], ["rejected", { status: "rejected", reason: "no" }]);
  assert.is((await ofEvent(first.eventId))[1], "HoldEnded");

  // A node has held the second again, and stopped before it asked for the approval that replaces the first one.
  const { approvalId, eventId, digest } = await asked(2);
  await changeEndpoint("end_1", { url: "https://other.example/" });
  const dying = another(failingLog(log, (stream) => stream.startsWith("approval-")));
  const finder = { account: "acc_a", trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) } };
  await dying.renewal.event(eventId, finder).catch(() => undefined);
  const rejected = await call("approver", "POST", `/${approvalId}/reject`, { digest, comment: "no" });
  assert.equal([rejected.status, rejected.body.outcome], [200, { status: "rejected", reason: "no" }]);
  await react();
  await project();
  const next = (await call("viewer", "GET", `/${nextApprovalId("acc_a", approvalId)}`)).body;
  assert.is(next.status, "rejected");
  const late = await call("approver", "POST", `/${next.id}/approve`, { digest: next.digest });
  assert.equal([late.status, late.body.code], [409, "already-decided"]);
  assert.not((await ofEvent(eventId)).includes("EventReleased"));
  await close();
});

test("a summary shows as an escape what a reader could not see; the data is exact", async () => {
  const { asked, call, project, close } = await started();
  const type = "payout\u202e0.021 ,tnuoma\u202c\u200b";
  const { approvalId } = await asked(1, { type, rule: { when: '"\u202e" != ""' } });
  await project();
  const [listed] = (await call("viewer", "GET", "")).body.data;
  const { body } = await call("viewer", "GET", `/${approvalId}`);
  for (const it of [listed, body]) {
    assert.is(it.summary, 'Source "shop" (stripe) sent payout\\u202e0.021 ,tnuoma\\u202c\\u200b, 120.00 EUR');
    assert.is(it.action, type);
    assert.match(it.reasons[0], /"\\u202e"/);
  }
  await close();
});

test("a payload that has changed on disk is neither shown nor approved, and can be rejected; once restored it is approved", async () => {
  const log = memoryEventLog();
  const damaged = new Set<string>();
  const world = approvalsWorld({ log: damagedLog(log, damaged) });
  const [one, two] = [await world.asked(1), await world.asked(2)];
  for (const { eventId } of [one, two]) damaged.add(`payload-${eventId}`);
  const shown = (await world.get(one.approvalId, ANA)).body;
  assert.equal([shown.payload, shown.payload_format, shown.payload_damaged], [null, null, true]);
  const { digest } = one;
  const refused = await world.vote(ANA, "approve", one.approvalId, { digest });
  assert.is(refused.outcome, "payload-damaged");
  assert.equal(await world.ofApproval(one.approvalId), ["ApprovalRequested"]);
  const rejected = await world.vote(ANA, "reject", two.approvalId, { digest: two.digest, comment: "damaged" });
  assert.equal([rejected.outcome, rejected.body.status], [200, "rejected"]);
  damaged.clear();
  const approved = await world.vote(ANA, "approve", one.approvalId, { digest });
  assert.equal([approved.outcome, approved.body.status, approved.body.payload_damaged], [200, "consumed", undefined]);
});

test("what can no longer be executed is not approved, and may be rejected", async () => {
  const { call, asked, erase, deleteEndpoint, ofApproval, close } = await started();
  const erased = await asked(1);
  const nowhere = await asked(2, { endpointId: "end_2" });
  const free = await asked(3, { endpointId: null });
  await erase(erased.eventId);
  await deleteEndpoint("end_2");
  for (const [{ approvalId, digest }, why] of [
    [erased, /payload was erased/],
    [nowhere, /endpoint .* was deleted/],
  ] as const) {
    const { status, body } = await call("approver", "POST", `/${approvalId}/approve`, { digest });
    assert.equal([status, body.code], [409, "conflict"]);
    assert.match(body.detail, why);
    assert.equal(await ofApproval(approvalId), ["ApprovalRequested"]);
    const rejected = await call("approver", "POST", `/${approvalId}/reject`, { digest, comment: "too late" });
    assert.equal([rejected.status, rejected.body.status], [200, "rejected"]);
  }
  assert.is((await call("viewer", "GET", `/${nowhere.approvalId}`)).body.endpoint, null);
  // To nobody from the beginning: a source without an endpoint.
  const approved = await call("approver", "POST", `/${free.approvalId}/approve`, { digest: free.digest });
  assert.equal([approved.status, approved.body.endpoint], [200, null]);
  await close();
});

test("the record of a vote says that it was made from a session of the command line", async () => {
  for (const madeBy of ["browser", "command-line"] as const) {
    const { log, asked, call, close, streams } = await started();
    const { approvalId } = await asked(1);
    const at = "2026-03-01T12:00:00.000Z";
    const opened = { account: ANA.account, member: ANA.id, epoch: 0, expires_at: "2026-04-01T12:00:00.000Z", mac: "" };
    const envelope = { commandId: "log-in", account: ANA.account, actor: { kind: "member", id: ANA.id } as const, at };
    const command = { type: "OpenSession", ...opened, client: CLIENT, madeBy, at } as const;
    await streams.handle(session, ANA.session, command, { ...envelope, trace: NO_TRACE });
    const { digest } = (await call("approver", "GET", `/${approvalId}`)).body;
    const approved = await call("approver", "POST", `/${approvalId}/approve`, { digest });
    assert.is(approved.status, 200);
    const cast = (await log.readAll(null, 500)).find(({ type }) => type === "VoteCast");
    assert.is(cast?.data.made_by, madeBy === "browser" ? undefined : madeBy);
    assert.not.ok("made_by" in approved.body.votes[0], "the answer is as before");
    await close();
  }
});

test.run();
