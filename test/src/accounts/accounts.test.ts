import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import { dataOf } from "../../../domain/events.ts";
import type { Words } from "../../../domain/personal/words.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { derivedId } from "../../../infra/crypto/ids.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { accountStream } from "../../../src/accounts/accounts.ts";
import type { Principal } from "../../../src/http/route.ts";
import { orphanedPersonalData } from "../../../src/retention/orphaned-personal-data.ts";
import { toEvents } from "../../../src/streams/envelope.ts";
import { accountsWorld, PASSWORD } from "../../support/accounts-world.ts";
import { AT, callOf } from "../../support/call.ts";
import { failingLog } from "../../support/failing-log.ts";
import { tokenOf } from "../../support/members.ts";

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
  const filling = Array.from({ length: PLANS.free.counts.members - 1 }, (_, i) => {
    const data = {
      account,
      member: `mem_${i}`,
      email: `m${i}@shop.example`,
      role: "viewer",
      grant: "",
      invited_by: null,
      at: AT,
    };
    return { type: "MemberAdded", data };
  });
  await log.append(accountStream(account), "any", toEvents(filling, { ...envelope, commandId: "fill" }));
};

test("the stream of an address is named by a hash that needs the installation's key", async () => {
  const streams = await Promise.all(
    [1, 2].map(async () => {
      const { signUp, log } = accountsWorld();
      await signUp("ana@shop.example");
      return (await log.readAll(null, 100)).find(({ type }) => type === "EmailClaimed")?.stream;
    }),
  );
  for (const stream of streams) assert.match(stream ?? "", /^email-eml_[a-z2-7]{32}$/);
  assert.is.not(streams[0], streams[1]);
  assert.not.ok(streams.includes(`email-${derivedId("eml_", "ana@shop.example")}`));
});

test("a signup that was cut off is finished by the reactor", async () => {
  const { signUp, logIn, cutOff, react, types } = breakable();
  await cutOff("account-", () => signUp("ana@shop.example"));
  assert.equal(await types(), ["EmailClaimed"]);
  await react();
  assert.equal(await types(), ["EmailClaimed", "AccountOpened", "MemberAdded"]);
  await react();
  assert.is((await types()).length, 3);
  assert.is((await logIn("ana@shop.example")).outcome, 200);
});

const sweep = (it: { readonly log: EventLog; readonly world: { now: number } }): Promise<unknown> => {
  it.world.now += 2 * 24 * 60 * 60 * 1_000;
  const failed = (error: unknown): void => assert.unreachable(String(error));
  return orphanedPersonalData(it.log, { now: () => it.world.now }, randomness, failed).sweep(() => false);
};

test("a signup that was cut off for longer than a day keeps its address, whichever comes first after it", async () => {
  for (const isSweptFirst of [true, false]) {
    const it = breakable();
    await it.cutOff("account-", () => it.signUp("ana@shop.example"));
    if (isSweptFirst) await sweep(it);
    await it.react();
    await sweep(it);
    const added = (await it.log.readAll(null, 100)).find(({ type }) => type === "MemberAdded");
    assert.ok(added);
    const { email, client, account } = dataOf("MemberAdded", added);
    assert.is(await it.personal.read(email as Words, account), "ana@shop.example");
    assert.is.not(await it.personal.read(client, account), null);
  }
});

test("the data of a claim whose member was not added are erased with the claim, and those of a removed member stay", async () => {
  const it = breakable();
  const principal = await it.openAccount("ana@shop.example");
  const { id } = await it.addMember(principal, "bo@shop.example", "viewer", { ip: "198.51.100.7" });
  const invited = await it.call("POST", "/v1/members/invitations", {
    principal,
    body: { email: "cy@shop.example", role: "viewer" },
  });
  const accept = { body: { token: tokenOf(invited.body.invitation_url), password: PASSWORD }, ip: "203.0.113.9" };
  await it.cutOff("account-", () => it.call("POST", "/v1/auth/invitations/accept", accept));
  await it.call("DELETE", "/v1/members/{id}", { principal, params: { id: String(invited.body.id) } });
  await it.call("DELETE", "/v1/members/{id}", { principal, params: { id } });
  await it.react();
  await it.react();
  await sweep(it);
  const kept = JSON.stringify((await it.log.readAll(null, 500)).filter(({ type }) => type === "PersonalDataKept"));
  for (const there of ["ana@shop.example", "bo@shop.example", "198.51.100.7", "cy@shop.example"])
    assert.ok(kept.includes(there), there);
  assert.not.ok(kept.includes("203.0.113.9"), "nobody was added with this address");
});

test("a signup that was cut off is finished by the login if that comes first", async () => {
  const { signUp, logIn, cutOff, react, types } = breakable();
  await cutOff("account-", () => signUp("ana@shop.example"));
  assert.is((await logIn("ana@shop.example", "a wrong password")).outcome, "invalid-credentials");
  assert.equal(await types(), ["EmailClaimed"]);
  assert.is((await logIn("ana@shop.example")).outcome, 200);
  await react();
  assert.equal(await types(), ["EmailClaimed", "AccountOpened", "MemberAdded", "Reserved", "SessionOpened"]);
});

test("a member's address is released after a removal that was cut off", async () => {
  const { openAccount, call, addMember, cutOff, react, logIn, signUp } = breakable();
  const principal = await openAccount("ana@shop.example");
  const params = { id: (await addMember(principal, "bo@shop.example")).id };
  await cutOff("email-", () => call("DELETE", "/v1/members/{id}", { principal, params }));
  assert.is((await logIn("bo@shop.example")).outcome, "invalid-credentials");
  assert.is((await signUp("bo@shop.example")).outcome, "email-taken");
  await react();
  assert.is((await signUp("bo@shop.example")).outcome, 201);
});

test("a reactor that reacts to the whole log again brings no member back", async () => {
  const { openAccount, call, addMember, react, authenticate, logIn, types, cookieOf } = breakable();
  const principal = await openAccount("ana@shop.example");
  const { id } = await addMember(principal, "bo@shop.example", "owner");
  const token = cookieOf(await logIn("bo@shop.example"));
  await call("DELETE", "/v1/members/{id}", { principal, params: { id } });
  const before = await types();
  await react();
  assert.equal(await types(), before);
  assert.is(await authenticate({ kind: "session", token }), null);
  assert.is((await logIn("bo@shop.example")).outcome, "invalid-credentials");
});

/** An account with an invitation that is open. */
const withInvitation = async (it: ReturnType<typeof accountsWorld>) => {
  const principal = await it.openAccount("ana@shop.example");
  const body = { email: "bo@shop.example", role: "viewer" };
  const invited = await it.call("POST", "/v1/members/invitations", { principal, body });
  const accept = (password = PASSWORD) =>
    it.call("POST", "/v1/auth/invitations/accept", { body: { token: tokenOf(invited.body.invitation_url), password } });
  const withdraw = () => it.call("DELETE", "/v1/members/{id}", { principal, params: { id: String(invited.body.id) } });
  return { principal, accept, withdraw };
};

test("an acceptance that was cut off is finished by the reactor, or by the login", async () => {
  for (const isManagerFirst of [true, false]) {
    const it = breakable();
    const { accept } = await withInvitation(it);
    await it.cutOff("account-", () => accept());
    if (isManagerFirst) await it.react();
    assert.is((await accept("another long password")).outcome, "not-found", "the link was used");
    assert.is((await it.logIn("bo@shop.example")).outcome, 200);
    await it.react();
    assert.is((await it.types()).filter((type) => type === "MemberAdded").length, 2);
  }
});

test("a full account refuses an invitation, and one that fills up meanwhile releases the address", async () => {
  const it = breakable();
  const { principal, accept } = await withInvitation(it);
  await fill(it.log, principal);
  assert.is((await accept()).outcome, "limit-reached");
  await it.react();
  const body = { email: "cy@shop.example", role: "viewer" };
  assert.is((await it.call("POST", "/v1/members/invitations", { principal, body })).outcome, "limit-reached");
  assert.is((await it.signUp("bo@shop.example")).outcome, 201);
});

test("an invitation that is withdrawn while it is accepted releases the address, whichever comes first", async () => {
  for (const isManagerFirst of [false, true]) {
    const memory = memoryEventLog();
    let meanwhile = async (): Promise<unknown> => undefined;
    const log: EventLog = {
      ...memory,
      async append(stream, expected, events) {
        const appended = await memory.append(stream, expected, events);
        if (events.some(({ type }) => type === "EmailClaimed")) await meanwhile();
        return appended;
      },
    };
    const it = accountsWorld({ log });
    const { accept, withdraw } = await withInvitation(it);
    meanwhile = async () => {
      await withdraw();
      if (isManagerFirst) await it.react();
    };
    assert.is((await accept()).outcome, "not-found");
    meanwhile = async () => undefined;
    assert.equal((await it.types()).slice(-3), ["EmailClaimed", "InvitationWithdrawn", "EmailReleased"]);
    assert.is((await it.signUp("bo@shop.example")).outcome, 201);
  }
});

test("all events of an account name it in their metadata and have different ids", async () => {
  const { openAccount, log } = breakable();
  const { account, id } = await openAccount("ana@shop.example");
  const events = await log.readAll(null, 100);
  for (const { meta, stream } of events) {
    const actor = stream.startsWith("ledger-") ? { kind: "system", id: "ledger" } : { kind: "member", id };
    assert.equal([meta.account, meta.actor], [account, actor]);
  }
  assert.is(new Set(events.map((event) => event.id)).size, events.length);
});
test.run();
