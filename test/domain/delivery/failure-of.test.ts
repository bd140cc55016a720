import { suite } from "uvu";
import * as assert from "uvu/assert";
import { failureOf } from "../../../domain/delivery/failure-of.ts";
import type { SendOutcome } from "../../../domain/ports/sender.ts";

const test = suite("what an answer comes to");

const answered = (statusCode: number, headers: Readonly<Record<string, string>> = {}): SendOutcome => ({
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

test("a redirect's record repeats nothing of the target's answer, not even a host", () => {
  for (const location of ["https://4242.login.example/in?token=s3cret", "https://ada:s3cret@x.example", "/there", ""])
    assert.is(failureOf(answered(302, { location }))?.detail, "The receiver answered 302; redirects are not followed");
});

test.run();
