import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import { pino } from "pino";
import type { LineStream } from "./buffered-lines.ts";

/** Redacted at any depth. Bodies and headers are not logged at all; this is a second safeguard. */
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

/** Without `lines` each line is one write to stdout. */
export const programLogger = (config: { readonly logLevel: string }, lines?: LineStream): FastifyBaseLogger => {
  const options = { level: config.logLevel, base: null, redact: { paths: redacted, censor: "[redacted]" } };
  return lines === undefined ? pino(options) : pino(options, lines);
};

/** For lines whose fields are listed in the code and hold no secret: redaction takes 45 µs a line, three lines a webhook. */
export const chosenFields = (log: Pick<FastifyBaseLogger, "child">): Pick<FastifyBaseLogger, "info"> =>
  log.child({}, { redact: [] });

/** An onResponse hook. It logs the route's path, since ids and queries may be private. */
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
