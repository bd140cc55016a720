import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { SESSION_LIFETIME_S } from "../../../src/accounts/sessions.ts";
import { accountsWorld, PASSWORD } from "../../support/accounts-world.ts";
import { rewrittenLog } from "../../support/rewritten-log.ts";

const test = suite("credentials");

test("a session authenticates its member and names the session", async () => {
  const { signUp, cookieOf, authenticate } = accountsWorld();
  const signedUp = await signUp("ana@shop.example");
  const { account, member } = signedUp.body as { account: { id: string }; member: { id: string } };
  const principal = await authenticate({ kind: "session", token: cookieOf(signedUp) });
  assert.ok(principal?.kind === "member");
  const { session, email: _, address: _hash, ...who } = principal;
  assert.equal(who, { kind: "member", account: account.id, id: member.id, role: "owner" });
  assert.match(session, /^session-ses_[a-z2-7]{32}$/);
});

test("a session expires after two weeks", async () => {
  const { signUp, cookieOf, authenticate, world } = accountsWorld();
  const token = cookieOf(await signUp("ana@shop.example"));
  world.now += SESSION_LIFETIME_S * 1000 - 1;
  assert.ok(await authenticate({ kind: "session", token }));
  world.now += 1;
  assert.is(await authenticate({ kind: "session", token }), null);
});

test("a token that no login issued authenticates nobody", async () => {
  const { signUp, cookieOf, authenticate } = accountsWorld();
  const token = cookieOf(await signUp("ana@shop.example"));
  const invented = Buffer.from(randomness.bytes(32)).toString("base64url");
  for (const other of [invented, "", "a", `${token}a`, token.toLowerCase(), "../..", "\u0000".repeat(43)])
    assert.is(await authenticate({ kind: "session", token: other }), null);
});

test("a session token is not accepted as a key, nor a key as a session", async () => {
  const { signUp, cookieOf, memberBy, call, authenticate } = accountsWorld();
  const token = cookieOf(await signUp("ana@shop.example"));
  const { body } = await call("POST", "/v1/api-keys", { principal: await memberBy(token), body: { name: "ci" } });
  assert.is(await authenticate({ kind: "bearer", token }), null);
  assert.is(await authenticate({ kind: "session", token: String(body.key) }), null);
});
test("a key that one node has just made is valid on all nodes, also where the account is in the cache", async () => {
  const { signUp, cookieOf, memberBy, call, another } = accountsWorld();
  const token = cookieOf(await signUp("ana@shop.example"));
  const other = another();
  assert.ok(await other.authenticate({ kind: "session", token }));
  const { body } = await call("POST", "/v1/api-keys", { principal: await memberBy(token), body: { name: "ci" } });
  assert.ok(await other.authenticate({ kind: "bearer", token: String(body.key) }));
});

/** What a node makes of a credential after records of a type were rewritten in the log's file; null: nothing. */
type World = ReturnType<typeof accountsWorld>;
const seenBy = ({ log, another }: World, type: string, change: JsonObject) => {
  const { authenticate } = another(rewrittenLog(log, { type, data: (data) => ({ ...data, ...change }) }));
  return (kind: "session" | "bearer", token: string) => authenticate({ kind, token });
};

test("a session record rewritten to another member or a later expiry authenticates nobody", async () => {
  const world = accountsWorld();
  const owner = await world.openAccount("ana@shop.example");
  const { id } = await world.addMember(owner, "bob@shop.example");
  const other = await world.openAccount("eve@else.example");
  const token = world.cookieOf(await world.logIn("bob@shop.example"));
  const own = await world.memberBy(token);
  assert.is(own.id, id);
  const changes: readonly JsonObject[] = [
    { member: owner.id },
    { account: other.account, member: other.id },
    { epoch: 1 },
    { expires_at: "2099-01-01T00:00:00.000Z" },
    { mac: "" },
    { mac: "0".repeat(64) },
  ];
  for (const change of changes)
    assert.is(await seenBy(world, "SessionOpened", change)("session", token), null, JSON.stringify(change));
  assert.equal(await seenBy(world, "SessionOpened", {})("session", token), own);
});

test("an API key record rewritten to another account, role or expiry authenticates nobody", async () => {
  const world = accountsWorld();
  const owner = await world.openAccount("ana@shop.example");
  const other = await world.openAccount("eve@else.example");
  const expires_at = new Date(world.world.now + 1_000).toISOString();
  const body = { name: "ci", role: "viewer", expires_at };
  const { body: made } = await world.call("POST", "/v1/api-keys", { principal: owner, body });
  const token = String(made.key);
  assert.ok(await seenBy(world, "ApiKeyCreated", {})("bearer", token));
  // The hash that anybody can make of a key of their own.
  const digest = createHash("sha256").update(token).digest("hex");
  for (const change of [{ role: "admin" }, { expires_at: null }, { digest }])
    assert.is(await seenBy(world, "ApiKeyCreated", change)("bearer", token), null, JSON.stringify(change));
  assert.is(await seenBy(world, "ApiKeyIssued", { account: other.account })("bearer", token), null);
});

test("a role that was forged in the log's file grants nothing", async () => {
  const world = accountsWorld();
  const owner = await world.openAccount("ana@shop.example");
  const { id } = await world.addMember(owner, "bob@shop.example");
  const token = world.cookieOf(await world.logIn("bob@shop.example"));
  assert.is(await seenBy(world, "MemberAdded", { role: "owner" })("session", token), null);
  const params = { id };
  await world.call("PATCH", "/v1/members/{id}", { principal: owner, params, body: { role: "approver" } });
  const principal = await seenBy(world, "MemberRoleChanged", {})("session", token);
  assert.is(principal?.kind === "member" && principal.role, "approver");
  // The owner's own grant, copied.
  const added = (await world.log.readAll(null, 100)).find(({ type }) => type === "MemberAdded");
  for (const grant of [added?.data.grant ?? "", "00"])
    assert.is(await seenBy(world, "MemberRoleChanged", { role: "owner", grant })("session", token), null);
});

test("a claim rewritten to open an account whose record was removed makes no owner", async () => {
  const world = accountsWorld();
  const owner = await world.openAccount("ana@shop.example");
  const { id } = await world.addMember(owner, "bob@shop.example");
  const isBobs = ({ member }: JsonObject): boolean => member === id;
  const opens = { name: "shop", plan: "free", time_zone: "UTC", grant: "" };
  const claimed = rewrittenLog(world.log, {
    type: "EmailClaimed",
    data: (data) => (isBobs(data) ? { ...data, opens } : data),
  });
  const rest = memoryEventLog();
  const emptied = {
    ...rest,
    read: (...args: Parameters<EventLog["read"]>) => (args[0].startsWith("email-") ? claimed : rest).read(...args),
  };
  const node = world.another(emptied);
  const body = { email: "bob@shop.example", password: PASSWORD };
  await node.call("POST", "/v1/auth/login", { body });
  const added = (await emptied.readAll(null, 100)).filter(({ type }) => type === "MemberAdded");
  assert.equal(
    added.map(({ data }) => [data.role, data.grant]),
    [["owner", ""]],
  );
});

test("a claim rewritten to another member accepts no other password", async () => {
  const world = accountsWorld();
  const owner = await world.openAccount("ana@shop.example");
  await world.addMember(owner, "bob@shop.example");
  const { call } = world.another(
    rewrittenLog(world.log, {
      type: "EmailClaimed",
      data: (data) => (data.email === "bob@shop.example" ? { ...data, member: owner.id } : data),
    }),
  );
  // The owner's own password hash is what it is compared with.
  const body = { email: "bob@shop.example", password: `${PASSWORD} of bob` };
  assert.is((await call("POST", "/v1/auth/login", { body })).outcome, "invalid-credentials");
});

test.run();
