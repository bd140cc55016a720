import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Commitment } from "../../../domain/evidence/commitment.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { EventLog, RecordedEvent } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { audit } from "../../../projections/audit.ts";
import {
  erasureStream,
  personalData,
  personalDataReactions,
  personalStream,
} from "../../../src/erasure/personal-data.ts";
import type { Principal } from "../../../src/http/route.ts";
import { orphanedPersonalData } from "../../../src/retention/orphaned-personal-data.ts";
import { auditRoutes } from "../../../src/routes/audit/audit.ts";
import { NO_TRACE, toEvents } from "../../../src/streams/envelope.ts";
import { foldedLeaves } from "../../support/evidence-log.ts";
import { bearer, COOKIE, OTHER_KEY, OWNER, SAME_ORIGIN, testApp, testClock } from "../../support/http-app.ts";
import { folded } from "../../support/projected.ts";

const test = suite("personal data");
const DAY_MS = 24 * 60 * 60 * 1_000;
const CLIENT = { ip: "192.0.2.7", user_agent: "curl/8.5 é" };
const SOURCE = "source-src_1";

const world = async (log: EventLog = memoryEventLog()) => {
  const clock = testClock();
  const views = memoryViewStore([audit.schema]);
  const personal = personalData(log, randomness);
  const routes = auditRoutes({
    views,
    log,
    personal,
    evidence: await foldedLeaves(log),
    namesOf: async () => ({}),
    titlesOf: async () => new Map(),
  });
  const principals = new Map<string, Principal>([
    ["owner", OWNER],
    ["admin", { ...OWNER, role: "admin" } as Principal],
    ["other", { ...OWNER, account: OTHER_KEY.account }],
  ]);
  const app = await testApp(routes, {
    log,
    clock,
    authenticate: async ({ kind, token }) =>
      kind === "bearer"
        ? { kind: "key", account: OWNER.account, id: "key_1", role: "admin" }
        : (principals.get(token) ?? null),
  });
  const envelope = (account = OWNER.account) => ({
    commandId: Buffer.from(randomness.bytes(8)).toString("hex"),
    account,
    actor: { kind: "system", id: "test" } as const,
    trace: NO_TRACE,
    at: new Date(clock.now()).toISOString(),
  });
  const write = (stream: string, data: JsonObject, account?: string) =>
    log.append(stream, "any", toEvents([{ type: "Visited", data }], envelope(account)));
  return {
    log,
    clock,
    personal,
    envelope,
    write,
    /** A record of the account with a commitment to personal data. */
    async visit(account?: string): Promise<Commitment> {
      const client = await personal.keep(SOURCE, CLIENT, envelope(account));
      await write(SOURCE, { list: [{ client }] }, account);
      return client;
    },
    erase: (id: string, cookie: string = COOKIE.cookie, reason = "asked for") =>
      app.inject({
        method: "DELETE",
        url: `/v1/audit/personal/${id}`,
        headers: { cookie, ...SAME_ORIGIN },
        payload: { reason },
      }),
    eraseByKey: (id: string) =>
      app.inject({
        method: "DELETE",
        url: `/v1/audit/personal/${id}`,
        headers: bearer("csk_1"),
        payload: { reason: "asked for" },
      }),
    async search(cookie: string = COOKIE.cookie) {
      const events = await log.readAll(null, 500);
      await views.drop(audit.schema.name, await log.identity());
      const documents = new Map(Object.entries(folded(audit, events).all()));
      await views.commit(audit.schema.name, null, events.at(-1)?.position ?? "", { documents });
      const { data } = (await app.inject({ url: "/v1/audit?order=asc", headers: { cookie } })).json();
      return data as readonly { type: string; data: JsonObject; personal: JsonObject; leaf_hash: string }[];
    },
    sweep: () =>
      orphanedPersonalData(log, clock, randomness, (error) => assert.unreachable(String(error))).sweep(() => false),
    close: () => app.close(),
  };
};

const bytesIn = async (log: EventLog): Promise<string> => JSON.stringify(await log.readAll(null, 500));

test("a record has only the commitment, and the auditor's search shows the value", async () => {
  const it = await world();
  const client = await it.visit();
  const [record] = await it.search();
  assert.equal(record?.data, { list: [{ client }] });
  assert.equal(record?.personal, { [client.id]: CLIENT });
  const [kept] = await it.log.read(personalStream(client.id), null, 10);
  const salt = Buffer.from(String(kept?.data.salt), "base64");
  const bytes = Buffer.from('{"ip":"192.0.2.7","user_agent":"curl/8.5 é"}');
  assert.is(salt.length, 16);
  assert.is(client.size, bytes.length);
  assert.is(client.commitment, createHash("sha256").update(salt).update(bytes).digest("hex"));
  await it.close();
});

test("an owner erases personal data by its id: the erasure is a record, all others keep their hashes", async () => {
  const it = await world();
  const [gone, stays] = [await it.visit(), await it.visit()];
  const before = await it.search();
  const answer = await it.erase(gone.id);
  assert.is(answer.statusCode, 200, answer.body);
  assert.equal(answer.json().id, gone.id);
  assert.type(answer.headers["countersign-position"], "string");
  const after = await it.search();
  assert.equal(
    after.slice(0, 2).map(({ leaf_hash, personal }) => [leaf_hash, personal]),
    [
      [before[0]?.leaf_hash, {}],
      [before[1]?.leaf_hash, { [stays.id]: CLIENT }],
    ],
  );
  assert.equal(
    [after[2]?.type, after[2]?.data.id, Object.values(after[2]?.personal ?? {})],
    ["PersonalDataErased", gone.id, ["asked for"]],
  );
  const repeated = await it.erase(gone.id, COOKIE.cookie, "again");
  assert.equal(repeated.json(), answer.json());
  assert.is((await it.search()).length, 3);
  await it.close();
});

test("no key, weaker role, other account or invalid id erases personal data", async () => {
  const it = await world();
  const { id } = await it.visit();
  assert.is((await it.eraseByKey(id)).statusCode, 403);
  assert.is((await it.erase(id, "__Host-session=admin")).statusCode, 403);
  const none = `per_${"a".repeat(32)}`;
  for (const [of, cookie] of [
    [id, "__Host-session=other"],
    [none, COOKIE.cookie],
    ["evt_1", COOKIE.cookie],
    ["%2e", COOKIE.cookie],
  ] as const)
    assert.is((await it.erase(of, cookie)).statusCode, 404, of);
  assert.equal((await it.search())[0]?.personal, { [id]: CLIENT });
  await it.erase(id);
  assert.is((await it.erase(id, "__Host-session=other")).statusCode, 404);
  await it.close();
});

test("a record that names another account's commitment, or another hash, shows no value", async () => {
  const it = await world();
  const foreign = await it.visit("acc_b");
  const own = await it.visit();
  await it.write(SOURCE, { client: foreign });
  await it.write(SOURCE, { client: { ...own, commitment: foreign.commitment } });
  const shown = (await it.search()).map(({ personal }) => personal);
  assert.equal(shown, [{ [own.id]: CLIENT }, {}, {}]);
  await it.close();
});

test("an erasure that a crash cut short after its record is completed by the reactor", async () => {
  const it = await world();
  const { id } = await it.visit();
  const dying = personalData({ ...it.log, erase: () => Promise.reject(new Error("killed")) }, randomness);
  await dying.erase(id, "asked for", it.envelope()).catch(() => undefined);
  assert.match(await bytesIn(it.log), CLIENT.ip);
  const record = (await it.log.last(erasureStream(id))) as RecordedEvent;
  for (const { on, run } of personalDataReactions(it.log)) if (on === record.type) await run(record);
  assert.not.match(await bytesIn(it.log), CLIENT.ip);
  await it.close();
});

test("a value whose record never came is erased after a day, and the erasure is a record", async () => {
  const it = await world();
  const named = await it.visit();
  const orphan = await it.personal.keep(SOURCE, "ana@a.example", it.envelope());
  for (let n = 0; n < 250; n += 1) await it.write(SOURCE, { n });
  assert.is(await it.sweep(), 0, "its record may still come");
  it.clock.advance(DAY_MS);
  assert.is(await it.sweep(), 1);
  assert.is(await it.personal.read(orphan, OWNER.account), null);
  assert.equal(await it.personal.read(named, OWNER.account), CLIENT);
  assert.is((await it.log.last(erasureStream(orphan.id)))?.meta.account, OWNER.account);
  assert.is(await it.sweep(), 0);
  await it.close();
});

test("a value whose record was refused can be forgotten at once", async () => {
  const it = await world();
  const refused = await it.personal.keep(SOURCE, CLIENT, it.envelope());
  await it.personal.forget(refused);
  assert.not.match(await bytesIn(it.log), CLIENT.ip);
  it.clock.advance(DAY_MS);
  assert.is(await it.sweep(), 0);
  await it.close();
});

test.run();
