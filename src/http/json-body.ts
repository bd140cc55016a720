import type { FastifyBodyParser } from "fastify";
import { problem } from "../streams/problems.ts";
import { strictJson } from "../streams/strict-json.ts";
import { ProblemError } from "./problem-error.ts";

/** JSON is UTF-8 (RFC 8259, section 8.1), so no other charset is accepted. */
const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i;

const COMPRESSED = /gzip|compress|deflate|br|zstd/i;

export const parseJsonBody: FastifyBodyParser<Buffer> = (request, bytes, done) => {
  if (!JSON_TYPE.test(request.headers["content-type"]?.trim() ?? "")) {
    const detail = "Send JSON in UTF-8: Content-Type: application/json.";
    done(new ProblemError(problem("unsupported-media-type", detail)));
    return;
  }
  if (COMPRESSED.test(request.headers["content-encoding"] ?? "")) {
    const detail = "Send the body as it is, without a Content-Encoding: nothing is unpacked here.";
    done(new ProblemError(problem("unsupported-media-type", detail)));
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
    done(new ProblemError(problem("invalid-request", message, { errors: [{ path, message }] })));
  }
};
