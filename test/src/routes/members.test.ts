import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../../src/routes/route.ts";
import { accountsWorld, PASSWORD } from "../../support/accounts-world.ts";

const test = suite("members");

const withOwner = async () => {
  const it = accountsWorld();
  const owner = await it.openAccount("ana@shop.example");
  const add = (email: string, role = "viewer", principal: Principal = owner) =>
    it.call("POST", "/v1/members", { principal, body: { email, password: PASSWORD, role } });
  const remove = (id: unknown, principal: Principal = owner) =>
    it.call("DELETE", "/v1/members/{id}", { principal, params: { id: String(id) } });
  return { ...it, owner, add, remove };
};

test("a member that was added can log in with their role", async () => {
  const { add, logIn, cookieOf, memberBy, owner } = await withOwner();
  const added = await add("Bo@shop.example", "approver");
  assert.is(added.outcome, 201);
  assert.is(added.body.email, "bo@shop.example");
  const principal = await memberBy(cookieOf(await logIn("bo@shop.example")));
  assert.ok(principal.kind === "member" && principal.role === "approver");
  assert.is(principal.account, owner.account);
});

test("an address belongs to one account", async () => {
  const { add, owner } = await withOwner();
  assert.is((await add("ana@shop.example")).outcome, "email-taken");
  assert.is((await add("bo@shop.example")).outcome, 201);
  assert.is((await add("bo@shop.example", "admin", { ...owner, account: "acc_other" })).outcome, "email-taken");
  assert.is((await add("cy@shop.example", "admin", { ...owner })).outcome, 201);
});

test("a removal ends the sessions at once and gives the address back", async () => {
  const { add, remove, logIn, signUp, cookieOf, authenticate } = await withOwner();
  const { body } = await add("bo@shop.example", "admin");
  const token = cookieOf(await logIn("bo@shop.example"));
  assert.ok(await authenticate({ kind: "session", token }));
  assert.is((await remove(body.id)).outcome, 204);
  assert.is(await authenticate({ kind: "session", token }), null);
  assert.is((await logIn("bo@shop.example")).outcome, "invalid-credentials");
  assert.is((await remove(body.id)).outcome, "not-found");
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
  const { body } = await add("bo@shop.example", "owner");
  const outcomes = await Promise.all([remove(owner.id), remove(body.id)]);
  assert.equal(outcomes.map(({ outcome }) => outcome).sort(), [204, "conflict"]);
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
  const { body: gone } = await add("gone@shop.example");
  await remove(gone.id);
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

test("a weak password is refused here as well", async () => {
  const { call, owner } = await withOwner();
  const body = { email: "bo@shop.example", password: "bo", role: "viewer" };
  assert.is((await call("POST", "/v1/members", { principal: owner, body })).outcome, "weak-password");
});
test.run();
