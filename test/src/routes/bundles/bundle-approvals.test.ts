import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Bound } from "../../../../domain/delivery/events.ts";
import type { Commitment } from "../../../../domain/evidence/commitment.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { approvals } from "../../../../projections/approvals.ts";
import { approvalReleases } from "../../../../src/approvals/approval-releases.ts";
import { approvalRenewal } from "../../../../src/approvals/approval-renewal.ts";
import { openCommitment } from "../../../../src/audit/committed-values.ts";
import { formSalts } from "../../../../src/bodies/approval-form.ts";
import { personalData } from "../../../../src/erasure/personal-data.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { approvalRoutes } from "../../../../src/routes/approvals/approvals.ts";
import { actionStream } from "../../../../src/streams/action-stream.ts";
import { aggregates } from "../../../../src/streams/aggregates.ts";
import { encodeBody } from "../../../../src/streams/payload-encoding.ts";
import { payloads } from "../../../../src/streams/payloads.ts";
import { caller } from "../../../support/call.ts";
import { damagedLog } from "../../../support/damaged-log.ts";
import { enoughBytes } from "../../../support/enough-bytes.ts";
import { foldInto } from "../../../support/fold-into.ts";
import {
  appendTo,
  approvalFacts,
  at,
  bundleFacts,
  bundleStep,
  endpointRegistered,
  type History,
  history,
  START,
} from "../../../support/history.ts";
import { NO_CALLS } from "../../../support/no-calls.ts";
import { noChanges } from "../../../support/no-controls.ts";
import { noLedgers } from "../../../support/no-ledgers.ts";
import { addressed, keepWords, words } from "../../../support/personal-words.ts";

const test = suite("the approval of a bundle");

const ID = `apr_${"a".repeat(32)}`;
const ADMIN: Principal = { kind: "key", account: "acc_1", id: "key_1", role: "admin" };
const VIEWER: Principal = { ...ADMIN, role: "viewer" };
const APPROVER: Principal = {
  ...{ kind: "member", account: "acc_1", id: "mem_1", ...addressed("ana@a.example") },
  ...{ role: "approver", session: "session-a" },
};
const FACTS = bundleFacts();
const boundTo = (endpoint_id: string): Bound => ({
  target: { endpoint_id, url: "https://example.com/hook", headers: { authorization: "d-header" } },
  action_version: 1,
});
const TITLE = "Order {/sku} with {/card}";
const STEPS = [
  bundleStep(0, {
    bound: { ...boundTo("end_1"), title: TITLE },
    compensation: { name: "undo.0", version: 1, endpoint_id: "end_2", bound: boundTo("end_2") },
  }),
  bundleStep(1, { reversibility: "irreversible", compensation: null, cost: null, bound: boundTo("end_1") }),
];
const PAYLOADS = [{ sku: "s-1", card: "4242" }, { order: { $result: { step: 0, pointer: "/id" } } }];

const held = (it: History): void => {
  const definition = { name: "orders", redact: ["card"] };
  it.add("policy-pol_1", { type: "PolicyPublished", data: { policy_id: "pol_1", version: 1, definition } });
  const action = { endpoint_id: "end_1", reversibility: "compensable", compensation: "undo.0", title: TITLE } as const;
  const about = { action_id: "act_0", account: "acc_1", name: "act.0", version: 1, by: "mem_1", at: at(0) };
  it.add(actionStream("acc_1", "act.0"), { type: "ActionDefined", data: { ...about, definition: action } });
  for (const id of ["end_1", "end_2"]) it.add(`endpoint-${id}`, endpointRegistered(id));
  const opened = { account: "acc_1", name: "a", plan: "free", time_zone: "UTC", at: at(0) };
  const founder = { member: "mem_1", ...addressed("ana@a.example"), role: "approver", password: "", invited_by: null };
  it.add("account-acc_1", { type: "AccountOpened", data: opened });
  it.add("account-acc_1", { type: "MemberAdded", data: { account: "acc_1", ...founder, at: at(0) } });
  it.add("payload-bun_1", {
    type: "PayloadKept",
    data: {
      ...{ event_id: "bun_1", salt: "", content_type: "application/json", headers: {} },
      ...encodeBody(Buffer.from(JSON.stringify(PAYLOADS))),
    },
  });
  it.add("bundle-bun_1", FACTS.held({ approval_id: ID }, { steps: STEPS }));
  const subject = { kind: "bundle", id: "bun_1" } as const;
  it.add(`approval-${ID}`, approvalFacts(ID, { subject, action: null }).requested());
};

/** `damaged`: the streams whose payload has changed on disk. */
const world = async (more: (it: History) => void = () => undefined, damaged: readonly string[] = []) => {
  const log = damagedLog(memoryEventLog(), new Set(damaged));
  const it = history();
  held(it);
  more(it);
  await appendTo(log, it.events);
  const views = memoryViewStore([approvals.schema]);
  await foldInto(log, views, [approvals]);
  const clock = { now: () => START + 60_000 };
  const streams = aggregates(log, clock);
  const renewal = approvalRenewal({ log, aggregates: streams, clock, randomness });
  const call = caller(
    approvalRoutes({
      calls: NO_CALLS,
      log,
      views,
      aggregates: streams,
      payloads: payloads(log, randomness),
      formSalt: formSalts(Buffer.alloc(32, 5)),
      personal: personalData(log, randomness),
      allowances: enoughBytes,
      renewal,
      releases: approvalReleases({ log, aggregates: streams, clock }),
      changes: noChanges,
      ...{ clock, ledgers: noLedgers, timeZoneOf: async () => "UTC" },
    }),
  );
  const about = (principal: Principal) => ({ principal, params: { id: ID } });
  return {
    log,
    get: (principal: Principal = ADMIN) => call("GET", "/v1/approvals/{id}", about(principal)),
    list: () => call("GET", "/v1/approvals", { principal: VIEWER }),
    vote: (decision: "approve" | "reject", more: object = {}) =>
      call("POST", `/v1/approvals/{id}/${decision}`, {
        ...about(APPROVER),
        body: { digest: "d1", comment: "seen", ...more },
        envelope: {
          ...{ commandId: `vote ${decision}`, account: "acc_1", actor: { kind: "member", id: "mem_1" }, at: at(60) },
          trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) },
        },
      }),
  };
};

const target = (id: string) => ({
  ...{ id, name: "orders", url: "https://example.com/hook" },
  headers: [{ name: "authorization", secret: false }],
});

test("an approver sees every step: what it sends where, what it costs, and what takes it back", async () => {
  const { get } = await world();
  const { outcome, body } = await get();
  assert.equal([outcome, body.bundle_id, body.event_id, body.status], [200, "bun_1", null, "pending"]);
  assert.equal([body.endpoint, body.payload_format, body.redacted], [null, "json", false]);
  assert.equal(body.payload, [
    {
      title: "Order s-1 with 4242",
      ...{ index: 0, action: "act.0", payload: PAYLOADS[0], endpoint: target("end_1"), cost_eur: 0.01 },
      ...{ reversibility: "compensable", compensation: { action: "undo.0", endpoint: target("end_2") } },
    },
    {
      title: null,
      ...{ index: 1, action: "act.1", payload: PAYLOADS[1], endpoint: target("end_1"), cost_eur: null },
      ...{ reversibility: "irreversible", compensation: null },
    },
  ]);
});

test("steps whose payload has changed on disk are neither shown nor approved", async () => {
  const { get, vote, log } = await world(undefined, ["payload-bun_1"]);
  const { body } = await get();
  assert.equal([body.payload_format, body.payload_damaged], [null, true]);
  for (const step of body.payload as { payload: unknown }[]) assert.is(step.payload, null);
  assert.is((await vote("approve")).outcome, "payload-damaged");
  assert.is((await log.last(`approval-${ID}`))?.type, "ApprovalRequested");
  assert.is((await vote("reject")).outcome, 200);
});

test("below admin what the policy hides is hidden in every step", async () => {
  const { body } = await (await world()).get(VIEWER);
  const [first] = body.payload as { payload: unknown; title: unknown }[];
  assert.equal([first?.payload, body.redacted], [{ sku: "s-1", card: "[redacted]" }, true]);
  assert.is(first?.title, "Order s-1 with [redacted]");
});

test("a vote on a bundle names the form that its voter saw, which is kept with the bundle's payload", async () => {
  const { log, get, vote } = await world();
  const [full, redacted] = [await get(ADMIN), await get(APPROVER)];
  assert.equal([full.body.hidden, redacted.body.hidden], [[], ["/card"]]);
  const other = await vote("approve", { shown_digest: full.body.shown_digest });
  assert.is(other.outcome, "digest-mismatch");
  const { shown_digest } = redacted.body;
  const { body } = await vote("approve", { shown_digest });
  const [cast] = body.votes as { shown: unknown; shown_digest: unknown }[];
  assert.equal([cast?.shown, cast?.shown_digest], [{ form: "redacted", hidden: ["/card"] }, shown_digest]);
  const record = (await log.read(`approval-${ID}`, null, 100)).find(({ type }) => type === "VoteCast");
  const form = record?.data.shown_form as unknown as Commitment; // A vote that states a form has its commitment.
  assert.equal([form.id, form.commitment], ["bun_1/0/forms/1", shown_digest]);
  const opened = await openCommitment({ log, payloads: payloads(log, randomness) }, "acc_1", form);
  const { content } = JSON.parse(Buffer.from(opened?.bytes ?? []).toString());
  assert.equal(content.payload, redacted.body.payload);
});

test("approved it stays so until the bundle is released, and is then used", async () => {
  const voted = await (await world()).vote("approve");
  assert.equal([voted.outcome, voted.body.status], [200, "consumed"]);
  assert.equal(voted.body.outcome, { status: "running", reason: null });
  const granted = approvalFacts(ID, { subject: { kind: "bundle", id: "bun_1" } }).granted(1);
  const { get } = await world((it) => it.add(`approval-${ID}`, granted));
  assert.is((await get()).body.status, "approved");
  const released = await world((it) => {
    it.add(`approval-${ID}`, granted);
    it.add("bundle-bun_1", FACTS.released(2, ID));
  });
  assert.is((await released.get()).body.status, "consumed");
  assert.is(((await released.list()).body.data as { status: string }[])[0]?.status, "consumed");
});

test("right after its agent's suspension a bundle is not approved: none of its steps would start", async () => {
  const about = { agent_id: "agt_1", at: at(1) };
  const agent = { account: "acc_1", name: "orders", policy_id: null, scope: { actions: ["*"] } };
  const { get, vote, log } = await world((it) => {
    it.add("agent-agt_1", {
      type: "AgentRegistered",
      data: { ...agent, key_id: "agk_1", digest: "00", last4: "wxyz", ...about },
    });
    it.add("agent-agt_1", { type: "AgentSuspended", data: { reason: words("too many orders"), ...about } });
  });
  await keepWords(log, "acc_1", "too many orders");
  const { outcome, detail, body } = await vote("approve");
  assert.is(outcome, "already-decided");
  assert.match(detail, "nothing will be sent. The agent was suspended.");
  assert.is(body.reason, "The agent was suspended: too many orders");
  assert.equal((await get()).body.outcome, { status: "held", reason: null });
});

test("a hold that ended otherwise shows how, and is not approved any more", async () => {
  const { get, vote } = await world((it) => it.add("bundle-bun_1", FACTS.holdEnded(2, "cancelled", ID)));
  assert.is((await get()).body.status, "cancelled");
  const { outcome, detail } = await vote("approve");
  assert.equal([outcome, detail], ["already-decided", "Nothing is left to decide: it was cancelled meanwhile."]);
});

test("nobody approves what can no longer be executed as a whole; it can be rejected", async () => {
  for (const [id, what] of [
    ["end_1", "step 0 (act.0)"],
    ["end_2", "the compensation of step 0 (undo.0)"],
  ] as const) {
    const gone = { type: "EndpointDeleted", data: { endpoint_id: id, account: "acc_1", at: at(1) } };
    const { vote, get } = await world((it) => void it.add(`endpoint-${id}`, gone));
    const { outcome, detail } = await vote("approve");
    assert.is(outcome, "conflict");
    assert.match(detail, what);
    assert.is((await get()).outcome, 200);
    const rejected = await vote("reject");
    assert.equal([rejected.outcome, rejected.body.outcome], [200, { status: "cancelled", reason: "seen" }]);
  }
  const { log, vote, get } = await world();
  await log.erase("payload-bun_1");
  assert.is((await vote("approve")).outcome, "conflict");
  const { body } = await get();
  const steps = body.payload as { payload: unknown }[];
  assert.equal([steps.map(({ payload }) => payload), body.payload_format], [[null, null], null]);
});

test.run();
