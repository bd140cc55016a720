import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, type HookSource, hookSource, signUp } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets, locationsIn, sharedEngines } from "../support/engine-sets.ts";
import { type FailedEvents, writeFailedEvents } from "../support/failed-events.ts";
import { fieldOf, readLogAt } from "../support/log-facts.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

/** The bar of CI; a tenth of it shows the same in a moment. */
const isThorough = process.env.CI !== undefined || process.env.CRASH_ROUNDS !== undefined;
const EMBEDDED_EVENTS = isThorough ? 10_000 : 1_000;
/** A fifth: each event is some ten calls of servers, which share the machine with the test. */
const SERVERS_EVENTS = EMBEDDED_EVENTS / 5;
/** So that a run is killed in its middle, and ends. */
const RATE = isThorough ? 500 : 200;
/** For all to be folded, or delivered, on a machine that does other things as well; what was under way at a node that died
 * is sent again when its lease has run out, 15 s behind the timeout. */
const DONE_MS = 60_000 + EMBEDDED_EVENTS * 30;
const TIMEOUT_MS = 1_000;
const REASON = "the application was mended";

type Failed = {
  readonly client: Client;
  readonly endpointId: string;
  readonly about: FailedEvents;
  readonly ids: Set<string>;
};

const replays = (name: string, { open }: Pick<EngineSet, "open">, events: number): void => {
  const test = suite(`replays on ${name}`);
  let engines: Engines;
  let target: Receiver;
  let dirs: readonly string[];

  test.before.each(async () => {
    dirs = [temporaryFolder(), temporaryFolder()];
    [engines, target] = await Promise.all([open(), receiver()]);
  });
  test.after.each(async () => {
    killPrograms();
    await target.close();
    await engines.close();
    for (const dir of dirs) removeFolder(dir);
  });

  const start = (which = 0): Promise<Program> => startProgram(engines.env, dirs[which]);
  const records = () => readLogAt(locationsIn(engines, dirs[0] ?? "").log);
  const hook = async (client: Client, settings: object = {}): Promise<[HookSource, string]> => {
    const app = { name: "app", url: target.url, timeout_ms: TIMEOUT_MS, concurrency: 50, retry_schedule_s: [] };
    const { id } = await client.make("/v1/endpoints", app);
    return [await hookSource(client, { endpoint_id: id, ...settings }), id];
  };
  const statusOf = async (client: Client, id: string): Promise<string> =>
    (await client.call("GET", `/v1/events/${id}`)).body.status;

  /** An account, and so many failed events in its log; no program runs. */
  const failedEvents = async (count: number): Promise<Failed> => {
    const program = await start();
    const client = await signUp(program.url);
    const [{ id }, endpointId] = await hook(client);
    assert.is(await program.stop(), 0);
    const source = { id, name: "hooks" };
    const about = { account: client.account, source, endpointId, count, from: Date.now() - 3_600_000 };
    const written = await writeFailedEvents(locationsIn(engines, dirs[0] ?? "").log, about);
    return { client, endpointId, about, ids: new Set(written) };
  };

  const allShown = async (client: Client): Promise<boolean> => {
    const { projections } = (await client.call("GET", "/runtime")).body;
    return projections.every(({ lag_events }: { readonly lag_events: number }) => lag_events === 0);
  };

  const isDryRunExact = async (client: Client, { endpointId, about }: Failed): Promise<void> => {
    const filter = { status: "failed", endpoint_id: endpointId };
    const plan = () => client.call("POST", "/v1/replays", { filter, dry_run: true, rate_per_second: RATE });
    await until("the views show all of them", () => allShown(client), DONE_MS);
    await until("they are counted", async () => (await plan()).body.count === about.count);
    const { status, body } = await plan();
    assert.is(status, 200);
    assert.equal(body, {
      count: about.count,
      ...{ waiting: 0, waiting_at: [], skipped: [] },
      oldest: new Date(about.from).toISOString(),
      newest: new Date(about.from + about.count - 1).toISOString(),
      endpoints: [{ id: endpointId, count: about.count }],
      estimated_s: about.count / RATE,
    });
  };

  const begin = async (client: Client, { endpointId, about }: Failed): Promise<string> => {
    const filter = { status: "failed", endpoint_id: endpointId };
    const started = await client.call("POST", "/v1/replays", { filter, rate_per_second: RATE, reason: REASON });
    assert.equal([started.status, started.body.status, started.body.total], [202, "running", about.count]);
    return started.body.id;
  };

  const allDelivered = async (client: Client, id: string, count: number): Promise<void> => {
    const progress = async () => (await client.call("GET", `/v1/replays/${id}`)).body;
    await until("all are delivered", async () => (await progress()).delivered === count, DONE_MS);
    const { status, total, done, delivered, failed, skipped } = await progress();
    assert.equal([status, total, done, delivered, failed, skipped], ["done", count, count, count, 0, 0]);
  };

  /** Each was replayed by one record, which says who and names the one reason, and has had one effect. */
  const isRecordedOnce = async ({ client, ids }: Failed, replayId: string, reason: unknown): Promise<void> => {
    const all = (await records()).filter(({ meta }) => meta.account === client.account);
    const replayed = all.filter(({ type }) => type === "EventReplayed");
    assert.equal(replayed.map((event) => String(fieldOf(event, "event_id"))).sort(), [...ids].sort());
    const key = all.find(({ type }) => type === "ApiKeyCreated");
    for (const event of replayed) {
      assert.equal(event.meta.actor, { kind: "key", id: key && fieldOf(key, "key_id") });
      assert.equal([fieldOf(event, "replay_id"), fieldOf(event, "reason")], [replayId, reason]);
    }
    const delivered = all.filter(({ type }) => type === "EventDelivered");
    assert.equal(delivered.map((event) => String(fieldOf(event, "event_id"))).sort(), [...ids].sort());
    // What was under way when a process was killed is sent again under its id: the receiver counts it once.
    assert.equal([...target.counts().keys()].sort(), [...ids].sort());
  };

  test(`${events} failed events: the dry run is exact, and killed twice in its middle the replay delivers each of them once`, async () => {
    const it = await failedEvents(events);
    let program = await start();
    let client = it.client.at(program.url);
    await isDryRunExact(client, it);
    const id = await begin(client, it);
    for (const part of [1 / 3, 2 / 3]) {
      await until("a part has arrived", () => target.counts().size >= events * part, DONE_MS);
      await program.kill();
      assert.ok(target.counts().size < events);
      program = await start();
      client = it.client.at(program.url);
    }
    await allDelivered(client, id, events);
    const shown = await until("the audit shows it", async () => {
      const { body } = await client.session("GET", "/v1/audit?type=EventReplayed&limit=1");
      return body.data?.[0] ?? false;
    });
    const { reason } = shown.data;
    assert.equal([shown.actor.kind, shown.personal[reason.id]], ["key", REASON]);
    assert.is(await program.stop(), 0, program.output());
    await isRecordedOnce(it, id, reason);
  });

  test("a failed event is replayed by its id; a delivered one is refused, and a blocked one passes the gates again", async () => {
    const program = await start();
    const client = await signUp(program.url);
    const policy = await client.make("/v1/policies", { name: "p", require_fields: ["order"] });
    const [source, endpointId] = await hook(client, { policy_id: policy.id });
    target.answer((_arrival, response) => response.writeHead(500).end());
    const sent = await source.send("one", { order: 1 });
    const id: string = sent.body.event_id;
    await until("it has failed", async () => (await statusOf(client, id)) === "failed");
    target.answer((_arrival, response) => response.end("ok"));
    const replay = () => client.call("POST", `/v1/events/${id}/replay`, { reason: REASON });
    const replayed = await replay();
    assert.equal([replayed.status, replayed.body.event_id], [202, id]);
    await until("it is delivered", async () => (await statusOf(client, id)) === "delivered");
    assert.equal([...target.counts()], [[id, 2]]);
    const { body } = await client.call("GET", `/v1/events/${id}`);
    assert.equal(
      body.attempts.map(({ number, trigger }: Record<string, unknown>) => [number, trigger]),
      [
        [1, "auto"],
        [2, "replay"],
      ],
    );
    assert.equal([body.replays[0].id, body.replays[0].reason], [replayed.body.replay_id, REASON]);
    assert.ok(body.timeline.some(({ stage }: Record<string, unknown>) => stage === "replayed"));
    const again = await replay();
    assert.equal([again.status, again.body.code], [409, "already-delivered"]);

    const refused = await source.send("two", { amount: 1 });
    assert.equal([refused.status, refused.body.code], [422, "gate-require-fields"]);
    const blocked: string = refused.body.event_id;
    const still = await client.call("POST", `/v1/events/${blocked}/replay`);
    assert.equal([still.status, still.body.code], [422, "gate-require-fields"]);
    await client.session("PUT", `/v1/policies/${policy.id}`, { name: "p", require_fields: ["amount"] });
    await until("the new version is in force", async () => {
      const { status } = await client.call("POST", `/v1/events/${blocked}/replay`, { reason: REASON });
      return status === 202;
    });
    await until("it is delivered", async () => (await statusOf(client, blocked)) === "delivered");
    assert.is(target.counts().get(blocked), 1);
    const { body: list } = await client.call("GET", `/v1/endpoints/${endpointId}`);
    assert.is(list.health.queued, 0);
    assert.is(await program.stop(), 0, program.output());
  });

  test("the events of a replay are listed by it, with their states, and for no other account", async () => {
    const program = await start();
    const [client, other] = [await signUp(program.url), await signUp(program.url)];
    const [[source], [elsewhere]] = [await hook(client), await hook(client)];
    target.answer((_arrival, response) => response.writeHead(422).end());
    const fail = async (from: HookSource, name: string): Promise<string> => {
      const { event_id: id } = (await from.send(name, { name })).body;
      await until(`${name} has failed`, async () => (await statusOf(client, id)) === "failed");
      return id;
    };
    const [mended, broken] = [await fail(source, "mended"), await fail(source, "broken")];
    const beside = await fail(elsewhere, "beside");
    target.answer(({ body }, response) => response.writeHead(body.includes("broken") ? 422 : 200).end());
    const filter = { status: "failed", source_id: source.id };
    const begun = await client.call("POST", "/v1/replays", { filter }, { "idempotency-key": "listed" });
    const { id } = begun.body;
    const replay = async () => (await client.call("GET", `/v1/replays/${id}`)).body;
    await until("it has ended", async () => {
      const { status, delivered, failed } = await replay();
      return status === "done" && delivered === 1 && failed === 1;
    });
    await client.call("POST", `/v1/events/${beside}/replay`);
    await until("the other is delivered", async () => (await statusOf(client, beside)) === "delivered");
    const listed = async (query: string, by: Client = client): Promise<readonly string[]> => {
      const { status, body } = await by.call("GET", `/v1/events?replay=${id}${query}`);
      assert.is(status, 200);
      return body.data.map((it: { readonly id: string }) => it.id);
    };
    assert.equal(await listed(""), [broken, mended]);
    assert.equal(await listed("&status=delivered"), [mended]);
    assert.equal(await listed("&status=failed,blocked"), [broken]);
    assert.equal(await listed("&origin=source&status=delivered"), [mended]);
    assert.equal(await listed("&origin=system"), []);
    assert.equal(await listed(`&source_id=${elsewhere.id}`), []);
    const first = (await client.call("GET", `/v1/events?replay=${id}&limit=1`)).body;
    const second = (await client.call("GET", `/v1/events?replay=${id}&limit=1&cursor=${first.next_cursor}`)).body;
    assert.equal([first.data[0].id, second.data[0].id, second.next_cursor], [broken, mended, null]);
    assert.equal(await listed("", other), []);
    const never = await client.call("GET", `/v1/events?replay=rpl_${"a".repeat(32)}`);
    assert.equal([never.status, never.body.data], [200, []]);
    assert.is(await program.stop(), 0, program.output());
  });

  test("cancelled in its middle it stops, what it has sent is delivered, and another replay takes the rest", async () => {
    const count = 200;
    const it = await failedEvents(count);
    const program = await start();
    const client = it.client.at(program.url);
    const filter = { status: "failed", source_id: it.about.source.id };
    const plan = async () => (await client.call("POST", "/v1/replays", { filter, dry_run: true })).body.count;
    await until("the views show all of them", async () => (await plan()) === count);
    const { body } = await client.call("POST", "/v1/replays", { filter, rate_per_second: 50 });
    await until("it has begun", () => target.counts().size > 5);
    const cancelled = await client.call("POST", `/v1/replays/${body.id}/cancel`, { reason: "wrong ones" });
    assert.equal([cancelled.status, cancelled.body.status], [200, "cancelled"]);
    const rest = await until("nothing is on its way", async () => {
      const [shown, left] = [(await client.call("GET", `/v1/replays/${body.id}`)).body, await plan()];
      return shown.status === "cancelled" && shown.delivered === shown.done && left + shown.done === count
        ? left
        : null;
    });
    assert.ok(rest > 0 && rest < count, `${rest} of ${count}`);
    const second = await client.call("POST", "/v1/replays", { filter, rate_per_second: 1_000 });
    assert.is(second.body.total, rest);
    await allDelivered(client, second.body.id, rest);
    assert.equal([...target.counts().values()], Array(count).fill(1));
    assert.is(await program.stop(), 0, program.output());
  });

  test.run();
};

for (const set of engineSets()) replays(set.name, set, set.name === "embedded" ? EMBEDDED_EVENTS : SERVERS_EVENTS);

const atNodes = ({ open }: EngineSet): void => {
  const test = suite("one replay at two nodes");
  const COUNT = 400;

  test("both work, nothing is doubled, and one that dies is taken over from", async () => {
    const dirs = [temporaryFolder(), temporaryFolder()];
    const [engines, target] = await Promise.all([open(), receiver()]);
    try {
      const first = await startProgram(engines.env, dirs[0]);
      const client = await signUp(first.url);
      const app = { name: "app", url: target.url, timeout_ms: TIMEOUT_MS, concurrency: 50, retry_schedule_s: [] };
      const endpoint = await client.make("/v1/endpoints", app);
      const { id } = await hookSource(client, { endpoint_id: endpoint.id });
      const about = { account: client.account, source: { id, name: "hooks" }, endpointId: endpoint.id };
      const place = locationsIn(engines, "").log;
      const ids = await writeFailedEvents(place, { ...about, count: COUNT, from: Date.now() - 60_000 });
      const second = await startProgram(engines.env, dirs[1]);
      const filter = { status: "failed" };
      const plan = async () => (await client.call("POST", "/v1/replays", { filter, dry_run: true })).body.count;
      await until("the views show all of them", async () => (await plan()) === COUNT);
      const { body } = await client.call("POST", "/v1/replays", { filter, rate_per_second: 100 });
      await until("a part has arrived", () => target.counts().size > COUNT / 3);
      await first.kill();
      const at = client.at(second.url);
      const progress = async () => (await at.call("GET", `/v1/replays/${body.id}`)).body;
      await until("all are delivered", async () => (await progress()).delivered === COUNT);
      const { status, done, skipped } = await progress();
      assert.equal([status, done, skipped], ["done", COUNT, 0]);
      const replayed = (await readLogAt(place)).filter(
        ({ type, meta }) => type === "EventReplayed" && meta.account === client.account,
      );
      assert.equal(replayed.map((event) => String(fieldOf(event, "event_id"))).sort(), [...ids].sort());
      assert.equal([...target.counts().keys()].sort(), [...ids].sort());
      assert.is(await second.stop(), 0, second.output());
    } finally {
      killPrograms();
      await target.close();
      await engines.close();
      for (const dir of dirs) removeFolder(dir);
    }
  });

  test.run();
};

const shared = sharedEngines("one replay at two nodes");
if (shared !== null) atNodes(shared);
