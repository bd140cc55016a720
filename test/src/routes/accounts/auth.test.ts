import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../../domain/ports/event-log.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { commitmentsIn } from "../../../../src/erasure/personal-data.ts";
import { ATTEMPT_LIMITS, SLOW_LOGIN_MS } from "../../../../src/http/rate-limit.ts";
import type { Call } from "../../../../src/http/route.ts";
import { STALENESS_MAX_MS } from "../../../../src/streams/aggregates.ts";
import { accountsWorld, PASSWORD } from "../../../support/accounts-world.ts";
import { AT, callOf } from "../../../support/call.ts";
import { PUBLIC_URL } from "../../../support/http-app.ts";
import { tokenOf } from "../../../support/members.ts";

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
  assert.equal(await types(), ["EmailClaimed", "AccountOpened", "MemberAdded", "Reserved", "SessionOpened"]);
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

test("a hundred wrong passwords at once are ten attempts, and the right one of that network has to wait as well", async () => {
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

const ELSEWHERE = { ip: "198.51.100.7" };

test("wrong guesses from one network do not lock out the owner elsewhere", async () => {
  const { signUp, logIn, pauses } = accountsWorld();
  await signUp("ana@shop.example");
  for (const ip of ["2001:db8::1", "2001:db8::2"])
    for (let i = 0; i < 10; i += 1) await logIn("ana@shop.example", "a wrong one", { ip });
  assert.is((await logIn("ana@shop.example", PASSWORD, { ip: "2001:db8::3" })).outcome, "rate-limited");
  assert.is((await logIn("ana@shop.example", PASSWORD, ELSEWHERE)).outcome, 200);
  assert.equal(pauses, []);
});

test("many logins from one network at once do not delay one from another network", async () => {
  const { signUp, logIn } = accountsWorld();
  await signUp("ana@shop.example");
  const answered: string[] = [];
  const flood = Array.from({ length: 40 }, (_, n) =>
    logIn(`nobody-${n}@shop.example`, PASSWORD, { ip: "192.0.2.1" }).then(() => answered.push("flood")),
  );
  const own = logIn("ana@shop.example", PASSWORD, ELSEWHERE).then(({ outcome }) => answered.push(`own ${outcome}`));
  await Promise.all([...flood, own]);
  const place = answered.indexOf("own 200");
  assert.ok(place >= 0 && place < 15, `it was answered after ${place} others`);
});

test("a hundred guesses an hour from everywhere slow the logins for an address down, known or not, and lock nobody out", async () => {
  const { signUp, logIn, pauses, world } = accountsWorld();
  await signUp("ana@shop.example");
  for (const email of ["ana@shop.example", "nobody@shop.example"]) {
    for (let i = 0; i < ATTEMPT_LIMITS["failed-login-slow"].limit; i += 1) {
      const guessed = await logIn(email, "a wrong one", { ip: `192.0.2.${10 + (i % 20)}` });
      assert.is(guessed.outcome, "invalid-credentials");
    }
    assert.equal(pauses.splice(0), []);
    const wrong = await logIn(email, "a wrong one", ELSEWHERE);
    assert.equal([wrong.outcome, pauses.splice(0)], ["invalid-credentials", [SLOW_LOGIN_MS]]);
  }
  assert.is((await logIn("ana@shop.example", PASSWORD, ELSEWHERE)).outcome, 200);
  assert.equal(pauses.splice(0), [SLOW_LOGIN_MS]);
  world.now += ATTEMPT_LIMITS["failed-login-slow"].windowMs;
  assert.is((await logIn("ana@shop.example", PASSWORD, ELSEWHERE)).outcome, 200);
  assert.equal(pauses, []);
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
  const storm = await Promise.all(
    Array.from({ length: 9 }, (_, n) => logIn("ana@shop.example", PASSWORD, { ip: `198.51.${n}.1` })),
  );
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

const NEW_PASSWORD = "another horse battery";

/** A member with two sessions on two nodes. */
const withSessions = async () => {
  const it = accountsWorld();
  const token = it.cookieOf(await it.signUp("ana@shop.example"));
  const lost = it.cookieOf(await it.logIn("ana@shop.example"));
  const other = it.another();
  const holds = async (held: string): Promise<boolean> => {
    // Another node may be this far behind.
    it.world.now += STALENESS_MAX_MS;
    const found = await Promise.all([it, other].map((node) => node.authenticate({ kind: "session", token: held })));
    assert.is(found[0] === null, found[1] === null);
    return found[0] !== null;
  };
  assert.equal([await holds(token), await holds(lost)], [true, true]);
  const principal = await it.memberBy(token);
  const change = (current_password = PASSWORD, new_password = NEW_PASSWORD, more: Partial<Call> = {}) =>
    it.call("POST", "/v1/auth/password", { principal, body: { current_password, new_password }, ...more });
  const listed = async () => {
    await it.project();
    const { body } = await it.call("GET", "/v1/auth/sessions", { principal });
    return body.data as { id: string; current: boolean; ip: string; user_agent: string }[];
  };
  return { ...it, token, lost, holds, principal, change, listed };
};

test("a password change ends every other session on every node, and the old password", async () => {
  const { change, holds, token, lost, logIn, listed } = await withSessions();
  assert.is((await change()).outcome, 204);
  assert.equal([await holds(token), await holds(lost)], [true, false]);
  assert.is((await logIn("ana@shop.example")).outcome, "invalid-credentials");
  assert.equal(
    (await listed()).map(({ current }) => current),
    [true],
  );
  assert.is((await logIn("ana@shop.example", NEW_PASSWORD)).outcome, 200);
  assert.is((await listed()).length, 2);
});

test("a password change needs the current one, guesses of it are counted as logins are, and weak ones are refused", async () => {
  const { change, holds, lost, logIn } = await withSessions();
  assert.is((await change(PASSWORD, "short")).outcome, "weak-password");
  for (let i = 0; i < 10; i += 1) assert.is((await change("a wrong one")).outcome, "invalid-credentials");
  assert.is((await change()).outcome, "rate-limited");
  assert.is((await logIn("ana@shop.example")).outcome, "rate-limited");
  assert.ok(await holds(lost));
});

test("of two password changes at once one is made", async () => {
  const { change, logIn } = await withSessions();
  const passwords = ["the first password", "the second password"];
  const outcomes = (await Promise.all(passwords.map((it) => change(PASSWORD, it)))).map(({ outcome }) => outcome);
  assert.equal(outcomes.slice().sort(), [204, "invalid-credentials"]);
  const chosen = passwords[outcomes.indexOf(204)] ?? "";
  for (const it of passwords)
    assert.is((await logIn("ana@shop.example", it)).outcome, it === chosen ? 200 : "invalid-credentials");
});

test("a login under a password that is changed meanwhile opens no session that holds", async () => {
  const memory = memoryEventLog();
  let meanwhile = async (): Promise<unknown> => undefined;
  const log: EventLog = {
    ...memory,
    async append(stream, expected, events) {
      if (events.some(({ type }) => type === "SessionOpened")) await meanwhile();
      return await memory.append(stream, expected, events);
    },
  };
  const { signUp, cookieOf, memberBy, call, logIn, authenticate } = accountsWorld({ log });
  const principal = await memberBy(cookieOf(await signUp("ana@shop.example")));
  const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
  meanwhile = () => call("POST", "/v1/auth/password", { principal, body });
  const token = cookieOf(await logIn("ana@shop.example"));
  assert.is(await authenticate({ kind: "session", token }), null);
});

test("a member lists their own sessions, and ends one or all others", async () => {
  const { call, principal, listed, holds, token, lost, logIn, cookieOf, ...it } = await withSessions();
  const third = cookieOf(await logIn("ana@shop.example", PASSWORD, { ...ELSEWHERE, userAgent: "Phone/1.0" }));
  await it.openAccount("eve@other.example");
  const sessions = await listed();
  assert.equal(sessions.map(({ ip, user_agent }) => `${ip} ${user_agent}`).sort(), [
    "192.0.2.1 test",
    "192.0.2.1 test",
    "198.51.100.7 Phone/1.0",
  ]);
  assert.equal(
    sessions.filter(({ current }) => current).map(({ id }) => `session-${id}`),
    principal.kind === "member" ? [principal.session] : [],
  );
  const { id = "" } = sessions.find(({ current }) => !current) ?? {};
  const end = (ended: string, by = principal) =>
    call("DELETE", "/v1/auth/sessions/{id}", { principal: by, params: { id: ended } });
  const eve = await it.memberBy(cookieOf(await logIn("eve@other.example")));
  const foreign = await end(id, eve);
  assert.is(foreign.outcome, "not-found");
  for (const nothing of [`ses_${"a".repeat(32)}`, "__proto__", "", token]) assert.equal(await end(nothing), foreign);
  assert.is((await end(id)).outcome, 204);
  assert.equal([await holds(lost), await holds(third)].sort(), [false, true]);
  assert.is((await end(id)).outcome, "not-found");
  assert.is((await call("DELETE", "/v1/auth/sessions", { principal })).outcome, 204);
  assert.equal([await holds(token), await holds(lost), await holds(third)], [true, false, false]);
  assert.equal(
    (await listed()).map(({ current }) => current),
    [true],
  );
});

test("the list of sessions is complete right after a login, and after a password change that ends all others", async () => {
  const { call, logIn, openAccount, memberBy, cookieOf } = accountsWorld();
  await openAccount("ana@shop.example");
  const principal = await memberBy(cookieOf(await logIn("ana@shop.example")));
  const shown = async () => {
    const { body } = await call("GET", "/v1/auth/sessions", { principal });
    return (body as { readonly data: readonly { readonly current: boolean }[] }).data.map(({ current }) => current);
  };
  assert.equal((await shown()).sort(), [false, true]);
  const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
  assert.is((await call("POST", "/v1/auth/password", { principal, body })).outcome, 204);
  assert.equal(await shown(), [true]);
});

test("a session that was just ended is not listed, though the view has not followed; one that is behind is said", async () => {
  let hasFollowed = true;
  const world = accountsWorld({ progress: { waitFor: async () => hasFollowed } });
  const { call, logIn, openAccount, memberBy, cookieOf, project } = world;
  await openAccount("ana@shop.example");
  const principal = await memberBy(cookieOf(await logIn("ana@shop.example")));
  await project();
  const list = async () =>
    (await call("GET", "/v1/auth/sessions", { principal })).body.data as Record<string, unknown>[];
  const other = (await list()).find(({ current }) => current === false);
  const params = { id: String(other?.id) };
  assert.is((await call("DELETE", "/v1/auth/sessions/{id}", { principal, params })).outcome, 204);
  assert.equal(
    (await list()).map(({ current }) => current),
    [true],
  );
  hasFollowed = false;
  assert.is((await call("GET", "/v1/auth/sessions", { principal })).outcome, "view-behind");
});

test("a reset link sets a new password once, ends every session, and names who made it", async () => {
  const { call, principal, addMember, holds, cookieOf, logIn, log, another, personal } = await withSessions();
  const added = await addMember(principal, "bo@shop.example", "approver");
  const before = cookieOf(added);
  const made = await call("POST", "/v1/members/{id}/reset", { principal, params: { id: added.id } });
  assert.is(made.outcome, 201);
  assert.match(String(made.body.reset_url), new RegExp(`^${PUBLIC_URL}/reset#[\\w.-]+$`));
  assert.ok(await holds(before), "a link that nobody uses changes nothing");
  const token = tokenOf(made.body.reset_url);
  const reset = (password: string, node = another()) =>
    node.call("POST", "/v1/auth/reset", { body: { token, password }, ...ELSEWHERE });
  assert.is((await reset("bo")).outcome, "weak-password");
  const used = await Promise.all([reset("the first password"), reset("the second password")]);
  assert.equal(used.map(({ outcome }) => outcome).sort(), [200, "not-found"]);
  const entered = used.find(({ outcome }) => outcome === 200);
  assert.ok(entered !== undefined && (await holds(cookieOf(entered))));
  assert.equal(entered.body.member, { id: added.id, email: "bo@shop.example", role: "approver" });
  assert.is(await holds(before), false);
  assert.is((await logIn("bo@shop.example")).outcome, "invalid-credentials");
  const record = (await log.readAll(null, 100)).find(({ type }) => type === "PasswordChanged");
  assert.equal(record?.data.reset_by, { kind: "member", id: principal.id });
  const [client] = commitmentsIn(record?.data ?? {});
  assert.ok(client !== undefined);
  assert.equal(await personal.read(client, principal.account), { ip: ELSEWHERE.ip, user_agent: "test" });
  assert.is(
    (await call("POST", "/v1/members/{id}/reset", { principal, params: { id: principal.id } })).outcome,
    "conflict",
  );
});

test("a reset link that was replaced, is too old, or is of somebody who is no owner any more opens nothing", async () => {
  const { call, principal, addMember, memberBy, cookieOf } = await withSessions();
  const { id } = await addMember(principal, "bo@shop.example");
  const other = await memberBy(cookieOf(await addMember(principal, "cy@shop.example", "owner")));
  const link = async (by = principal): Promise<string> =>
    tokenOf((await call("POST", "/v1/members/{id}/reset", { principal: by, params: { id } })).body.reset_url);
  const reset = (token: string, at = AT) =>
    call("POST", "/v1/auth/reset", {
      body: { token, password: NEW_PASSWORD },
      envelope: { ...callOf({}).envelope, at },
    });
  const replaced = await link();
  const current = await link();
  assert.is((await reset(replaced)).outcome, "not-found");
  assert.is((await reset(current, "2026-03-02T12:00:00.000Z")).outcome, "not-found");
  const others = await link(other);
  await call("PATCH", "/v1/members/{id}", { principal, params: { id: other.id }, body: { role: "admin" } });
  assert.is((await reset(others)).outcome, "not-found");
  assert.is((await reset(await link())).outcome, 200);
});

test("me is the account and the member", async () => {
  const { call, signUp, cookieOf, memberBy } = accountsWorld();
  const signedUp = await signUp("ana@shop.example");
  const me = await call("GET", "/v1/auth/me", { principal: await memberBy(cookieOf(signedUp)) });
  assert.is(me.outcome, 200);
  assert.equal(me.body, signedUp.body);
});
test.run();
