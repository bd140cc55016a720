import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { defineAction, registerAgent } from "../../support/agent.ts";
import { type Client, hookSource, type Reply, signUp } from "../../support/client.ts";
import { type Receiver, receiver } from "../../support/receiver.ts";
import { type ServiceInProcess, serviceInProcess } from "../../support/service-in-process.ts";
import { until } from "../../support/until.ts";

const test = suite("an approval and its target");

/** Of changes that race with votes; each takes some milliseconds. */
const ROUNDS = 6;

let service: ServiceInProcess;
/** Which people see, and which nobody has seen. */
let good: Receiver;
let evil: Receiver;

test.before(async () => {
  [service, good, evil] = await Promise.all([serviceInProcess(), receiver(), receiver()]);
});
test.after(async () => {
  await service.stop();
  await Promise.all([good.close(), evil.close()]);
});

const refusing = (status: number) => (_: unknown, response: { statusCode: number; end(): unknown }) => {
  response.statusCode = status;
  response.end();
};
const accepting = (_: unknown, response: { end(body: string): unknown }) => response.end("{}");

/** An account with an endpoint, a policy that asks people, and an agent under it. */
const account = async (endpoint: object = {}, base = service.base) => {
  const client = await signUp(base);
  const app = await client.make("/v1/endpoints", { name: "app", url: good.url, retry_schedule_s: [], ...endpoint });
  const approval = { expires_after_s: 3_600 };
  const { id: policy_id } = await client.make("/v1/policies", { name: "all", approval });
  const agent = await registerAgent(base, client, { policy_id });
  return { client, endpointId: String(app.id), policyId: String(policy_id), agent };
};
type Account = Awaited<ReturnType<typeof account>>;

const approvalOf = async (client: Client, id: string): Promise<Reply["body"]> => {
  const { status, body } = await client.session("GET", `/v1/approvals/${id}`);
  assert.is(status, 200, JSON.stringify(body));
  return body;
};

const approve = async (client: Client, { id, digest }: { readonly id: string; readonly digest: string }) =>
  client.session("POST", `/v1/approvals/${id}/approve`, { digest });

const statusOf = async (client: Client, eventId: string): Promise<string> =>
  (await client.call("GET", `/v1/events/${eventId}`)).body.status;

/** The event's approval once it is another than this one. */
const nextApproval = async (client: Client, eventId: string, before: string): Promise<Reply["body"]> => {
  let id = before;
  await until(`${eventId} is held under another approval`, async () => {
    const { body } = await client.call("GET", `/v1/events/${eventId}`);
    id = body.approval_id;
    return body.status === "held" && id !== before;
  });
  await until(`${id} is asked for`, async () => (await client.session("GET", `/v1/approvals/${id}`)).status === 200);
  return approvalOf(client, id);
};

const heldWebhook = async ({ client, endpointId, policyId }: Account) => {
  const source = await hookSource(client, { endpoint_id: endpointId, policy_id: policyId });
  const { body } = await source.send("d-1", { amount: 1 });
  assert.is(body.status, "held");
  return { source, eventId: String(body.event_id), approval: await approvalOf(client, body.approval_id) };
};

const heldExecute = async ({ client, agent, endpointId }: Account, key = "k-1") => {
  await defineAction(client, "refund.create", endpointId);
  const { body } = await agent.execute(key, { action: "refund.create", payload: { amount: 1 } });
  assert.is(body.status, "held");
  return { eventId: String(body.event_id), approval: await approvalOf(client, body.approval_id) };
};

const sentTo = ({ arrivals }: Receiver, eventId: string) => arrivals.filter(({ id }) => id === eventId);

const asksAnew = async (hold: typeof heldWebhook | typeof heldExecute): Promise<void> => {
  const it = await account({ headers: { "x-tenant": "a" } });
  const { client, endpointId } = it;
  const { eventId, approval } = await hold(it);
  assert.equal(approval.endpoint.headers, [{ name: "x-tenant", secret: false }]);

  const changes = { url: evil.url, headers: { "x-tenant": "b" } };
  assert.is((await client.call("PATCH", `/v1/endpoints/${endpointId}`, changes)).status, 200);
  const refused = await approve(client, approval);
  assert.is(refused.status, 409);
  assert.ok(["digest-mismatch", "already-decided"].includes(refused.body.code), refused.body.code);

  const next = await nextApproval(client, eventId, approval.id);
  assert.is.not(next.digest, approval.digest);
  assert.equal([next.status, next.replaces, next.endpoint.url], ["pending", approval.id, evil.url]);
  assert.ok(next.reasons.some((reason: string) => reason.includes(evil.url)));
  const old = await approvalOf(client, approval.id);
  assert.equal([old.status, old.replaced_by], ["void", next.id]);
  const { body: found } = await client.session("GET", `/v1/audit?type=ApprovalVoided&subject=${approval.id}`);
  assert.equal([found.data[0].data.digest, found.data[0].data.next.digest], [approval.digest, next.digest]);
  assert.is((await approve(client, { id: next.id, digest: approval.digest })).body.code, "digest-mismatch");
  assert.equal([sentTo(good, eventId).length, sentTo(evil, eventId).length], [0, 0]);

  assert.is((await approve(client, next)).status, 200);
  await until("it is delivered", async () => (await statusOf(client, eventId)) === "delivered");
  assert.equal([sentTo(good, eventId).length, sentTo(evil, eventId).length], [0, 1]);
  assert.is(sentTo(evil, eventId)[0]?.headers["x-tenant"], "b");
};

test("a held webhook needs a new approval when a key changes its endpoint's URL or headers", () =>
  asksAnew(heldWebhook));

test("an agent's held request needs a new approval when a key changes its endpoint's URL or headers", () =>
  asksAnew(heldExecute));

test("the digest is bound to a header's value, and the same value given again changes nothing", async () => {
  const it = await account({ headers: { "x-tenant": "a" } });
  const { eventId, approval } = await heldWebhook(it);
  const path = `/v1/endpoints/${it.endpointId}`;
  assert.is((await it.client.call("PATCH", path, { headers: { "X-Tenant": "a" }, timeout_ms: 2_000 })).status, 200);
  assert.is((await approve(it.client, approval)).status, 200);
  await until("it is delivered", async () => (await statusOf(it.client, eventId)) === "delivered");
});

test("a new version of the action voids the approval, and the request is sent as it was decided", async () => {
  const it = await account();
  const { client } = it;
  const { eventId, approval } = await heldExecute(it);
  const other = await client.make("/v1/endpoints", { name: "other", url: evil.url });
  await defineAction(client, "refund.create", other.id);
  assert.is((await approve(client, approval)).status, 409);
  const next = await nextApproval(client, eventId, approval.id);
  assert.equal([next.endpoint.url, (await approvalOf(client, approval.id)).status], [good.url, "void"]);
  assert.is((await approve(client, next)).status, 200);
  await until("it is delivered", async () => (await statusOf(client, eventId)) === "delivered");
  assert.equal([sentTo(good, eventId).length, sentTo(evil, eventId).length], [1, 0]);
});

test("a held webhook goes to the target that its approvers saw, even if its source has another by then", async () => {
  const it = await account();
  const { client } = it;
  const { source, eventId, approval } = await heldWebhook(it);
  const other = await client.make("/v1/endpoints", { name: "other", url: evil.url });
  assert.is((await client.session("PATCH", `/v1/sources/${source.id}`, { endpoint_id: other.id })).status, 200);
  assert.is((await approve(client, approval)).status, 200);
  await until("it is delivered", async () => (await statusOf(client, eventId)) === "delivered");
  assert.equal([sentTo(good, eventId).length, sentTo(evil, eventId).length], [1, 0]);
});

test("a request held for a deleted endpoint is not approved, and nothing is sent", async () => {
  const it = await account();
  const { client } = it;
  const { eventId, approval } = await heldExecute(it);
  assert.is((await client.session("DELETE", `/v1/endpoints/${it.endpointId}`)).status, 204);
  assert.equal([(await approve(client, approval)).body.code, await statusOf(client, eventId)], ["conflict", "held"]);
  assert.is(sentTo(good, eventId).length, 0);
});

test("a later attempt to another target sends nothing: the event is held again, and its attempts stay counted", async () => {
  const it = await account({ retry_schedule_s: [1, 1] });
  const { client, endpointId } = it;
  good.answer(refusing(503));
  const { eventId, approval } = await heldWebhook(it);
  assert.is((await approve(client, approval)).status, 200);
  await until("it is tried", () => sentTo(good, eventId).length === 1);
  await client.call("PATCH", `/v1/endpoints/${endpointId}`, { url: evil.url });
  const next = await nextApproval(client, eventId, approval.id);
  const used = await approvalOf(client, approval.id);
  assert.equal([used.status, used.endpoint.url, next.endpoint.url], ["consumed", good.url, evil.url]);
  assert.is(sentTo(evil, eventId).length, 0);

  assert.is((await approve(client, next)).status, 200);
  await until("it is delivered", async () => (await statusOf(client, eventId)) === "delivered");
  good.answer(accepting);
  const { body: event } = await client.call("GET", `/v1/events/${eventId}`);
  assert.equal(
    event.attempts.map((attempt: { number: number; outcome: string }) => [attempt.number, attempt.outcome]),
    [
      [1, "failed"],
      [2, "succeeded"],
    ],
  );
  assert.is((await approvalOf(client, next.id)).status, "consumed");
  const { body: usage } = await client.call("GET", "/v1/billing/summary");
  assert.is(usage.usage.events, 1);
});

test("a replay after a change of the target needs a new approval", async () => {
  const it = await account();
  const { client, endpointId } = it;
  good.answer(refusing(400));
  const { eventId, approval } = await heldExecute(it);
  assert.is((await approve(client, approval)).status, 200);
  await until("it has failed", async () => (await statusOf(client, eventId)) === "failed");
  good.answer(accepting);
  await client.call("PATCH", `/v1/endpoints/${endpointId}`, { headers: { "x-evil": "1" } });
  assert.is((await client.call("POST", `/v1/events/${eventId}/replay`, {})).status, 202);
  const next = await nextApproval(client, eventId, approval.id);
  assert.is(sentTo(good, eventId).length, 1);
  assert.is((await it.agent.execution(eventId)).body.approval_id, next.id);
  assert.is((await approve(client, next)).status, 200);
  await until("it is delivered", async () => (await statusOf(client, eventId)) === "delivered");
  assert.is(sentTo(good, eventId).at(-1)?.headers["x-evil"], "1");
});

test("a request that is held again can be rejected: nothing is sent, and the agent sees why", async () => {
  const it = await account();
  const { client, endpointId } = it;
  good.answer(refusing(400));
  const { eventId, approval } = await heldExecute(it);
  await approve(client, approval);
  await until("it has failed", async () => (await statusOf(client, eventId)) === "failed");
  good.answer(accepting);
  await client.call("PATCH", `/v1/endpoints/${endpointId}`, { url: evil.url });
  await client.call("POST", `/v1/events/${eventId}/replay`, {});
  const next = await nextApproval(client, eventId, approval.id);
  const rejected = { digest: next.digest, comment: "not there" };
  assert.is((await client.session("POST", `/v1/approvals/${next.id}/reject`, rejected)).status, 200);
  await until("it is rejected", async () => (await statusOf(client, eventId)) === "rejected");
  const { body } = await it.agent.execution(eventId);
  assert.equal([body.status, body.approval_id, sentTo(evil, eventId).length], ["rejected", next.id, 0]);
});

test("a request that needed no approval goes on following its endpoint", async () => {
  const client = await signUp(service.base);
  const app = await client.make("/v1/endpoints", { name: "app", url: good.url, retry_schedule_s: [] });
  const source = await hookSource(client, { endpoint_id: app.id });
  good.answer(refusing(400));
  const { body } = await source.send("d-1", {});
  await until("it has failed", async () => (await statusOf(client, body.event_id)) === "failed");
  good.answer(accepting);
  await client.call("PATCH", `/v1/endpoints/${app.id}`, { url: evil.url });
  await client.call("POST", `/v1/events/${body.event_id}/replay`, {});
  await until("it is delivered", async () => (await statusOf(client, body.event_id)) === "delivered");
  assert.is(sentTo(evil, body.event_id).length, 1);
});

test("a person changes a secret header under an approval, which voids nothing; a key does not", async () => {
  const it = await account({ headers: { authorization: { value: "one", secret: true } } });
  const { client, endpointId } = it;
  const path = `/v1/endpoints/${endpointId}`;
  const { body: shown } = await client.call("GET", path);
  assert.equal(shown.headers, { authorization: { value: "[redacted]", secret: true } });
  const { eventId, approval } = await heldWebhook(it);
  assert.equal(approval.endpoint.headers, [{ name: "authorization", secret: true }]);

  for (const headers of [
    { authorization: { value: "evil", secret: true } },
    { Authorization: "evil" },
    { authorization: { value: "[redacted]", secret: true }, "x-more": { value: "evil", secret: true } },
  ]) {
    const refused = await client.call("PATCH", path, { headers });
    assert.equal([refused.status, refused.body.code], [403, "person-required"], JSON.stringify(headers));
  }
  // Another way to the same value: in the open first, then marked.
  await client.call("PATCH", path, { headers: { authorization: { value: "evil", secret: false } } });
  const marked = await client.call("PATCH", path, {
    headers: { authorization: { value: "[redacted]", secret: true } },
  });
  assert.is(marked.body.code, "person-required");
  await client.session("PATCH", path, { headers: { authorization: { value: "one", secret: true } } });

  const latest = async () => approvalOf(client, (await client.call("GET", `/v1/events/${eventId}`)).body.approval_id);
  await until("the approval is of what is sent now", async () => {
    const { status, endpoint } = await latest();
    return status === "pending" && endpoint.headers[0].secret;
  });
  const pending = await latest();
  const value = { authorization: { value: "two", secret: true } };
  assert.is((await client.session("PATCH", path, { headers: value })).status, 200);
  const changes = async () =>
    (await client.session("GET", `/v1/audit?type=EndpointChanged&subject=${endpointId}`)).body.data;
  await until("the change is in the audit's view", async () => {
    const [newest] = await changes();
    return newest?.actor.kind === "member" && String(newest.data.secret_headers) === "authorization";
  });
  assert.is((await approve(client, pending)).status, 200);
  await until("it is delivered", async () => (await statusOf(client, eventId)) === "delivered");
  assert.is(sentTo(good, eventId)[0]?.headers.authorization, "two");
});

test("a key cannot send a secret header that it does not know to another address", async () => {
  const client = await signUp(service.base);
  const headers = { authorization: { value: "one", secret: true }, "x-open": "1" };
  const { id } = await client.make("/v1/endpoints", { name: "app", url: good.url, headers });
  const path = `/v1/endpoints/${id}`;
  const kept = { value: "[redacted]", secret: true };
  const opened = { authorization: { ...kept, secret: false } };
  for (const changes of [
    { url: evil.url },
    { url: evil.url, headers: { authorization: kept } },
    // What is open may be sent anywhere, so this would be the first of two steps.
    { headers: opened },
    { url: evil.url, headers: opened },
  ]) {
    const refused = await client.call("PATCH", path, changes);
    assert.equal([refused.status, refused.body.code], [403, "person-required"], JSON.stringify(changes));
  }
  assert.is((await client.call("PATCH", path, { name: "renamed", url: good.url })).status, 200);
  const own = { url: evil.url, headers: { authorization: { value: "of the key", secret: true } } };
  assert.is((await client.call("PATCH", path, own)).status, 200);
  assert.is((await client.session("PATCH", path, { url: good.url })).status, 200);
  assert.is((await client.session("PATCH", path, { headers: opened })).status, 200);
});

test("a key adds no secret header, which no digest covers, to an endpoint that is under an approval", async () => {
  const it = await account();
  const { approval } = await heldWebhook(it);
  const path = `/v1/endpoints/${it.endpointId}`;
  const headers = { authorization: { value: "evil", secret: true } };
  const refused = await it.client.call("PATCH", path, { headers });
  assert.equal([refused.status, refused.body.code], [403, "person-required"]);
  assert.is((await approvalOf(it.client, approval.id)).status, "pending");
  assert.is((await it.client.session("PATCH", path, { headers })).status, 200);
});

test("a key changes a secret header of an endpoint that no approval was asked for", async () => {
  const client = await signUp(service.base);
  const headers = { authorization: { value: "one", secret: true } };
  const app = await client.make("/v1/endpoints", { name: "app", url: good.url, headers });
  const changed = { headers: { authorization: { value: "two", secret: true } } };
  assert.is((await client.call("PATCH", `/v1/endpoints/${app.id}`, changed)).status, 200);
});

test("whatever two nodes do at once, no request reaches a target that was not approved", async () => {
  const log = memoryEventLog();
  const [one, two] = await Promise.all([serviceInProcess({}, { log }), serviceInProcess({}, { log })]);
  const it = await account({}, one.base);
  const there = it.client.at(two.base);
  const path = `/v1/endpoints/${it.endpointId}`;
  await defineAction(it.client, "refund.create", it.endpointId);
  /** By approval, where its people saw that it goes. */
  const approved = new Map<string, string>();
  const agreeing = async (client: Client, id: string): Promise<void> => {
    const { body } = await client.session("GET", `/v1/approvals/${id}`);
    if (body.status !== "pending") return;
    const voted = await approve(client, body);
    if (voted.status === 200) approved.set(`${body.event_id} ${body.endpoint.url}`, id);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const { body } = await it.agent.execute(`k-${round}`, { action: "refund.create", payload: { round }, wait_ms: 0 });
    const changed = there.call("PATCH", path, { url: round % 2 === 0 ? evil.url : good.url });
    await Promise.all([changed, agreeing(round % 3 === 0 ? it.client : there, body.approval_id)]);
    await until("it is delivered", async () => {
      const { body: event } = await it.client.call("GET", `/v1/events/${body.event_id}`);
      if (event.status === "held") await agreeing(it.client, event.approval_id);
      return event.status === "delivered";
    });
  }
  for (const { arrivals, url } of [good, evil])
    for (const { id, headers } of arrivals)
      if (headers["countersign-agent"] === it.agent.id) assert.ok(approved.has(`${id} ${url}`), `${id} went to ${url}`);
  await Promise.all([one.stop(), two.stop()]);
});

test.run();
