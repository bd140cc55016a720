import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { eraseMember, memberErasureReactions } from "../../../src/audit/member-erasures.ts";
import type { Sample } from "../../../src/calls/tally.ts";
import { TallyBatches } from "../../../src/calls/tally-batches.ts";
import { clientOf, personalData, personalDataReactions } from "../../../src/erasure/personal-data.ts";
import type { Principal } from "../../../src/http/route.ts";
import { type Fact, NO_TRACE, toEvents } from "../../../src/streams/envelope.ts";
import { accountsWorld, PASSWORD } from "../../support/accounts-world.ts";
import { callOf } from "../../support/call.ts";
import { dyingAfter, survived } from "../../support/dying-log.ts";

const test = suite("erasures of members");

const FROM = { ip: "198.51.100.7", userAgent: "Hostile/1.0" };
const OF_BO = ["bo@shop.example", FROM.ip, FROM.userAgent, "too much for today"];

/** An account whose member Bo has logged in and has written a comment, beside others. */
const withBo = async () => {
  const it = accountsWorld();
  const owner = await it.openAccount("ana@shop.example");
  const { id } = await it.addMember(owner, "bo@shop.example", "approver", FROM);
  await it.logIn("bo@shop.example", PASSWORD, FROM);
  const { id: cy } = await it.addMember(owner, "cy@shop.example");
  const say = async (member: string, text: string): Promise<void> => {
    const actor = { kind: "member", id: member } as const;
    const envelope = {
      commandId: `say-${member}`,
      account: owner.account,
      actor,
      trace: NO_TRACE,
      at: "2026-03-01T12:00:00.000Z",
    };
    const comment = await it.personal.keep("approval-apr_1", text, envelope);
    await it.log.append("approval-apr_1", "any", toEvents([{ type: "VoteCast", data: { comment } }], envelope));
  };
  await say(id, "too much for today");
  await say(cy, "fine by me");
  const everything = async (): Promise<string> => JSON.stringify(await it.log.readAll(null, 1_000));
  const erase = (member: string, principal: Principal = owner, body: object | null = { reason: "asked to" }) =>
    it.call("DELETE", "/v1/members/{id}", { principal, params: { id: member }, query: { erase: "1" }, body });
  const depsOf = (log: EventLog) => ({
    log,
    views: it.views,
    progress: {
      async waitFor() {
        await it.project();
        return true;
      },
    },
    personal: personalData(log, randomness),
  });
  return { ...it, owner, id, cy, everything, erase, depsOf };
};

const holding = (text: string, values: readonly string[]): readonly string[] =>
  values.filter((it) => text.includes(it));

test("a member's data is erased as a whole, and nobody else's", async () => {
  const { everything, erase, id, log } = await withBo();
  assert.equal(holding(await everything(), OF_BO), OF_BO);
  const records = await log.readAll(null, 1_000, "records");
  const { outcome, body } = await erase(id);
  assert.equal([outcome, body.id, body.bytes_removed], [200, id, "within-seconds"]);
  const after = await everything();
  assert.equal(holding(after, OF_BO), []);
  const others = ["ana@shop.example", "cy@shop.example", "fine by me", "asked to"];
  assert.equal(holding(after, others), others);
  assert.equal(
    (await log.readAll(null, 1_000, "records")).slice(0, records.length),
    records,
    "records stay as they are",
  );
});

test("a member who was removed before is erased as well, and an invited person too", async () => {
  const { everything, erase, call, owner, id } = await withBo();
  const principal = owner;
  assert.is((await call("DELETE", "/v1/members/{id}", { principal, params: { id } })).outcome, 204);
  assert.equal(holding(await everything(), OF_BO), OF_BO);
  assert.is((await erase(id)).outcome, 200);
  assert.equal(holding(await everything(), OF_BO), []);
  const invited = await call("POST", "/v1/members/invitations", {
    principal,
    body: { email: "di@a.example", role: "viewer" },
  });
  assert.is((await erase(String(invited.body.id))).outcome, 200);
  assert.equal(holding(await everything(), ["di@a.example"]), []);
});

test("the addresses of earlier and of replaced invitations are erased with the person, and a later one stays", async () => {
  const { everything, erase, call, owner, addMember } = await withBo();
  const principal = owner;
  const invite = async (email: string): Promise<string> => {
    const { body } = await call("POST", "/v1/members/invitations", { principal, body: { email, role: "viewer" } });
    return String(body.id);
  };
  const di = "di@shop.example";
  const count = async (): Promise<number> => (await everything()).split(di).length - 1;
  const withdrawn = await invite(di);
  assert.is((await call("DELETE", "/v1/members/{id}", { principal, params: { id: withdrawn } })).outcome, 204);
  await invite(di);
  const { id } = await addMember(owner, di);
  assert.ok((await count()) >= 3);
  assert.is((await call("DELETE", "/v1/members/{id}", { principal, params: { id } })).outcome, 204);
  const again = await invite(di);
  assert.is((await erase(id)).outcome, 200);
  assert.is(await count(), 1, "the invitation that is open");
  assert.is((await erase(again)).outcome, 200);
  assert.is(await count(), 0);
});

test("an erasure of an earlier id leaves the address of the person who is a member again", async () => {
  const { everything, erase, call, owner, addMember, id } = await withBo();
  const principal = owner;
  assert.is((await call("DELETE", "/v1/members/{id}", { principal, params: { id } })).outcome, 204);
  const { id: again } = await addMember(owner, "bo@shop.example");
  assert.is((await erase(id)).outcome, 200);
  assert.ok((await everything()).includes("bo@shop.example"));
  assert.is((await erase(again)).outcome, 200);
  assert.not.ok((await everything()).includes("bo@shop.example"));
});

test("a repeat erases what a call under way has left, and names the first erasure", async () => {
  const { erase, everything, id, personal, owner, log } = await withBo();
  const envelope = callOf({ principal: owner }).envelope;
  const late = { ...envelope, commandId: "late", actor: { kind: "member", id } as const };
  const comment = await personal.keep("approval-apr_2", "said too late", late);
  const first = await erase(id);
  assert.equal(holding(await everything(), ["said too late"]), ["said too late"]);
  await log.append("approval-apr_2", "any", toEvents([{ type: "VoteCast", data: { comment } }], late));
  const again = await erase(id);
  assert.equal(again.body, first.body);
  assert.equal(holding(await everything(), ["said too late"]), []);
});

test("a refused call with the cookie of an erased member leaves no address and browser behind", async () => {
  const { erase, everything, id, owner, log, personal } = await withBo();
  await erase(id);
  const batches = new TallyBatches(log, { now: () => Date.parse("2026-03-02T12:00:00.000Z") }, randomness);
  const sample: Sample = { client: clientOf(FROM), commitment: null };
  const facts = (): readonly Fact[] => [{ type: "PayloadRead", data: { client: sample.commitment } }];
  const actor = { kind: "member", id } as const;
  const about = { account: owner.account, actor, trace: NO_TRACE, stream: `calls-${id}`, isOfMinute: true };
  const draft = { samples: [sample], facts };
  batches.put({ ...about, take: () => draft }, draft);
  await batches.write();
  assert.equal((await log.last(`calls-${id}`))?.data.client, sample.commitment);
  const { commitment } = sample;
  if (commitment === null) throw new Error("the record names no client");
  assert.is(await personal.read(commitment, owner.account), null);
  assert.equal(holding(await everything(), [FROM.ip, FROM.userAgent]), []);
});

test("nobody is erased without a reason, by another account, or as the last owner", async () => {
  const { erase, everything, id, owner, openAccount } = await withBo();
  const stranger = await openAccount("eve@other.example");
  assert.is((await erase(id, stranger)).outcome, "not-found");
  assert.is((await erase(`mem_${"a".repeat(32)}`)).outcome, "not-found");
  assert.is((await erase(id, owner, {})).outcome, "invalid-request");
  assert.is((await erase(owner.id)).outcome, "conflict");
  assert.equal(holding(await everything(), OF_BO), OF_BO);
});

test("an erasure of a member is completed after a crash at any write", async () => {
  for (let writes = 0, died = true; died; writes += 1) {
    const { depsOf, everything, log, owner, id } = await withBo();
    const { envelope } = callOf({ principal: owner });
    const dying = dyingAfter(log, writes);
    died = !(await survived(eraseMember(depsOf(dying.log), id, "asked to", envelope)));
    const isRecorded = (await log.readAll(null, 1_000, "records")).some(({ type }) => type === "MemberErased");
    // Nothing was promised yet, so the caller repeats the call.
    if (!isRecorded) await eraseMember(depsOf(log), id, "asked to", envelope);
    const reactions = [...memberErasureReactions(depsOf(log)), ...personalDataReactions(log)];
    for (const event of await log.readAll(null, 1_000, "records"))
      for (const { on, run } of reactions) if (on === event.type) await run(event);
    assert.equal(holding(await everything(), OF_BO), [], `dead after ${writes} writes`);
  }
});

test.run();
