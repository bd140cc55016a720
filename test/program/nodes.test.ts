import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import { derivedId } from "../../infra/crypto/ids.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { openLog } from "../../src/engine/open-engines.ts";
import { ledgers } from "../../src/ledgers/ledgers.ts";
import { ORPHAN_AGE_MS } from "../../src/ledgers/orphaned-places.ts";
import { STALENESS_MAX_MS } from "../../src/streams/aggregates.ts";
import { NO_TRACE } from "../../src/streams/envelope.ts";
import { type Client, type HookSource, hookSource, persistently, type Reply, signUp } from "../support/client.ts";
import { type Engines, locationsIn, sharedEngines } from "../support/engine-sets.ts";
import { fieldOf, readLogAt } from "../support/log-facts.ts";
import { type Program, removeFolder, runProgram, startProgram, temporaryFolder, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { viewsAreTheLog } from "../support/views-facts.ts";

/** 7 cents of 1 euro, in micro-euros: 14 times. */
const COST = 70_000;
const BUDGET = { budget: 1_000_000 };
const thrifty = { name: "thrifty", budget_eur_day: 1, cost: { fixed_eur: 0.07 } };
/** Where the log of shared engines is does not depend on the data directory. */
const NOWHERE = "";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const fail = (error: unknown): never => {
  throw error;
};

/** What is left of a node whose clock stopped at `diedAt`, behind the reservation of an event and before its admission. */
const reserveAndDie = async (log: EventLog, account: string, policy: string, diedAt: number): Promise<void> => {
  const clock = { now: () => diedAt };
  const placeStatus = async () => "open" as const;
  const places = ledgers({ log, clock, randomness, placeStatus, orphanAgeMs: ORPHAN_AGE_MS, onError: fail });
  const event = derivedId("evt_", policy, "of the dead");
  const { answer } = await places.reserveDay({
    policy: { account, id: policy, timeZone: "UTC" },
    event,
    cost: COST,
    limits: BUDGET,
    trace: NO_TRACE,
  });
  assert.is(answer.granted, true);
};

type Attempts = { readonly started: number; readonly overlapping: readonly string[]; readonly leaseUntil: string };

const NO_ATTEMPTS: Attempts = { started: 0, overlapping: [], leaseUntil: "" };

/** By event. `overlapping` are the times at which an attempt began that had to wait for the lease of another. */
const attemptsIn = (records: readonly RecordedEvent[]): ReadonlyMap<string, Attempts> => {
  const attempts = new Map<string, Attempts>();
  for (const record of records) {
    const id = String(fieldOf(record, "event_id"));
    const before = attempts.get(id) ?? NO_ATTEMPTS;
    if (record.type === "AttemptFailed") attempts.set(id, { ...before, leaseUntil: "" });
    if (record.type !== "AttemptStarted") continue;
    const at = String(fieldOf(record, "at"));
    attempts.set(id, {
      started: before.started + 1,
      overlapping: at < before.leaseUntil ? [...before.overlapping, at] : before.overlapping,
      leaseUntil: String(fieldOf(record, "lease_until")),
    });
  }
  return attempts;
};

/** Two processes on one log and one database. What is said to one of them is said to both. */
const nodes = (open: () => Promise<Engines>): void => {
  const test = suite("two nodes");
  let engines: Engines;
  /** The second one gives new accounts the free plan. */
  let programs: readonly [Program, Program];
  let target: Receiver;

  test.before(async () => {
    engines = await open();
    const [paid, free, there] = await Promise.all([
      startProgram(engines.env),
      startProgram({ ...engines.env, SIGNUP_PLAN: "free" }),
      receiver(),
    ]);
    programs = [paid, free];
    target = there;
  });
  test.after(async () => {
    for (const program of programs) {
      assert.is(await program.stop(), 0, program.output());
      removeFolder(program.dir);
    }
    await target.close();
    await engines.close();
  });

  const urls = (): readonly [string, string] => [programs[0].url, programs[1].url];
  /** The same client, or source, at both. */
  const atBoth = <T extends { at(base: string): T }>(it: T): readonly [T, T] => {
    const [one, other] = urls();
    return [it.at(one), it.at(other)];
  };
  /** One each, in turn. */
  const spread = (hook: HookSource, ids: readonly string[]): Promise<readonly Reply[]> => {
    const at = atBoth(hook);
    return Promise.all(ids.map((id, n) => persistently(() => (n % 2 === 0 ? at[0] : at[1]).send(id))));
  };
  const numbered = (count: number, name: string): readonly string[] =>
    Array.from({ length: count }, (_, n) => `${name}-${n}`);
  const logFacts = async (client: Client, type: string, field: string) =>
    (await readLogAt(locationsIn(engines, NOWHERE).log))
      .filter((event) => event.type === type && event.meta.account === client.account)
      .map((event) => String(fieldOf(event, field)));

  /** Each event arrived, at most once for each of its attempts, and no two of its attempts ran at once. */
  const assertArrivals = async (ids: readonly string[]): Promise<void> => {
    const attempts = attemptsIn(await readLogAt(locationsIn(engines, NOWHERE).log));
    const counts = target.counts();
    for (const id of ids) {
      const { started, overlapping } = attempts.get(id) ?? NO_ATTEMPTS;
      assert.equal(overlapping, [], id);
      // A busy machine may end an attempt without an answer, so there may be a second one.
      const arrived = counts.get(id) ?? 0;
      assert.ok(arrived >= 1 && arrived <= started, `${id} arrived ${arrived} times in ${started} attempts`);
    }
  };

  const statuses = (replies: readonly Reply[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { status, body } of replies) {
      const name = `${status} ${body.code ?? body.status}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  };

  test("P6: 300 at once over both against 20 a minute: exactly 20", async () => {
    const client = await signUp(urls()[0]);
    const policy = await client.make("/v1/policies", { name: "slow", rate_per_minute: 20 });
    const hook = await hookSource(client, { policy_id: policy.id });
    const replies = await spread(hook, numbered(300, "rate"));
    assert.equal(statuses(replies), { "202 recorded": 20, "429 gate-rate": 280 });
  });

  test("P6: 200 at once over both against 1 euro a day at 7 cents: exactly 14", async () => {
    const client = await signUp(urls()[0]);
    const policy = await client.make("/v1/policies", thrifty);
    const hook = await hookSource(client, { policy_id: policy.id });
    assert.equal(statuses(await spread(hook, numbered(200, "budget"))), { "202 recorded": 14, "429 gate-budget": 186 });
  });

  test("P6: 1,100 over both on the free plan: exactly 1,000", async () => {
    const client = await signUp(urls()[1]);
    const replies = await spread(await hookSource(client), numbered(1_100, "free"));
    assert.equal(statuses(replies), { "202 recorded": 1_000, "429 gate-quota": 100 });
    await until("the bill says so on both", async () => {
      const bills = await Promise.all(atBoth(client).map((it) => it.call("GET", "/v1/billing/summary")));
      // What was refused behind a 503 was refused once more.
      return bills.every(({ body }) => body.usage.events === 1_000 && body.usage.blocked >= 100);
    });
  });

  test("P6: of ten sources asked of both at once the free plan has one; deleted at one node, there is room at the other", async () => {
    const client = await signUp(urls()[1]);
    const at = atBoth(client);
    const make = (it: Client, name: string) => it.call("POST", "/v1/sources", { name, type: "github" });
    const replies = await Promise.all(numbered(10, "source").map((name, n) => make(n % 2 === 0 ? at[0] : at[1], name)));
    assert.equal(replies.map(({ status }) => status).sort(), [201, ...Array.from({ length: 9 }, () => 403)]);
    let { id } = replies.find(({ status }) => status === 201)?.body ?? {};
    for (const [here, there] of [at, [at[1], at[0]] as const]) {
      assert.is((await make(here, "too many")).body.code, "plan-limit");
      assert.is((await there.call("DELETE", `/v1/sources/${id}`)).status, 204);
      const made = await make(here, "the next");
      assert.is(made.status, 201);
      id = made.body.id;
    }
  });

  test("P2: one delivery id 50 times at once over both is one event, 49 duplicates and one delivery", async () => {
    const client = await signUp(urls()[0]);
    const app = await client.make("/v1/endpoints", { name: "app", url: target.url });
    const hook = await hookSource(client, { endpoint_id: app.id });
    const at = atBoth(hook);
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? at[0] : at[1]).send("same")));
    assert.is(replies.filter(({ status }) => status === 202).length, 1);
    assert.is(replies.filter(({ status, body }) => status === 200 && body.duplicate === true).length, 49);
    const [id, ...others] = new Set(replies.map(({ body }) => body.event_id));
    assert.equal(others, []);
    await until("it is delivered and its repeats are counted", async () => {
      const { body } = await client.call("GET", `/v1/events/${id}`);
      return body.status === "delivered" && body.duplicates === 49;
    });
    assert.equal(await logFacts(client, "EventAdmitted", "event_id"), [id]);
    await assertArrivals([String(id)]);
  });

  test("one Idempotency-Key at both at once makes one thing, and both answer the same", async () => {
    const client = await signUp(urls()[0]);
    const at = atBoth(client);
    const make = async (it: Client, key: string): Promise<Reply> => {
      const ask = () => it.call("POST", "/v1/policies", { name: key }, { "idempotency-key": key });
      return until("it is answered", async () => {
        const reply = await ask();
        return reply.body.code === "in-progress" ? null : reply;
      });
    };
    for (const key of numbered(10, "key")) {
      const replies = await Promise.all([...at, ...at].map((it) => make(it, key)));
      const [first] = replies;
      for (const { status, body } of replies) assert.equal([status, body], [201, first?.body]);
    }
    assert.is((await logFacts(client, "PolicyPublished", "policy_id")).length, 10);
  });

  test("one address signed up at both at once is one account", async () => {
    const person = { email: `twice-${Date.now()}@example.com`, password: "correct horse battery" };
    const body = JSON.stringify(person);
    const headers = { "content-type": "application/json" };
    const ask = (base: string) => fetch(`${base}/v1/auth/signup`, { method: "POST", headers, body });
    const replies = await Promise.all([...urls(), ...urls()].map(ask));
    assert.equal(replies.map(({ status }) => status).sort(), [201, 409, 409, 409]);
  });

  test("500 over both are delivered once each, and no attempt begins while another of the event may run", async () => {
    const client = await signUp(urls()[0]);
    const app = await client.make("/v1/endpoints", { name: "app", url: target.url, concurrency: 20 });
    const hook = await hookSource(client, { endpoint_id: app.id });
    const replies = await spread(hook, numbered(500, "one"));
    const ids = replies.map(({ body }) => String(body.event_id)).sort();
    await until("all are delivered", async () => (await logFacts(client, "EventDelivered", "event_id")).length >= 500);
    assert.equal((await logFacts(client, "EventDelivered", "event_id")).sort(), ids);
    await assertArrivals(ids);
  });

  test("what is changed at one node is in force at the other 100 ms later", async () => {
    const client = await signUp(urls()[0]);
    const [here, there] = atBoth(client);
    const policy = await here.make("/v1/policies", { name: "open" });
    const hook = (await hookSource(here, { policy_id: policy.id })).at(urls()[1]);
    assert.is((await hook.send("before")).status, 202);
    await here.call("PUT", `/v1/policies/${policy.id}`, { name: "closed", deny: [{ name: "all", when: "true" }] });
    await pause(STALENESS_MAX_MS);
    assert.is((await hook.send("denied")).body.code, "gate-content");
    await here.call("PATCH", `/v1/sources/${hook.id}`, { status: "paused" });
    await pause(STALENESS_MAX_MS);
    assert.is((await hook.send("paused")).body.code, "source-paused");
    const key = await here.session("POST", "/v1/api-keys", { name: "short-lived", role: "viewer" });
    const bearer = { authorization: `Bearer ${key.body.key}` };
    assert.is((await there.call("GET", "/v1/events", undefined, bearer)).status, 200);
    assert.is((await here.session("DELETE", `/v1/api-keys/${key.body.id}`)).status, 204);
    await pause(STALENESS_MAX_MS);
    assert.is((await there.call("GET", "/v1/events", undefined, bearer)).status, 401);
    assert.is((await here.session("POST", "/v1/auth/logout")).status, 204);
    await pause(STALENESS_MAX_MS);
    assert.is((await there.session("GET", "/v1/auth/me")).status, 401);
  });

  test("what one node has written is seen at the other by a read that asks for its position", async () => {
    const at = atBoth(await signUp(urls()[0]));
    for (let n = 0; n < 20; n += 1) {
      const [writer, reader] = n % 2 === 0 ? at : [at[1], at[0]];
      const made = await writer.call("POST", "/v1/policies", { name: `policy ${n}` });
      const position = made.headers.get("countersign-position");
      const { body } = await reader.call("GET", `/v1/policies?after=${position}&limit=100`);
      assert.is(body.data.length, n + 1);
    }
  });

  test("P6: what a node that died between the two appends has reserved is free 30 s later, and not before", async () => {
    const client = await signUp(urls()[0]);
    const policy = await client.make("/v1/policies", thrifty);
    const hook = await hookSource(client, { policy_id: policy.id });
    const log = await openLog(locationsIn(engines, NOWHERE).log);
    const diedAt = Date.now() - (ORPHAN_AGE_MS - 5_000);
    await reserveAndDie(log, client.account, policy.id, diedAt);
    await log.close();
    const early = await spread(hook, numbered(40, "early"));
    if (Date.now() < diedAt + ORPHAN_AGE_MS) assert.is(statuses(early)["202 recorded"], 13);
    let late = 0;
    await until("the place of the dead is free", async () => {
      late += 1;
      return (await spread(hook, numbered(10, `late-${late}`))).some(({ status }) => status === 202);
    });
    assert.ok(Date.now() >= diedAt + ORPHAN_AGE_MS);
    await spread(hook, numbered(20, "last"));
    assert.is((await logFacts(client, "EventAdmitted", "event_id")).length, 14);
  });

  test("both project, and every document is what the log says", () => viewsAreTheLog(locationsIn(engines, NOWHERE)));

  test("a node with another key is refused in one sentence", async () => {
    const dir = temporaryFolder();
    const COUNTERSIGN_KEY = Buffer.alloc(32, 9).toString("base64");
    const { code, stdout, stderr } = await runProgram({ ...engines.env, COUNTERSIGN_KEY }, dir);
    assert.equal([code, stdout], [2, ""]);
    assert.match(stderr, /^The keys in the event log are sealed under another COUNTERSIGN_KEY: [^\n]*\n$/);
    removeFolder(dir);
  });

  test.run();
};

const shared = sharedEngines("what two nodes do together");
if (shared !== null) nodes(shared.open);
