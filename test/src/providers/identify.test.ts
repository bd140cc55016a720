import { suite } from "uvu";
import * as assert from "uvu/assert";
import { answerDirectly, identify } from "../../../src/providers/identify.ts";
import { adyenNotification, SIGNERS } from "../../support/signers.ts";
import { webhook } from "../../support/webhook.ts";

const test = suite("identification of deliveries");

test("payment providers put the id and the type into the body", () => {
  const of = (type: "stripe" | "square" | "paddle", body: object) =>
    identify(type, webhook({}, JSON.stringify(body)), null);
  const stripe = { id: "evt_1", type: "charge.succeeded" };
  assert.equal(of("stripe", stripe), { deliveryKey: "evt_1", eventType: "charge.succeeded" });
  const square = { event_id: "e-1", type: "payment.updated" };
  assert.equal(of("square", square), { deliveryKey: "e-1", eventType: "payment.updated" });
  const paddle = { event_id: "evt_01", event_type: "transaction.paid" };
  assert.equal(of("paddle", paddle), { deliveryKey: "evt_01", eventType: "transaction.paid" });
});

test("code hosts put the id and the event into headers, and GitHub its action into the body", () => {
  const github = webhook({ "X-GitHub-Delivery": "d-1", "X-GitHub-Event": "pull_request" }, '{"action":"opened"}');
  assert.equal(identify("github", github, null), { deliveryKey: "d-1", eventType: "pull_request.opened" });
  const push = webhook({ "X-GitHub-Delivery": "d-2", "X-GitHub-Event": "push" }, "{}");
  assert.is(identify("github", push, null).eventType, "push");
  const form = webhook({ "X-GitHub-Delivery": "d-3", "X-GitHub-Event": "push" }, "payload=%7B%7D");
  assert.equal(identify("github", form, null), { deliveryKey: "d-3", eventType: "push" });
  const bitbucket = webhook({ "X-Request-UUID": "u-1", "X-Event-Key": "repo:push" }, "{}");
  assert.equal(identify("bitbucket", bitbucket, null), { deliveryKey: "u-1", eventType: "repo:push" });
});

test("GitLab: the idempotency key is preferred to the event's UUID, and the type may be in the body", () => {
  const both = webhook({ "Idempotency-Key": "i-1", "X-Gitlab-Event-UUID": "u-1", "X-Gitlab-Event": "Push Hook" }, "{}");
  assert.equal(identify("gitlab", both, null), { deliveryKey: "i-1", eventType: "Push Hook" });
  const old = webhook({ "X-Gitlab-Event-UUID": "u-1" }, '{"object_kind":"push"}');
  assert.equal(identify("gitlab", old, null), { deliveryKey: "u-1", eventType: "push" });
});

test("Shopify: both families of headers identify a delivery", () => {
  const webhooks = webhook({ "X-Shopify-Webhook-Id": "w-1", "X-Shopify-Topic": "orders/create" }, "{}");
  assert.equal(identify("shopify", webhooks, null), { deliveryKey: "w-1", eventType: "orders/create" });
  const events = webhook({ "shopify-webhook-id": "w-2", "shopify-topic": "Product", "shopify-action": "update" }, "{}");
  assert.equal(identify("shopify", events, null), { deliveryKey: "w-2", eventType: "Product/update" });
});

const wc = (over: Record<string, string> = {}, body = '{"id":7}') =>
  identify(
    "woocommerce",
    webhook(
      {
        "X-WC-Webhook-ID": "1",
        "X-WC-Webhook-Delivery-ID": "d-1",
        "X-WC-Webhook-Topic": "order.updated",
        ...over,
      },
      body,
    ),
    null,
  ).deliveryKey;

test("WooCommerce: topic, resource and body distinguish deliveries with one id", () => {
  assert.is(wc(), wc());
  assert.is.not(wc(), wc({ "X-WC-Webhook-ID": "2" }));
  assert.is.not(wc(), wc({ "X-WC-Webhook-Delivery-ID": "d-2" }));
  assert.is.not(wc(), wc({ "X-WC-Webhook-Topic": "order.created" }));
  assert.is.not(wc(), wc({}, '{"id":8}'));
  assert.is.not(wc(), wc({}, '{"id":7,"total":"1"}'));
  assert.is(identify("woocommerce", webhook({}, "{}"), null).deliveryKey, null);
});

test("Adyen: the items identify a delivery, or the body if there are none", () => {
  const { secret } = SIGNERS.adyen;
  const item = { pspReference: "p-1", eventCode: "CAPTURE", success: "true", amount: { value: 1, currency: "EUR" } };
  const of = (...items: object[]) => identify("adyen", webhook({}, adyenNotification(items, secret)), null);
  assert.equal(of(item), { deliveryKey: '[["p-1","CAPTURE","true"]]', eventType: "CAPTURE" });
  assert.is.not(of(item).deliveryKey, of({ ...item, success: "false" }).deliveryKey);
  assert.is.not(of(item).deliveryKey, of(item, item).deliveryKey);
  const transfer = identify("adyen", webhook({}, '{"type":"balancePlatform.transfer.created"}'), null);
  assert.is(transfer.eventType, "balancePlatform.transfer.created");
  assert.match(transfer.deliveryKey ?? "", /^[0-9a-f]{64}$/);
});

test("Slack: the type is that of the inner event, or else of the envelope", () => {
  const event = webhook({}, '{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention"}}');
  assert.equal(identify("slack", event, null), { deliveryKey: "Ev1", eventType: "app_mention" });
  const command = webhook({}, "token=x&command=%2Fdeploy");
  assert.equal(identify("slack", command, null), { deliveryKey: null, eventType: "" });
});

test("Standard Webhooks: the signed id identifies a delivery, not the other family's", () => {
  const svix = webhook({ "svix-signature": "v1,x", "svix-id": "msg_1", "webhook-id": "msg_2" }, '{"type":"a.b"}');
  assert.equal(identify("standard-webhooks", svix, null), { deliveryKey: "msg_1", eventType: "a.b" });
  const webhooks = webhook({ "webhook-signature": "v1,x", "svix-id": "msg_1", "webhook-id": "msg_2" }, "{}");
  assert.is(identify("standard-webhooks", webhooks, null).deliveryKey, "msg_2");
});

test("a source's own rule replaces its provider's, even if it finds nothing", () => {
  const request = webhook({ "X-Delivery-Id": "h-1" }, '{"id":"evt_1","data":{"a/b":[{"id":12}]}}');
  assert.is(identify("hmac", request, null).deliveryKey, null);
  assert.is(identify("bearer", request, { header: "X-Delivery-ID" }).deliveryKey, "h-1");
  assert.is(identify("hmac", request, { pointer: "/data/a~1b/0/id" }).deliveryKey, "12");
  assert.is(identify("stripe", request, { pointer: "/absent" }).deliveryKey, null);
  assert.is(identify("stripe", request, { pointer: "/data" }).deliveryKey, null);
  assert.is(identify("stripe", request, { pointer: "/constructor/name" }).deliveryKey, null);
  assert.is(identify("stripe", request, { header: "absent" }).deliveryKey, null);
});

test("two numbers that JSON.parse cannot distinguish name two deliveries", () => {
  const of = (id: string) => identify("hmac", webhook({}, `{"id":${id}}`), { pointer: "/id" }).deliveryKey;
  for (const [one, other] of [
    ["9007199254740992", "9007199254740993"],
    ["123456789012345678901", "123456789012345678902"],
    ["1e400", "1e401"],
    ["1700000000.1234567891", "1700000000.1234567892"],
  ] as const) {
    assert.is.not(of(one), of(other), one);
    assert.is(of(one), of(one));
    assert.match(of(one) ?? "", /^sha256:[0-9a-f]{64}$/);
  }
  for (const id of ["0", "-7", "0.5", "9007199254740991", "1700000000.12345"]) assert.is(of(id), id);
});

test("a key or a type of any length stays short", () => {
  const long = "x".repeat(100_000);
  const { deliveryKey, eventType } = identify("stripe", webhook({}, JSON.stringify({ id: long, type: long })), null);
  assert.match(deliveryKey ?? "", /^sha256:[0-9a-f]{64}$/);
  assert.is(eventType.length, 200);
  const other = identify("stripe", webhook({}, JSON.stringify({ id: `${long}y` })), null);
  assert.is.not(other.deliveryKey, deliveryKey);
});

test("ids that are neither text nor numbers name nothing", () => {
  for (const body of [
    "",
    "[]",
    "null",
    '"text"',
    '{"id":{}}',
    '{"id":""}',
    '{"id":null}',
    '{"__proto__":{"id":"x"}}',
  ]) {
    assert.is(identify("stripe", webhook({}, body), null).deliveryKey, null, body);
  }
});

test("Slack's challenge is answered once its signature held", () => {
  const asked = webhook({}, '{"type":"url_verification","challenge":"3eZbrw1aB","token":"x"}');
  assert.equal(answerDirectly("slack", "signed", asked), { status: 200, body: { challenge: "3eZbrw1aB" } });
  assert.is(answerDirectly("slack", "unsigned", asked), null);
  assert.is(answerDirectly("slack", "signed", webhook({}, '{"type":"event_callback","challenge":"x"}')), null);
  assert.is(answerDirectly("stripe", "signed", asked), null);
});

test("WooCommerce's ping is answered without a signature, and nothing else is", () => {
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const of = (headers: Record<string, string>, body: string) =>
    answerDirectly("woocommerce", "unsigned", webhook(headers, body));
  assert.equal(of(form, "webhook_id=42"), { status: 200 });
  assert.equal(of({ "Content-Type": `${form["Content-Type"]}; charset=utf-8` }, "webhook_id=42"), { status: 200 });
  assert.is(of({ ...form, "X-WC-Webhook-Signature": "x" }, "webhook_id=42"), null);
  assert.is(of({ "Content-Type": "application/json" }, "webhook_id=42"), null);
  assert.is(of({}, "webhook_id=42"), null);
  for (const body of ["webhook_id=", "webhook_id=42&a=b", "webhook_id=4x", `webhook_id=${"1".repeat(50)}`, ""]) {
    assert.is(of(form, body), null, body);
  }
  assert.is(answerDirectly("stripe", "unsigned", webhook(form, "webhook_id=42")), null);
});

test.run();
