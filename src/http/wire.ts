import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { PROBLEMS, type Problem, problemBody } from "../streams/problems.ts";
import type { PositionText } from "./position-text.ts";
import { type Answer, isProblem } from "./route.ts";
import { SAFE_HEADERS } from "./safe-headers.ts";

/** An answer as it is sent, and stored for repeats unless it is a stream. Header names are lower-case. */
export type Wire = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Readable | null;
};

const HEADERS = { "cache-control": "no-store", ...SAFE_HEADERS } as const;

/** Required with a 401 (RFC 9110, section 11.6.1). */
const CHALLENGE = 'Bearer realm="countersign"';

export const problemWire = (it: Problem, traceId: string): Wire => {
  const { status } = PROBLEMS[it.problem];
  return {
    status,
    headers: {
      ...HEADERS,
      "content-type": "application/problem+json",
      ...(it.retryAfterS === undefined ? {} : { "retry-after": String(it.retryAfterS) }),
      ...(it.problem === "unauthenticated" ? { "www-authenticate": CHALLENGE } : {}),
    },
    body: JSON.stringify(problemBody(it, traceId)),
  };
};

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const POSITION_HEADER = "countersign-position";

/** A stored answer is repeated without its position if the log was moved since: no read would accept it. */
export const withOwnPosition = (wire: Wire, positions: PositionText): Wire => {
  const { [POSITION_HEADER]: position, ...headers } = wire.headers;
  return position === undefined || positions.read(position) !== null ? wire : { ...wire, headers };
};

export const wireOf = (it: Answer | Problem, traceId: string, positions: PositionText): Wire => {
  if (isProblem(it)) return problemWire(it, traceId);
  const { status, body, headers = {}, position } = it;
  const bytes = body instanceof Uint8Array || body instanceof Readable;
  return {
    status,
    headers: {
      ...HEADERS,
      ...(body === undefined
        ? {}
        : { "content-type": bytes ? "application/octet-stream" : "application/json; charset=utf-8" }),
      ...lowerCase(headers),
      ...(position === undefined ? {} : { [POSITION_HEADER]: positions.of(position) }),
    },
    body: body === undefined ? null : bytes ? body : JSON.stringify(body),
  };
};

export const sendWire = (reply: FastifyReply, { status, headers, body }: Wire): FastifyReply => {
  reply.code(status).headers({ ...headers });
  if (body instanceof Readable) {
    if (reply.request.method !== "HEAD") return reply.send(body);
    // Fastify would read the stream to its end, which may never come.
    body.destroy();
    return reply.send();
  }
  // As bytes: to text with a JSON type Fastify adds a charset, which problem+json does not have.
  return body === null ? reply.send() : reply.send(typeof body === "string" ? Buffer.from(body) : body);
};
