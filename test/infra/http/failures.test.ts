import { suite } from "uvu";
import * as assert from "uvu/assert";
import { failure, failureOfError } from "../../../infra/http/failures.ts";

const test = suite("what an error means");

test("an alert behind the handshake, as for a missing client certificate, is a tls failure", () => {
  const alert = Object.assign(new Error("alert"), { code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED" });
  assert.equal(failureOfError(alert), { kind: "tls", detail: "alert (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)" });
});

test("an error that nobody foresaw is a reset: its effect is unknown", () => {
  assert.equal(failureOfError(new Error("what")), { kind: "reset", detail: "what" });
});

test("a detail is cut at its limit", () => {
  assert.is(failure("redirect", "x".repeat(5_000)).detail.length, 300);
});

test.run();
