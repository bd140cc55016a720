import { suite } from "uvu";
import * as assert from "uvu/assert";
import { bundle } from "../../../../domain/bundle/decider.ts";
import { systemClock } from "../../../../infra/clock.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { bundles } from "../../../../projections/bundles.ts";
import { approvalRequests } from "../../../../src/approvals/approval-requests.ts";
import type { BundleOrder, BundleStart } from "../../../../src/bundles/bundle-claim.ts";
import { personalData } from "../../../../src/erasure/personal-data.ts";
import { outcomes } from "../../../../src/execute/outcome-waits.ts";
import type { Call, Principal } from "../../../../src/http/route.ts";
import { bundleRoutes } from "../../../../src/routes/bundles/bundles.ts";
import { aggregates } from "../../../../src/streams/aggregates.ts";
import { toEvents } from "../../../../src/streams/envelope.ts";
import { encodeBody } from "../../../../src/streams/payload-encoding.ts";
import { payloads } from "../../../../src/streams/payloads.ts";
import { type Problem, problem } from "../../../../src/streams/problems.ts";
import { foldStream } from "../../../../src/streams/run-command.ts";
import { caller, callOf } from "../../../support/call.ts";
import { foldInto } from "../../../support/fold-into.ts";
import {
  appendTo,
  approvalFacts,
  at,
  bundleFacts,
  type bundleRequest,
  bundleStep,
  deliveryFacts,
  type History,
  history,
} from "../../../support/history.ts";
import { NO_CALLS } from "../../../support/no-calls.ts";
import { addressed } from "../../../support/personal-words.ts";

const test = suite("bundle routes");

const AGENT: Principal = { kind: "agent", account: "acc_1", id: "agt_1" };
const OTHER_AGENT: Principal = { ...AGENT, id: "agt_2" };
const VIEWER: Principal & { kind: "key" } = { kind: "key", account: "acc_1", id: "key_1", role: "viewer" };
const ADMIN: typeof VIEWER = { ...VIEWER, role: "admin" };
const STRANGER: typeof VIEWER = { ...ADMIN, account: "acc_2" };
const APPROVER: Principal = {
  ...{ kind: "member", account: "acc_1", id: "mem_1", ...addressed("ana@a.example") },
  ...{ role: "approver", session: "s" },
};

/** Ids as the service makes them: whatever is not one is no stream. */
const idOf = (kind: string, name: string): string => `${kind}_${name.padEnd(32, "a")}`;
const ID = idOf("bun", "b");
const FACTS = bundleFacts(ID);
const STEPS = [0, 1].map((index) => bundleStep(index, {}, ID));
const [FIRST = bundleStep(0), SECOND = bundleStep(1)] = STEPS;

const answered = (eventId: string, body: string) => ({
  type: "ResponseKept",
  data: {
    ...{ event_id: eventId, number: 1, headers: { "content-type": "application/json" }, encoding: "text", body },
    ...{ truncated: false, request_headers: {} },
  },
});
const kept = (eventId: string, body: string) => ({
  type: "PayloadKept",
  data: {
    ...{ event_id: eventId, salt: "", content_type: "application/json", headers: {} },
    ...encodeBody(Buffer.from(body)),
  },
});

/** A delivery that its target answered with 200. */
const delivered = (it: History, eventId: string, second: number, body: string): void => {
  const facts = deliveryFacts(eventId);
  it.add(`payload-${eventId}`, kept(eventId, "{}"));
  it.add(`delivery-${eventId}`, facts.admitted({ origin: { kind: "agent", id: "agt_1", name: "a", type: "agent" } }));
  it.add(`delivery-${eventId}`, facts.started(1, second));
  it.add(`payload-${eventId}`, answered(eventId, body));
  it.add(`delivery-${eventId}`, facts.succeeded(1, second));
  it.add(`delivery-${eventId}`, facts.delivered(second));
};

const begun = (it: History, over: Parameters<typeof bundleRequest>[0] = {}): void => {
  const definition = { name: "orders", redact: ["card"] };
  it.add("policy-pol_1", { type: "PolicyPublished", data: { policy_id: "pol_1", version: 1, definition } });
  it.add(`payload-${ID}`, kept(ID, '[{"n":0},{"n":1}]'));
  it.add(`bundle-${ID}`, FACTS.admitted({ steps: STEPS, ...over }));
};

/** The first step is done, the second was refused by its target; what takes the first back was refused as well. */
const left = (it: History): void => {
  begun(it);
  it.add(`bundle-${ID}`, FACTS.started(0, 1));
  delivered(it, FIRST.event_id, 2, '{"id":7,"card":"4242"}');
  it.add(`bundle-${ID}`, FACTS.ended(0, 2, "succeeded"));
  it.add(`bundle-${ID}`, FACTS.started(1, 3));
  it.add(`bundle-${ID}`, FACTS.ended(1, 4, "failed", null));
  it.add(`bundle-${ID}`, FACTS.rollback(4, 1, "Step 1 (act.1) failed"));
  it.add(`bundle-${ID}`, FACTS.undone(1, 4, "not-needed"));
  it.add(`bundle-${ID}`, FACTS.undoing(0, 5));
  delivered(it, FIRST.undo_event_id, 5, "{}");
  it.add(`bundle-${ID}`, FACTS.undone(0, 6, "failed"));
  it.add(`bundle-${ID}`, FACTS.incomplete(6, 0));
  it.add(`bundle-${ID}`, FACTS.spent(6, 10_000));
};

type Begin = (begun: BundleStart) => BundleStart | Problem;

/** `begin`: what comes of a request for the bundle that is recorded so far. */
const world = async (recorded: (it: History) => void, begin: Begin = (it) => it) => {
  const log = memoryEventLog();
  const it = history();
  recorded(it);
  await appendTo(log, it.events);
  const views = memoryViewStore([bundles.schema]);
  const project = () => foldInto(log, views, [bundles]);
  await project();
  const fail = (error: unknown): never => {
    throw error;
  };
  const known = await foldStream(log, bundle, `bundle-${ID}`);
  const asks: BundleOrder[] = [];
  const waiting = outcomes({ log, decider: bundle, category: "bundle", onError: fail });
  const call = caller(
    bundleRoutes({
      calls: NO_CALLS,
      log,
      views,
      payloads: payloads(log, randomness),
      personal: personalData(log, randomness),
      approvals: approvalRequests({ log, aggregates: aggregates(log, systemClock), clock: systemClock }),
      outcomes: waiting,
      async begin(ask) {
        asks.push(ask);
        return begin({ bundleId: ID, known, replayed: false, position: known.position });
      },
    }),
  );
  const about = (principal: Principal, over: Partial<Call>): Partial<Call> => ({
    principal,
    params: { id: ID },
    body: {},
    ...over,
  });
  return {
    log,
    asks,
    project,
    /** Written behind what there is, by this process. */
    async later(add: (it: History) => void) {
      const before = it.events.length;
      add(it);
      await appendTo(log, it.events.slice(before));
    },
    post: (body: object, over: Partial<Call> = {}) =>
      call("POST", "/v1/bundles", { principal: AGENT, key: "k-1", body, ...over }),
    get: (principal: Principal = VIEWER, over: Partial<Call> = {}) =>
      call("GET", "/v1/bundles/{id}", about(principal, over)),
    list: (query: object = {}, principal: Principal = VIEWER) =>
      call("GET", "/v1/bundles", { principal, query: { ...query } }),
    cancel: (principal: Principal = AGENT, over: Partial<Call> = {}) =>
      call("POST", "/v1/bundles/{id}/cancel", about(principal, over)),
    resolve: (index: string, principal: Principal = APPROVER, over: Partial<Call> = {}) =>
      call("POST", "/v1/bundles/{id}/steps/{index}/resolve", {
        ...{ principal, params: { id: ID, index }, body: { comment: " by phone " } },
        ...over,
      }),
    erase: (principal: Principal = APPROVER, over: Partial<Call> = {}) =>
      call("DELETE", "/v1/bundles/{id}/payload", about(principal, { body: { reason: "asked for" }, ...over })),
  };
};

const statuses = ({ body }: { readonly body: Record<string, unknown> }): unknown[] =>
  (body.steps as readonly { readonly status: string }[]).map(({ status }) => status);

const ASKED = { steps: [{ action: "act.0", payload: { n: 0 } }], name: "order 17", run_id: "run-1", wait_ms: 0 };

test("a bundle is asked for in the agent's name, with its key, run and depth", async () => {
  const { post, asks } = await world(begun);
  const { outcome, body, headers } = await post(ASKED, { headers: { "countersign-depth": "3" } });
  const [{ trace: _, ...ask } = {}] = asks;
  assert.equal(ask, {
    ...{ account: "acc_1", agentId: "agt_1", key: "k-1", name: "order 17" },
    ...{ steps: ASKED.steps, runId: "run-1", depth: 3, userAgent: "test" },
  });
  assert.equal([outcome, body.id, body.status, headers.location], [202, ID, "running", `/v1/bundles/${ID}`]);
  assert.equal(statuses({ body }), ["pending", "pending"]);
  assert.is((await post(ASKED, { headers: { "countersign-depth": "-1" } })).outcome, "invalid-request");
  await post({ steps: ASKED.steps, wait_ms: 0 });
  assert.equal([asks.at(-1)?.name, asks.at(-1)?.runId, asks.at(-1)?.depth], [null, null, 0]);
});

test("a refusal is answered as it is, a repeat says that it is one", async () => {
  const refused = await world(begun, () => problem("gate-budget", "spent", { extra: { bundle_id: ID } }));
  assert.is((await refused.post(ASKED)).outcome, "gate-budget");
  const repeated = await world(left, (it) => ({ ...it, replayed: true }));
  const { outcome, headers } = await repeated.post({ ...ASKED, wait_ms: 5_000 });
  assert.equal([outcome, headers["idempotent-replayed"]], [200, "true"]);
});

test("a call waits until the bundle has ended", async () => {
  const { post, later, log } = await world(begun);
  const answering = post({ ...ASKED, wait_ms: 30_000 });
  await later((it) => {
    for (const index of [0, 1]) {
      it.add(`bundle-${ID}`, FACTS.started(index, 1));
      delivered(it, STEPS[index]?.event_id ?? "", 2, `{"n":${index}}`);
      it.add(`bundle-${ID}`, FACTS.ended(index, 2, "succeeded"));
    }
    it.add(`bundle-${ID}`, FACTS.committed(2));
    it.add(`bundle-${ID}`, FACTS.spent(2, 20_000));
  });
  const { outcome, body, position } = await answering;
  assert.equal([outcome, body.status, body.cost_eur, body.ended_at], [200, "committed", 0.02, at(2)]);
  assert.is(position, (await log.last(`bundle-${ID}`))?.position);
  assert.equal(
    (body.steps as { result: unknown }[]).map(({ result }) => result),
    [
      { status_code: 200, body: { n: 0 } },
      { status_code: 200, body: { n: 1 } },
    ],
  );
});

test("a step that was started is named by its event once that is recorded, and the answer's position is the event's", async () => {
  const { post, cancel, later, log } = await world((it) => {
    begun(it);
    it.add(`bundle-${ID}`, FACTS.started(0, 1));
  });
  const events = ({ body }: { readonly body: Record<string, unknown> }): unknown[] =>
    (body.steps as readonly { readonly event_id: string | null }[]).map(({ event_id }) => event_id);
  const lastOf = async (stream: string) => (await log.last(stream))?.position;
  const early = await post(ASKED);
  assert.equal([events(early), early.position], [[null, null], await lastOf(`bundle-${ID}`)]);
  await later((it) => void it.add(`delivery-${FIRST.event_id}`, deliveryFacts(FIRST.event_id).admitted()));
  const late = await post(ASKED);
  assert.equal([events(late), late.position], [[FIRST.event_id, null], await lastOf(`delivery-${FIRST.event_id}`)]);
  const cancelled = await cancel();
  assert.equal([events(cancelled), cancelled.position], [[FIRST.event_id, null], await lastOf(`bundle-${ID}`)]);
});

test("a held bundle is answered at once, and after people's decision its end is waited for", async () => {
  const held = (it: History): void => {
    it.add(`bundle-${ID}`, FACTS.held({}, { steps: STEPS }));
    it.add("approval-apr_1", approvalFacts().requested());
  };
  const undecided = await world(held);
  const { outcome, body } = await undecided.post({ ...ASKED, wait_ms: 30_000 });
  assert.equal([outcome, body.status, body.approval_id], [202, "held", "apr_1"]);
  const decided = await world((it) => {
    held(it);
    it.add("approval-apr_1", approvalFacts().rejected(1));
  });
  const answering = decided.post({ ...ASKED, wait_ms: 30_000 });
  await decided.later((it) => void it.add(`bundle-${ID}`, FACTS.holdEnded(2, "rejected")));
  const answer = await answering;
  assert.equal([answer.outcome, answer.body.status, answer.body.hold_outcome], [200, "cancelled", "rejected"]);
  assert.equal([answer.body.reason, answer.body.approval_id], ["said so", "apr_1"]);
  assert.equal(statuses(answer), ["skipped", "skipped"]);
});

test("one shows its steps with their results, their undos and what is left to be done by hand", async () => {
  const { get } = await world(left);
  const { outcome, body } = await get(AGENT);
  assert.is(outcome, 200);
  const { steps, verdict: _, ...rest } = body;
  assert.equal(rest, {
    ...{ id: ID, name: "order 17", status: "rollback_incomplete", agent_id: "agt_1", cost_eur: 0.01 },
    ...{ run_id: "run_1", reason: "Step 1 (act.1) failed", created_at: at(0), ended_at: at(6) },
    left: [{ index: 0, action: "act.0", why: "Its compensation undo.0 did not succeed." }],
    payload_erased_at: null,
  });
  const common = { reversibility: "compensable", refusal: null, resolution: null, endpoint_id: "end_1" };
  assert.equal(steps, [
    {
      ...{ index: 0, action: "act.0", status: "compensation_failed", compensation: "undo.0", ...common },
      ...{ event_id: FIRST.event_id, compensation_event_id: FIRST.undo_event_id, cost_eur: 0.01 },
      result: { status_code: 200, body: { id: 7, card: "4242" } },
      times: { started_at: at(1), ended_at: at(2), undo_started_at: at(5), undo_ended_at: at(6), undone_at: at(6) },
    },
    {
      ...{ index: 1, action: "act.1", status: "failed", compensation: "undo.1", ...common },
      ...{ event_id: SECOND.event_id, compensation_event_id: null, cost_eur: 0, result: null },
      times: { started_at: at(3), ended_at: at(4), undo_started_at: null, undo_ended_at: at(4), undone_at: at(4) },
    },
  ]);
});

test("a step that a person undid later keeps the time at which its undo had ended", async () => {
  const { get } = await world((it) => {
    left(it);
    it.add(`bundle-${ID}`, FACTS.resolved(0, 70));
  });
  const [first] = (await get(AGENT)).body.steps as { status: string; times: object; resolution: { at: string } }[];
  assert.equal([first?.status, first?.resolution.at], ["compensated", at(70)]);
  assert.equal(first?.times, {
    ...{ started_at: at(1), ended_at: at(2), undo_started_at: at(5), undo_ended_at: at(6) },
    undone_at: at(70),
  });
});

test("only the agent and admins read the parts of a result that the policy hides", async () => {
  const { get } = await world(left);
  const resultTo = async (who: Principal) => ((await get(who)).body.steps as { result: unknown }[])[0]?.result;
  assert.equal(await resultTo(ADMIN), { status_code: 200, body: { id: 7, card: "4242" } });
  assert.equal(await resultTo(VIEWER), { status_code: 200, body: { id: 7, card: "[redacted]" } });
});

/** Of a step that uses the first one's result, under another name. */
const USING = '{"n":1,"number":{"$result":{"step":0,"pointer":"/card"}}}';

test("a value inserted from a result is hidden under any name if the policy hides fields", async () => {
  const { get } = await world((it) => {
    const definition = { name: "orders", redact: ["card"] };
    it.add("policy-pol_1", { type: "PolicyPublished", data: { policy_id: "pol_1", version: 1, definition } });
    it.add(`payload-${ID}`, kept(ID, `[{"n":0},${USING}]`));
    it.add(`bundle-${ID}`, FACTS.admitted({ steps: [FIRST, bundleStep(1, { uses_results: true }, ID)] }));
    for (const [index, body] of ['{"id":7,"card":"4242"}', '{"n":1,"number":"4242"}'].entries()) {
      it.add(`bundle-${ID}`, FACTS.started(index, 1));
      delivered(it, STEPS[index]?.event_id ?? "", 2, body);
      it.add(`bundle-${ID}`, FACTS.ended(index, 2, "succeeded"));
    }
    it.add(`bundle-${ID}`, FACTS.committed(2));
  });
  const bodiesTo = async (who: Principal) =>
    ((await get(who)).body.steps as { result: { body: unknown } }[]).map(({ result }) => result.body);
  assert.equal(await bodiesTo(VIEWER), [
    { id: 7, card: "[redacted]" },
    { n: 1, number: "[redacted]" },
  ]);
  const whole = [
    { id: 7, card: "4242" },
    { n: 1, number: "4242" },
  ];
  assert.equal([await bodiesTo(ADMIN), await bodiesTo(AGENT)], [whole, whole]);
});

test("once it has ended each step says what it has cost with its undo, and one that was never sent nothing", async () => {
  const three = [0, 1, 2].map((index) => bundleStep(index, {}, ID));
  const costs = async (...more: readonly Parameters<History["add"]>[1][]) => {
    const { get, list } = await world((it) => {
      begun(it, { steps: three });
      it.add(`bundle-${ID}`, FACTS.started(0, 1));
      it.add(`bundle-${ID}`, FACTS.ended(0, 2, "succeeded", 7_000, { reported: true }));
      for (const fact of more) it.add(`bundle-${ID}`, fact);
    });
    const of = (body: unknown) => (body as { steps: { cost_eur: unknown }[] }).steps.map(({ cost_eur }) => cost_eur);
    const { body } = await get(ADMIN);
    assert.equal(of(((await list()).body.data as unknown[])[0]), of(body));
    return of(body);
  };
  assert.equal(await costs(), [0.007, 0.01, 0.01]);
  const rolling = [
    ...[FACTS.started(1, 3), FACTS.ended(1, 4, "failed", 0), FACTS.rollback(4, 1), FACTS.undone(1, 4, "not-needed")],
    ...[FACTS.undoing(0, 5)],
  ];
  assert.equal(await costs(...rolling), [0.007, 0, null]);
  const ended = [...rolling, FACTS.undone(0, 6, "compensated", -5_000), FACTS.rolledBack(6)];
  assert.equal(await costs(...ended, FACTS.spent(6, 2_000, [2_000, 0, null])), [0.002, 0, null]);
});

test("a cancellation that came too late is answered with what was committed", async () => {
  const { get } = await world((it) => {
    begun(it);
    for (const index of [0, 1]) {
      it.add(`bundle-${ID}`, FACTS.started(index, 1));
      it.add(`bundle-${ID}`, FACTS.ended(index, 2, "succeeded"));
    }
    it.add(`bundle-${ID}`, FACTS.committed(2, "The cancellation came too late: a mistake"));
  });
  const { body } = await get();
  assert.equal([body.status, body.reason], ["committed", "The cancellation came too late: a mistake"]);
});

test("another account's, another agent's and one that never was are the same nothing, on every route", async () => {
  const { get, list, cancel, resolve, erase } = await world(left);
  const nobody = { ...APPROVER, account: "acc_2" };
  for (const none of [
    await get(STRANGER),
    await get(OTHER_AGENT),
    await get(VIEWER, { params: { id: idOf("bun", "c") } }),
    await get(VIEWER, { params: { id: "bun_\n" } }),
    await cancel(STRANGER),
    await cancel(OTHER_AGENT),
    await resolve("0", nobody),
    await erase(nobody),
  ])
    assert.equal(none.outcome, "not-found");
  assert.equal((await list({}, STRANGER)).body.data, []);
  assert.equal((await list({}, OTHER_AGENT)).body.data, []);
});

test("the list is the detail without results, and finds by status", async () => {
  const { list, get } = await world(left);
  const { steps, left: _left, payload_erased_at: _erased, ...detail } = (await get(ADMIN)).body;
  const summaries = (steps as { result: unknown; times: unknown; endpoint_id: unknown }[]).map(
    ({ result: _, times: _times, endpoint_id: _to, ...step }) => step,
  );
  assert.equal((await list()).body, { data: [{ ...detail, steps: summaries }], next_cursor: null });
  assert.is(((await list({ status: "rollback_incomplete" }, AGENT)).body.data as unknown[]).length, 1);
  assert.equal((await list({ status: "committed" })).body.data, []);
  const two = await list({ status: "committed,rollback_incomplete", total: "true" }, AGENT);
  assert.equal([(two.body.data as unknown[]).length, two.body.total], [1, 1]);
  assert.equal((await list({ status: "committed,rollback_incomplete" }, STRANGER)).body.data, []);
  assert.is((await list({ limit: 0 })).outcome, "invalid-request");
});

test("the list finds by agent, policy, gate and time, as the figures of refused bundles ask for it", async () => {
  const verdict = {
    decision: "deny",
    policy: { id: "pol_1", version: 1 },
    gates: [{ gate: "budget", outcome: "deny", code: "budget", detail: "9.00 of 10.00 EUR used today" }],
  } as const;
  const { list } = await world((it) => void it.add(`bundle-${ID}`, FACTS.blocked({ verdict, received_at: at(60) })));
  const count = async (query: Record<string, string>): Promise<number> =>
    ((await list({ status: "blocked", ...query })).body.data as unknown[]).length;
  for (const query of [
    {},
    { gate: "budget", from: at(60), to: at(61) },
    { agent_id: AGENT.id, policy_id: "pol_1" },
    { policy_id: "pol_1", gate: "budget" },
  ])
    assert.is(await count(query), 1, JSON.stringify(query));
  for (const query of [
    { gate: "rate" },
    { from: at(61) },
    { to: at(60) },
    { agent_id: "agt_9" },
    { policy_id: "pol_2" },
  ])
    assert.is(await count(query), 0, JSON.stringify(query));
  assert.is((await list({ from: "yesterday" })).outcome, "invalid-request");
});

test("cancelled while it runs nothing more is begun", async () => {
  const { cancel, get } = await world((it) => {
    begun(it);
    it.add(`bundle-${ID}`, FACTS.started(0, 1));
  });
  const { outcome, body } = await cancel(AGENT, { body: { reason: "a mistake" } });
  assert.equal([outcome, body.status, body.reason], [202, "rolling_back", "a mistake"]);
  assert.equal(statuses({ body }), ["running", "skipped"]);
  assert.is((await cancel(ADMIN)).body.reason, "a mistake");
  assert.is((await get()).body.status, "rolling_back");
});

test("a bundle cancelled before its first step has ended, its waiting caller is answered, and an ended one is not cancelled", async () => {
  const fresh = await world(begun);
  const answering = fresh.post({ ...ASKED, wait_ms: 30_000 });
  const { outcome, body } = await fresh.cancel(ADMIN);
  assert.equal([outcome, body.status, body.reason], [200, "rolled_back", "It was cancelled."]);
  assert.is((await answering).body.status, "rolled_back");
  const held = await world((it) => void it.add(`bundle-${ID}`, FACTS.held({}, { steps: STEPS })));
  const ended = await held.cancel();
  assert.equal([ended.outcome, ended.body.status, ended.body.hold_outcome], [200, "cancelled", "cancelled"]);
  assert.is(ended.body.reason, "The agent cancelled it.");
  const over = await world(left);
  const kept = async (): Promise<number> =>
    (await over.log.readAll(null, 1_000)).filter(({ type }) => type === "PersonalDataKept").length;
  const before = await kept();
  assert.is((await over.cancel(AGENT, { body: { reason: "too late" } })).outcome, "conflict");
  assert.is(await kept(), before, "the reason of a refused call is not kept");
  const blocked = await world((it) => void it.add(`bundle-${ID}`, FACTS.blocked({ steps: STEPS })));
  assert.is((await blocked.cancel()).outcome, "not-found");
});

test("one that was blocked before it was admitted, or held, was asked for when it was first, in the list and by itself", async () => {
  for (const decided of [
    [FACTS.admitted({ steps: STEPS, received_at: at(30) })],
    [FACTS.held({}, { steps: STEPS, received_at: at(30) })],
    [FACTS.blocked({ steps: STEPS, received_at: at(20) }), FACTS.admitted({ steps: STEPS, received_at: at(30) })],
    [FACTS.held({}, { steps: STEPS, received_at: at(30) }), FACTS.released(31)],
    [FACTS.held({}, { steps: STEPS, received_at: at(30) }), FACTS.holdEnded(31, "expired")],
  ]) {
    const { get, list } = await world((it) => {
      it.add(`bundle-${ID}`, FACTS.blocked({ steps: STEPS, received_at: at(10) }));
      for (const event of decided) it.add(`bundle-${ID}`, event);
    });
    const [listed] = (await list()).body.data as { created_at: string }[];
    assert.equal([(await get(AGENT)).body.created_at, listed?.created_at], [at(10), at(10)], decided.at(-1)?.type);
  }
});

test("a person says that a step was taken back by hand; with the last one the bundle is rolled back", async () => {
  const { resolve, get, list, project } = await world(left);
  assert.is((await resolve("1")).outcome, "conflict");
  assert.is((await resolve("2")).outcome, "not-found");
  for (const other of ["00", "00000", "0x0", "-0", ""]) assert.is((await resolve(other)).outcome, "not-found", other);
  assert.is((await resolve("0", APPROVER, { isStillAllowed: async () => false })).outcome, "forbidden");
  assert.is((await resolve("0", ADMIN)).outcome, "forbidden");

  const { outcome, body } = await resolve("0");
  assert.equal([outcome, body.status, body.left], [200, "rolled_back", undefined]);
  const [first] = (await get()).body.steps as { status: string; resolution: { by: string; comment: string } }[];
  assert.equal([first?.status, first?.resolution.by, first?.resolution.comment], ["compensated", "mem_1", "by phone"]);
  await project();
  assert.is(((await list({ status: "rolled_back" })).body.data as unknown[]).length, 1);
  assert.is((await resolve("0", APPROVER, { body: { comment: "again" } })).outcome, "conflict");
});

test("an ended bundle's payloads are erased with all that its steps and undos were sent and answered", async () => {
  const running = await world(begun);
  assert.is((await running.erase()).outcome, "conflict");

  const { log, erase, get } = await world(left);
  const { envelope } = callOf({ principal: APPROVER });
  const first = await erase(APPROVER, { envelope });
  assert.equal(
    [first.outcome, first.body],
    [200, { bundle_id: ID, erased_at: envelope.at, bytes_removed: "within-seconds" }],
  );
  for (const id of [ID, FIRST.event_id, FIRST.undo_event_id, SECOND.event_id])
    assert.equal(await log.read(`payload-${id}`, null, 10), []);
  const types = async (stream: string) => (await log.read(stream, null, 100)).map(({ type }) => type);
  assert.is((await types(`bundle-${ID}`)).at(-1), "BundlePayloadErased");
  for (const id of [FIRST.event_id, FIRST.undo_event_id])
    assert.is((await types(`delivery-${id}`)).at(-1), "PayloadErased");

  const { body } = await get(ADMIN);
  const [step] = body.steps as { result: unknown; status: string }[];
  assert.equal([body.payload_erased_at, step?.result], [envelope.at, { status_code: 200, body: null }]);
  assert.equal([body.status, step?.status], ["rollback_incomplete", "compensation_failed"]);

  // What was kept behind it, by whoever was too late, goes with a record of its own.
  await log.append(`payload-${ID}`, "any", toEvents([kept(ID, "[]")], envelope));
  const again = await erase();
  assert.equal([again.outcome, again.body.erased_at], [200, envelope.at]);
  assert.equal(await log.read(`payload-${ID}`, null, 10), []);
  assert.is((await types(`bundle-${ID}`)).filter((type) => type === "BundlePayloadErased").length, 2);
});

test.run();
