import { suite } from "uvu";
import * as assert from "uvu/assert";
import { failureOf } from "../../../domain/delivery/failure-of.ts";
import type { Sent } from "../../../domain/ports.ts";

const test = suite("what an answer comes to");

const answered = (statusCode: number, headers: Readonly<Record<string, string>> = {}): Sent => ({
  outcome: "answered",
  statusCode,
  headers,
  body: new Uint8Array(),
  truncated: false,
  retryAfterMs: null,
  timings: { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 },
});

test("the status decides", () => {
  for (const status of [200, 204, 299]) assert.is(failureOf(answered(status)), null);
  assert.equal(failureOf(answered(404)), { kind: "http-4xx", detail: "The receiver answered 404" });
  assert.equal(failureOf(answered(503)), { kind: "http-5xx", detail: "The receiver answered 503" });
});

test("a redirect says to which host it leads, and nothing else that the target says", () => {
  const detailOf = (location: string) => failureOf(answered(302, { location }))?.detail;
  const to = (where: string) => `The receiver answered 302${where}; redirects are not followed`;
  assert.is(detailOf("https://login.example/in/4242?token=s3cret#x"), to(" to https://login.example"));
  assert.is(detailOf("https://ada:s3cret@login.example:8443/in"), to(" to https://login.example:8443"));
  assert.is(detailOf("/there/4242"), to(""));
  assert.is(detailOf("https:4242"), to(""));
  assert.is(failureOf(answered(304))?.detail, "The receiver answered 304; redirects are not followed");
});

test.run();
