import errors from "undici/lib/core/errors.js";
import type { Failure, FailureKind } from "../../domain/delivery/attempt-end.ts";
import { ConnectFailure } from "./connector.ts";

const DETAIL_LENGTH_MAX = 300;

export const failure = (kind: FailureKind, text: string): Failure => {
  const detail = text.replace(/\s+/g, " ").trim();
  return { kind, detail: detail.length <= DETAIL_LENGTH_MAX ? detail : `${detail.slice(0, DETAIL_LENGTH_MAX - 1)}…` };
};

const BY_CODE: Readonly<Record<string, FailureKind>> = {
  UND_ERR_HEADERS_OVERFLOW: "response-too-large",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "invalid-response",
  // undici refuses to write such a request, so nothing was sent.
  UND_ERR_INVALID_ARG: "connect",
  UND_ERR_NOT_SUPPORTED: "connect",
};

/**
 * A TLS 1.3 receiver asks for a client certificate after the handshake, but before it reads anything (RFC 8446, section
 * 6.2), so the request had no effect. Any other TLS error at that time may come after an effect.
 */
const WANTS_CERTIFICATE = /^ERR_SSL_[\w/]+_ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE)$/;

const kindOf = (error: Error, code: string): FailureKind => {
  if (error instanceof errors.HTTPParserError) return "invalid-response";
  // undici calls a 101 a "bad upgrade", and no request of ours asks for an upgrade (RFC 9110, section 15.2.2).
  if (error instanceof errors.SocketError && error.message.startsWith("bad ")) return "invalid-response";
  if (WANTS_CERTIFICATE.test(code)) return "tls";
  return BY_CODE[code] ?? "reset";
};

export const failureOfError = (error: Error): Failure => {
  if (error instanceof ConnectFailure) return failure(error.kind, error.message);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return failure(kindOf(error, code), code === "" ? error.message : `${error.message} (${code})`);
};
