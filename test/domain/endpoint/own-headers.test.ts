import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  HEADER_VALUE_LENGTH_MAX,
  HEADERS_LENGTH_MAX,
  HEADERS_MAX,
  headerFault,
  headersFault,
} from "../../../domain/endpoint/own-headers.ts";

const test = suite("an endpoint's own headers");

for (const [name, value] of [
  ["authorization", "Bearer abc.def"],
  ["X-Tenant", "42"],
  ["cookie", "a=b; c=d"],
  ["x-~!#$%&'*+.^_`|", "~"],
] as const) {
  test(`${name}: ${value} can be sent`, () => {
    assert.is(headerFault(name, value), null);
  });
}

for (const name of [
  "host",
  "Host",
  "content-length",
  "Content-Type",
  "content-encoding",
  "transfer-encoding",
  "connection",
  "upgrade",
  "expect",
  "te",
  "user-agent",
  "webhook-id",
  "Webhook-Signature",
  "countersign-attempt",
  "Countersign_Agent",
  "webhook_signature",
  "Content_Digest",
  "countersign.record",
  "webhook~id",
  "traceparent",
  "proxy-authorization",
]) {
  test(`${name} is reserved for the delivery`, () => {
    assert.match(headerFault(name, "x") ?? "", "delivery itself");
  });
}

for (const name of ["", "a b", "a:b", "a\r\nb", "\u00fc", "x".repeat(65), "(x)", "x\u0000"]) {
  test(`${JSON.stringify(name.slice(0, 10))} is not a valid name`, () => {
    assert.match(headerFault(name, "x") ?? "", "not a header name");
  });
}

for (const value of ["", " x", "x ", "a\r\nb: c", "a\nb", "a\tb", "a\u0000", "gr\u00fcn", "\u2713", "\u007f"]) {
  test(`${JSON.stringify(value)} is not a valid value`, () => {
    assert.match(headerFault("x-a", value) ?? "", "visible ASCII");
  });
}

test("values and all headers together are bounded", () => {
  assert.is(headerFault("x", "v".repeat(HEADER_VALUE_LENGTH_MAX)), null);
  assert.match(headerFault("x", "v".repeat(HEADER_VALUE_LENGTH_MAX + 1)) ?? "", "more than");
  const many = (count: number) => new Map(Array.from({ length: count }, (_, n) => [`x${n}`, "v"] as const));
  assert.is(headersFault(many(HEADERS_MAX)), null);
  assert.match(headersFault(many(HEADERS_MAX + 1)) ?? "", "at most");
  const half = HEADERS_LENGTH_MAX / 2 - 1;
  const two = (length: number) =>
    new Map([
      ["a", "v".repeat(half)],
      ["b", "v".repeat(length)],
    ]);
  assert.is(headersFault(two(half)), null);
  assert.match(headersFault(two(half + 1)) ?? "", "together");
});

test.run();
