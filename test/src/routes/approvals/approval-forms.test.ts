import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Commitment, isErasureOf } from "../../../../domain/evidence/commitment.ts";
import type { ApprovalRule } from "../../../../domain/policy/definition.ts";
import type { EventLog } from "../../../../domain/ports/event-log.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { openCommitment } from "../../../../src/audit/committed-values.ts";
import type { Principal } from "../../../../src/http/route.ts";
import type { ByteAllowances } from "../../../../src/ledgers/byte-allowances.ts";
import { payloads } from "../../../../src/streams/payloads.ts";
import { approvalsWorld, person } from "../../../support/approvals-world.ts";
import { enoughBytes } from "../../../support/enough-bytes.ts";
import { bearer, SAME_ORIGIN, testApp } from "../../../support/http-app.ts";

const test = suite("the form that a voter saw");

const BODY = '{"amount":120,"card":"4111"}';
const REVEAL = { rule: { min_approvals: 3, reveal: ["approver"] } } as const satisfies { rule: Partial<ApprovalRule> };

/** Approvals over HTTP: an approver sees no card, an admin does. */
const started = async (over: EventLog = memoryEventLog(), allowances: Pick<ByteAllowances, "take"> = enoughBytes) => {
  const world = approvalsWorld({ log: over, allowances });
  const { log, clock, routes } = world;
  const stored = payloads(log, randomness);
  const people = new Map<string, Principal>([
    ["approver", person("mem_ana")],
    ["other", person("mem_bo")],
    ["admin", person("mem_adm", "admin")],
    ["viewer", person("mem_v", "viewer")],
    ["stranger", person("mem_s", "approver", "acc_b")],
    ["csk_admin", { kind: "key", account: "acc_a", id: "key_a", role: "admin" }],
  ]);
  for (const who of people.values()) await world.join(who);
  const app = await testApp(routes, { log, clock, authenticate: async ({ token }) => people.get(token) ?? null });
  const call = async (who: string, method: "GET" | "POST", path: string, payload?: object) => {
    const credential = who.startsWith("cs") ? bearer(who) : { cookie: `__Host-session=${who}`, ...SAME_ORIGIN };
    const sent = payload === undefined ? {} : { payload };
    const answer = await app.inject({ method, url: `/v1/approvals${path}`, headers: credential, ...sent });
    return { status: answer.statusCode, body: answer.json() };
  };
  const votesCast = async (id: string) =>
    (await log.read(`approval-${id}`, null, 100)).filter(({ type }) => type === "VoteCast").map(({ data }) => data);
  return { ...world, payloads: stored, call, votesCast, close: () => app.close() };
};

test("a vote names the form that the voter saw, and a redacted form has another digest than the full one", async () => {
  const { asked, call, votesCast, close } = await started();
  const { approvalId, digest } = await asked(1, { body: BODY, rule: { min_approvals: 3 } });
  const [redacted, full] = [
    await call("approver", "GET", `/${approvalId}`),
    await call("admin", "GET", `/${approvalId}`),
  ];
  assert.equal([redacted.body.payload, redacted.body.hidden], [{ amount: 120, card: "[redacted]" }, ["/card"]]);
  assert.equal([full.body.payload, full.body.hidden], [{ amount: 120, card: "4111" }, []]);
  assert.is(redacted.body.digest, full.body.digest);
  assert.match(redacted.body.shown_digest, /^[0-9a-f]{64}$/);
  assert.is.not(redacted.body.shown_digest, full.body.shown_digest);
  for (const [who, { body }] of [
    ["approver", redacted],
    ["admin", full],
  ] as const) {
    const voted = await call(who, "POST", `/${approvalId}/approve`, { digest, shown_digest: body.shown_digest });
    assert.is(voted.status, 200);
  }
  const { body } = await call("other", "POST", `/${approvalId}/approve`, { digest });
  const forms = [
    { shown: { form: "redacted", hidden: ["/card"] }, shown_digest: redacted.body.shown_digest },
    { shown: { form: "full", hidden: [] }, shown_digest: full.body.shown_digest },
    { shown: { form: "not stated", hidden: [] }, shown_digest: null },
  ];
  const formOf = ({ shown, shown_digest }: Record<string, unknown>) => ({ shown, shown_digest });
  assert.equal(body.votes.map(formOf), forms);
  assert.equal((await votesCast(approvalId)).map(formOf), forms);
  await close();
});

test("a digest of a form that the voter was not shown decides nothing", async () => {
  const { asked, call, votesCast, close } = await started();
  const { approvalId, digest } = await asked(1, { body: BODY });
  const { shown_digest: full } = (await call("admin", "GET", `/${approvalId}`)).body;
  for (const shown_digest of [full, "0".repeat(64), digest]) {
    for (const way of ["approve", "reject"]) {
      const { status, body } = await call("approver", "POST", `/${approvalId}/${way}`, {
        digest,
        shown_digest,
        comment: "seen",
      });
      assert.equal([status, body.code], [409, "digest-mismatch"]);
      assert.match(body.detail, /read the approval again/);
    }
  }
  assert.equal(await votesCast(approvalId), []);
  const { shown_digest } = (await call("approver", "GET", `/${approvalId}`)).body;
  const rejected = await call("approver", "POST", `/${approvalId}/reject`, { digest, shown_digest, comment: "no" });
  assert.equal([rejected.status, rejected.body.votes[0].shown.form], [200, "redacted"]);
  const repeated = await call("approver", "POST", `/${approvalId}/reject`, { digest, shown_digest, comment: "no" });
  assert.is(repeated.status, 200);
  await close();
});

type Started = Awaited<ReturnType<typeof started>>;

const firstForm = async ({ votesCast }: Started, id: string): Promise<Commitment> => {
  const [vote] = await votesCast(id);
  // The record of a vote that names a form has a commitment there.
  return vote?.shown_form as unknown as Commitment;
};

/** What an export with payloads says of the form of each vote: the text, or null if it was erased. */
const openedForms = async ({ log, payloads: stored, votesCast }: Started, id: string) => {
  const forms: (string | null)[] = [];
  for (const { shown_form, shown_digest } of await votesCast(id)) {
    const commitment = shown_form as unknown as Commitment;
    assert.is(commitment.commitment, shown_digest, "the digest that the voter sent is the commitment");
    const opened = await openCommitment({ log, payloads: stored }, "acc_a", commitment);
    if (opened !== null) assert.equal([opened.salt.length, opened.bytes.length], [16, commitment.size]);
    forms.push(opened === null ? null : Buffer.from(opened.bytes).toString());
  }
  return forms;
};

for (const [length, body] of [
  ["short", BODY],
  ["long", JSON.stringify({ amount: 120, card: "4111", note: "\u00e9".repeat(300_000) })],
])
  test(`the form of a ${length} request is kept with its payload until that is erased, once for all who saw it`, async () => {
    const world = await started();
    const { asked, call, log, erase, close } = world;
    const { approvalId, digest, eventId } = await asked(1, { body: body ?? "", rule: { min_approvals: 9 } });
    for (const who of ["approver", "admin", "other"]) {
      const { shown_digest } = (await call(who, "GET", `/${approvalId}`)).body;
      assert.is((await call(who, "POST", `/${approvalId}/approve`, { digest, shown_digest })).status, 200);
    }
    const [redacted, full, same] = (await openedForms(world, approvalId)).map((text) => JSON.parse(text ?? ""));
    assert.equal([redacted.content.payload.card, redacted.hidden], ["[redacted]", ["/card"]]);
    assert.equal([full.content.payload, full.hidden], [JSON.parse(body ?? ""), []]);
    assert.is(redacted.content.endpoint.url, "https://pay.example/hooks");
    assert.equal(same, redacted);
    const kept = (await log.read(`payload-${eventId}`, null, 100)).filter(({ type }) => type === "FormKept");
    assert.is(kept.length, 2, "two of the three saw the same form");
    const { id } = await firstForm(world, approvalId);
    const last = await log.last(`payload-${eventId}`);
    const erased = { type: "PayloadErased", data: { event_id: eventId, up_to: last?.revision } };
    assert.ok(isErasureOf(id, erased), `the erasure of the payload is that of ${id}`);
    await erase(eventId);
    assert.equal(await openedForms(world, approvalId), [null, null, null]);
    await close();
  });

for (const [left, isLeft] of [
  ["with bytes left", true],
  ["without", false],
] as const)
  test(`what is kept of a form counts as stored, and a vote is cast as well ${left}`, async () => {
    const taken: (readonly [string, string, number])[] = [];
    const { asked, call, votesCast, close } = await started(memoryEventLog(), {
      async take(account, kind, bytes) {
        taken.push([account, kind, bytes]);
        return isLeft ? { giveBack: () => undefined } : null;
      },
    });
    const { approvalId, digest } = await asked(1, { body: BODY, rule: { min_approvals: 3 } });
    for (const who of ["approver", "other"]) {
      const { shown_digest } = (await call(who, "GET", `/${approvalId}`)).body;
      assert.is((await call(who, "POST", `/${approvalId}/approve`, { digest, shown_digest })).status, 200);
    }
    const [form] = (await votesCast(approvalId)).map(({ shown_form }) => shown_form as unknown as Commitment);
    assert.equal(taken, [["acc_a", "stored", form?.size]]);
    await close();
  });

test("a form that is kept while its payload is being erased is erased with it", async () => {
  const log = memoryEventLog();
  let erase = async (): Promise<void> => undefined;
  const over: EventLog = {
    ...log,
    async append(stream, expected, events) {
      if (events[0]?.type === "FormKept") await erase();
      return log.append(stream, expected, events);
    },
  };
  const world = await started(over);
  const { approvalId, digest, eventId } = await world.asked(1, { body: BODY });
  const { shown_digest } = (await world.call("approver", "GET", `/${approvalId}`)).body;
  erase = () => world.erase(eventId);
  await world.call("approver", "POST", `/${approvalId}/approve`, { digest, shown_digest });
  assert.equal(await openedForms(world, approvalId), [null]);
  assert.is(await log.last(`payload-${eventId}`), null);
  await world.close();
});

test("the form of a request without a payload is kept as personal data of nobody, which has an erasure of its own", async () => {
  const world = await started();
  const { asked, call, log, erase, close } = world;
  const { approvalId, digest, eventId } = await asked(1, { body: BODY, rule: { min_approvals: 9 } });
  await erase(eventId);
  const { shown_digest } = (await call("admin", "GET", `/${approvalId}`)).body;
  assert.is((await call("other", "GET", `/${approvalId}`)).body.shown_digest, shown_digest);
  const rejected = await call("admin", "POST", `/${approvalId}/reject`, { digest, shown_digest, comment: "no" });
  assert.equal([rejected.status, rejected.body.votes[0].shown_digest], [200, shown_digest]);
  const [form] = await openedForms(world, approvalId);
  assert.is(JSON.parse(form ?? "").content.payload, null);
  assert.is.not(
    createHash("sha256")
      .update(form ?? "")
      .digest("hex"),
    shown_digest,
    "it is salted",
  );
  const { id } = await firstForm(world, approvalId);
  assert.match(id, /^per_/);
  const [kept] = await log.read(`personal-${id}`, null, 1);
  assert.equal([kept?.data.member, kept?.data.stream], [null, `approval-${approvalId}`]);
  await close();
});

test("nothing is kept for a vote that is refused, or that was cast before", async () => {
  const { asked, call, log, close } = await started();
  const terms = { rule: { min_approvals: 9, exclude_requester: true }, requesters: ["mem_ana"] };
  const { approvalId, digest, eventId } = await asked(1, { body: BODY, ...terms });
  const vote = async (who: string) => {
    const { shown_digest } = (await call(who, "GET", `/${approvalId}`)).body;
    const { body } = await call(who, "POST", `/${approvalId}/approve`, { digest, shown_digest, comment: "fine" });
    const everything = await log.readAll(null, 500, "everything");
    const kept = everything.filter(({ type }) => type === "FormKept" || type === "PersonalDataKept").length;
    return { code: body.code, kept };
  };
  const before = (await vote("approver")).kept;
  assert.equal(await vote("approver"), { code: "self-approval", kept: before });
  assert.equal(await vote("other"), { code: undefined, kept: before + 2 }, "the form and the comment");
  assert.equal(await vote("other"), { code: undefined, kept: before + 2 });
  assert.is((await log.read(`payload-${eventId}`, null, 100)).length, 2);
  await close();
});

test("the digest of a form says nothing about a payload that was erased", async () => {
  const { asked, call, log, close } = await started();
  const [one, two] = [await asked(1, { body: BODY }), await asked(2, { body: BODY })];
  const digestOf = async (id: string) => (await call("admin", "GET", `/${id}`)).body.shown_digest;
  const before = await digestOf(one.approvalId);
  assert.is(await digestOf(one.approvalId), before);
  assert.is.not(await digestOf(two.approvalId), before);
  await log.erase(`payload-${one.eventId}`);
  assert.is.not(await digestOf(one.approvalId), before);
  await close();
});

test("a policy lets approvers reveal hidden fields: that is a record, and their vote then names the full form", async () => {
  const { asked, call, ofApproval, votesCast, log, close } = await started();
  const { approvalId, digest } = await asked(1, { body: BODY, ...REVEAL });
  const revealed = await call("approver", "POST", `/${approvalId}/reveal`);
  assert.equal([revealed.status, revealed.body.payload], [200, { amount: 120, card: "4111" }]);
  assert.equal([revealed.body.redacted, revealed.body.hidden], [false, []]);
  assert.equal(await ofApproval(approvalId), ["ApprovalRequested", "HiddenFieldsRevealed"]);
  const [, record] = await log.read(`approval-${approvalId}`, null, 100);
  assert.equal(record?.data, {
    approval_id: approvalId,
    member_id: "mem_ana",
    hidden: ["/card"],
    at: "2026-03-01T12:00:00.000Z",
  });
  assert.equal(record?.meta.actor, { kind: "member", id: "mem_ana" });
  // A second look is the same reveal.
  await call("approver", "POST", `/${approvalId}/reveal`);
  assert.is((await ofApproval(approvalId)).length, 2);
  const { shown_digest } = revealed.body;
  const other = await call("other", "POST", `/${approvalId}/approve`, { digest, shown_digest });
  assert.is(other.body.code, "digest-mismatch", "the other approver has revealed nothing");
  const voted = await call("approver", "POST", `/${approvalId}/approve`, { digest, shown_digest });
  assert.is(voted.status, 200);
  assert.equal(
    (await votesCast(approvalId)).map(({ shown }) => shown),
    [{ form: "full", hidden: [] }],
  );
  assert.equal((await call("approver", "GET", `/${approvalId}`)).body.hidden, ["/card"]);
  await close();
});

test("nobody else reveals: no other role, no key, no other account, no other policy, and nothing after the end", async () => {
  const { asked, call, ofApproval, close } = await started();
  const { approvalId, digest } = await asked(1, { body: BODY, ...REVEAL });
  const codeOf = async (who: string, id = approvalId) => {
    const { status, body } = await call(who, "POST", `/${id}/reveal`);
    return [status, body.code];
  };
  assert.equal(await codeOf("viewer"), [403, "forbidden"]);
  assert.equal(await codeOf("csk_admin"), [403, "forbidden"]);
  assert.equal(await codeOf("stranger"), [404, "not-found"]);
  const admin = await call("admin", "POST", `/${approvalId}/reveal`);
  assert.equal([admin.status, admin.body.payload.card], [200, "4111"]);
  assert.equal(await ofApproval(approvalId), ["ApprovalRequested"], "nothing is hidden from an admin");
  await call("other", "POST", `/${approvalId}/reject`, { digest, comment: "no" });
  assert.equal(await codeOf("approver"), [409, "already-decided"]);
  const strict = await asked(2, { body: BODY, rule: {} });
  assert.equal(await codeOf("approver", strict.approvalId), [403, "forbidden"]);
  assert.equal(await ofApproval(strict.approvalId), ["ApprovalRequested"]);
  await close();
});

test("where several policies hide fields, each of them has to let the reader reveal them", async () => {
  const { asked, call, ofApproval, close } = await started();
  const also = (letter: string, approval?: ApprovalRule) => ({
    id: `pol_${letter.repeat(32)}`,
    definition: { name: "floor", redact: ["amount"], ...(approval === undefined ? {} : { approval }) },
  });
  const silent = await asked(1, { body: BODY, ...REVEAL, also: also("b") });
  assert.equal((await call("approver", "GET", `/${silent.approvalId}`)).body.hidden, ["/card", "/amount"]);
  const refused = await call("approver", "POST", `/${silent.approvalId}/reveal`);
  assert.equal([refused.status, refused.body.code], [403, "forbidden"]);
  assert.equal(await ofApproval(silent.approvalId), ["ApprovalRequested"]);
  const rule: ApprovalRule = { reveal: ["approver"], expires_after_s: 60 };
  const open = await asked(2, { body: BODY, ...REVEAL, also: also("c", rule) });
  const revealed = await call("approver", "POST", `/${open.approvalId}/reveal`);
  assert.equal([revealed.status, revealed.body.payload], [200, { amount: 120, card: "4111" }]);
  await close();
});

test("a payload that a parser would change is shown with its numbers as sent, also where fields are hidden", async () => {
  const { asked, call, close } = await started();
  const { approvalId } = await asked(1, { body: '{"amount":120,"id":12345678901234567891,"card":"4111"}' });
  const { payload, payload_format } = (await call("approver", "GET", `/${approvalId}`)).body;
  assert.equal([payload, payload_format], ['{"amount":120,"id":12345678901234567891,"card":"[redacted]"}', "text"]);
  await close();
});

test.run();
