import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { problem } from "../streams/problems.ts";
import { strictJson } from "../streams/strict-json.ts";
import type { ArrivingBodies } from "./arriving-bodies.ts";
import { API_BODY_BYTES_MAX } from "./limits.ts";
import { ProblemError } from "./problem-error.ts";

/** Matches the content types of JSON. Only UTF-8 is accepted as its charset (RFC 8259, section 8.1). */
const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i;

const COMPRESSED = /gzip|compress|deflate|br|zstd/i;

type Done = (error: Error | null, value?: unknown) => void;

const parseJson = (bytes: Buffer, done: Done): void => {
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

export const jsonBodyParser =
  (bodies: ArrivingBodies) =>
  (request: FastifyRequest, raw: IncomingMessage, done: Done): void => {
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
    bodies.read(request, raw, API_BODY_BYTES_MAX, (error, bytes) => {
      if (bytes === undefined) done(error);
      else parseJson(bytes, done);
    });
  };
