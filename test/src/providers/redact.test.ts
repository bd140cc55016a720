import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PROVIDER_TYPES } from "../../../domain/source/events.ts";
import { REDACTED, redactHeaders } from "../../../src/providers/redact.ts";
import { SIGNERS } from "../../support/signers.ts";

const test = suite("headers that are kept");

test("every provider's signatures are left out", () => {
  for (const type of PROVIDER_TYPES) {
    const { header, auth } = SIGNERS[type];
    if (header === null) continue;
    const kept = redactHeaders({ [header.toLowerCase()]: "proof", "content-type": "application/json" }, auth ?? null);
    assert.equal(kept, { [header.toLowerCase()]: REDACTED, "content-type": "application/json" }, type);
  }
});

test("credentials of proxies are left out", () => {
  const names = [
    "cookie",
    "set-cookie",
    "proxy-authorization",
    "x-api-key",
    "x-amz-security-token",
    "x-auth",
    "x-hub-signature",
  ];
  for (const name of names) assert.is(redactHeaders({ [name]: "s3cret" })[name], REDACTED, name);
});

test("a source's own signature header is left out under any name", () => {
  const auth = { header: "X-Proof", algorithm: "sha256", encoding: "hex" } as const;
  assert.equal(redactHeaders({ "x-proof": "a", "x-other": "b" }, auth), { "x-proof": REDACTED, "x-other": "b" });
});

test("ids, types and times are kept", () => {
  const headers = { "x-github-delivery": "d-1", "x-github-event": "push", "webhook-id": "m", "idempotency-key": "k" };
  assert.equal(redactHeaders(headers), headers);
});

test("the number and lengths of stored headers are bounded", () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`x-${at}`, "v"]));
  assert.is(Object.keys(redactHeaders(many)).length, 64);
  assert.is(redactHeaders({ "x-long": "v".repeat(5_000) })["x-long"]?.length, 1_024);
  const wide = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`x-${at}`, "v".repeat(1_000)]));
  assert.ok(JSON.stringify(redactHeaders(wide)).length < 20_000);
});

test("a header named __proto__ is an ordinary header", () => {
  const headers = JSON.parse('{"__proto__":"v","accept":"*/*"}');
  const kept = redactHeaders(headers);
  assert.equal(Object.keys(kept).sort(), ["__proto__", "accept"]);
  assert.is(Object.getPrototypeOf(kept), Object.prototype);
});

test("values that Node gives as a list are joined", () => {
  assert.equal(redactHeaders({ "x-list": ["a", "b"], absent: undefined }), { "x-list": "a, b" });
});

test.run();
