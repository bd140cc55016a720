import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ATTEMPT_LIMITS } from "../../../src/http/rate-limit.ts";
import { accountsWorld, PASSWORD } from "../../support/accounts-world.ts";

const test = suite("signup, login, logout");

test("a signup opens an account, its owner and a session", async () => {
  const { signUp, cookieOf, memberBy, types } = accountsWorld();
  const { outcome, body, headers } = await signUp(
    " Ana@Shop.Example ",
    {},
    { account_name: " Shop ", time_zone: "europe/madrid" },
  );
  assert.is(outcome, 201);
  const { account, member } = body as { account: Record<string, string>; member: Record<string, string> };
  assert.match(account.id ?? "", /^acc_[a-z2-7]{32}$/);
  assert.match(member.id ?? "", /^mem_[a-z2-7]{32}$/);
  assert.equal(account, { id: account.id, name: "Shop", plan: "free", time_zone: "Europe/Madrid" });
  assert.equal(member, { id: member.id, email: "ana@shop.example", role: "owner" });
  assert.match(
    headers["set-cookie"] ?? "",
    /^__Host-session=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=1209600$/,
  );
  const principal = await memberBy(cookieOf({ outcome, body, headers, detail: "", retryAfterS: undefined }));
  assert.is(principal.account, account.id);
  assert.equal(await types(), ["EmailClaimed", "AccountOpened", "MemberAdded", "SessionOpened"]);
});

test("neither a password, nor its hash, nor a token is in the log", async () => {
  const { signUp, cookieOf, log } = accountsWorld();
  const token = cookieOf(await signUp("ana@shop.example"));
  const text = JSON.stringify(await log.readAll(null, 100));
  for (const secret of [PASSWORD, "$argon2", token]) assert.not.ok(text.includes(secret));
});

test("an address is taken once, in whatever spelling, also by several at once", async () => {
  const { signUp, types } = accountsWorld();
  const outcomes = await Promise.all(
    ["ana@shop.example", "ANA@shop.example", " ana@SHOP.example", "ana@shop.example"].map((email) => signUp(email)),
  );
  assert.equal(
    outcomes.map(({ outcome }) => outcome).sort(),
    [201, "email-taken", "email-taken", "email-taken"].sort(),
  );
  assert.is((await types()).filter((type) => type === "AccountOpened").length, 1);
  assert.is((await signUp("Ana@shop.example")).outcome, "email-taken");
});

test("what is no address, no password or no time zone is refused with what to change", async () => {
  const { signUp, types } = accountsWorld();
  assert.is((await signUp("ana")).outcome, "invalid-request");
  const weak = await signUp("ana@shop.example", {}, { password: "password123" });
  assert.is(weak.outcome, "weak-password");
  assert.match(weak.detail, "commonest");
  for (const time_zone of ["Europe/Atlantis", "+01:00", "../etc/passwd"])
    assert.is((await signUp("ana@shop.example", {}, { time_zone })).outcome, "invalid-request");
  assert.equal(await types(), []);
});

test("a login answers as the signup did, with a session of its own", async () => {
  const { signUp, logIn, cookieOf } = accountsWorld();
  const signedUp = await signUp("ana@shop.example");
  const first = await logIn("ANA@shop.example");
  const second = await logIn("ana@shop.example");
  assert.is(first.outcome, 200);
  assert.equal(first.body, signedUp.body);
  assert.is(new Set([signedUp, first, second].map(cookieOf)).size, 3);
});

test("a wrong password and an unknown address are answered alike", async () => {
  const { signUp, logIn } = accountsWorld();
  await signUp("ana@shop.example");
  const wrong = await logIn("ana@shop.example", "correct house battery");
  const unknown = await logIn("bo@shop.example");
  assert.is(wrong.outcome, "invalid-credentials");
  assert.equal(wrong, unknown);
});

test("a password typed in decomposed characters is the same password", async () => {
  const { signUp, logIn } = accountsWorld();
  await signUp("ana@shop.example", {}, { password: "contrase\u00f1a larga" });
  assert.is((await logIn("ana@shop.example", "contrasen\u0303a larga")).outcome, 200);
});

test("a hundred wrong passwords at once are ten attempts, and the right one has to wait as well", async () => {
  const { signUp, logIn, world } = accountsWorld();
  await signUp("ana@shop.example");
  const guesses = await Promise.all(
    Array.from({ length: 100 }, (_, i) => logIn("ana@shop.example", `guess number ${i}`)),
  );
  assert.is(guesses.filter(({ outcome }) => outcome === "invalid-credentials").length, 10);
  assert.is(guesses.filter(({ outcome }) => outcome === "rate-limited").length, 90);
  const right = await logIn("ana@shop.example");
  assert.is(right.outcome, "rate-limited");
  assert.ok((right.retryAfterS ?? 0) > 0);
  world.now += ATTEMPT_LIMITS["failed-login-address"].windowMs;
  assert.is((await logIn("ana@shop.example")).outcome, 200);
});

test("right passwords are not counted", async () => {
  const { signUp, logIn } = accountsWorld();
  await signUp("ana@shop.example");
  for (let i = 0; i < 12; i += 1) assert.is((await logIn("ana@shop.example")).outcome, 200);
});

test("signups of one address of the network are limited, those of others are not", async () => {
  // Taken addresses: counted before they are looked at, and quick.
  const { signUp } = accountsWorld();
  await signUp("ana@shop.example");
  const more = ATTEMPT_LIMITS["signup-ip"].limit - 1;
  for (let i = 0; i < more; i += 1) assert.is((await signUp("ana@shop.example")).outcome, "email-taken");
  assert.is((await signUp("bo@shop.example")).outcome, "rate-limited");
  assert.is((await signUp("bo@shop.example", { ip: "192.0.2.2" })).outcome, 201);
});

test("a storm of logins is told to come again, and costs nobody an attempt", async () => {
  const { signUp, logIn } = accountsWorld({ line: { atOnce: 1, waitingMax: 1 } });
  await signUp("ana@shop.example");
  const storm = await Promise.all(Array.from({ length: 9 }, () => logIn("ana@shop.example")));
  assert.equal(
    storm.map(({ outcome }) => outcome),
    [200, 200, ...Array(7).fill("overloaded")],
  );
  for (let i = 0; i < 9; i += 1)
    assert.is((await logIn("ana@shop.example", "a wrong one")).outcome, "invalid-credentials");
  assert.is((await logIn("ana@shop.example")).outcome, 200);
});

test("a session ends with the logout, on every node, and not before", async () => {
  const { call, signUp, logIn, cookieOf, memberBy, authenticate, another, world } = accountsWorld();
  const other = another();
  const token = cookieOf(await signUp("ana@shop.example"));
  const kept = cookieOf(await logIn("ana@shop.example"));
  assert.ok(await other.authenticate({ kind: "session", token }));
  const left = await call("POST", "/v1/auth/logout", { principal: await memberBy(token) });
  assert.is(left.outcome, 204);
  assert.match(left.headers["set-cookie"] ?? "", /^__Host-session=; .*Max-Age=0$/);
  assert.is(await authenticate({ kind: "session", token }), null);
  world.now += 100;
  assert.is(await other.authenticate({ kind: "session", token }), null);
  assert.ok(await authenticate({ kind: "session", token: kept }));
});

test("me is the account and the member", async () => {
  const { call, signUp, cookieOf, memberBy } = accountsWorld();
  const signedUp = await signUp("ana@shop.example");
  const me = await call("GET", "/v1/auth/me", { principal: await memberBy(cookieOf(signedUp)) });
  assert.is(me.outcome, 200);
  assert.equal(me.body, signedUp.body);
});
test.run();
