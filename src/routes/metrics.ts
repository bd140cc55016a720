import { hash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isLoopback } from "../../infra/http/addresses.ts";
import { sendProblem } from "../http/problem-reply.ts";
import { notFound, problem } from "../problems.ts";

export type MetricsRouteDeps = {
  readonly scrape: () => Promise<string>;
  readonly contentType: string;
  /** METRICS_TOKEN; null: only whoever is on this machine may scrape. */
  readonly token: string | null;
};

/** Set by proxies: with one of them on this machine everybody would come from it. */
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

/** `GET /metrics` in Prometheus' text format: outside of the route table, as its credential is no account's. */
export const metricsRoute =
  ({ scrape, contentType, token }: MetricsRouteDeps) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
      const isAllowed = isLocal(request) || (token !== null && presents(request.headers.authorization, token));
      if (isAllowed)
        return reply.headers({ "content-type": contentType, "cache-control": "no-store" }).send(await scrape());
      if (token === null) return sendProblem(request, reply, notFound());
      return sendProblem(request, reply, problem("unauthenticated", "Send METRICS_TOKEN as a bearer token."));
    });
  };
