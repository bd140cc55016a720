import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type HmacAuth, PROVIDER_TYPES, type ProviderType } from "../../../domain/source/events.ts";
import { makeSecret } from "../../../src/providers/catalogue.ts";
import { identify } from "../../../src/providers/identify.ts";
import { type SampleOrder, sampleOf, sampleTypes } from "../../../src/providers/samples/samples.ts";
import { verify } from "../../../src/providers/verify.ts";
import { SIGNERS } from "../../support/signers.ts";

const test = suite("samples of providers");

const URL_OF_SOURCE = "https://hooks.example.com/v1/webhooks/any/src_a";
const AT = Date.parse("2026-03-01T12:00:00.000Z");
const SEED = Buffer.alloc(32, 1);

const made = (type: ProviderType, more: Partial<SampleOrder> = {}) => {
  const order = { eventType: sampleTypes(type)[0] ?? "", secret: makeSecret(type, SEED), auth: null, ...more };
  const sample = sampleOf(type, { url: URL_OF_SOURCE, at: AT, seed: SEED, ...order });
  if (sample === null) throw new Error(`no sample of ${type}`);
  const request = { ...sample, url: URL_OF_SOURCE, json: () => JSON.parse(sample.body.toString()) };
  return { request, order, verdict: verify(type, request, { auth: order.auth, secrets: [order.secret] }, AT) };
};

test("each sample is accepted like its provider's own request, and has the type and an id", () => {
  for (const type of PROVIDER_TYPES) {
    assert.ok(sampleTypes(type).length > 1, type);
    for (const eventType of sampleTypes(type)) {
      const { request, verdict } = made(type, { eventType });
      assert.equal(verdict, { ok: true }, `${type} ${eventType}`);
      const identity = identify(type, request, null);
      assert.is(identity.eventType, eventType, type);
      if (type !== "hmac" && type !== "bearer") assert.ok(identity.deliveryKey, `${type} ${eventType}`);
    }
  }
});

test("a sample has the signature that the provider's own package makes", async () => {
  for (const type of PROVIDER_TYPES) {
    // Their packages sign with an id of their own, or put the signature into another body.
    if (type === "standard-webhooks" || type === "adyen") continue;
    const { auth, secret, sign } = SIGNERS[type];
    const { request } = made(type, { secret, auth: auth ?? null });
    const signed = await sign({ secret, body: request.body.toString(), at: AT / 1_000, url: URL_OF_SOURCE });
    for (const [name, value] of Object.entries(signed.headers))
      assert.is(request.headers[name.toLowerCase()], value, `${type} ${name}`);
  }
});

test("two samples have different ids, and the same seed gives the same sample", () => {
  for (const type of PROVIDER_TYPES) {
    const first = made(type).request;
    assert.ok(first.body.equals(made(type).request.body), type);
    const second = made(type, { seed: Buffer.alloc(32, 2) }).request;
    assert.not(first.body.equals(second.body), type);
    const keys = [first, second].map((request) => identify(type, request, null).deliveryKey);
    if (keys[0] !== null) assert.is.not(keys[0], keys[1], type);
  }
});

test("a source's own rule is used, and each kind of GitLab's secrets", () => {
  const auth: HmacAuth = {
    header: "X-Own",
    algorithm: "sha512",
    encoding: "base64",
    prefix: "own=",
    timestamp_header: "X-Time",
  };
  assert.equal(made("hmac", { auth }).verdict, { ok: true });
  assert.equal(made("gitlab", { secret: makeSecret("standard-webhooks", SEED) }).verdict, { ok: true });
  assert.equal(made("woocommerce", { secret: "a &lt;b&gt; &#039;c&#039;" }).verdict, { ok: true });
});

test("there is no sample of an unknown type, whatever it is called", () => {
  for (const eventType of ["", "nothing", "toString", "__proto__", "constructor"]) {
    const order = { eventType, secret: "s", auth: null, url: URL_OF_SOURCE, at: AT, seed: SEED };
    assert.is(sampleOf("stripe", order), null, eventType);
  }
});

test.run();
