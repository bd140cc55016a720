import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../domain/ports.ts";
import type { Admission } from "../admission/admission.ts";
import { sendProblem } from "../http/problem-reply.ts";
import { traceOf } from "../http/trace.ts";
import { problem } from "../problems.ts";
import { isProblem } from "./route.ts";

/** 1 MiB less 64 KiB: with its envelope a payload stays below what one append to the log may carry. */
export const PAYLOAD_BYTES_MAX = 1_048_576 - 65_536;
/** Webhooks under way at once, and the bytes of their bodies: the rest is told to come again (P10). */
const IN_FLIGHT_MAX = 4_000;
const IN_FLIGHT_BYTES_MAX = 128 * 1_048_576;
const RETRY_AFTER_S = 1;

export type IngestDeps = { readonly admit: Admission; readonly clock: Clock };

type Load = { requests: number; bytes: number };

/** `POST /v1/webhooks/{provider}/{source_id}`: outside of the route table, as it takes any content type and every cost here
 * is paid by each webhook. */
export const ingest =
  ({ admit, clock }: IngestDeps) =>
  async (app: FastifyInstance): Promise<void> => {
    const load: Load = { requests: 0, bytes: 0 };
    const weights = new WeakMap<FastifyRequest, number>();

    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: PAYLOAD_BYTES_MAX }, (_request, body, done) =>
      done(null, body),
    );

    app.addHook("onRequest", async (request, reply) => {
      const declared = Number(request.headers["content-length"] ?? Number.NaN);
      // A body of unknown length may be as long as any.
      const weight = Number.isFinite(declared) ? Math.min(declared, PAYLOAD_BYTES_MAX) : PAYLOAD_BYTES_MAX;
      if (load.requests >= IN_FLIGHT_MAX || load.bytes + weight > IN_FLIGHT_BYTES_MAX) {
        const detail = "More is under way than this node takes at once: send it again in a second.";
        return sendProblem(request, reply, problem("overloaded", detail, { retryAfterS: RETRY_AFTER_S }));
      }
      load.requests += 1;
      load.bytes += weight;
      weights.set(request, weight);
      // Fastify answers 415 to a content type that is none, as `json`: what to make of it is the receiver's affair.
      // Only the choice of a parser reads these headers, and the one there is reads anything.
      if (request.mediaType === undefined) request.headers = { "content-type": undefined };
    });
    /** Once answered or given up. Not on response: that of a client who is gone never ends, and its place would be lost. */
    const leave = (request: FastifyRequest): void => {
      const weight = weights.get(request);
      if (weight === undefined) return;
      weights.delete(request);
      load.requests -= 1;
      load.bytes -= weight;
    };
    app.addHook("onSend", (request, _reply, _payload, done) => {
      leave(request);
      done();
    });
    app.addHook("onRequestAbort", async (request) => leave(request));

    const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      // The route's own parameters, both present by its path.
      const { provider, source_id: sourceId } = request.params as { provider: string; source_id: string };
      const answer = await admit({
        provider,
        sourceId,
        headers: request.raw.headers,
        rawHeaders: request.raw.rawHeaders,
        body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
        ip: request.ip,
        trace: traceOf(request),
        receivedAt: clock.now(),
      });
      if (isProblem(answer)) return sendProblem(request, reply, answer);
      if (answer.position !== undefined) reply.header("countersign-position", answer.position);
      return reply.code(answer.status).send(answer.body);
    };
    app.post("/v1/webhooks/:provider/:source_id", handle);
  };
