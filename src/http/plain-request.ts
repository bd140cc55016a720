import type { IncomingMessage } from "node:http";
import { HEADERS_MAX } from "./limits.ts";
import { headerValues } from "./malformed-requests.ts";

const DIGITS = /^\d{1,9}$/;

/**
 * True for a POST of HTTP/1.1 with a short body of a known length and nothing unusual: `refuseAmbiguous` would let it
 * pass, and nobody waits for a 100.
 */
export const isPlainPost = (request: IncomingMessage, bytesMax: number): boolean => {
  if (request.method !== "POST" || request.httpVersion !== "1.1") return false;
  const { headers, rawHeaders } = request;
  if (rawHeaders.length > 2 * HEADERS_MAX || headerValues(rawHeaders, "host").length !== 1) return false;
  const length = headers["content-length"];
  if (length === undefined || !DIGITS.test(length) || Number(length) > bytesMax) return false;
  return headers["transfer-encoding"] === undefined && headers.expect === undefined && headers.upgrade === undefined;
};
