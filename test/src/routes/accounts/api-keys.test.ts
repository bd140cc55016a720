import { suite } from "uvu";
import * as assert from "uvu/assert";
import { API_KEYS_MAX } from "../../../../domain/account/decider.ts";
import { bearerKey, isBearerKey } from "../../../../infra/crypto/api-key.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { accountsWorld } from "../../../support/accounts-world.ts";
import { callOf } from "../../../support/call.ts";
import { failingLog } from "../../../support/failing-log.ts";

const test = suite("API keys");

const withOwner = async (options: Parameters<typeof accountsWorld>[0] = {}) => {
  const it = accountsWorld(options);
  const owner = await it.openAccount("ana@shop.example");
  const create = (body: object, principal: Principal = owner) => it.call("POST", "/v1/api-keys", { principal, body });
  const revoke = (id: unknown, principal: Principal = owner) =>
    it.call("DELETE", "/v1/api-keys/{id}", { principal, params: { id: String(id) } });
  const use = (key: unknown) => it.authenticate({ kind: "bearer", token: String(key) });
  return { ...it, owner, create, revoke, use };
};

test("a key speaks for its account with its role", async () => {
  const { create, use, owner } = await withOwner();
  const { outcome, body } = await create({ name: " ci ", role: "auditor" });
  assert.is(outcome, 201);
  assert.is(body.name, "ci");
  assert.ok(isBearerKey("csk", String(body.key)));
  assert.is(body.last4, String(body.key).slice(-4));
  assert.equal(await use(body.key), { kind: "key", account: owner.account, id: body.id, role: "auditor" });
});

test("the key is nowhere in the log", async () => {
  const { create, log } = await withOwner();
  const { body } = await create({ name: "ci" });
  assert.not.ok(JSON.stringify(await log.readAll(null, 100)).includes(String(body.key).slice(4, 34)));
});

test("a revoked key is refused at once here, and within 100 ms on another node", async () => {
  const { create, revoke, use, another, world } = await withOwner();
  const other = another();
  const { body } = await create({ name: "ci" });
  const token = String(body.key);
  assert.ok(await other.authenticate({ kind: "bearer", token }));
  assert.is((await revoke(body.id)).outcome, 204);
  assert.is(await use(token), null);
  world.now += 100;
  assert.is(await other.authenticate({ kind: "bearer", token }), null);
  assert.is((await revoke(body.id)).outcome, "not-found");
});

test("a key ends at its time", async () => {
  const { create, use, world } = await withOwner();
  const { body } = await create({ name: "ci", expires_at: "2026-03-01T13:00:01+01:00" });
  assert.is(body.expires_at, "2026-03-01T12:00:01.000Z");
  assert.ok(await use(body.key));
  world.now += 1_000;
  assert.is(await use(body.key), null);
});

test("a time in the past, or one that is none, is refused", async () => {
  const { create } = await withOwner();
  for (const expires_at of ["2026-03-01T12:00:00Z", "1970-01-01T00:00:00Z", "2026-02-30T99:00:00Z"])
    assert.is((await create({ name: "ci", expires_at })).outcome, "invalid-request");
});

test("an invented key, a mistyped one and one of an agent open nothing", async () => {
  const { create, use } = await withOwner();
  const { body } = await create({ name: "ci" });
  const key = String(body.key);
  const mistyped = key.slice(0, 10) + (key[10] === "a" ? "b" : "a") + key.slice(11);
  const invented = [bearerKey("csk", randomness.bytes(32)), bearerKey("csa", randomness.bytes(32))];
  for (const token of [...invented, mistyped, key.toUpperCase(), "", "csk_"]) assert.is(await use(token), null);
});

test("a mistyped key is refused without a look into the log", async () => {
  const log = memoryEventLog();
  let reads = 0;
  const counting = {
    ...log,
    read: (...given: Parameters<typeof log.read>) => {
      reads += 1;
      return log.read(...given);
    },
  };
  const { use } = await withOwner({ log: counting });
  const before = reads;
  await use(`csk_${"0".repeat(36)}`);
  assert.is(reads, before);
});

test("the repeat of a command that was cut off shows the same key, and the key works", async () => {
  const log = memoryEventLog();
  let cut = true;
  const { owner, call, use, types } = await withOwner({
    log: failingLog(log, (stream) => cut && stream.startsWith("apikey-")),
  });
  const { envelope, secret } = callOf({ principal: owner });
  const body = { name: "ci" };
  await call("POST", "/v1/api-keys", { principal: owner, envelope, secret, body }).then(
    () => assert.unreachable(),
    (error) => assert.is(error.name, "LogUnavailable"),
  );
  cut = false;
  const first = await call("POST", "/v1/api-keys", { principal: owner, envelope, secret, body });
  const again = await call("POST", "/v1/api-keys", { principal: owner, envelope, secret, body });
  assert.is(first.outcome, 201);
  assert.is(first.body.key, again.body.key);
  assert.ok(await use(first.body.key));
  assert.is((await types()).filter((type) => type === "ApiKeyCreated").length, 1);
});

test("an account has a bounded number of keys", async () => {
  const { create, revoke } = await withOwner();
  const ids: unknown[] = [];
  for (let i = 0; i < API_KEYS_MAX; i += 1) ids.push((await create({ name: `k${i}` })).body.id);
  assert.is((await create({ name: "one more" })).outcome, "conflict");
  await revoke(ids[0]);
  assert.is((await create({ name: "one more" })).outcome, 201);
});

test("the list shows what there is to know and never a key", async () => {
  const { create, revoke, call, project, owner, world, ...it } = await withOwner();
  await create({ name: "other" }, await it.openAccount("eve@other.example"));
  const { body: short } = await create({ name: "short", expires_at: "2026-03-01T12:00:01Z" });
  const { body: long } = await create({ name: "long", role: "viewer" });
  const { body: gone } = await create({ name: "gone" });
  await revoke(gone.id);
  await project();
  world.now += 2_000;
  const { body } = await call("GET", "/v1/api-keys", { principal: owner });
  const byName = new Map((body.data as { name: string }[]).map((key) => [key.name, key]));
  assert.equal([...byName.keys()].sort(), ["long", "short"]);
  const { id, last4, created_at } = long;
  const shown = { name: "long", role: "viewer", last4, expires_at: null, created_by: owner.id, created_at };
  assert.equal(byName.get("long"), { id, ...shown, status: "active", last_used_at: null });
  assert.is((byName.get("short") as { status?: string } | undefined)?.status, "expired");
  assert.not.ok(JSON.stringify(body).includes(String(short.key)));
});

test("a key of another account is the same nothing as one that never existed", async () => {
  const { create, revoke, use, ...it } = await withOwner();
  const { body } = await create({ name: "ci" });
  const stranger = await it.openAccount("eve@other.example");
  const foreign = await revoke(body.id, stranger);
  assert.is(foreign.outcome, "not-found");
  assert.equal(foreign, await revoke("key_none", stranger));
  assert.ok(await use(body.key));
});
test.run();
