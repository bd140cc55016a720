import { suite } from "uvu";
import * as assert from "uvu/assert";
import { failure, failureOfError } from "../../../infra/http/failures.ts";

const test = suite("what an error means");

test("a missing client certificate, reported after the handshake, is a tls failure", () => {
  const alert = Object.assign(new Error("alert"), { code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED" });
  assert.equal(failureOfError(alert), { kind: "tls", detail: "alert (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)" });
});

test("broken encryption after the handshake is a reset, because the request may have been read", () => {
  for (const code of ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC"])
    assert.is(failureOfError(Object.assign(new Error("broken"), { code })).kind, "reset");
  for (const code of ["BAD_CERTIFICATE", "HANDSHAKE_FAILURE"].flatMap((alert) => [
    `ERR_SSL_SSLV3_ALERT_${alert}`,
    `ERR_SSL_SSL/TLS_ALERT_${alert}`,
  ]))
    assert.is(failureOfError(Object.assign(new Error("alert"), { code })).kind, "tls", code);
});

test("an unknown error is a reset, because its effect is unknown", () => {
  assert.equal(failureOfError(new Error("what")), { kind: "reset", detail: "what" });
});

test("a detail is one line, cut at its limit", () => {
  assert.is(failure("tls", "wrong version number:a.c:354:\n (CODE)").detail, "wrong version number:a.c:354: (CODE)");
  assert.is(failure("redirect", "x".repeat(5_000)).detail.length, 300);
});

test.run();
