import { suite } from "uvu";
import * as assert from "uvu/assert";
import { MEMBERS_MAX } from "../../domain/account/decider.ts";
import type { EventLog } from "../../domain/ports.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { accountStream } from "../../src/accounts.ts";
import { toEvents } from "../../src/envelope.ts";
import type { Principal } from "../../src/routes/route.ts";
import { accountsWorld, PASSWORD } from "../support/accounts-world.ts";
import { AT, callOf } from "../support/call.ts";
import { failingLog } from "../support/failing-log.ts";

const test = suite("accounts, cut off between two streams");

/** A world whose log can be told to refuse the streams of one category. */
const breakable = () => {
  const broken = { category: "" };
  const it = accountsWorld({
    log: failingLog(memoryEventLog(), (stream) => broken.category !== "" && stream.startsWith(broken.category)),
  });
  const cutOff = async (category: string, work: () => Promise<unknown>): Promise<void> => {
    broken.category = category;
    await work().then(
      () => assert.unreachable(),
      (error) => assert.is(error.name, "LogUnavailable"),
    );
    broken.category = "";
  };
  return { ...it, cutOff };
};

/** As many members as an account may have, with the one who opened it. */
const fill = async (log: EventLog, principal: Principal): Promise<void> => {
  const { account } = principal;
  const { envelope } = callOf({ principal });
  const filling = Array.from({ length: MEMBERS_MAX - 1 }, (_, i) => {
    const data = { account, member: `mem_${i}`, email: `m${i}@shop.example`, role: "viewer", at: AT };
    return { type: "MemberAdded", data };
  });
  await log.append(accountStream(account), "any", toEvents(filling, { ...envelope, commandId: "fill" }));
};

test("a signup that was cut off is finished by the process manager", async () => {
  const { signUp, logIn, cutOff, react, types } = breakable();
  await cutOff("account-", () => signUp("ana@shop.example"));
  assert.equal(await types(), ["EmailClaimed"]);
  await react();
  assert.equal(await types(), ["EmailClaimed", "AccountOpened", "MemberAdded"]);
  await react();
  assert.is((await types()).length, 3);
  assert.is((await logIn("ana@shop.example")).outcome, 200);
});

test("or by the login, whichever comes first", async () => {
  const { signUp, logIn, cutOff, react, types } = breakable();
  await cutOff("account-", () => signUp("ana@shop.example"));
  assert.is((await logIn("ana@shop.example", "a wrong password")).outcome, "invalid-credentials");
  assert.equal(await types(), ["EmailClaimed"]);
  assert.is((await logIn("ana@shop.example")).outcome, 200);
  await react();
  assert.equal(await types(), ["EmailClaimed", "AccountOpened", "MemberAdded", "SessionOpened"]);
});

test("a member's address is given back after a removal that was cut off", async () => {
  const { openAccount, call, cutOff, react, logIn, signUp } = breakable();
  const principal = await openAccount("ana@shop.example");
  const body = { email: "bo@shop.example", password: "correct horse battery", role: "viewer" };
  const added = await call("POST", "/v1/members", { principal, body });
  const params = { id: String(added.body.id) };
  await cutOff("email-", () => call("DELETE", "/v1/members/{id}", { principal, params }));
  assert.is((await logIn("bo@shop.example")).outcome, "invalid-credentials");
  assert.is((await signUp("bo@shop.example")).outcome, "email-taken");
  await react();
  assert.is((await signUp("bo@shop.example")).outcome, 201);
});

test("the process manager run again over the whole log brings nobody back", async () => {
  const { openAccount, call, react, authenticate, logIn, types, cookieOf } = breakable();
  const principal = await openAccount("ana@shop.example");
  const body = { email: "bo@shop.example", password: "correct horse battery", role: "owner" };
  const added = await call("POST", "/v1/members", { principal, body });
  const token = cookieOf(await logIn("bo@shop.example"));
  await call("DELETE", "/v1/members/{id}", { principal, params: { id: String(added.body.id) } });
  const before = await types();
  await react();
  assert.equal(await types(), before);
  assert.is(await authenticate({ kind: "session", token }), null);
  assert.is((await logIn("bo@shop.example")).outcome, "invalid-credentials");
});

test("an address that the full account refuses is free again, also after a repeat of the command", async () => {
  const { openAccount, call, log, react, signUp, project } = breakable();
  const principal = await openAccount("ana@shop.example");
  const { envelope } = callOf({ principal });
  await fill(log, principal);

  const add = { principal, envelope, body: { email: "bo@shop.example", password: PASSWORD, role: "viewer" } };
  assert.is((await call("POST", "/v1/members", add)).outcome, "conflict");
  await call("DELETE", "/v1/members/{id}", { principal, params: { id: "mem_0" } });
  // The claim of this command was released: the account must not get a member who has no address.
  assert.is((await call("POST", "/v1/members", add)).outcome, "conflict");
  await react();
  await project();
  const { body } = await call("GET", "/v1/members", { principal, query: { limit: 100 } });
  assert.not.match(JSON.stringify(body.data), "bo@shop.example", "nor by the process manager, which comes later");
  assert.is((await signUp("bo@shop.example")).outcome, 201);
});

test("a full account says so also where the process manager is the first to give the address back", async () => {
  const memory = memoryEventLog();
  let comesFirst = async (): Promise<void> => undefined;
  const log: EventLog = {
    ...memory,
    async append(stream, expected, events) {
      const appended = await memory.append(stream, expected, events);
      if (events.some(({ type }) => type === "EmailClaimed")) await comesFirst();
      return appended;
    },
  };
  const { openAccount, call, react, types } = accountsWorld({ log });
  const principal = await openAccount("ana@shop.example");
  await fill(log, principal);
  comesFirst = react;
  const body = { email: "bo@shop.example", password: PASSWORD, role: "viewer" };
  assert.is((await call("POST", "/v1/members", { principal, body })).outcome, "conflict");
  assert.equal((await types()).slice(-2), ["EmailClaimed", "EmailReleased"]);
});

test("all events of an account carry it in their metadata, under ids of their own", async () => {
  const { openAccount, log } = breakable();
  const { account, id } = await openAccount("ana@shop.example");
  const events = await log.readAll(null, 100);
  for (const { meta } of events) assert.equal([meta.account, meta.actor], [account, { kind: "member", id }]);
  assert.is(new Set(events.map((event) => event.id)).size, events.length);
});
test.run();
