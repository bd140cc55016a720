import type { ServerResponse } from "node:http";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Agent, defineAction, registerAgent } from "../../../support/agent.ts";
import { type Client, clientAt, hookSource, signUp } from "../../../support/client.ts";
import { addMember } from "../../../support/members.ts";
import { type Arrival, type Receiver, receiver } from "../../../support/receiver.ts";
import { type ServiceInProcess, serviceInProcess } from "../../../support/service-in-process.ts";
import { until } from "../../../support/until.ts";

const test = suite("what a policy hides, on every route that reads");

/** Part of each hidden value, and of nothing else. */
const HIDDEN = "h1dd3n";
/** What a condition reports about a value that it cannot use. */
const CONDITIONS = [
  ["int", "int(payload.card) > 5"],
  ["key", "payload[payload.card] == 1"],
  ["time", 'timestamp(payload.card) > timestamp("2020-01-01T00:00:00Z")'],
  ["type", "payload.card > 5"],
] as const;

let service: ServiceInProcess;
let target: Receiver;
/** Of notifications. */
let people: Receiver;

test.before(async () => {
  [service, target, people] = await Promise.all([serviceInProcess({ SIGNUP_PLAN: "scale" }), receiver(), receiver()]);
});
test.after(async () => {
  await service.stop();
  await Promise.all([target.close(), people.close()]);
});

const echo = (arrival: Arrival, response: ServerResponse): void => {
  if (arrival.body.includes("elsewhere")) {
    response.writeHead(302, { location: `http://${/h1dd3n-\d/.exec(arrival.body)?.[0]}.example/` });
    return void response.end();
  }
  response.statusCode = arrival.body.includes("refuse") ? 400 : 200;
  response.setHeader("x-echo", /h1dd3n-\d/.exec(arrival.body)?.[0] ?? "");
  response.end(arrival.body);
};

type Seen = { readonly who: string; readonly path: string; readonly text: string };

/** Everything that can be read with a GET, each path with each id that was made. */
const everything = async (
  paths: readonly string[],
  ids: Readonly<Record<string, readonly string[]>>,
  who: string,
  get: Client["call"],
): Promise<readonly Seen[]> => {
  const seen: Seen[] = [];
  for (const path of paths) {
    const kind = /^\/v1\/([a-z-]+)\/\{/.exec(path)?.[1] ?? "";
    const filled = path.includes("{") ? (ids[kind] ?? []).map((id) => path.replace(/\{[a-z_]+\}/, id)) : [path];
    for (const it of filled) {
      const { status, body } = await get("GET", it);
      if (status !== 200) continue;
      seen.push({ who, path: it, text: typeof body === "string" ? body : JSON.stringify(body) });
      for (let next = body.next_cursor; typeof next === "string"; ) {
        const { body: page } = await get("GET", `${it}?cursor=${encodeURIComponent(next)}`);
        seen.push({ who, path: it, text: JSON.stringify(page) });
        next = page.next_cursor;
      }
    }
  }
  return seen;
};

test("no role below admin reads a hidden value on any route, whatever became of the request", async () => {
  const client = await signUp(service.base);
  target.answer(echo);
  const app = await client.make("/v1/endpoints", { name: "app", url: target.url, retry_schedule_s: [] });
  const redact = ["card", "nested.card"];
  const notifications = ["approval.requested", "approval.decided", "delivery.failed", "endpoint.degraded"];
  await client.make("/v1/endpoints", { name: "people", url: people.url, notifications });
  const policyOf = (name: string, rest: object) => client.make("/v1/policies", { name, redact, ...rest });
  const payload = { card: `${HIDDEN}-1`, nested: { card: `${HIDDEN}-2` }, open: "shown" };
  const ids: Record<string, string[]> = { events: [], approvals: [], bundles: [], replays: [] };
  const send = async (name: string, rest: object, body: object = payload): Promise<void> => {
    const { id } = await policyOf(name, rest);
    const source = await hookSource(client, { name, policy_id: id, endpoint_id: app.id });
    const answer = await source.send(`d-${name}`, body);
    if (answer.body.event_id !== undefined) ids.events?.push(answer.body.event_id);
    if (answer.body.approval_id !== undefined) ids.approvals?.push(answer.body.approval_id);
  };
  await send("delivered", {});
  await send("failed", {}, { ...payload, order: "refuse" });
  await send("redirected", {}, { ...payload, order: "elsewhere" });
  await send("held", { approval: { expires_after_s: 3_600 } });
  await send("observed", {
    block_on_violation: false,
    schema: { properties: { card: { type: "number" } } },
    approval: { expires_after_s: 3_600 },
  });
  await send("schema", { schema: { properties: { card: { enum: ["a"] }, nested: { properties: { card: false } } } } });
  await send("format", { schema: { properties: { card: { format: "email", pattern: "^a$", maxLength: 1 } } } });
  await send("cost", { cost: { pointer: "card" } });
  for (const [name, when] of CONDITIONS) await send(name, { deny: [{ name, when }] });
  await send("asks", { approval: { when: "int(payload.card) > 5", expires_after_s: 3_600 } });
  const floor = await policyOf("floor", { approval: { expires_after_s: 3_600 } });
  const agent: Agent = await registerAgent(service.base, client, { policy_id: floor.id });
  await defineAction(client, "stock.release", app.id);
  await defineAction(client, "stock.reserve", app.id, { reversibility: "compensable", compensation: "stock.release" });
  const steps = [
    { action: "stock.reserve", payload },
    { action: "stock.reserve", payload: { ...payload, order: "refuse" } },
  ];
  const { body: bundle } = await agent.bundle("b-1", steps, { wait_ms: 0 });
  ids.bundles?.push(bundle.id);
  ids.approvals?.push(bundle.approval_id);
  const { body: asked } = await client.session("GET", `/v1/approvals/${bundle.approval_id}`);
  const agreed = await client.session("POST", `/v1/approvals/${asked.id}/approve`, { digest: asked.digest });
  assert.is(agreed.status, 200);
  await until("the bundle is rolled back", async () =>
    /roll.*back/.test((await agent.bundleNow(bundle.id)).body.status),
  );
  const { body: ended } = await agent.bundleNow(bundle.id, 5_000);
  for (const step of ended.steps)
    for (const id of [step.event_id, step.compensation_event_id]) if (id) ids.events?.push(id);
  const replay = await client.session("POST", "/v1/replays", { filter: { status: "failed" } });
  ids.replays?.push(replay.body.id);
  await until("nothing is under way", async () => {
    const { body } = await client.call("GET", "/v1/events?limit=100");
    return body.data.every(({ status }: { status: string }) => !["queued", "delivering", "retrying"].includes(status));
  });

  const { paths } = (await client.call("GET", "/openapi.json")).body;
  const readable = Object.keys(paths).filter((path) => "get" in paths[path] && !path.endsWith("/stream"));
  const seen: Seen[] = [];
  for (const role of ["auditor", "viewer"] as const) {
    const { key } = (await client.session("POST", "/v1/api-keys", { name: role, role })).body;
    const reader = clientAt(service.base, { ...client, key });
    seen.push(...(await everything(readable, ids, role, reader.call)));
  }
  const { cookie } = await addMember(client, `approver-${Date.now()}@example.com`, "approver");
  const approver = clientAt(service.base, { ...client, cookie });
  seen.push(...(await everything(readable, ids, "approver", approver.session)));
  assert.ok(seen.some(({ path }) => path.startsWith("/v1/bundles/")));
  await until("people are told of a failure", () =>
    people.arrivals.some(({ body }) => body.includes("delivery.failed")),
  );
  seen.push(...people.arrivals.map(({ body: text }) => ({ who: "people", path: "a notification", text })));
  const told = seen.filter(({ text }) => text.includes(HIDDEN));
  assert.equal(
    told.map(({ who, path, text }) => [
      who,
      path,
      text.slice(Math.max(0, text.indexOf(HIDDEN) - 160), text.indexOf(HIDDEN) + 40),
    ]),
    [],
  );
  // The same reads show an admin the values, so the crawl has looked where they are.
  const own = await everything(readable, ids, "admin", client.call);
  const places = new Set(
    own.filter(({ text }) => text.includes(HIDDEN)).map(({ path }) => path.replace(/[a-z]{3}_\w+/, "{id}")),
  );
  for (const path of ["/v1/events/{id}", "/v1/events/{id}/payload", "/v1/approvals/{id}", "/v1/bundles/{id}"])
    assert.ok(places.has(path), `${path} of ${[...places].join(" ")}`);
  // A search finds nothing by a value that it does not show.
  const { body: found } = await approver.session("GET", `/v1/events?q=${HIDDEN}`);
  assert.equal(found.data, []);
});

test.run();
