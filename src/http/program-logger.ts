import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import { pino } from "pino";
import type { LineStream } from "./buffered-lines.ts";

/** Members of log lines that are hidden as a second safeguard; bodies and headers are not logged at all. */
const SECRET_NAMES = [
  "authorization",
  "cookie",
  "set-cookie",
  "password",
  "secret",
  "signing_secret",
  "key",
  "token",
  "webhook-signature",
  "stripe-signature",
  "x-hub-signature-256",
  "x-shopify-hmac-sha256",
];

const redacted = SECRET_NAMES.flatMap((name) => {
  const at = `["${name}"]`;
  return [at, `*${at}`, `*.*${at}`];
});

export const programLogger = (config: { readonly logLevel: string }, lines?: LineStream): FastifyBaseLogger => {
  const options = { level: config.logLevel, base: null, redact: { paths: redacted, censor: "[redacted]" } };
  return lines === undefined ? pino(options) : pino(options, lines);
};

/** Redaction takes 45 µs a line, so lines whose members are all chosen in the code and hold no secret go without it. */
export const chosenFields = (log: Pick<FastifyBaseLogger, "child">): Pick<FastifyBaseLogger, "info"> =>
  log.child({}, { redact: [] });

/** Logs an answer with the path of its route, not of the request, because ids and queries may be private. */
export const logAnswered = (log: FastifyBaseLogger) => {
  const own = chosenFields(log);
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const line = {
      trace_id: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
    };
    own.info(line, "answered");
    done();
  };
};
