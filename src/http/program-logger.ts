import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import { pino } from "pino";
import type { LineStream } from "./buffered-lines.ts";
import { type ChosenLines, chosenLines } from "./chosen-lines.ts";

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

export type ProgramLogger = FastifyBaseLogger & { readonly chosen: ChosenLines };

const STDOUT: Pick<LineStream, "write"> = { write: (line) => void process.stdout.write(line) };

export const programLogger = (config: { readonly logLevel: string }, lines = STDOUT): ProgramLogger => {
  const redact = { paths: redacted, censor: "[redacted]" };
  const logger = pino({ level: config.logLevel, base: null, redact }, lines);
  return Object.assign(logger, { chosen: chosenLines(logger.isLevelEnabled("info"), lines) });
};

/** Logs an answer with the path of its route, not of the request, because ids and queries may be private. */
export const logAnswered =
  ({ chosen }: Pick<ProgramLogger, "chosen">) =>
  (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const line = {
      trace_id: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
    };
    chosen.info(line, "answered");
    done();
  };
