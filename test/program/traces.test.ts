import { suite } from "uvu";
import * as assert from "uvu/assert";
import { defineAction, registerAgent } from "../support/agent.ts";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { type Collector, collector, type ReceivedSpan, spansIn } from "../support/collector.ts";
import { type EngineSet, type Engines, engineSets } from "../support/engine-sets.ts";
import { create, orders, ordersWorld } from "../support/orders.ts";
import { isTraceRequest } from "../support/otlp-rules.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

let callers = 0;
/** A caller's trace of its own. */
const caller = () => {
  callers += 1;
  const traceId = callers.toString(16).padStart(32, "c");
  const spanId = callers.toString(16).padStart(16, "d");
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } };
};

const byName = (spans: readonly ReceivedSpan[]) =>
  spans
    .toSorted((a, b) => (a.startTimeUnixNano < b.startTimeUnixNano ? -1 : 1))
    .map(({ name, status }) => (status.code === 2 ? `${name} !` : name));

/** Every parent is there, or is the caller's span; each child begins within the trace. */
const isConnected = (spans: readonly ReceivedSpan[], callerSpan: string): void => {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === callerSpan);
  assert.is(roots.length, 1);
  for (const { name, spanId, parentSpanId, startTimeUnixNano, endTimeUnixNano } of spans) {
    if (spanId !== roots[0]?.spanId) assert.ok(parentSpanId !== undefined && ids.has(parentSpanId), name);
    assert.ok(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano), name);
  }
};

const attribute = (spans: readonly ReceivedSpan[], name: string, key: string): unknown =>
  Object.values(
    spans.find((span) => span.name === name)?.attributes.find((attribute) => attribute.key === key)?.value ?? {},
  )[0];

const traces = ({ name, open }: EngineSet): void => {
  const test = suite(`traces: ${name}`);
  let engines: Engines;
  let otlp: Collector;
  let program: Program;
  let target: Receiver;
  let env: Record<string, string>;

  test.before(async () => {
    [engines, otlp, target] = await Promise.all([open(), collector(), receiver()]);
    const own = { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=s%20cret" };
    env = { ...engines.env, ...own, OTEL_SERVICE_NAME: "governed" };
    program = await startProgram(env);
  });
  test.after(async () => {
    await program.stop();
    killPrograms();
    await Promise.all([target.close(), otlp.close()]);
    removeFolder(program.dir);
    await engines.close();
  });
  test.before.each(() => target.answer((_arrival, response) => response.end("ok")));

  const endpointOf = async (client: Client, settings: Record<string, unknown> = {}): Promise<string> =>
    (await client.make("/v1/endpoints", { name: "app", url: target.url, retry_schedule_s: [1, 1], ...settings })).id;

  const exported = (traceId: string, count: number): Promise<ReceivedSpan[]> =>
    until(`${count} spans of ${traceId} have arrived: ${byName(otlp.trace(traceId))}`, () => {
      const spans = otlp.trace(traceId);
      return spans.length >= count ? spans : null;
    });

  /** What has arrived once `root` has, and so many steps and undos. */
  const exportedNamed = (traceId: string, root: string, steps: number): Promise<ReceivedSpan[]> =>
    until(`${root} of ${traceId} and its ${steps} have arrived: ${byName(otlp.trace(traceId))}`, () => {
      const spans = otlp.trace(traceId);
      const begun = spans.filter(({ name }) => name.startsWith("execute_tool"));
      return begun.length === steps && spans.some(({ name }) => name === root) ? spans : null;
    });

  /** What the console shows is what was exported, to the id. */
  const isShown = async (client: Client, eventId: string, spans: readonly ReceivedSpan[]): Promise<void> => {
    const idsOf = (all: readonly ReceivedSpan[]) => all.map(({ spanId }) => spanId).toSorted();
    // The view that says whose it is may be a moment behind the log, which the exporter follows.
    const body = await until(`the trace of ${eventId} is shown`, async () => {
      const answer = await client.call("GET", `/v1/events/${eventId}/trace`);
      return answer.status === 200 ? answer.body : null;
    });
    isTraceRequest(body);
    const shown = spansIn(body);
    assert.equal(idsOf(shown), idsOf(spans));
    assert.equal(byName(shown), byName(spans));
  };

  test("a delivered webhook is one trace, from the caller's span to the attempt that the receiver is told of", async () => {
    const client = await signUp(program.url);
    const policy = await client.make("/v1/policies", { name: "p", rate_per_minute: 60 });
    const source = await hookSource(client, { endpoint_id: await endpointOf(client), policy_id: policy.id });
    let isFirst = true;
    target.answer((_arrival, response) => {
      response.writeHead(isFirst ? 503 : 200).end();
      isFirst = false;
    });
    const from = caller();
    const { body } = await source.send("delivered", { a: 1 }, from.headers);
    const spans = await exported(from.traceId, 6);
    isConnected(spans, from.spanId);
    assert.equal(byName(spans).toSorted(), ["POST", "POST !", "authenticate", "decide", "gate rate", "ingest hmac"]);
    const told = target.arrivals
      .filter(({ id }) => id === body.event_id)
      .map(({ headers }) => String(headers.traceparent).split("-"));
    assert.is(told.length, 2);
    for (const [, traceId, spanId] of told) {
      assert.is(traceId, from.traceId);
      assert.is(spans.find((span) => span.spanId === spanId)?.name, "POST");
    }
    assert.is(attribute(spans, "ingest hmac", "countersign.event.id"), body.event_id);
    assert.is(otlp.requests[0]?.path, "/v1/traces");
    assert.is(otlp.requests[0]?.headers["x-api-key"], "s cret");
    await isShown(client, body.event_id, spans);
  });

  test("a refusal has its span, and says which gate", async () => {
    const client = await signUp(program.url);
    const policy = await client.make("/v1/policies", { name: "p", require_fields: ["wanted"] });
    const source = await hookSource(client, { policy_id: policy.id });
    const from = caller();
    const { status, body } = await source.send("blocked", { other: 1 }, from.headers);
    assert.is(status, 422);
    const spans = await exported(from.traceId, 4);
    isConnected(spans, from.spanId);
    const expected = ["authenticate", "decide !", "gate require_fields !", "ingest hmac !"];
    assert.equal(byName(spans).toSorted(), expected);
    assert.is(attribute(spans, "gate require_fields", "countersign.gate.code"), "missing-fields");
    await isShown(client, body.event_id, spans);
  });

  test("a request approved after a restart is one trace, and an unreachable collector is waited for", async () => {
    const client = await signUp(program.url);
    await defineAction(client, "refund.create", await endpointOf(client));
    const policy = await client.make("/v1/policies", { name: "p", approval: { expires_after_s: 3_600 } });
    const agent = await registerAgent(program.url, client, { policy_id: policy.id });
    const from = caller();
    const held = await agent.execute("held", { action: "refund.create", payload: {}, wait_ms: 0 }, from.headers);
    assert.is(held.body.status, "held");
    otlp.answer((response) => response.writeHead(503).end());
    await program.kill();
    program = await startProgram(env, program.dir);
    const again = client.at(program.url);
    const path = `/v1/approvals/${held.body.approval_id}`;
    const asked = await until("it is asked for", async () => {
      const shown = await again.session("GET", path);
      return shown.status === 200 ? shown.body : null;
    });
    const approved = await again.session("POST", `${path}/approve`, { digest: asked.digest });
    assert.is(approved.status, 200);
    const eventId = held.body.event_id;
    await until("it is delivered", async () => (await agent.at(program.url).execution(eventId)).status === 200);
    assert.equal(otlp.trace(from.traceId), []);
    otlp.answer((response) => response.setHeader("content-type", "application/json").end("{}"));

    const spans = await exported(from.traceId, 7);
    isConnected(spans, from.spanId);
    const names = ["POST", "authenticate", "decide", "execute_tool refund.create", "gate approval", "gate scope"];
    assert.equal(byName(spans).toSorted(), [...names, "hold for approval"].toSorted());
    assert.is(attribute(spans, "execute_tool refund.create", "gen_ai.operation.name"), "execute_tool");
    assert.is(attribute(spans, "execute_tool refund.create", "gen_ai.tool.name"), "refund.create");
    assert.is(attribute(spans, "execute_tool refund.create", "gen_ai.agent.id"), agent.id);
    await isShown(again, eventId, spans);
  });

  test("a bundle that was taken back is one trace: the whole, each step and each undo below it, as it is shown of any of them", async () => {
    const shop = await orders();
    const { client, agent } = await ordersWorld(program.url, shop.target);
    const from = caller();
    const steps = [create("a"), create("b"), create("c", { do: "refuse" }), create("d")];
    const { body } = await agent.bundle("taken-back", steps, {}, from.headers);
    assert.is(body.status, "rolled_back", JSON.stringify(body));
    // The whole with its decision, and five deliveries with theirs.
    const whole = ["authenticate", "decide", "execute_bundle !"];
    const spans = await exportedNamed(from.traceId, "execute_bundle", 5);
    isConnected(spans, from.spanId);
    const root = spans.find((span) => span.name === "execute_bundle");
    const below = spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
    assert.equal(
      byName(below).filter((name) => name.startsWith("execute_tool")),
      [
        ...["execute_tool order.create", "execute_tool order.create", "execute_tool order.create !"],
        ...["execute_tool order.cancel", "execute_tool order.cancel"],
      ],
    );
    const names = byName(spans);
    for (const name of whole) assert.ok(names.includes(name), name);
    const told = shop.target.arrivals.map(({ headers }) => String(headers.traceparent).split("-").slice(1, 3));
    assert.is(told.length, 5);
    for (const [traceId, spanId] of told) {
      assert.is(traceId, from.traceId);
      const attempt = spans.find((span) => span.spanId === spanId);
      assert.is(attempt?.name, "POST");
      assert.ok(below.some((step) => step.spanId === attempt?.parentSpanId));
    }
    for (const index of [0, 2]) await isShown(client, body.steps[index].event_id, spans);
    await isShown(client, body.steps[0].compensation_event_id, spans);
    await shop.target.close();
  });

  test("killed again and again while it exports, it continues without a gap", async () => {
    const client = await signUp(program.url);
    const target = await endpointOf(client);
    let source = await hookSource(client, { endpoint_id: target });
    const from = caller();
    const sent: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < 20; n += 1) {
        const { status, body } = await source.send(`killed-${round}-${n}`, {}, from.headers);
        assert.is(status, 202);
        sent.push(body.event_id);
      }
      // Some of them are exported, some are not, and of some nobody has seen the collector's answer.
      const before = otlp.trace(from.traceId).length;
      await until("it exports", () => otlp.trace(from.traceId).length > before);
      otlp.answer((response) => response.destroy());
      await source.send(`killed-${round}-last`, {}, from.headers).then(({ body }) => sent.push(body.event_id));
      await program.kill();
      otlp.answer((response) => response.setHeader("content-type", "application/json").end("{}"));
      program = await startProgram(env, program.dir);
      source = source.at(program.url);
    }
    const events = await until(
      `all ${sent.length} are exported`,
      () => {
        const ids = otlp
          .trace(from.traceId)
          .filter(({ name }) => name === "ingest hmac")
          .map((span) => String(attribute([span], "ingest hmac", "countersign.event.id")));
        return new Set(ids).size === sent.length ? ids : null;
      },
      60_000,
    );
    assert.equal(events.toSorted(), sent.toSorted());
    const spans = otlp.trace(from.traceId);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    for (const { name, parentSpanId = "" } of spans) {
      assert.ok(parentSpanId === from.spanId || ids.has(parentSpanId), name);
    }
  });

  test("another account's trace is not there", async () => {
    const [client, other] = await Promise.all([signUp(program.url), signUp(program.url)]);
    const source = await hookSource(client);
    const { body } = await source.send("own");
    const path = `/v1/events/${body.event_id}/trace`;
    await until("it is there", async () => (await client.call("GET", path)).status === 200);
    assert.is((await other.call("GET", path)).status, 404);
  });

  test.run();
};

for (const set of engineSets()) traces(set);
