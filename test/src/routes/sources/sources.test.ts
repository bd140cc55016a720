import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../../domain/account/plans.ts";
import { source } from "../../../../domain/source/decider.ts";
import { PROVIDER_TYPES } from "../../../../domain/source/events.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { secretBox } from "../../../../infra/crypto/secret-box.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { sources } from "../../../../projections/sources.ts";
import { checkSecret } from "../../../../src/providers/catalogue.ts";
import { sourceRoutes } from "../../../../src/routes/sources/sources.ts";
import { aggregates } from "../../../../src/streams/aggregates.ts";
import { caller, callOf } from "../../../support/call.ts";
import { foldInto } from "../../../support/fold-into.ts";
import { ADMIN_KEY, bearer, OTHER_KEY, PUBLIC_URL, testApp, testClock } from "../../../support/http-app.ts";
import { issueKeys } from "../../../support/issued-keys.ts";
import { noControls } from "../../../support/no-controls.ts";
import { planSlots, slotsTaken } from "../../../support/plan-slots.ts";

const test = suite("sources");

const KEY = new Uint8Array(32).fill(7);
const DAY_MS = 86_400_000;

const world = async ({ limit = 100 } = {}) => {
  const log = memoryEventLog();
  await issueKeys(log, [ADMIN_KEY, OTHER_KEY]);
  const clock = testClock();
  const views = memoryViewStore([sources.schema]);
  const box = secretBox(KEY, randomness);
  const store = aggregates(log, clock);
  const routes = sourceRoutes({
    aggregates: store,
    views,
    box,
    publicUrl: () => PUBLIC_URL,
    controls: noControls,
    slots: planSlots(log, clock, store, { ...PLANS.scale, endpoints: limit }),
    endpointExists: async (account, id) => account === "acc_a" && id === "end_a",
    policyExists: async (account, id) => account === "acc_a" && id === "pol_a",
  });
  const app = await testApp(routes, { log, clock });
  const call = async (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: object,
    token = "csk_admin",
    more = {},
  ) => {
    const headers = { ...bearer(token), ...more };
    const answer = await app.inject({
      method,
      url: `/v1/sources${path}`,
      headers,
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: answer.statusCode, body: answer.body === "" ? null : answer.json(), headers: answer.headers };
  };
  const create = async (body: object = {}) => (await call("POST", "", { name: "shop", type: "stripe", ...body })).body;
  /** The secrets that a request would be checked with. */
  const secrets = async (id: string): Promise<string[]> => {
    const { state } = await store.load(source, `source-${id}`);
    if (state.phase !== "present") return [];
    const place = { account: state.account, stream: `source-${id}`, field: "secret" };
    return state.secrets.map(({ sealed }) => box.open(sealed, place));
  };
  const taken = () => slotsTaken(log, clock, "acc_a", "sources");
  return { log, clock, views, taken, app, routes, call, create, secrets, fold: () => foldInto(log, views, [sources]) };
};

test("a source is registered with a secret made for its type, shown this once", async () => {
  const { call, secrets, app } = await world();
  for (const type of PROVIDER_TYPES) {
    const { status, body } = await call("POST", "", { name: " shop ", type });
    assert.is(status, 201, type);
    assert.match(body.id, /^src_[a-z2-7]{32}$/);
    assert.is(body.name, "shop");
    assert.is(body.status, "active");
    assert.is(body.ingest_url, `${PUBLIC_URL}/v1/webhooks/${type}/${body.id}`);
    assert.is(checkSecret(type, body.secret), null);
    assert.equal(await secrets(body.id), [body.secret]);
    const { secret: _, ...shown } = body;
    assert.equal((await call("GET", `/${body.id}`)).body, shown);
  }
  await app.close();
});

test("a given secret is kept and not shown, and stands nowhere in the log", async () => {
  const { create, secrets, log, app } = await world();
  const body = await create({ secret: "whsec_given_by_stripe" });
  assert.is(body.secret, undefined);
  assert.equal(await secrets(body.id), ["whsec_given_by_stripe"]);
  assert.not(JSON.stringify(await log.readAll(null, 100)).includes("whsec_given"));
  await app.close();
});

test("an unknown type is answered with the list of known ones", async () => {
  const { call, app } = await world();
  const { status, body } = await call("POST", "", { name: "shop", type: "paypal" });
  assert.is(status, 422);
  assert.is(body.code, "unknown-provider");
  assert.equal(body.providers, [...PROVIDER_TYPES]);
  assert.ok(body.detail.includes("standard-webhooks"));
  await app.close();
});

test("a wrong secret, a stray auth and a bad rule are said with their place", async () => {
  const { call, app } = await world();
  const refused = [
    [{ secret: "not hex", type: "adyen" }, "/secret"],
    [{ auth: { header: "X-Sig" } }, "/auth"],
    [{ dedupe: { pointer: "/a~2" } }, "/dedupe/pointer"],
    [{ type: "hmac", auth: { header: "a b" } }, "/auth/header"],
    [{ type: "hmac", auth: { algorithm: "sha1" } }, "/auth/algorithm"],
    [{ name: "" }, "/name"],
    [{ color: "red" }, "/color"],
  ] as const;
  for (const [over, path] of refused) {
    const { status, body } = await call("POST", "", { name: "shop", type: "stripe", ...over });
    assert.is(status, 400, path);
    assert.is(body.code, "invalid-request");
    assert.ok(
      body.errors.some((error: { path: string }) => error.path === path),
      JSON.stringify(body),
    );
  }
  for (const dedupe of [{ header: "X-Id", pointer: "/id" }, {}]) {
    const { status, body } = await call("POST", "", { name: "shop", type: "hmac", dedupe });
    assert.equal([status, body.detail], [400, "/dedupe must have either header or pointer."]);
  }
  await app.close();
});

test("a source that no sender could ever satisfy is not made: one header is not both signature and time", async () => {
  const { call, app } = await world();
  for (const auth of [{ header: "X-Sent", timestamp_header: "x-sent" }, { timestamp_header: "X-SIGNATURE" }]) {
    const { status, body } = await call("POST", "", { name: "shop", type: "hmac", auth });
    assert.equal([status, body.errors?.[0]?.path], [400, "/auth/timestamp_header"]);
  }
  await app.close();
});

test("hmac is what was asked for, with the defaults for the rest", async () => {
  const { create, app } = await world();
  const plain = await create({ type: "hmac" });
  assert.equal(plain.auth, { header: "X-Signature", algorithm: "sha256", encoding: "hex" });
  const auth = { header: "X-Sig", algorithm: "sha512", encoding: "base64", prefix: "v1=", timestamp_header: "X-Time" };
  const dedupe = { header: "X-Delivery-Id" };
  const full = await create({ type: "hmac", auth, dedupe });
  assert.equal(full.auth, auth);
  assert.equal(full.dedupe, dedupe);
  assert.is((await create({ type: "stripe" })).auth, null);
  await app.close();
});

test("over the plan a source is refused; a deleted one makes room", async () => {
  const { call, create, taken, app } = await world({ limit: 1 });
  const first = await create();
  const { status, body } = await call("POST", "", { name: "second", type: "github" });
  assert.is(status, 403);
  assert.is(body.code, "plan-limit");
  assert.is((await call("DELETE", `/${first.id}`)).status, 204);
  assert.is(await taken(), 0);
  assert.is((await call("POST", "", { name: "second", type: "github" })).status, 201);
  await app.close();
});

test("a refused body takes no place of the plan", async () => {
  const { call, taken, app } = await world();
  await call("POST", "", { name: "shop", type: "adyen", secret: "not hex" });
  await call("POST", "", { name: "shop", type: "stripe", endpoint_id: "end_b" });
  assert.is(await taken(), 0);
  await app.close();
});

test("policy and endpoint are attached and detached, and must be the account's own", async () => {
  const { call, create, app } = await world();
  const made = await create({ policy_id: "pol_a", endpoint_id: "end_a" });
  assert.is(made.policy_id, "pol_a");
  const detached = await call("PATCH", `/${made.id}`, { policy_id: null, endpoint_id: null });
  assert.is(detached.status, 200);
  assert.equal([detached.body.policy_id, detached.body.endpoint_id], [null, null]);
  for (const over of [{ policy_id: "pol_b" }, { endpoint_id: "end_b" }]) {
    assert.is((await call("PATCH", `/${made.id}`, over)).body.code, "not-found");
    assert.is((await call("POST", "", { name: "x", type: "stripe", ...over })).body.code, "not-found");
  }
  await app.close();
});

test("a source is paused and active again; what is left out stays", async () => {
  const { call, create, app } = await world();
  const { id } = await create({ endpoint_id: "end_a" });
  const paused = await call("PATCH", `/${id}`, { status: "paused" });
  assert.equal([paused.body.status, paused.body.endpoint_id, paused.body.name], ["paused", "end_a", "shop"]);
  assert.ok(paused.headers["countersign-position"]);
  assert.is((await call("PATCH", `/${id}`, { status: "gone" })).status, 400);
  assert.is((await call("PATCH", `/${id}`, { type: "github" })).status, 400);
  assert.is((await call("PATCH", `/${id}`, { status: "active", name: " new " })).body.name, "new");
  await app.close();
});

test("a rotated secret is valid beside the one before, for 24 hours", async () => {
  const { call, create, secrets, clock, app } = await world();
  const { id, secret } = await create();
  const rotated = await call("POST", `/${id}/secret`);
  assert.is(rotated.status, 200);
  assert.equal(await secrets(id), [rotated.body.secret, secret]);
  assert.is(Date.parse(rotated.body.previous_valid_until), clock.now() + DAY_MS);
  const given = await call("POST", `/${id}/secret`, { secret: "whsec_new" });
  assert.is(given.body.secret, undefined);
  assert.equal(await secrets(id), ["whsec_new", rotated.body.secret, secret]);
  assert.is((await call("POST", `/${id}/secret`, { secret: "sk_live_1" })).status, 400);
  await app.close();
});

test("the same command again, after a crash before its answer, makes the same source and shows the same secret", async () => {
  const { routes, log, app } = await world();
  const route = caller(routes);
  const { envelope, secret } = callOf({ principal: ADMIN_KEY });
  const again = { principal: ADMIN_KEY, envelope, secret, body: { name: "shop", type: "stripe" } };
  const first = await route("POST", "/v1/sources", again);
  assert.is(first.outcome, 201);
  assert.equal(await route("POST", "/v1/sources", again), first);
  const params = { id: String(first.body.id) };
  const { secret: next } = callOf({});
  const name = { ...envelope, commandId: "cmd_rotate" };
  const rotation = { principal: ADMIN_KEY, params, body: {}, envelope: name, secret: next };
  const rotated = await route("POST", "/v1/sources/{id}/secret", rotation);
  assert.is.not(rotated.body.secret, first.body.secret);
  const later = { ...rotation, envelope: { ...rotation.envelope, at: "2026-03-01T12:00:05.000Z" } };
  assert.equal(await route("POST", "/v1/sources/{id}/secret", later), rotated);
  assert.equal(
    (await log.readAll(null, 100)).map(({ type }) => type),
    ["ApiKeyIssued", "ApiKeyIssued", "Reserved", "SourceRegistered", "SourceSecretRotated"],
  );
  await app.close();
});

test("another account finds nothing, with the answer for an id that never was", async () => {
  const { call, create, app } = await world();
  const { id } = await create();
  const never = `src_${"a".repeat(32)}`;
  const calls = [
    ["GET", ""],
    ["PATCH", "", { name: "mine" }],
    ["DELETE", ""],
    ["POST", "/secret"],
  ] as const;
  for (const [method, path, body] of calls) {
    const answers = [];
    for (const one of [id, never, "src_1", "x".repeat(90)]) {
      const answer = await call(method, `/${one}${path}`, body, "csk_other");
      const { trace_id: _, ...rest } = answer.body;
      answers.push(rest);
    }
    for (const answer of answers) assert.equal(answer, answers[0]);
    assert.is(answers[0].status, 404);
  }
  assert.is((await call("GET", `/${id}`)).status, 200);
  await app.close();
});

test("a deleted source is gone, and deleting it again finds nothing", async () => {
  const { call, create, taken, app } = await world();
  const { id } = await create();
  assert.is((await call("DELETE", `/${id}`)).status, 204);
  assert.is((await call("GET", `/${id}`)).status, 404);
  assert.is((await call("DELETE", `/${id}`)).status, 404);
  assert.is(await taken(), 0);
  await app.close();
});

test("a viewer sees and does not change", async () => {
  const { call, create, app } = await world();
  const { id } = await create();
  assert.is((await call("GET", `/${id}`, undefined, "csk_viewer")).status, 200);
  assert.is((await call("PATCH", `/${id}`, { name: "x" }, "csk_viewer")).status, 403);
  assert.is((await call("POST", "", { name: "x", type: "stripe" }, "csk_viewer")).status, 403);
  assert.is((await call("POST", `/${id}/secret`, undefined, "csk_viewer")).status, 403);
  await app.close();
});

test("the list shows the account's own sources, newest first, a page at a time", async () => {
  const { call, create, clock, fold, app } = await world();
  for (const name of ["one", "two", "three"]) {
    await create({ name });
    clock.advance(1_000);
  }
  await fold();
  const first = await call("GET", "?limit=2");
  assert.equal(
    first.body.data.map(({ name }: { name: string }) => name),
    ["three", "two"],
  );
  const second = await call("GET", `?limit=2&cursor=${first.body.next_cursor}`);
  assert.equal(
    second.body.data.map(({ name }: { name: string }) => name),
    ["one"],
  );
  const [shown] = second.body.data;
  assert.equal(shown, (await call("GET", `/${shown.id}`)).body);
  assert.equal((await call("GET", "", undefined, "csk_other")).body.data, []);
  await app.close();
});

test.run();
