import { Webhook } from "standardwebhooks";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { makeSigningSecret, signatureHeader } from "../../../infra/http/standard-webhooks.ts";

const test = suite("Standard Webhooks signatures");

const secret = (byte: number): string => makeSigningSecret(new Uint8Array(32).fill(byte));

const signed = (secrets: readonly string[], body: string) => {
  const timestamp = Math.floor(Date.now() / 1_000);
  return {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatureHeader(secrets, "evt_1", timestamp, Buffer.from(body)),
  };
};

test("the specification's example has the same signature", () => {
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, "Signature scheme"
  const body = Buffer.from('{"test": 2432232314}');
  assert.is(
    signatureHeader(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body),
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

test("the reference library verifies a signature over any body", () => {
  for (const body of ["{}", "", '{"text":"gr\u00fc\u00dfe \u2713"}', "a.b.c"]) {
    const verify = (): unknown => new Webhook(secret(1)).verify(body, signed([secret(1)], body), { jsonParse: false });
    assert.not.throws(verify, undefined, body);
  }
});

test("while a secret is being rotated, receivers with either one verify", () => {
  const headers = signed([secret(2), secret(1)], "{}");
  assert.match(headers["webhook-signature"], /^v1,\S{44} v1,\S{44}$/);
  for (const byte of [1, 2]) assert.not.throws(() => new Webhook(secret(byte)).verify("{}", headers));
  assert.throws(() => new Webhook(secret(3)).verify("{}", headers));
});

test("a changed body, id or time does not verify", () => {
  const headers = signed([secret(1)], "{}");
  const webhook = new Webhook(secret(1));
  assert.throws(() => webhook.verify("{ }", headers));
  assert.throws(() => webhook.verify("{}", { ...headers, "webhook-id": "evt_2" }));
  const later = String(Number(headers["webhook-timestamp"]) + 1);
  assert.throws(() => webhook.verify("{}", { ...headers, "webhook-timestamp": later }));
});

test("a secret of another length is a bug", () => {
  assert.throws(() => makeSigningSecret(new Uint8Array(16)));
});

test.run();
