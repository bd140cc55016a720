import { suite } from "uvu";
import * as assert from "uvu/assert";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { DEVICE_LOGIN_S } from "../../../../src/accounts/device-logins.ts";
import { randomUserCode, shownUserCode, userCodeOf } from "../../../../src/accounts/user-code.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { accountsWorld } from "../../../support/accounts-world.ts";
import type { Called } from "../../../support/call.ts";
import { PUBLIC_URL } from "../../../support/http-app.ts";

const test = suite("the login of a command line, over its routes");

const CLIENT = "countersign-cli";
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

type World = ReturnType<typeof accountsWorld>;
type Node = Pick<World, "call">;

const envelopeAt = (world: World, principal?: Principal) => ({
  commandId: `cmd_at_${world.world.now}_${Math.random()}`,
  account: principal?.account ?? "",
  actor: { kind: principal?.kind ?? ("system" as const), id: principal?.id ?? "public" },
  trace: { trace_id: "00000000000000000000000000000001", span_id: "0000000000000001" },
  at: new Date(world.world.now).toISOString(),
});

const ask = async (node: Node): Promise<{ device_code: string; user_code: string }> => {
  const { outcome, body } = await node.call("POST", "/v1/auth/device", {
    body: { client_id: CLIENT, device_name: "laptop" },
    userAgent: "countersign/0.1.0",
  });
  assert.is(outcome, 200);
  return { device_code: String(body.device_code), user_code: String(body.user_code) };
};

/** Polls after the pace, so that `slow-down` is not in the way. */
const poll = (world: World, device_code: string, node: Node = world): Promise<Called> => {
  world.world.now += 5_000;
  const body = { client_id: CLIENT, grant_type: GRANT, device_code };
  return node.call("POST", "/v1/auth/device/token", { body, envelope: envelopeAt(world) });
};

const decide = (world: World, act: "request" | "approve" | "deny", principal: Principal, user_code: string) =>
  world.call("POST", `/v1/auth/device/${act}`, {
    principal,
    body: { user_code },
    envelope: envelopeAt(world, principal),
  });

test("a member lets a command line in, which gets a session of its own, once", async () => {
  const world = accountsWorld();
  const ana = await world.openAccount("ana@shop.example");
  const asked = await world.call("POST", "/v1/auth/device", { body: { client_id: CLIENT, device_name: "laptop" } });
  const { device_code, user_code } = asked.body as { device_code: string; user_code: string };
  assert.match(user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.is(asked.body.verification_uri, `${PUBLIC_URL}/device`);
  assert.is(asked.body.verification_uri_complete, `${PUBLIC_URL}/device#${user_code}`);
  assert.equal([asked.body.expires_in, asked.body.interval], [DEVICE_LOGIN_S, 5]);

  const waiting = await poll(world, device_code);
  assert.is(waiting.outcome, "authorization-pending");
  const shown = await decide(world, "request", ana, user_code.toLowerCase().replace("-", " "));
  assert.equal([shown.body.device_name, shown.body.ip, shown.body.user_code], ["laptop", "192.0.2.1", user_code]);
  assert.is((await poll(world, device_code)).outcome, "authorization-pending", "a read decides nothing");

  assert.is((await decide(world, "approve", ana, user_code)).outcome, 204);
  const done = await poll(world, device_code);
  const signedInAt = new Date(world.world.now).toISOString();
  assert.is(done.outcome, 200);
  assert.is(done.body.token_type, "Bearer");
  assert.not.ok("set-cookie" in done.headers);
  const token = String(done.body.access_token);
  const principal = await world.authenticate({ kind: "bearer", token });
  assert.ok(principal?.kind === "member");
  assert.equal([principal.id, principal.account], [ana.id, ana.account]);
  assert.is(await world.authenticate({ kind: "session", token }), null, "it is no cookie");

  assert.is((await poll(world, device_code)).outcome, "expired-token", "a code is redeemed once");
  assert.is((await decide(world, "approve", ana, user_code)).outcome, "not-found");
  const listed = await world.call("GET", "/v1/auth/sessions", { principal: ana });
  const made = (listed.body.data as { made_by: string }[]).map(({ made_by }) => made_by);
  assert.equal(made.sort(), ["browser", "command-line"]);
  await world.project();
  const members = await world.call("GET", "/v1/members", { principal: ana });
  const [{ last_sign_in_at }] = members.body.data as [{ last_sign_in_at: string }];
  assert.is(last_sign_in_at, signedInAt, "a command line's login is a sign-in");
  assert.is((await world.call("POST", "/v1/auth/logout", { principal })).outcome, 204);
  assert.is(await world.authenticate({ kind: "bearer", token }), null);
});

test("neither code is in the log, and the record of the approval is the account's", async () => {
  const world = accountsWorld();
  const ana = await world.openAccount("ana@shop.example");
  const { device_code, user_code } = await ask(world);
  await decide(world, "approve", ana, user_code);
  const token = String((await poll(world, device_code)).body.access_token);
  const records = await world.log.readAll(null, 500);
  const text = JSON.stringify(records);
  for (const secret of [user_code, user_code.replace("-", ""), device_code.split(".")[0] ?? "", token])
    assert.not.match(text, secret);
  const approved = records.find(({ type }) => type === "DeviceLoginApproved");
  assert.equal([approved?.meta.account, approved?.meta.actor.id], [ana.account, ana.id]);
});

test("a login that was refused ends, and another one cannot be tried with its code", async () => {
  const world = accountsWorld();
  const ana = await world.openAccount("ana@shop.example");
  const { device_code, user_code } = await ask(world);
  assert.is((await decide(world, "deny", ana, user_code)).outcome, 204);
  const refused = await poll(world, device_code);
  assert.is(refused.outcome, "access-denied");
  assert.is((await decide(world, "approve", ana, user_code)).outcome, "not-found");
});

test("a code expires, and a changed password or a removed member ends an approved login", async () => {
  const world = accountsWorld();
  const ana = await world.openAccount("ana@shop.example");
  const first = await ask(world);
  world.world.now += DEVICE_LOGIN_S * 1_000;
  assert.is((await decide(world, "approve", ana, first.user_code)).outcome, "not-found");
  assert.is((await poll(world, first.device_code)).outcome, "expired-token");

  const second = await ask(world);
  assert.is((await decide(world, "approve", ana, second.user_code)).outcome, 204);
  const end = await world.call("DELETE", "/v1/auth/sessions", { principal: ana });
  assert.is(end.outcome, 204);
  assert.is((await poll(world, second.device_code)).outcome, "expired-token");
});

test("it works over two nodes, and of two that redeem at once one gets a session", async () => {
  const world = accountsWorld();
  const other = world.another();
  const ana = await world.openAccount("ana@shop.example");
  const { device_code, user_code } = await ask(other);
  assert.is((await decide(world, "approve", ana, user_code)).outcome, 204);
  world.world.now += 5_000;
  const [one, two] = await Promise.all([poll(world, device_code), poll(world, device_code, other)]);
  assert.equal([one?.outcome, two?.outcome].sort(), [200, "expired-token"]);
});

test("a command line that asks too often is slowed down, and a network has so many requests an hour", async () => {
  const world = accountsWorld();
  const { device_code } = await ask(world);
  const body = { client_id: CLIENT, grant_type: GRANT, device_code };
  const now = () => world.call("POST", "/v1/auth/device/token", { body });
  assert.is((await now()).outcome, "authorization-pending");
  assert.is((await now()).outcome, "slow-down");
  let last = "";
  for (let n = 0; n < 100 && last !== "rate-limited"; n += 1)
    last = String((await world.call("POST", "/v1/auth/device", { body: { client_id: CLIENT } })).outcome);
  assert.is(last, "rate-limited");
  const elsewhere = await world.call("POST", "/v1/auth/device", { body: { client_id: CLIENT }, ip: "198.51.100.7" });
  assert.is(elsewhere.outcome, 200);
});

test("a member has ten wrong codes in a quarter of an hour, and a right one counts for none", async () => {
  const world = accountsWorld();
  const ana = await world.openAccount("ana@shop.example");
  const { user_code } = await ask(world);
  for (let n = 0; n < 12; n += 1) assert.is((await decide(world, "request", ana, user_code)).outcome, 200);
  for (let n = 0; n < 10; n += 1)
    assert.is((await decide(world, "request", ana, shownUserCode(randomUserCode(randomness)))).outcome, "not-found");
  assert.is((await decide(world, "approve", ana, user_code)).outcome, "rate-limited");
});

test("a session of the command line lets no other command line in", async () => {
  const world = accountsWorld();
  const ana = await world.openAccount("ana@shop.example");
  const first = await ask(world);
  await decide(world, "approve", ana, first.user_code);
  const token = String((await poll(world, first.device_code)).body.access_token);
  const principal = await world.authenticate({ kind: "bearer", token });
  assert.ok(principal);
  const second = await ask(world);
  assert.is((await decide(world, "approve", principal, second.user_code)).outcome, "forbidden");
});

test("a device code with another secret, or of another request, is nothing", async () => {
  const world = accountsWorld();
  const [one, two] = [await ask(world), await ask(world)];
  const mixed = `${one.device_code.split(".")[0]}.${two.device_code.split(".")[1]}`;
  for (const code of [mixed, "a", `${one.device_code}a`, one.user_code])
    assert.is((await poll(world, code)).outcome, "expired-token", code);
});

test("user codes use every letter, and are read with or without what separates them", () => {
  const codes = Array.from({ length: 400 }, () => randomUserCode(randomness));
  assert.is(new Set(codes.join("")).size, 20);
  assert.is(new Set(codes).size, codes.length);
  assert.is(userCodeOf(" bcdf-ghjk "), "BCDFGHJK");
  for (const wrong of ["", "BCDF", "BCDF-GHJA", "BCDFGHJKL", "BCDF-GHJ0"]) assert.is(userCodeOf(wrong), null, wrong);
});

test.run();
