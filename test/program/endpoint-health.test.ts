import { suite } from "uvu";
import * as assert from "uvu/assert";
import { endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import { openLog } from "../../src/engine/open-engines.ts";
import { type Fact, NO_TRACE, toEvents } from "../../src/streams/envelope.ts";
import { foldStream } from "../../src/streams/run-command.ts";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets, locationsIn } from "../support/engine-sets.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

const HOUR_MS = 60 * 60 * 1_000;
const ALL = ["degraded", "opened", "recovered", "warned", "disabled"].map((it) => `endpoint.${it}`);
/** Longer than the first two probes take. */
const PROBED_MS = 45_000;

/** Endpoints that fail, over the whole program. */
const endpointHealth = ({ name, open }: EngineSet): void => {
  const test = suite(`endpoint health: ${name}`);
  let engines: Engines;
  let program: Program;
  let app: Receiver;
  let pager: Receiver;

  test.before(async () => {
    engines = await open();
    [program, app, pager] = await Promise.all([startProgram(engines.env), receiver(), receiver()]);
  });
  test.before.each(() => {
    app.arrivals.splice(0);
    pager.arrivals.splice(0);
  });
  test.after(async () => {
    await program.stop();
    killPrograms();
    await Promise.all([app.close(), pager.close()]);
    removeFolder(program.dir);
    await engines.close();
  });

  const answers = (status: number): void => app.answer((_, response) => response.writeHead(status).end());
  /** Asked again while a busy machine's views cannot be read. */
  const health = (client: Client, id: string, base = program.url) =>
    until(
      "its health can be read",
      async () => (await client.at(base).call("GET", `/v1/endpoints/${id}`)).body.health ?? null,
    );
  /** The views may be a little behind. */
  const eventIs = (client: Client, id: string, status: string) =>
    until(`${id} is ${status}`, async () => {
      const { body } = await client.at(program.url).call("GET", `/v1/events/${id}`);
      return body.status === status ? body : null;
    });
  const stateIs = (client: Client, id: string, state: string, limitMs?: number) =>
    until(
      `the endpoint is ${state}`,
      async () => {
        const shown = await health(client, id);
        return shown.state === state ? shown : null;
      },
      limitMs,
    );
  const told = (type: string, endpointId: string) =>
    pager.arrivals
      .map(({ body }) => JSON.parse(body))
      .filter((it) => it.type === type && it.data.endpoint_id === endpointId);

  const world = async (settings: object = {}) => {
    const client = await signUp(program.url);
    await client.make("/v1/endpoints", { name: "pager", url: pager.url, notifications: [...ALL, "delivery.failed"] });
    const target = await client.make("/v1/endpoints", { name: "app", url: app.url, ...settings });
    return { client, target, source: await hookSource(client, { endpoint_id: target.id }) };
  };

  test("it opens after ten failures, is still open after a crash, is found well by a probe, and gets all in order", async () => {
    const { client, target, source } = await world({ concurrency: 1 });
    answers(500);
    const sent: string[] = [];
    const send = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1)
        sent.push((await source.at(program.url).send(`n${sent.length}`)).body.event_id);
    };
    await send(15);
    const opened = await stateIs(client, target.id, "open");
    assert.ok(Date.parse(opened.next_probe_at) > Date.now() - 1_000);
    await until("the attempts are counted", async () => {
      const { queued, consecutive_failures } = await health(client, target.id);
      return queued === 15 && consecutive_failures >= 10;
    });
    await eventIs(client, String(sent.at(-1)), "queued");

    await program.kill();
    program = await startProgram(engines.env, program.dir);
    assert.is((await health(client, target.id)).state, "open");
    await send(5);
    answers(200);
    const before = app.arrivals.length;
    const well = await stateIs(client, target.id, "healthy", PROBED_MS);
    assert.is(well.next_probe_at, null);
    await until("all are delivered", () => app.arrivals.length - before >= sent.length);
    assert.equal(
      app.arrivals.slice(before).map(({ id }) => id),
      sent,
    );
    assert.ok(before <= 10 + 2, `${before} requests while it failed`);

    for (const type of ["endpoint.degraded", "endpoint.opened", "endpoint.recovered"]) {
      await until(`${type} is told`, () => told(type, target.id).length > 0);
      assert.is(told(type, target.id)[0].data.name, "app");
    }
    assert.is(told("endpoint.opened", target.id)[0].data.reason, "failures-in-a-row");
  });

  test("a test that arrives closes an open circuit; enabling does as well", async () => {
    const { client, target, source } = await world();
    for (const close of ["test", "enable"]) {
      answers(503);
      const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => source.send(`${close}${n}`)));
      await stateIs(client, target.id, "open");
      const failing = await client.call("POST", `/v1/endpoints/${target.id}/test`);
      assert.equal([failing.body.outcome, (await health(client, target.id)).state], ["failed", "open"]);
      const before = app.arrivals.length;
      answers(200);
      assert.is((await client.call("POST", `/v1/endpoints/${target.id}/${close}`)).status, 200);
      assert.is((await health(client, target.id)).state, "healthy");
      const arrived = () => new Set(app.arrivals.slice(before).map(({ id }) => id));
      await until("what waited is delivered", () => ids.every(({ body }) => arrived().has(body.event_id)));
    }
  });

  test("410 disables it, which is told with the failed delivery; nothing is told of the delivery of that", async () => {
    const { client, target, source } = await world();
    answers(410);
    const { body } = await source.send("gone");
    await stateIs(client, target.id, "disabled");
    await until(
      "both are told",
      () => told("endpoint.disabled", target.id).length === 1 && told("delivery.failed", target.id).length === 1,
    );
    assert.match(told("endpoint.disabled", target.id)[0].data.reason, "410");
    const { data } = told("delivery.failed", target.id)[0];
    assert.equal([data.event_id, data.endpoint_id, data.failure.kind], [body.event_id, target.id, "http-4xx"]);
    assert.is((await client.call("POST", `/v1/events/${body.event_id}/replay`, {})).body.code, "endpoint-disabled");
  });

  /** The program has no clock of the test's: what was found out so long ago is in its log. */
  const past = async (client: Client, endpointId: string, facts: readonly Fact[]): Promise<void> => {
    await program.stop();
    const log = await openLog(locationsIn(engines, program.dir).log);
    const stream = `endpoint-${endpointId}`;
    const { revision } = await foldStream(log, endpointDecider, stream);
    const events = toEvents(facts, {
      commandId: `past ${endpointId} ${facts.length}`,
      account: client.account,
      actor: { kind: "system", id: "deliverer" },
      trace: NO_TRACE,
      at: new Date().toISOString(),
    });
    assert.is((await log.append(stream, revision ?? "absent", events)).outcome, "appended");
    await log.close();
    program = await startProgram(engines.env, program.dir);
  };

  for (const [what, hours, isWarned, state] of [
    ["warned after two and a half days of failure", 61, false, "open"],
    ["disabled after five, of which it was warned", 121, true, "disabled"],
  ] as const) {
    test(what, async () => {
      const { client, target, source } = await world();
      const endpoint_id = target.id;
      const ago = (h: number): string => new Date(Date.now() - h * HOUR_MS).toISOString();
      const about = { endpoint_id, consecutive_failures: 10, attempts: 10, failed: 10, reason: "failures-in-a-row" };
      const opened = { ...about, failing_since: ago(hours), next_probe_at: ago(hours), at: ago(hours) };
      const warning = { endpoint_id, failing_since: ago(hours), disables_at: ago(1), at: ago(60) };
      await past(client, target.id, [
        { type: "EndpointOpened", data: opened },
        ...(isWarned ? [{ type: "EndpointWarned", data: warning }] : []),
      ]);
      answers(500);
      const { body } = await source.at(program.url).send("waits");
      const type = isWarned ? "endpoint.disabled" : "endpoint.warned";
      await until(`${type} is told`, () => told(type, target.id).length === 1);
      if (!isWarned) assert.ok(Date.parse(told(type, target.id)[0].data.disables_at) > Date.now() + 58 * HOUR_MS);
      assert.is((await health(client, target.id)).state, state);
      assert.is((await eventIs(client, body.event_id, "retrying")).attempts.length, 1);
    });
  }

  test("two nodes see one state and make one probe", async () => {
    if (engines.env.EVENTSTORE_URL === undefined) return;
    const other = await startProgram(engines.env);
    // On a busy machine some are tried twice before it opens, and come again by their own schedule afterwards.
    const { client, target, source } = await world({ retry_schedule_s: Array.from({ length: 10 }, () => 5) });
    answers(500);
    const sent = await Promise.all(
      Array.from({ length: 24 }, (_, n) => source.at(n % 2 === 0 ? program.url : other.url).send(`t${n}`)),
    );
    assert.equal([...new Set(sent.map(({ status }) => status))], [202]);
    await stateIs(client, target.id, "open");
    await until("the other one says so", async () => (await health(client, target.id, other.url)).state === "open");
    const opened = app.arrivals.length;
    const [here, there] = await Promise.all([health(client, target.id), health(client, target.id, other.url)]);
    assert.is(here.next_probe_at, there.next_probe_at);
    answers(200);
    await stateIs(client, target.id, "healthy", PROBED_MS);
    await until("the other one knows", async () => (await health(client, target.id, other.url)).state === "healthy");
    const ids = () => new Set(app.arrivals.slice(opened).map(({ id }) => id));
    await until("all are delivered", () => ids().size === 24);
    assert.is(app.arrivals.length - opened, 24);
    assert.is(await other.stop(), 0);
    removeFolder(other.dir);
  });

  test.run();
};

for (const engineSet of engineSets()) endpointHealth(engineSet);
