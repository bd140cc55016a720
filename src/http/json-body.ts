import type { FastifyBodyParser } from "fastify";
import { problem } from "../streams/problems.ts";
import { strictJson } from "../streams/strict-json.ts";
import { Refused } from "./refused.ts";

/** JSON is UTF-8 (RFC 8259, section 8.1); a charset parameter may say so and nothing else. */
const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i;

/** Codings that a body may have been sent in (RFC 9110, section 8.4.1); what people write there by mistake changes nothing. */
const COMPRESSED = /gzip|compress|deflate|br|zstd/i;

/** Fastify's parser for `application/json` with any parameters. An empty body is no body; the route says if it may be. */
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
