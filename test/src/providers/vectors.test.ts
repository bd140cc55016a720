import { createHmac } from "node:crypto";
import { Environment, Paddle } from "@paddle/paddle-node-sdk";
import { createSHA256HMAC, HashFormat } from "@shopify/shopify-api/runtime";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { HmacAuth } from "../../../domain/source/events.ts";
import { adyenNotification, SIGNERS } from "../../support/signers.ts";
import { NOW_S, SOURCE_URL, verdict, webhook } from "../../support/webhook.ts";

/** Values that were computed elsewhere, and what is special about single providers. */
const test = suite("provider vectors");

const BODY = '{"id":"evt_1"}';
const SECRET = "It's a Secret to Everybody";
const hex = (key: string | Buffer, content: string): string => createHmac("sha256", key).update(content).digest("hex");
const base64 = (key: string | Buffer, content: string): string =>
  createHmac("sha256", key).update(content).digest("base64");

test("GitHub's documented vector holds for its own bytes only", () => {
  const headers = {
    "X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
  };
  assert.is(verdict("github", webhook(headers, "Hello, World!"), [SECRET]), "ok");
  assert.is(verdict("github", webhook(headers, "Hello, World"), [SECRET]), "mismatch");
});

test("GitHub: a SHA-1 signature proves nothing, with or without a SHA-256 one", () => {
  const sha1 = `sha1=${createHmac("sha1", SECRET).update(BODY).digest("hex")}`;
  const sha256 = `sha256=${hex(SECRET, BODY)}`;
  assert.is(verdict("github", webhook({ "X-Hub-Signature": sha1 }, BODY), [SECRET]), "missing");
  assert.is(verdict("github", webhook({ "X-Hub-Signature-256": sha1 }, BODY), [SECRET]), "malformed");
  const both = { "X-Hub-Signature": "sha1=00", "X-Hub-Signature-256": sha256 };
  assert.is(verdict("github", webhook(both, BODY), [SECRET]), "ok");
});

test("Bitbucket's documented vector holds, and SHA-1 under the same name is malformed", () => {
  const mac = "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9";
  assert.is(verdict("bitbucket", webhook({ "X-Hub-Signature": mac }, "Hello World!"), [SECRET]), "ok");
  const sha1 = `sha1=${createHmac("sha1", SECRET).update("Hello World!").digest("hex")}`;
  assert.is(verdict("bitbucket", webhook({ "X-Hub-Signature": sha1 }, "Hello World!"), [SECRET]), "malformed");
});

test("Slack's documented vector holds at its own time, and is stale now", () => {
  const body =
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar" +
    "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com" +
    "%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
  const headers = {
    "X-Slack-Request-Timestamp": "1531420618",
    "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
  };
  const secrets = ["8f742231b10e8888abcd99yyyzzz85a5"];
  assert.is(verdict("slack", webhook(headers, body), secrets, { nowS: 1_531_420_618 }), "ok");
  assert.is(verdict("slack", webhook(headers, body), secrets), "stale");
});

test("Slack: a request without its timestamp header is missing one", () => {
  assert.is(verdict("slack", webhook({ "X-Slack-Signature": `v0=${hex(SECRET, BODY)}` }, BODY), [SECRET]), "missing");
});

test("Stripe: either of two signatures may be the good one, and v0 proves nothing", () => {
  const good = hex("whsec_test", `${NOW_S}.${BODY}`);
  const bad = hex("whsec_old", `${NOW_S}.${BODY}`);
  const at = (header: string): string =>
    verdict("stripe", webhook({ "Stripe-Signature": header }, BODY), ["whsec_test"]);
  assert.is(at(`t=${NOW_S},v1=${good},v1=${bad}`), "ok");
  assert.is(at(`t=${NOW_S},v1=${bad},v1=${good}`), "ok");
  assert.is(at(`t=${NOW_S},v1=${bad},v1=${bad}`), "mismatch");
  assert.is(at(`t=${NOW_S},v1=garbage,v1=${good}`), "ok");
  assert.is(at(`v1=${good},v0=${bad},t=${NOW_S}`), "ok");
  assert.is(at(`t=${NOW_S},v0=${good}`), "malformed");
  assert.is(at(`t=${NOW_S},t=${NOW_S},v1=${good}`), "malformed");
  assert.is(at(`v1=${good}`), "malformed");
  assert.is(at(`t=${NOW_S}`), "malformed");
  assert.is(at(`t=${NOW_S}, v1=${good}`), "malformed");
  assert.is(at(`t=${NOW_S}${`,v1=${bad}`.repeat(20)},v1=${good}`), "malformed");
});

test("Stripe's package accepts what we accept, and refuses what we refuse", () => {
  const at = Math.floor(Date.now() / 1000);
  const header = Stripe.webhooks.generateTestHeaderString({ payload: BODY, secret: "whsec_test", timestamp: at });
  assert.is(verdict("stripe", webhook({ "Stripe-Signature": header }, BODY), ["whsec_test"], { nowS: at }), "ok");
  assert.not.throws(() => Stripe.webhooks.constructEvent(BODY, header, "whsec_test"));
  assert.is(
    verdict("stripe", webhook({ "Stripe-Signature": header }, `${BODY} `), ["whsec_test"], { nowS: at }),
    "mismatch",
  );
  assert.throws(() => Stripe.webhooks.constructEvent(`${BODY} `, header, "whsec_test"));
});

test("Paddle's package accepts what we accept; rotation sends two signatures", async () => {
  const paddle = new Paddle("api-key", { environment: Environment.sandbox });
  const at = Math.floor(Date.now() / 1000);
  const good = hex(SECRET, `${at}:${BODY}`);
  const header = `ts=${at};h1=${good}`;
  assert.ok(await paddle.webhooks.isSignatureValid(BODY, SECRET, header));
  const of = (value: string): string =>
    verdict("paddle", webhook({ "Paddle-Signature": value }, BODY), [SECRET], { nowS: at });
  assert.is(of(header), "ok");
  assert.is(of(`ts=${at};h1=${hex("old", `${at}:${BODY}`)};h1=${good}`), "ok");
  assert.is(of(`ts=${at};h1=${good};h1=${hex("old", `${at}:${BODY}`)}`), "ok");
  assert.is(of(`ts=${at};h1=${hex("old", `${at}:${BODY}`)}`), "mismatch");
  assert.is(of(`ts=${at},h1=${good}`), "malformed");
});

test("Shopify Events sign under another name, which is preferred if both are sent", async () => {
  const good = await createSHA256HMAC(SECRET, BODY, HashFormat.Base64);
  const bad = await createSHA256HMAC("other", BODY, HashFormat.Base64);
  assert.is(verdict("shopify", webhook({ "shopify-hmac-sha256": good }, BODY), [SECRET]), "ok");
  const both = { "shopify-hmac-sha256": bad, "X-Shopify-Hmac-Sha256": good };
  assert.is(verdict("shopify", webhook(both, BODY), [SECRET]), "mismatch");
});

test("Standard Webhooks: one of several signatures is enough, and unknown versions are ignored", () => {
  const { secret, otherSecret } = SIGNERS["standard-webhooks"];
  const good = new Webhook(secret).sign("msg_1", new Date(NOW_S * 1000), BODY);
  const bad = new Webhook(otherSecret).sign("msg_1", new Date(NOW_S * 1000), BODY);
  const of = (signature: string, family = "webhook"): string => {
    const headers = {
      [`${family}-id`]: "msg_1",
      [`${family}-timestamp`]: String(NOW_S),
      [`${family}-signature`]: signature,
    };
    return verdict("standard-webhooks", webhook(headers, BODY), [secret]);
  };
  assert.is(of(`${good} ${bad}`), "ok");
  assert.is(of(`${bad} ${good}`), "ok");
  assert.is(of(`v1a,${"A".repeat(86)}== ${good}`), "ok");
  assert.is(of(good, "svix"), "ok");
  assert.is(of(bad), "mismatch");
  assert.is(of(`${bad} ${bad}`), "mismatch");
  assert.is(of(good.replace("v1,", "v2,")), "malformed");
  assert.is(of(good.replace("v1,", "v1a,")), "malformed");
  assert.is(of(`${good}  ${good}`), "malformed");
});

test("Standard Webhooks: the id is signed, and all three headers belong to one family", () => {
  const { secret } = SIGNERS["standard-webhooks"];
  const good = new Webhook(secret).sign("msg_1", new Date(NOW_S * 1000), BODY);
  const time = { "webhook-timestamp": String(NOW_S) };
  const of = (headers: Record<string, string>): string =>
    verdict("standard-webhooks", webhook(headers, BODY), [secret]);
  assert.is(of({ "webhook-id": "msg_2", ...time, "webhook-signature": good }), "mismatch");
  assert.is(of({ "svix-id": "msg_1", ...time, "webhook-signature": good }), "missing");
  assert.is(of({ "webhook-id": "msg_1", ...time, "svix-signature": good }), "missing");
});

test("Standard Webhooks: a key outside 24 to 64 bytes, or no whsec_ at all, is no secret", () => {
  const request = webhook(
    { "webhook-id": "msg_1", "webhook-timestamp": String(NOW_S), "webhook-signature": `v1,${base64("k", BODY)}` },
    BODY,
  );
  for (const secret of ["k", `whsec_${"A".repeat(28)}`, `whsec_${Buffer.alloc(65).toString("base64")}`, "whsec_%%"]) {
    assert.is(verdict("standard-webhooks", request, [secret]), "unknown-secret", secret);
  }
});

test("GitLab signs with a signing token, and compares a secret token", () => {
  const signing = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const signature = new Webhook(signing).sign("uuid-1", new Date(NOW_S * 1000), BODY);
  const signed = { "webhook-id": "uuid-1", "webhook-timestamp": String(NOW_S), "webhook-signature": signature };
  const of = (headers: Record<string, string>, ...secrets: string[]): string =>
    verdict("gitlab", webhook(headers, BODY), secrets);
  assert.is(of(signed, signing), "ok");
  assert.is(of({ ...signed, "webhook-timestamp": String(NOW_S - 301) }, signing), "stale");
  assert.is(of({ "X-Gitlab-Token": "token" }, "token"), "ok");
  // A source that has a signing token is not reached by leaving the signature out, nor by sending the token itself.
  assert.is(of({ "X-Gitlab-Token": signing }, signing), "missing");
  assert.is(of({ "X-Gitlab-Token": signing }, signing, "token"), "mismatch");
  // Both are sent by a GitLab that has both.
  assert.is(of({ ...signed, "X-Gitlab-Token": "token" }, "token"), "ok");
  assert.is(of({ ...signed, "X-Gitlab-Token": "token" }, signing), "ok");
  // While one replaces the other.
  assert.is(of(signed, signing, "token"), "ok");
  assert.is(of({ "X-Gitlab-Token": "token" }, signing, "token"), "ok");
});

test("WooCommerce signs with the secret as WordPress decodes it", () => {
  const of = (key: string, secret: string): string =>
    verdict("woocommerce", webhook({ "X-WC-Webhook-Signature": base64(key, BODY) }, BODY), [secret]);
  assert.is(of(`a&b<c>"d'e`, "a&amp;b&lt;c&gt;&quot;d&#039;e"), "ok");
  assert.is(of(`&'"<>&`, "&#x26;&#X27;&#34;&#060;&#62;&#38;"), "ok");
  assert.is(of("&lt;", "&amp;lt;"), "ok");
  assert.is(of("a&b", "a&b"), "ok");
  assert.is(of("&nbsp;", "&nbsp;"), "ok");
});

test("Square: the address is signed, and it is the public one", () => {
  const headers = { "x-square-hmacsha256-signature": base64("key", SOURCE_URL + BODY), Host: "evil.example" };
  assert.is(verdict("square", webhook(headers, BODY), ["key"]), "ok");
  for (const url of [
    `${SOURCE_URL}/`,
    SOURCE_URL.replace("https:", "http:"),
    SOURCE_URL.replace("example", "example:443"),
  ]) {
    assert.is(verdict("square", webhook(headers, BODY, url), ["key"]), "mismatch", url);
  }
});

const ITEM = {
  pspReference: "7914073381342284",
  merchantAccountCode: "TestMerchant",
  merchantReference: "TestPayment-1407325143704",
  amount: { value: 1130, currency: "EUR" },
  eventCode: "AUTHORISATION",
  success: "true",
};
const { secret: ADYEN_KEY, otherSecret: OTHER_KEY } = SIGNERS.adyen;
const adyen = (body: string, headers: Record<string, string> = {}): string =>
  verdict("adyen", webhook(headers, body), [ADYEN_KEY]);

test("Adyen's documented vector holds", () => {
  const body = adyenNotification([ITEM], ADYEN_KEY);
  assert.ok(body.includes("coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0="));
  assert.is(adyen(body), "ok");
  assert.is(adyen(body.replace("1130", "1131")), "mismatch");
  assert.is(adyen(body.replace('"true"', '"false"')), "mismatch");
});

test("Adyen: every item's signature has to hold, and there has to be an item", () => {
  const second = { ...ITEM, pspReference: "7914073381342285", originalReference: "7914073381342284" };
  assert.is(adyen(adyenNotification([ITEM, second], ADYEN_KEY)), "ok");
  assert.is(adyen(adyenNotification([ITEM, second], ADYEN_KEY).replace("342285", "342286")), "mismatch");
  const forged = JSON.parse(adyenNotification([second], OTHER_KEY));
  const notification = JSON.parse(adyenNotification([ITEM], ADYEN_KEY));
  notification.notificationItems.push(...forged.notificationItems);
  assert.is(adyen(JSON.stringify(notification)), "mismatch");
  notification.notificationItems[1] = { NotificationRequestItem: second };
  assert.is(adyen(JSON.stringify(notification)), "missing");
  assert.is(adyen('{"notificationItems":[]}'), "missing");
  assert.is(adyen('{"notificationItems":{}}'), "missing");
  assert.is(adyen('{"notificationItems":[null]}'), "missing");
  assert.is(adyen("not json"), "missing");
  assert.is(adyen(adyenNotification(Array(33).fill(ITEM), ADYEN_KEY)), "malformed");
});

test("Adyen: a signed field that is neither text nor a number is malformed, a missing one is empty", () => {
  const body = adyenNotification([ITEM], ADYEN_KEY);
  assert.is(adyen(body.replace('"TestMerchant"', "{}")), "malformed");
  assert.is(adyen(adyenNotification([{ ...ITEM, merchantReference: undefined }], ADYEN_KEY)), "ok");
});

test("Adyen's platforms sign the raw body in a header, and an item's text is no body", () => {
  const key = Buffer.from(ADYEN_KEY, "hex");
  const body = '{"type":"balancePlatform.transfer.created","data":{"id":"1"}}';
  assert.is(adyen(body, { HmacSignature: base64(key, body) }), "ok");
  assert.is(adyen(`${body} `, { HmacSignature: base64(key, body) }), "mismatch");
  const text = "7914073381342284::TestMerchant:TestPayment-1407325143704:1130:EUR:AUTHORISATION:true";
  assert.is(adyen(text, { HmacSignature: base64(key, text) }), "malformed");
});

test("Adyen: a long body with signed items is refused before it is parsed", () => {
  const long = adyenNotification([{ ...ITEM, reason: "a".repeat(70_000) }], ADYEN_KEY);
  assert.is(adyen(long), "malformed");
  assert.is(adyen(adyenNotification([{ ...ITEM, reason: "a".repeat(60_000) }], ADYEN_KEY)), "ok");
});

test("Adyen: a secret that is not a hex key is not tried", () => {
  assert.is(verdict("adyen", webhook({}, adyenNotification([ITEM], ADYEN_KEY)), ["not hex"]), "unknown-secret");
});

test("bearer: the scheme is matched in any case, the token exactly", () => {
  const of = (value: string): string => verdict("bearer", webhook({ authorization: value }, BODY), ["tok-EN"]);
  assert.is(of("Bearer tok-EN"), "ok");
  assert.is(of("bearer tok-EN"), "ok");
  assert.is(of("BEARER  tok-EN"), "ok");
  assert.is(of("Bearer tok-en"), "mismatch");
  assert.is(of("Bearer tok-EN2"), "mismatch");
  assert.is(of("Basic dG9rLUVO"), "malformed");
  assert.is(of("Bearer"), "malformed");
  assert.is(of("tok-EN"), "malformed");
});

test("hmac: the default is X-Signature with SHA-256 in hex", () => {
  const of = (headers: Record<string, string>, auth: HmacAuth | null = null): string =>
    verdict("hmac", webhook(headers, BODY), ["key"], { auth });
  assert.is(of({ "X-Signature": hex("key", BODY) }), "ok");
  assert.is(of({ "X-Signature": base64("key", BODY) }), "malformed");
  const sha512: HmacAuth = { header: "X-Hub", algorithm: "sha512", encoding: "base64", prefix: "sha512=" };
  const mac = createHmac("sha512", "key").update(BODY).digest("base64");
  assert.is(of({ "x-hub": `sha512=${mac}` }, sha512), "ok");
  assert.is(of({ "x-hub": mac }, sha512), "malformed");
  assert.is(of({ "x-hub": `sha512=${base64("key", BODY)}` }, sha512), "malformed");
  const timed: HmacAuth = { header: "X-Signature", algorithm: "sha256", encoding: "hex", timestamp_header: "X-Time" };
  assert.is(of({ "X-Signature": hex("key", `${NOW_S}.${BODY}`), "X-Time": String(NOW_S) }, timed), "ok");
  assert.is(of({ "X-Signature": hex("key", `${NOW_S}.${BODY}`) }, timed), "missing");
  assert.is(of({ "X-Signature": hex("key", BODY), "X-Time": String(NOW_S) }, timed), "mismatch");
});

test.run();
