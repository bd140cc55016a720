import { suite } from "uvu";
import * as assert from "uvu/assert";
import { randomness } from "../../infra/crypto/randomness.ts";
import { SESSION_LIFETIME_S } from "../../src/sessions.ts";
import { accountsWorld } from "../support/accounts-world.ts";

const test = suite("credentials");

test("a session is its member, with the session named", async () => {
  const { signUp, cookieOf, authenticate } = accountsWorld();
  const signedUp = await signUp("ana@shop.example");
  const { account, member } = signedUp.body as { account: { id: string }; member: { id: string } };
  const principal = await authenticate({ kind: "session", token: cookieOf(signedUp) });
  assert.ok(principal?.kind === "member");
  const { session, ...who } = principal;
  assert.equal(who, { kind: "member", account: account.id, id: member.id, email: "ana@shop.example", role: "owner" });
  assert.match(session, /^session-ses_[a-z2-7]{32}$/);
});

test("a session ends by itself after two weeks", async () => {
  const { signUp, cookieOf, authenticate, world } = accountsWorld();
  const token = cookieOf(await signUp("ana@shop.example"));
  world.now += SESSION_LIFETIME_S * 1000 - 1;
  assert.ok(await authenticate({ kind: "session", token }));
  world.now += 1;
  assert.is(await authenticate({ kind: "session", token }), null);
});

test("a token that no login gave out is nobody's", async () => {
  const { signUp, cookieOf, authenticate } = accountsWorld();
  const token = cookieOf(await signUp("ana@shop.example"));
  const invented = Buffer.from(randomness.bytes(32)).toString("base64url");
  for (const other of [invented, "", "a", `${token}a`, token.toLowerCase(), "../..", "\u0000".repeat(43)])
    assert.is(await authenticate({ kind: "session", token: other }), null);
});

test("a session is no key and a key is no session", async () => {
  const { signUp, cookieOf, memberBy, call, authenticate } = accountsWorld();
  const token = cookieOf(await signUp("ana@shop.example"));
  const { body } = await call("POST", "/v1/api-keys", { principal: await memberBy(token), body: { name: "ci" } });
  assert.is(await authenticate({ kind: "bearer", token }), null);
  assert.is(await authenticate({ kind: "session", token: String(body.key) }), null);
});
test("a key that one node has just made holds on every other, also where the account was looked at a moment ago", async () => {
  const { signUp, cookieOf, memberBy, call, another } = accountsWorld();
  const token = cookieOf(await signUp("ana@shop.example"));
  const other = another();
  assert.ok(await other.authenticate({ kind: "session", token }));
  const { body } = await call("POST", "/v1/api-keys", { principal: await memberBy(token), body: { name: "ci" } });
  assert.ok(await other.authenticate({ kind: "bearer", token: String(body.key) }));
});

test.run();
