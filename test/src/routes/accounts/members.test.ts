import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Role } from "../../../../domain/account/events.ts";
import { accountStream } from "../../../../src/accounts/accounts.ts";
import { commitmentsIn } from "../../../../src/erasure/personal-data.ts";
import { ATTEMPT_LIMITS } from "../../../../src/http/rate-limit.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { accountsWorld, PASSWORD } from "../../../support/accounts-world.ts";
import { type Called, callOf } from "../../../support/call.ts";
import { PUBLIC_URL } from "../../../support/http-app.ts";
import { tokenOf } from "../../../support/members.ts";
import { noControls } from "../../../support/no-controls.ts";

const test = suite("members");

const withOwner = async (settings: Parameters<typeof accountsWorld>[0] = {}) => {
  const it = accountsWorld(settings);
  const owner = await it.openAccount("ana@shop.example");
  const add = (email: string, role: Role = "viewer", principal: Principal = owner) =>
    it.addMember(principal, email, role);
  const invite = (email: string, role: Role = "viewer", principal: Principal = owner) =>
    it.call("POST", "/v1/members/invitations", { principal, body: { email, role } });
  const accept = (invited: Called, password = PASSWORD) =>
    it.call("POST", "/v1/auth/invitations/accept", { body: { token: tokenOf(invited.body.invitation_url), password } });
  const read = (token: string) => it.call("POST", "/v1/auth/invitations/read", { body: { token } });
  const remove = (id: unknown, principal: Principal = owner) =>
    it.call("DELETE", "/v1/members/{id}", { principal, params: { id: String(id) } });
  const change = (id: unknown, role: Role, principal: Principal = owner) =>
    it.call("PATCH", "/v1/members/{id}", { principal, params: { id: String(id) }, body: { role } });
  const listed = async () => {
    await it.project();
    const { body } = await it.call("GET", "/v1/members", { principal: owner });
    return body.data as Record<string, string | null>[];
  };
  return { ...it, owner, add, invite, accept, read, remove, change, listed };
};

test("an invited person chooses their own password, and is logged in with the role of the invitation", async () => {
  const { invite, accept, logIn, cookieOf, memberBy, owner } = await withOwner();
  const invited = await invite("Bo@shop.example", "approver");
  assert.is(invited.outcome, 201);
  const { id, email, role, state, invitation_url, expires_at } = invited.body;
  assert.equal([email, role, state], ["bo@shop.example", "approver", "invited"]);
  assert.match(String(invitation_url), new RegExp(`^${PUBLIC_URL}/join#[\\w.-]+$`));
  assert.is(expires_at, "2026-03-08T12:00:00.000Z");
  assert.is((await logIn("bo@shop.example")).outcome, "invalid-credentials");
  const accepted = await accept(invited);
  assert.is(accepted.outcome, 200);
  assert.equal(accepted.body.member, { id, email, role });
  for (const entered of [accepted, await logIn("bo@shop.example")]) {
    const principal = await memberBy(cookieOf(entered));
    assert.equal(principal, { ...principal, kind: "member", account: owner.account, role: "approver" });
  }
});

test("the holder of an invitation's link reads account, role and who invites; nobody else, and nobody afterwards", async () => {
  const { add, invite, accept, read, remove, memberBy, cookieOf } = await withOwner();
  const joined = await add("cy@shop.example", "owner");
  const cy = await memberBy(cookieOf(joined));
  const mine = await invite("bo@shop.example", "approver");
  const theirs = await invite("di@shop.example", "auditor", cy);
  const token = tokenOf(mine.body.invitation_url);
  const { outcome, body } = await read(token);
  assert.is(outcome, 200);
  const { expires_at } = mine.body;
  const offered = { email: "bo@shop.example", role: "approver", invited_by: "ana@shop.example", expires_at };
  assert.equal(body, { account_name: "My account", ...offered });
  assert.equal(await read(token), await read(token), "reading does not use it");

  const [secret = "", ...ids] = token.split(".");
  const [otherSecret = ""] = tokenOf(theirs.body.invitation_url).split(".");
  const refused = await read(`${"A".repeat(43)}.${ids.join(".")}`);
  assert.is(refused.outcome, "not-found");
  for (const wrong of [secret, "", `${otherSecret}.${ids.join(".")}`, `${secret}.${ids[0]}.mem_${"a".repeat(32)}`])
    assert.equal(await read(wrong), refused);

  assert.is((await read(tokenOf(theirs.body.invitation_url))).body.invited_by, "cy@shop.example");
  assert.is((await remove(joined.id)).outcome, 204);
  assert.equal(await read(tokenOf(theirs.body.invitation_url)), refused, "the invitations of one who leaves are gone");
  assert.is((await accept(mine)).outcome, 200);
  assert.equal(await read(token), refused);
});

test("the holder of a reset link reads whose password it sets; nobody else, and nobody afterwards", async () => {
  const { call, owner, add, invite } = await withOwner();
  const { id } = (await add("cy@shop.example")).body.member as { id: string };
  const made = await call("POST", "/v1/members/{id}/reset", { principal: owner, params: { id } });
  const token = tokenOf(made.body.reset_url);
  const read = (text: string) => call("POST", "/v1/auth/reset/read", { body: { token: text } });
  const { outcome, body } = await read(token);
  const { expires_at } = made.body;
  assert.equal([outcome, body], [200, { account_name: "My account", email: "cy@shop.example", expires_at }]);
  assert.equal(await read(token), await read(token), "reading does not use it");
  const refused = await read("nonsense");
  assert.is(refused.outcome, "not-found");
  const [secret = "", ...ids] = token.split(".");
  const invitation = tokenOf((await invite("bo@shop.example")).body.invitation_url);
  for (const wrong of [secret, `${secret}x.${ids.join(".")}`, invitation]) assert.equal(await read(wrong), refused);
  const password = "another battery staple";
  assert.is((await call("POST", "/v1/auth/reset", { body: { token, password } })).outcome, 200);
  assert.equal(await read(token), refused);
});

test("nobody sets another's password: the route that added members is gone", async () => {
  const { routes } = await withOwner();
  assert.not.ok(routes.some(({ method, path }) => method === "POST" && path === "/v1/members"));
});

test("a link works once: of two clicks at once, on two nodes, one has its password set", async () => {
  const { invite, accept, another, call, logIn, signUp } = await withOwner();
  const invited = await invite("bo@shop.example");
  const other = another();
  const token = tokenOf(invited.body.invitation_url);
  const passwords = ["the first password", "the second password", "the third password"];
  const clicks = await Promise.all(
    passwords.map((password, i) =>
      (i % 2 === 0 ? call : other.call)("POST", "/v1/auth/invitations/accept", { body: { token, password } }),
    ),
  );
  const outcomes = clicks.map(({ outcome }) => outcome);
  assert.equal(outcomes.slice().sort(), [200, "not-found", "not-found"]);
  const chosen = passwords[outcomes.indexOf(200)] ?? "";
  for (const password of passwords)
    assert.is((await logIn("bo@shop.example", password)).outcome, password === chosen ? 200 : "invalid-credentials");
  assert.is((await accept(invited)).outcome, "not-found");
  assert.is((await signUp("bo@shop.example")).outcome, "email-taken");
});

test("a link that was withdrawn, replaced, changed or is too old is the same as one that never was", async () => {
  const { invite, accept, remove, call, world } = await withOwner();
  const withdrawn = await invite("bo@shop.example");
  assert.is((await remove(withdrawn.body.id)).outcome, 204);
  const replaced = await invite("cy@shop.example");
  const replacing = await invite("Cy@Shop.example");
  const refused = await accept(withdrawn);
  assert.is(refused.outcome, "not-found");
  assert.equal(await accept(replaced), refused);
  const token = tokenOf(replacing.body.invitation_url);
  const [secret = "", ...ids] = token.split(".");
  const strange = `${"A".repeat(43)}.${ids.join(".")}`;
  for (const wrong of [strange, `${secret}.${ids[0]}.mem_${"a".repeat(32)}`, secret, "", `${token}.`, "__proto__"])
    assert.equal(
      await call("POST", "/v1/auth/invitations/accept", { body: { token: wrong, password: PASSWORD } }),
      refused,
    );
  assert.equal(await call("POST", "/v1/auth/reset", { body: { token, password: PASSWORD } }), refused);
  const late = {
    body: { token, password: PASSWORD },
    envelope: { ...callOf({}).envelope, at: "2026-03-08T12:00:00.000Z" },
  };
  assert.equal(await call("POST", "/v1/auth/invitations/accept", late), refused);
  world.now += 1;
  assert.is((await accept(replacing)).outcome, 200);
});

test("neither the secret of a link nor a password is in the log", async () => {
  const { invite, accept, log } = await withOwner();
  const invited = await invite("bo@shop.example");
  await accept(invited);
  const [secret = ""] = tokenOf(invited.body.invitation_url).split(".");
  const text = JSON.stringify(await log.readAll(null, 100));
  for (const it of [secret, PASSWORD, "$argon2"]) assert.not.ok(text.includes(it));
});

test("an invitation copied to another member or role in the log's file opens nothing", async () => {
  const { invite, log, owner, call } = await withOwner();
  const invited = await invite("bo@shop.example");
  const [event] = (await log.readAll(null, 100)).filter(({ type }) => type === "MemberInvited");
  assert.ok(event !== undefined);
  const member = `mem_${"b".repeat(32)}`;
  const data = { ...event.data, member, email: "eve@shop.example", role: "owner" };
  const stream = accountStream(owner.account);
  await log.append(stream, "any", [{ ...event, id: "00000000-0000-8000-a000-000000000001", data }]);
  const token = tokenOf(invited.body.invitation_url).replace(String(invited.body.id), member);
  const body = { token, password: PASSWORD };
  assert.is((await call("POST", "/v1/auth/invitations/accept", { body })).outcome, "not-found");
});

test("an invitation occupies no address and tells nobody whether somebody has it", async () => {
  const { add, invite, accept, signUp, logIn, ...it } = await withOwner();
  await it.openAccount("eve@other.example");
  const shape = ({ outcome, body }: Called) => [outcome, Object.keys(body), body.state];
  const known = await invite("eve@other.example");
  const unknown = await invite("bo@shop.example");
  assert.equal(shape(known), shape(unknown));
  assert.is((await logIn("eve@other.example")).outcome, 200);
  assert.is((await signUp("bo@shop.example")).outcome, 201, "the address is free until somebody accepts");
  for (const taken of [known, unknown]) assert.is((await accept(taken)).outcome, "email-taken");
  assert.is((await add("ana@shop.example")).outcome, "conflict", "a member of the account is not invited");
});

test("acceptances are counted with the signups, so that they tell no more about addresses", async () => {
  const { invite, accept, signUp, ...it } = await withOwner();
  await it.openAccount("eve@other.example");
  const known = await invite("eve@other.example");
  for (let i = 2; i < ATTEMPT_LIMITS["signup-ip"].limit; i += 1)
    assert.is((await accept(known)).outcome, "email-taken");
  assert.is((await accept(known)).outcome, "rate-limited");
  assert.is((await signUp("cy@shop.example")).outcome, "rate-limited");
});

test("a weak password is refused, and the link goes on to work", async () => {
  const { invite, accept } = await withOwner();
  const invited = await invite("bo@shop.example");
  for (const weak of ["bo", "bo@shop.example"]) assert.is((await accept(invited, weak)).outcome, "weak-password");
  assert.is((await accept(invited)).outcome, 200);
});

test("the record of an acceptance names who made the link, and the address and browser that used it, which can be erased", async () => {
  const { addMember, owner, log, personal } = await withOwner();
  const from = { ip: "198.51.100.7", userAgent: "Hostile/1.0" };
  const { id } = await addMember(owner, "bo@shop.example", "approver", from);
  const records = await log.readAll(null, 100, "records");
  const record = records.find(({ type, data }) => type === "MemberAdded" && data.member === id);
  assert.ok(record !== undefined);
  assert.equal(record.data.invited_by, { kind: "member", id: owner.id });
  assert.equal(record.meta.actor, { kind: "member", id });
  for (const value of Object.values(from)) assert.not.match(JSON.stringify(records), value);
  const client = commitmentsIn(record.data).find(({ id: it }) => it !== (record.data.email as { id: string }).id);
  assert.ok(client !== undefined);
  assert.equal(await personal.read(client, owner.account), { ip: from.ip, user_agent: from.userAgent });
  await personal.erase(client.id, "asked to", callOf({ principal: owner }).envelope);
  assert.is(await personal.read(client, owner.account), null);
  assert.equal((await log.readAll(null, 100, "records")).slice(0, records.length), records);
});

test("a role that is changed holds at once, and the last owner stays one", async () => {
  const { add, change, logIn, cookieOf, memberBy, owner, listed } = await withOwner();
  const { id } = await add("bo@shop.example");
  const token = cookieOf(await logIn("bo@shop.example"));
  const changed = await change(id, "approver");
  assert.equal(
    [changed.outcome, changed.body],
    [200, { id, email: "bo@shop.example", role: "approver", state: "active" }],
  );
  const principal = await memberBy(token);
  assert.ok(principal.kind === "member" && principal.role === "approver");
  assert.is((await change(owner.id, "admin")).outcome, "conflict");
  assert.is((await change("mem_nobody", "admin")).outcome, "not-found");
  await change(id, "owner");
  assert.equal((await listed()).map(({ role }) => role).sort(), ["owner", "owner"]);
  const both = await Promise.all([change(owner.id, "admin"), change(id, "admin")]);
  // The other one is the last owner now, or is asked for by somebody who is no owner any more.
  assert.is(both.filter(({ outcome }) => outcome === 200).length, 1);
  assert.is((await listed()).filter(({ role }) => role === "owner").length, 1);
});

test("the list says when each member last signed in, in a browser or from the command line", async () => {
  const { add, invite, logIn, call, cookieOf, memberBy, listed, world } = await withOwner();
  const { id } = await add("bo@shop.example");
  await invite("cy@shop.example");
  const lastOf = async () => new Map((await listed()).map(({ email, last_sign_in_at }) => [email, last_sign_in_at]));
  const joined = await lastOf();
  assert.is(joined.get("bo@shop.example"), "2026-03-01T12:00:00.000Z");
  assert.is(joined.get("cy@shop.example"), null);
  const later = (at: string) => ({ ...callOf({}).envelope, at });
  world.now += 3_600_000;
  await call("POST", "/v1/auth/login", {
    body: { email: "bo@shop.example", password: PASSWORD },
    envelope: later("2026-03-01T13:00:00.000Z"),
  });
  assert.is((await lastOf()).get("bo@shop.example"), "2026-03-01T13:00:00.000Z");
  assert.is((await memberBy(cookieOf(await logIn("bo@shop.example")))).id, id);
});

test("a removal ends the sessions at once and gives the address back", async () => {
  const { add, remove, logIn, signUp, cookieOf, authenticate } = await withOwner();
  const { id } = await add("bo@shop.example", "admin");
  const token = cookieOf(await logIn("bo@shop.example"));
  assert.ok(await authenticate({ kind: "session", token }));
  assert.is((await remove(id)).outcome, 204);
  assert.is(await authenticate({ kind: "session", token }), null);
  assert.is((await logIn("bo@shop.example")).outcome, "invalid-credentials");
  assert.is((await remove(id)).outcome, "not-found");
  assert.is((await signUp("bo@shop.example")).outcome, 201);
});

test("the last owner cannot be removed, one of two can", async () => {
  const { add, remove, owner } = await withOwner();
  assert.is((await remove(owner.id)).outcome, "conflict");
  await add("bo@shop.example", "owner");
  assert.is((await remove(owner.id)).outcome, 204);
});

test("two owners who remove each other at once leave one", async () => {
  const { add, remove, owner } = await withOwner();
  const { id } = await add("bo@shop.example", "owner");
  const outcomes = await Promise.all([remove(owner.id), remove(id)]);
  assert.is(outcomes.filter(({ outcome }) => outcome === 204).length, 1);
});

test("a role that is not changed, as its asker is no owner any more, is no change of controls either", async () => {
  let asked = 0;
  const authorize = async () => {
    asked += 1;
    return null;
  };
  const { add, change, memberBy, logIn, cookieOf } = await withOwner({ controls: { ...noControls, authorize } });
  const bo = await add("bo@shop.example", "owner");
  const principal = await memberBy(cookieOf(await logIn("bo@shop.example")));
  assert.is((await change(bo.id, "viewer")).outcome, 200);
  const before = asked;
  assert.is((await change(bo.id, "owner", principal)).outcome, "forbidden");
  assert.is(asked, before);
});

test("an owner who was removed or demoted on another node a moment ago makes no link and takes no role back", async () => {
  const { add, change, remove, call, owner, memberBy, logIn, cookieOf } = await withOwner();
  const bo = await add("bo@shop.example", "owner");
  const cy = await add("cy@shop.example");
  // The second node has looked the session up before.
  const principal = await memberBy(cookieOf(await logIn("bo@shop.example")));
  const asked = async () => [
    await call("POST", "/v1/members/invitations", { principal, body: { email: "e@x.example", role: "owner" } }),
    await call("POST", "/v1/members/{id}/reset", { principal, params: { id: cy.id } }),
    await call("PATCH", "/v1/members/{id}", { principal, params: { id: cy.id }, body: { role: "owner" } }),
    await call("DELETE", "/v1/members/{id}", { principal, params: { id: owner.id } }),
  ];
  assert.is((await change(bo.id, "viewer")).outcome, 200);
  const self = { principal, params: { id: bo.id }, body: { role: "owner" } };
  assert.is((await call("PATCH", "/v1/members/{id}", self)).outcome, "forbidden");
  assert.equal(
    (await asked()).map(({ outcome }) => outcome),
    Array(4).fill("forbidden"),
  );
  assert.is((await remove(bo.id)).outcome, 204);
  assert.equal(
    (await asked()).map(({ outcome }) => outcome),
    Array(4).fill("forbidden"),
  );
});

test("a member of another account and one that never existed are the same nothing", async () => {
  const { remove, owner, ...it } = await withOwner();
  const stranger = await it.openAccount("eve@other.example");
  const foreign = await remove(stranger.id);
  assert.is(foreign.outcome, "not-found");
  assert.equal(foreign, await remove("mem_nobody"));
  assert.equal(foreign, await remove("__proto__"));
});

test("the list shows the account's members, page by page, and nobody else's", async () => {
  const { add, remove, call, project, owner, ...it } = await withOwner();
  await it.openAccount("eve@other.example");
  for (const name of ["bo", "cy", "di"]) await add(`${name}@shop.example`);
  await remove((await add("gone@shop.example")).id);
  await project();
  const seen: unknown[] = [];
  let cursor: unknown = null;
  do {
    const query = cursor === null ? { limit: 2 } : { limit: 2, cursor };
    const { body } = await call("GET", "/v1/members", { principal: owner, query });
    for (const { email } of body.data as { email: string }[]) seen.push(email);
    cursor = body.next_cursor;
  } while (cursor !== null);
  assert.equal(seen.sort(), ["ana@shop.example", "bo@shop.example", "cy@shop.example", "di@shop.example"]);
});

test("the list shows who is invited as well, until the invitation is withdrawn or expires", async () => {
  const { add, invite, remove, call, project, owner, listed } = await withOwner();
  const member = await add("bo@shop.example", "admin");
  const { body: invited } = await invite("cy@shop.example", "approver");
  const { body: withdrawn } = await invite("di@shop.example");
  await remove(withdrawn.id);
  const shown = (await listed()).map(({ id, state, role, expires_at }) => [id, state, role, expires_at]);
  assert.equal(
    new Set(shown.map((it) => JSON.stringify(it))),
    new Set(
      [
        [owner.id, "active", "owner", null],
        [member.id, "active", "admin", null],
        [invited.id, "invited", "approver", invited.expires_at],
      ].map((it) => JSON.stringify(it)),
    ),
  );
  await project();
  const envelope = { ...callOf({ principal: owner }).envelope, at: String(invited.expires_at) };
  const later = await call("GET", "/v1/members", { principal: owner, envelope });
  assert.is((later.body.data as unknown[]).length, 2);
});
test.run();
