import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Agent, defineAction, registerAgent } from "../../support/agent.ts";
import { type Client, type Reply, signUp } from "../../support/client.ts";
import { type Arrival, type Receiver, receiver } from "../../support/receiver.ts";
import { type ServiceInProcess, serviceInProcess } from "../../support/service-in-process.ts";
import { until } from "../../support/until.ts";

const test = suite("an approved bundle and where its steps are sent");

let service: ServiceInProcess;
/** Where steps go, where undos go, and which nobody has seen. */
let steps: Receiver;
let undos: Receiver;
let evil: Receiver;

test.before(async () => {
  [service, steps, undos, evil] = await Promise.all([serviceInProcess(), receiver(), receiver(), receiver()]);
});
test.after(async () => {
  await service.stop();
  await Promise.all([steps, undos, evil].map((it) => it.close()));
});
test.before.each(() => {
  for (const it of [steps, undos, evil]) {
    it.arrivals.length = 0;
    it.answer((_, response) => response.end("{}"));
  }
});

type World = { readonly client: Client; readonly agent: Agent; readonly ends: Readonly<Record<string, string>> };

/** Two actions with an endpoint each, what takes them back, and a policy that asks people for every bundle. */
const world = async (undoHeaders: object = {}): Promise<World> => {
  const client = await signUp(service.base);
  const endpoint = async (name: string, url: string, headers: object = {}): Promise<string> =>
    (await client.make("/v1/endpoints", { name, url, retry_schedule_s: [], headers })).id;
  const ends = {
    first: await endpoint("first", steps.url),
    second: await endpoint("second", steps.url),
    undo: await endpoint("undo", undos.url, undoHeaders),
  };
  await defineAction(client, "stock.release", ends.undo);
  await defineAction(client, "stock.reserve", ends.first, {
    reversibility: "compensable",
    compensation: "stock.release",
  });
  await defineAction(client, "card.charge", ends.second, { reversibility: "irreversible" });
  const approval = { expires_after_s: 3_600 };
  const { id: policy_id } = await client.make("/v1/policies", { name: "all", approval });
  return { client, agent: await registerAgent(service.base, client, { policy_id }), ends };
};

const ORDER = [
  { action: "stock.reserve", payload: { sku: "s" } },
  { action: "card.charge", payload: { amount: 1 } },
];

const held = async ({ agent, client }: World): Promise<{ id: string; approval: Reply["body"] }> => {
  const { body } = await agent.bundle("k", ORDER, { wait_ms: 0 });
  assert.is(body.status, "held", JSON.stringify(body));
  return { id: body.id, approval: (await client.session("GET", `/v1/approvals/${body.approval_id}`)).body };
};

const approve = ({ client }: World, { id, digest }: Reply["body"]) =>
  client.session("POST", `/v1/approvals/${id}/approve`, { digest });

const change = async ({ client }: World, id: string | undefined, changes: object): Promise<void> =>
  assert.is((await client.call("PATCH", `/v1/endpoints/${id}`, changes)).status, 200);

const ended = async ({ agent }: World, id: string, status: string): Promise<Reply["body"]> => {
  await until(`the bundle is ${status}`, async () => (await agent.bundleNow(id)).body.status === status);
  return (await agent.bundleNow(id)).body;
};

const actionsAt = ({ arrivals }: Receiver): readonly unknown[] =>
  arrivals.map(({ headers }) => headers["countersign-action"]);

for (const which of ["first", "second", "undo"] as const) {
  test(`a held bundle is asked for anew when the endpoint "${which}" is changed`, async () => {
    const it = await world();
    const { id, approval } = await held(it);
    await change(it, it.ends[which], { url: evil.url });
    const refused = await approve(it, approval);
    assert.is(refused.status, 409);
    let next: Reply["body"];
    await until("it is held under another approval", async () => {
      const { body } = await it.agent.bundleNow(id);
      next = (await it.client.session("GET", `/v1/approvals/${body.approval_id}`)).body;
      return body.approval_id !== approval.id && next.status === "pending";
    });
    assert.is.not(next.digest, approval.digest);
    assert.ok(JSON.stringify(next.payload).includes(evil.url));
    const { body: old } = await it.client.session("GET", `/v1/approvals/${approval.id}`);
    assert.equal([old.status, old.replaced_by], ["void", next.id]);
    assert.is((await approve(it, next)).status, 200);
    await ended(it, id, "committed");
    assert.is(evil.arrivals.length, which === "undo" ? 0 : 1);
  });
}

test("a step whose target changed after the approval is not sent: it fails, and the bundle rolls back", async () => {
  const it = await world();
  const { id, approval } = await held(it);
  let goesOn = (): void => undefined;
  steps.answer((_, response) => {
    goesOn = () => response.end("{}");
  });
  assert.is((await approve(it, approval)).status, 200);
  await until("the first step is under way", () => steps.arrivals.length === 1);
  await change(it, it.ends.second, { url: evil.url });
  goesOn();
  const bundle = await ended(it, id, "rolled_back");
  assert.equal(
    bundle.steps.map(({ status }: { status: string }) => status),
    ["compensated", "failed"],
  );
  assert.equal([evil.arrivals.length, actionsAt(undos)], [0, ["stock.release"]]);
  const failed = await it.client.call("GET", `/v1/events/${bundle.steps[1].event_id}`);
  assert.is(failed.body.failure.kind, "target-changed");
});

/** The second step is refused after the undo's endpoint was changed. */
const rolledBack = async (it: World, changes: () => Promise<unknown>): Promise<string> => {
  const { id, approval } = await held(it);
  let refuse = (): void => undefined;
  steps.answer(({ headers }: Arrival, response) => {
    if (headers["countersign-action"] === "stock.reserve") return void response.end("{}");
    refuse = () => {
      response.statusCode = 400;
      response.end();
    };
  });
  assert.is((await approve(it, approval)).status, 200);
  await until("the second step is under way", () => steps.arrivals.length === 2);
  await changes();
  refuse();
  return id;
};

test("an undo goes to the target that was recorded with the approval, even if its endpoint has changed", async () => {
  const it = await world({ "x-tenant": "a", authorization: { value: "one", secret: true } });
  const id = await rolledBack(it, async () => {
    await change(it, it.ends.undo, { url: evil.url, headers: { "x-evil": "1" } });
    const headers = { "x-evil": "1", authorization: { value: "two", secret: true } };
    assert.is((await it.client.session("PATCH", `/v1/endpoints/${it.ends.undo}`, { headers })).status, 200);
  });
  await ended(it, id, "rolled_back");
  assert.equal([evil.arrivals.length, actionsAt(undos)], [0, ["stock.release"]]);
  const [arrival] = undos.arrivals;
  assert.equal(
    [arrival?.headers["x-tenant"], arrival?.headers["x-evil"], arrival?.headers.authorization],
    ["a", undefined, "two"],
  );
});

test("an undo that is tried again goes to the recorded target as well, and no key replays it or its step", async () => {
  const it = await world();
  await change(it, it.ends.undo, { retry_schedule_s: [1] });
  const id = await rolledBack(it, async () => {
    undos.answer((_, response) => {
      response.statusCode = undos.arrivals.length === 1 ? 503 : 200;
      response.end();
    });
  });
  await until("the undo is tried", () => undos.arrivals.length === 1);
  await change(it, it.ends.undo, { url: evil.url, headers: { "x-evil": "1" } });
  const bundle = await ended(it, id, "rolled_back");
  assert.equal([evil.arrivals.length, undos.arrivals.length], [0, 2]);
  for (const { event_id, compensation_event_id } of bundle.steps)
    for (const sent of [event_id, compensation_event_id].filter((one) => one !== null))
      assert.is((await it.client.call("POST", `/v1/events/${sent}/replay`, {})).body.code, "conflict");
});

test("an undo that the recorded target refuses is left to a person", async () => {
  const it = await world();
  undos.answer((_, response) => {
    response.statusCode = 410;
    response.end();
  });
  const id = await rolledBack(it, () => change(it, it.ends.undo, { url: evil.url }));
  const bundle = await ended(it, id, "rollback_incomplete");
  assert.is(bundle.steps[0].status, "compensation_failed");
  assert.is(evil.arrivals.length, 0);
  // The answer was not the endpoint's as it is now.
  assert.is((await it.client.call("GET", `/v1/endpoints/${it.ends.undo}`)).body.disabled, null);
  const path = `/v1/bundles/${id}/steps/0/resolve`;
  const { status, body } = await it.client.session("POST", path, { comment: "released by hand" });
  assert.equal([status, body.status], [200, "rolled_back"], JSON.stringify(body));
});

test("an undo whose endpoint was deleted is not sent, and is left to a person", async () => {
  const it = await world();
  const id = await rolledBack(it, async () => {
    assert.is((await it.client.session("DELETE", `/v1/endpoints/${it.ends.undo}`)).status, 204);
  });
  const bundle = await ended(it, id, "rollback_incomplete");
  assert.equal([bundle.steps[0].status, undos.arrivals.length], ["compensation_failed", 0]);
});

test.run();
