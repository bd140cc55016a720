import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PROVIDER_TYPES } from "../../../../domain/source/events.ts";
import { type Client, signUp } from "../../../support/client.ts";
import { until } from "../../../support/program.ts";
import { receiver } from "../../../support/receiver.ts";
import { recordOf, startService } from "../../../support/service-in-memory.ts";

const test = suite("samples");

let service: Awaited<ReturnType<typeof startService>>;
let client: Client;

test.before(async () => {
  service = await startService({ SIGNUP_PLAN: "scale" });
  client = await signUp(service.url);
});
test.after(() => service.stop());

const sourceOf = (type: string, more: object = {}) => client.make("/v1/sources", { name: type, type, ...more });

const sent = async (source: string, type: string) => client.call("POST", `/v1/sources/${source}/sample`, { type });

const eventIn = (id: string) =>
  until(`${id} is listed`, async () => {
    const { status, body } = await client.call("GET", `/v1/events/${id}`);
    return status === 200 ? body : null;
  });

test("each provider's samples go through the ordinary path, marked, and the capabilities list them", async () => {
  const { body } = await client.call("GET", "/v1/capabilities");
  const one = async (type: string): Promise<void> => {
    const { id } = await sourceOf(type);
    const { sample_types: types } = body.providers.find((it: { type: string }) => it.type === type);
    for (const eventType of types) {
      const answer = await sent(id, eventType);
      assert.is(answer.status, 202, `${type} ${eventType} ${JSON.stringify(answer.body)}`);
      assert.is(answer.body.status, "recorded");
      const event = await eventIn(answer.body.event_id);
      assert.is(event.type, eventType);
      assert.is(event.sample, true);
      assert.is(event.origin.id, id);
    }
  };
  await Promise.all(PROVIDER_TYPES.map(one));
});

test("the record says who asked for the sample, no secret is stored, and nothing is billed", async () => {
  const other = await signUp(service.url);
  const { id, secret } = await other.make("/v1/sources", { name: "shop", type: "gitlab" });
  const { body } = await other.call("POST", `/v1/sources/${id}/sample`, { type: "Push Hook" });
  const record = await recordOf(service, other, "the sample", ({ stream }) => stream === `delivery-${body.event_id}`);
  assert.is(record.type, "EventAdmitted");
  assert.is(record.actor.kind, "key");
  assert.equal(record.data.sample, { by: { kind: "key", id: record.actor.id } });
  const shown = await other.call("GET", `/v1/events/${body.event_id}`);
  assert.not(JSON.stringify(shown.body).includes(secret));
  assert.is(shown.body.headers["x-gitlab-token"], "[redacted]");
  // An event of a sender that comes after the sample is counted, so the view has passed the sample by then.
  const own = await fetch(`${service.url}/v1/webhooks/gitlab/${id}`, {
    method: "POST",
    headers: { "x-gitlab-token": secret, "x-gitlab-event-uuid": "1", "countersign-sample": "true" },
    body: '{"object_kind": "push"}',
  });
  assert.is(own.status, 202);
  const { event_id } = (await own.json()) as { event_id: string };
  const usage = await until("the sender's event is counted", async () => {
    const summary = await other.call("GET", "/v1/billing/summary");
    return summary.body.usage.events > 0 ? summary.body.usage : null;
  });
  assert.is(usage.events, 1);
  const foreign = await until("the sender's event is shown", async () => {
    const answer = await other.call("GET", `/v1/events/${event_id}`);
    return answer.status === 200 ? answer.body : null;
  });
  assert.is(foreign.sample, false, "a sender cannot mark its event as a sample");
});

test("the receiver is told that it is a sample", async () => {
  const app = await receiver();
  const endpoint = await client.make("/v1/endpoints", { name: "app", url: `${app.url}/` });
  const { id } = await sourceOf("stripe", { endpoint_id: endpoint.id });
  const { body } = await sent(id, "payment_intent.succeeded");
  const got = await until("the sample has arrived", async () =>
    app.arrivals.find(({ id: webhookId }) => webhookId === body.event_id),
  );
  assert.is(got.headers["countersign-sample"], "true");
  assert.match(String(got.headers["signature-input"]), '"countersign-sample"');
  await app.close();
});

test("policies apply to samples, and the one who asked for it cannot approve it", async () => {
  const deny = [{ name: "none", when: "payload.data.object.amount > 1" }];
  const blocking = await client.make("/v1/policies", { name: "none", deny });
  const blocked = await sourceOf("stripe", { policy_id: blocking.id });
  const refused = await sent(blocked.id, "payment_intent.succeeded");
  assert.is(refused.status, 422);
  assert.is(refused.body.code, "gate-content");
  const approval = { when: "true", exclude_requester: true, expires_after_s: 600 };
  const holding = await client.make("/v1/policies", { name: "hold", approval });
  const held = await sourceOf("stripe", { policy_id: holding.id, secret: "whsec_one" });
  const answer = await sent(held.id, "payment_intent.succeeded");
  assert.is(answer.body.status, "held");
  const path = `/v1/approvals/${answer.body.approval_id}`;
  const { body } = await until("the approval is shown", async () => {
    const shown = await client.session("GET", path);
    return shown.status === 200 ? shown : null;
  });
  const vote = await client.session("POST", `${path}/approve`, { digest: body.digest });
  assert.is(vote.body.code, "self-approval");
});

test("only an admin of the account may ask, and for a type that there is", async () => {
  const { id } = await sourceOf("stripe");
  for (const role of ["viewer", "auditor"]) {
    const { key } = await client.make("/v1/api-keys", { name: role, role });
    const answer = await client.call(
      "POST",
      `/v1/sources/${id}/sample`,
      { type: "invoice.paid" },
      {
        authorization: `Bearer ${key}`,
      },
    );
    assert.is(answer.status, 403, role);
  }
  const stranger = await signUp(service.url);
  const body = { type: "invoice.paid" };
  const foreign = await stranger.call("POST", `/v1/sources/${id}/sample`, body);
  const absent = await stranger.call("POST", `/v1/sources/src_${"a".repeat(32)}/sample`, body);
  assert.is(foreign.status, 404);
  assert.equal({ ...foreign.body, trace_id: "" }, { ...absent.body, trace_id: "" });
  const unknown = await sent(id, "payment_intent.succeded");
  assert.is(unknown.status, 422);
  assert.is(unknown.body.code, "unknown-event-type");
  assert.ok(unknown.body.types.includes("payment_intent.succeeded"));
  await client.call("PATCH", `/v1/sources/${id}`, { status: "paused" });
  assert.is((await sent(id, "invoice.paid")).body.code, "source-paused");
});

test("an account's samples are limited", async () => {
  const other = await signUp(service.url);
  const { id } = await other.make("/v1/sources", { name: "shop", type: "stripe" });
  const ask = () => other.call("POST", `/v1/sources/${id}/sample`, { type: "invoice.paid" });
  const statuses: number[] = [];
  // Few at a time, because a plan's requests in flight are limited as well.
  while (statuses.length < 121) {
    const answers = await Promise.all(Array.from({ length: Math.min(20, 121 - statuses.length) }, ask));
    statuses.push(...answers.map(({ status }) => status));
  }
  assert.is(statuses.filter((status) => status === 202).length, 120);
  assert.is(statuses.filter((status) => status === 429).length, 1);
});

test.run();
