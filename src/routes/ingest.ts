import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../domain/ports.ts";
import type { Accepting } from "../admission/accepting.ts";
import type { Admission } from "../admission/admission.ts";
import { readBody } from "../http/counted-body.ts";
import { sendProblem } from "../http/problem-reply.ts";
import { Refused } from "../http/refused.ts";
import { traceOf } from "../http/trace.ts";
import { problem } from "../problems.ts";
import { isProblem } from "./route.ts";

/** 1 MiB less 64 KiB: with its envelope a payload stays below what one append to the log may carry. */
export const PAYLOAD_BYTES_MAX = 1_048_576 - 65_536;
/**
 * Webhooks under way at once, and the bytes of their bodies in memory: the rest is told to come again (P10). A request is
 * under way once its body is there: until then a client holds a connection and the bytes it has really sent, no more.
 */
export type IngestLimits = { readonly requests: number; readonly bytes: number };
const IN_FLIGHT_MAX: IngestLimits = { requests: 4_000, bytes: 128 * 1_048_576 };
const RETRY_AFTER_S = 1;
/** How long a body may bring no byte. Senders have theirs ready: a longer pause is a dead network, or no sender. */
const SILENCE_MS = 5_000;

export type IngestDeps = {
  readonly accepting: Accepting;
  readonly admit: Admission;
  readonly clock: Clock;
  readonly limits?: IngestLimits;
  readonly silenceMs?: number;
};

type Load = { requests: number; bytes: number };

const overloaded = problem("overloaded", "More is under way than this node takes at once: send it again in a second.", {
  retryAfterS: RETRY_AFTER_S,
});

// The route's own parameters, both present by its path.
const addressOf = ({ params }: FastifyRequest) => params as { readonly provider: string; readonly source_id: string };

/** `POST /v1/webhooks/{provider}/{source_id}`: outside of the route table, as it takes any content type and every cost here
 * is paid by each webhook. */
export const ingest =
  ({ accepting, admit, clock, limits = IN_FLIGHT_MAX, silenceMs = SILENCE_MS }: IngestDeps) =>
  async (app: FastifyInstance): Promise<void> => {
    const load: Load = { requests: 0, bytes: 0 };
    /** What of the load is each request's. */
    const shares = new WeakMap<FastifyRequest, Load>();

    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (request, raw, done) => {
      const take = (bytes: number): void => {
        const share = shares.get(request);
        if (load.bytes + bytes > limits.bytes) throw new Refused(overloaded);
        if (share === undefined) return;
        load.bytes += bytes;
        share.bytes += bytes;
      };
      readBody(raw, { bytesMax: PAYLOAD_BYTES_MAX, silenceMs, take }, done);
    });

    app.addHook("onRequest", async (request, reply) => {
      if (load.requests >= limits.requests) return sendProblem(request, reply, overloaded);
      const { provider, source_id: sourceId } = addressOf(request);
      const source = await accepting(provider, sourceId);
      if ("problem" in source) return sendProblem(request, reply, source);
      shares.set(request, { requests: 0, bytes: 0 });
      // Fastify answers 415 to a content type that is none, as `json`: what to make of it is the receiver's affair.
      // Only the choice of a parser reads these headers, and the one there is reads anything.
      if (request.mediaType === undefined) request.headers = { "content-type": undefined };
    });
    /** Once answered or given up. Not on response: that of a client who is gone never ends, and its place would be lost. */
    const leave = (request: FastifyRequest): void => {
      const share = shares.get(request);
      if (share === undefined) return;
      shares.delete(request);
      load.requests -= share.requests;
      load.bytes -= share.bytes;
    };
    app.addHook("onSend", (request, _reply, _payload, done) => {
      leave(request);
      done();
    });
    app.addHook("onRequestAbort", async (request) => leave(request));

    const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      if (load.requests >= limits.requests) return sendProblem(request, reply, overloaded);
      const share = shares.get(request);
      if (share !== undefined) {
        load.requests += 1;
        share.requests = 1;
      }
      const { provider, source_id: sourceId } = addressOf(request);
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
