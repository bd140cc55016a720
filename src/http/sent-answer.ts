import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { defined } from "../../domain/defined.ts";
import { PROBLEMS, type Problem, problemBody } from "../streams/problems.ts";
import type { PositionText } from "./position-text.ts";
import { type Answer, isProblem } from "./route.ts";
import { SAFE_HEADERS } from "./safe-headers.ts";

export type SentAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Readable | null;
};

const HEADERS = { "cache-control": "no-store", ...SAFE_HEADERS } as const;

/** The challenge that an answer 401 must have (RFC 9110, section 11.6.1). */
const CHALLENGE = 'Bearer realm="countersign"';

export const problemAnswer = (it: Problem, traceId: string): SentAnswer => {
  const { status } = PROBLEMS[it.problem];
  return {
    status,
    headers: {
      ...HEADERS,
      "content-type": "application/problem+json",
      ...defined({
        "retry-after": it.retryAfterS?.toString(),
        "www-authenticate": it.problem === "unauthenticated" ? CHALLENGE : undefined,
      }),
    },
    body: JSON.stringify(problemBody(it, traceId)),
  };
};

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const POSITION_HEADER = "countersign-position";

/** Leaves out the position of a stored answer if the log was moved since, as no read would accept that position. */
export const withOwnPosition = (wire: SentAnswer, positions: PositionText): SentAnswer => {
  const { [POSITION_HEADER]: position, ...headers } = wire.headers;
  return position === undefined || positions.read(position) !== null ? wire : { ...wire, headers };
};

export const sentAnswer = (it: Answer | Problem, traceId: string, positions: PositionText): SentAnswer => {
  if (isProblem(it)) return problemAnswer(it, traceId);
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

export const sendAnswer = (reply: FastifyReply, { status, headers, body }: SentAnswer): FastifyReply => {
  reply.code(status).headers({ ...headers });
  if (body instanceof Readable) {
    if (reply.request.method !== "HEAD") return reply.send(body);
    // For HEAD, Fastify would read the stream to its end, which may never come, so the stream is not handed to it.
    body.destroy();
    return reply.send();
  }
  // Text is sent as bytes, as Fastify would add a charset to text of a JSON type, and problem+json has none.
  return body === null ? reply.send() : reply.send(typeof body === "string" ? Buffer.from(body) : body);
};
