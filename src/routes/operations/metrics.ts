import { hash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isLoopback } from "../../../infra/http/addresses.ts";
import { PROBLEMS_LISTED } from "../../http/openapi-document.ts";
import { sendProblem } from "../../http/problem-reply.ts";
import { listedProblems } from "../../http/route-problems.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { Readings } from "../../observability/readings.ts";
import { notFound, problem } from "../../streams/problems.ts";

export type MetricsRouteDeps = {
  readonly meters: Pick<Metrics, "scrape" | "contentType">;
  readonly readings: Readings;
  /** The value of METRICS_TOKEN; if null, only clients on this machine may read the metrics. */
  readonly token: string | null;
};

/** Headers that proxies set. A request with one is not local, though a proxy on this machine makes it look so. */
const FORWARDED = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "via",
] as const;

const isLocal = ({ raw, headers }: FastifyRequest): boolean =>
  isLoopback(raw.socket.remoteAddress ?? "") && FORWARDED.every((name) => headers[name] === undefined);

const digestOf = (text: string): Buffer => hash("sha256", text, "buffer");

const presents = (authorization: string | undefined, token: string): boolean =>
  authorization !== undefined && timingSafeEqual(digestOf(authorization), digestOf(`Bearer ${token}`));

const PROBLEMS = listedProblems("not-found", "unauthenticated");

const DESCRIPTION = {
  operationId: "getMetrics",
  summary: "This process's metrics in Prometheus' text format; from its own machine no token is needed",
  tags: ["operations"],
  security: [{}, { metricsToken: [] }],
  response: { 200: { description: "OK", content: { "text/plain": { schema: { type: "string" } } } } },
  [PROBLEMS_LISTED]: [...PROBLEMS],
} as const;

/** Registered outside of the route table, because its credential belongs to no account. */
export const metricsRoute =
  ({ meters, readings, token }: MetricsRouteDeps) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get(
      "/metrics",
      { schema: DESCRIPTION, config: { problems: PROBLEMS, call: "GET /metrics" } },
      async (request, reply) => {
        const isAllowed = isLocal(request) || (token !== null && presents(request.headers.authorization, token));
        if (isAllowed) {
          reply.headers({ "content-type": meters.contentType, "cache-control": "no-store" });
          return reply.send(await meters.scrape(readings));
        }
        if (token === null) return sendProblem(request, reply, notFound());
        return sendProblem(request, reply, problem("unauthenticated", "Send METRICS_TOKEN as a bearer token."));
      },
    );
  };
