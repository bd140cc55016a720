import type { FastifyBodyParser } from "fastify";
import { problem } from "../streams/problems.ts";
import { strictJson } from "../streams/strict-json.ts";
import { Refused } from "./refused.ts";

/** JSON is UTF-8 (RFC 8259, section 8.1); a charset parameter may say so and nothing else. */
const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i;

/** RFC 9110, section 8.4.1. Other values are mistakes of senders and are ignored. */
const COMPRESSED = /gzip|compress|deflate|br|zstd/i;

/** An empty body is parsed as undefined; the route decides whether it may be missing. */
export const parseJsonBody: FastifyBodyParser<Buffer> = (request, bytes, done) => {
  if (!JSON_TYPE.test(request.headers["content-type"]?.trim() ?? "")) {
    const detail = "Send JSON in UTF-8: Content-Type: application/json.";
    done(new Refused(problem("unsupported-media-type", detail)));
    return;
  }
  if (COMPRESSED.test(request.headers["content-encoding"] ?? "")) {
    const detail = "Send the body as it is, without a Content-Encoding: nothing is unpacked here.";
    done(new Refused(problem("unsupported-media-type", detail)));
    return;
  }
  if (bytes.length === 0) {
    done(null, undefined);
    return;
  }
  const read = strictJson(bytes);
  if (read.ok) done(null, read.value);
  else {
    const { message, path } = read;
    done(new Refused(problem("invalid-request", message, { errors: [{ path, message }] })));
  }
};
