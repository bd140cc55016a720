import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../../domain/json.ts";
import type { EventLog } from "../../../../domain/ports/event-log.ts";
import { isBearerKey } from "../../../../infra/crypto/api-key.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { LogUnavailable } from "../../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { agents } from "../../../../projections/agents.ts";
import { credentialHashes } from "../../../../src/accounts/credential-hashes.ts";
import { credentials } from "../../../../src/accounts/credentials.ts";
import { personalData } from "../../../../src/erasure/personal-data.ts";
import { agentRoutes } from "../../../../src/routes/agents/agents.ts";
import { aggregates } from "../../../../src/streams/aggregates.ts";
import { foldInto } from "../../../support/fold-into.ts";
import { ADMIN_KEY, bearer, OTHER_KEY, testApp, testClock } from "../../../support/http-app.ts";
import { issueKeys } from "../../../support/issued-keys.ts";
import { noControls } from "../../../support/no-controls.ts";
import { planSlots } from "../../../support/plan-slots.ts";
import { rewrittenLog } from "../../../support/rewritten-log.ts";

const test = suite("agents");

const world = async (log = memoryEventLog()) => {
  await issueKeys(log, [ADMIN_KEY, OTHER_KEY]);
  const clock = testClock();
  const views = memoryViewStore([agents.schema]);
  const streams = aggregates(log, clock);
  const policyExists = async (account: string, id: string) => account === "acc_a" && id === "pol_a";
  const hashes = credentialHashes(new Uint8Array(32).fill(7));
  const slots = planSlots(log, clock, streams);
  const personal = personalData(log, randomness);
  const app = await testApp(
    agentRoutes({ aggregates: streams, views, hashes, policyExists, slots, controls: noControls, personal }),
    { log, clock },
  );
  const call = async (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: object,
    token = "csk_admin",
    more = {},
  ) => {
    const answer = await app.inject({
      method,
      url: `/v1/agents${path}`,
      headers: { ...bearer(token), ...more },
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: answer.statusCode, body: answer.body === "" ? null : answer.json() };
  };
  const create = async (body: object = {}) =>
    (await call("POST", "", { name: " refunds ", scope: { actions: ["refund.*"] }, ...body })).body;
  const use = (key: string) =>
    credentials({ aggregates: aggregates(log, clock), hashes, clock })({ kind: "bearer", token: key });
  return { app, log, clock, hashes, call, create, use, project: () => foldInto(log, views, [agents]) };
};

test("an agent is registered with its own key, which is shown once and stored nowhere", async () => {
  const { app, call, create, use, log } = await world();
  const made = await create({ policy_id: "pol_a" });
  assert.match(made.id, /^agt_[a-z2-7]{32}$/);
  assert.ok(isBearerKey("csa", made.key));
  assert.equal(
    [made.name, made.policy_id, made.scope, made.status],
    ["refunds", "pol_a", { actions: ["refund.*"] }, "active"],
  );
  assert.equal(await use(made.key), { kind: "agent", account: "acc_a", id: made.id });
  const { key, ...shown } = made;
  assert.equal((await call("GET", `/${made.id}`)).body, shown);
  assert.not(JSON.stringify(await log.readAll(null, 100)).includes(key.slice(4, 34)));
  await app.close();
});

test("the same Idempotency-Key makes one agent and shows its key again", async () => {
  const { app, call } = await world();
  const body = { name: "one", scope: { actions: ["*"] } };
  const [first, again] = [
    await call("POST", "", body, "csk_admin", { "idempotency-key": "k" }),
    await call("POST", "", body, "csk_admin", { "idempotency-key": "k" }),
  ];
  assert.equal(again.body, first.body);
  await app.close();
});

test("a new key ends the one before, and a deleted agent's ends with it", async () => {
  const { app, call, create, use } = await world();
  const { id, key } = await create();
  const rotated = await call("POST", `/${id}/key`);
  assert.is(rotated.status, 200);
  assert.is(await use(key), null);
  assert.is((await use(rotated.body.key))?.id, id);
  assert.is((await call("DELETE", `/${id}`)).status, 204);
  assert.is(await use(rotated.body.key), null);
  assert.is((await call("GET", `/${id}`)).status, 404);
  assert.is((await call("POST", `/${id}/key`)).status, 404);
  await app.close();
});

test("suspended with a reason and resumed, each as often as one likes", async () => {
  const { app, call, create } = await world();
  const { id } = await create();
  const suspended = await call("POST", `/${id}/suspend`, { reason: " it loops " });
  assert.equal(
    [suspended.status, suspended.body.status, suspended.body.suspended_reason],
    [200, "suspended", "it loops"],
  );
  const twice = await call("POST", `/${id}/suspend`, { reason: "another" });
  assert.is(twice.body.suspended_reason, "it loops");
  const resumed = await call("POST", `/${id}/resume`);
  assert.equal([resumed.body.status, resumed.body.suspended_reason, resumed.body.suspended_at], ["active", null, null]);
  assert.is((await call("POST", `/${id}/resume`)).status, 200);
  await app.close();
});

test("the reason of a suspension that is refused, or changes nothing, is forgotten at once", async () => {
  const log = memoryEventLog();
  let beforeKept = async (): Promise<void> => undefined;
  const kept: string[] = [];
  const { app, call, create } = await world({
    ...log,
    async append(stream, expected, events) {
      if (events[0]?.type !== "PersonalDataKept") return log.append(stream, expected, events);
      await beforeKept();
      kept.push(stream);
      return log.append(stream, expected, events);
    },
  });
  const { id } = await create();
  assert.is((await call("POST", `/${id}/suspend`, { reason: "it loops" })).status, 200);
  assert.is((await call("POST", `/${id}/suspend`, { reason: "again" })).status, 200);
  beforeKept = async () => {
    assert.is((await call("DELETE", `/${id}`)).status, 204);
  };
  assert.is((await call("POST", `/${id}/suspend`, { reason: "too late" })).status, 404);
  const left = await Promise.all(kept.map(async (stream) => (await log.last(stream))?.data.value ?? null));
  assert.equal(left, ["it loops", null, null]);
  await app.close();
});

test("an answer names the invalid scope or the policy that is not the account's", async () => {
  const { app, call, create } = await world();
  const { id } = await create();
  const bad = { actions: ["refund.create", "refund*"] };
  for (const [method, path] of [
    ["POST", ""],
    ["PATCH", `/${id}`],
  ] as const) {
    const wrong = await call(method, path, { name: "n", scope: bad });
    assert.equal([wrong.status, wrong.body.errors[0].path], [400, "/scope/actions/1"]);
    const foreign = await call(method, path, { name: "n", scope: { actions: [] }, policy_id: "pol_b" });
    assert.equal([foreign.status, foreign.body.errors[0].path], [404, "/policy_id"]);
  }
  await app.close();
});

test("the list shows what was changed, newest first, and nothing of another account", async () => {
  const { app, clock, call, create, project } = await world();
  const first = await create();
  clock.advance(1_000);
  const second = await create({ name: "second" });
  await call("PATCH", `/${first.id}`, { name: "first", scope: { actions: ["mail.send"] } });
  await call("POST", `/${second.id}/suspend`, { reason: "why not" });
  await project();
  const { data } = (await call("GET", "")).body;
  assert.equal(
    data.map((it: Record<string, unknown>) => [it.name, it.status, it.scope]),
    [
      ["second", "suspended", { actions: ["refund.*"] }],
      ["first", "active", { actions: ["mail.send"] }],
    ],
  );
  assert.is(data[0].key, undefined);
  const foreign = await call("GET", `/${first.id}`, undefined, "csk_other");
  assert.is(foreign.status, 404);
  await app.close();
});

test("an agent's key opens nothing that is not for agents", async () => {
  const { app, call } = await world();
  assert.is((await call("GET", "", undefined, "csa_agent")).status, 403);
  await app.close();
});

test("a record rewritten to another agent or to another key lets no one in", async () => {
  const { app, log, clock, hashes, create } = await world();
  const [mine, other] = [await create(), await create({ name: "payments" })];
  const seen = (type: string, data: (data: JsonObject) => JsonObject) => {
    const streams = aggregates(rewrittenLog(log, { type, data }), clock);
    return credentials({ aggregates: streams, hashes, clock })({ kind: "bearer", token: mine.key });
  };
  assert.is((await seen("AgentRegistered", (data) => data))?.id, mine.id);
  assert.is(await seen("AgentKeyIssued", (data) => ({ ...data, agent_id: other.id })), null);
  const digests = (await log.readAll(null, 100))
    .filter(({ type }) => type === "AgentRegistered")
    .map(({ data }) => data);
  const digest = digests.find(({ agent_id }) => agent_id === mine.id)?.digest ?? "";
  // My key's own hash, copied to the other agent's record.
  const copied = await Promise.all([
    seen("AgentKeyIssued", (data) => ({ ...data, agent_id: other.id })),
    seen("AgentRegistered", (data) => ({ ...data, digest, agent_id: other.id })),
  ]);
  assert.equal(copied, [null, null]);
  await app.close();
});

test("keys are random, and a repeat whose first answer was lost in a crash gets the same one", async () => {
  let isLosing = true;
  const lossy = memoryEventLog();
  const append: EventLog["append"] = async (stream, expected, events) => {
    if (isLosing && events.some(({ type }) => type === "RequestAnswered")) throw new LogUnavailable("lost");
    return lossy.append(stream, expected, events);
  };
  const { app, clock, call } = await world({ ...lossy, append });
  const body = { name: "refunds", scope: { actions: ["refund.*"] } };
  const keyed = (key: string) => call("POST", "", body, "csk_admin", { "idempotency-key": key });
  const first = await keyed("a");
  isLosing = false;
  clock.advance(60_000);
  const again = await keyed("a");
  assert.equal(again.body, first.body);
  assert.equal((await keyed("a")).body, first.body);
  assert.is.not((await keyed("b")).body.key, first.body.key);
  const text = JSON.stringify(await lossy.readAll(null, 100));
  assert.not.ok(text.includes(first.body.key.slice(4, 34)));
  await app.close();
});

test.run();
