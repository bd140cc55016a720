import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Webhook } from "../../../src/admission/admission.ts";
import { ingest, PAYLOAD_BYTES_MAX } from "../../../src/routes/ingest.ts";
import { testApp, testClock } from "../../support/http-app.ts";

const test = suite("the route of webhooks");

/** The route in front of an admission that takes everything and remembers it. */
const taking = async () => {
  const taken: Webhook[] = [];
  const admit = async (webhook: Webhook) => {
    taken.push(webhook);
    return { status: 202, body: {} };
  };
  const app = await testApp([], { register: ingest({ admit, clock: testClock() }) });
  const send = (headers: Record<string, string>, payload: Buffer) =>
    app.inject({ method: "POST", url: "/v1/webhooks/stripe/src_a", headers, payload });
  return { taken, send };
};

test("any content type is taken as it came, also one that is none", async () => {
  const { taken, send } = await taking();
  const types = ["application/json", "application/json; charset=latin1", "json", "", "a, b/c", "text/plain x", "/"];
  for (const type of types) {
    const body = Buffer.from([0x7b, 0x00, 0xff]);
    assert.is((await send({ "content-type": type }, body)).statusCode, 202, type);
    const webhook = taken.at(-1);
    assert.is(webhook?.headers["content-type"], type);
    assert.equal(webhook?.body, body);
  }
});

test("a body of any coding is not decoded, and none is an empty one", async () => {
  const { taken, send } = await taking();
  const body = Buffer.from([0x1f, 0x8b, 0x08]);
  assert.is((await send({ "content-type": "application/json", "content-encoding": "gzip" }, body)).statusCode, 202);
  assert.equal(taken.at(-1)?.body, body);
  assert.is((await send({ "content-type": "json" }, Buffer.alloc(0))).statusCode, 202);
  assert.is(taken.at(-1)?.body.length, 0);
});

test("the largest body is taken whatever it calls itself, one byte more is 413", async () => {
  const { taken, send } = await taking();
  for (const type of ["text/plain", "json"]) {
    assert.is((await send({ "content-type": type }, Buffer.alloc(PAYLOAD_BYTES_MAX))).statusCode, 202);
    assert.is(taken.at(-1)?.body.length, PAYLOAD_BYTES_MAX);
    const refused = await send({ "content-type": type }, Buffer.alloc(PAYLOAD_BYTES_MAX + 1));
    assert.equal([refused.statusCode, refused.json().code], [413, "too-large"]);
  }
});

test.run();
