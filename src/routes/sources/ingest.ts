import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Plan } from "../../../domain/account/plans.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import { networkOf } from "../../../infra/http/network.ts";
import { windowOf } from "../../../infra/window.ts";
import type { ActiveSource } from "../../admission/active-source.ts";
import type { Admission } from "../../admission/admission.ts";
import { BodyBudget, type BudgetedBody } from "../../http/body-budget.ts";
import { ByteRate, SMALL_BYTES } from "../../http/byte-rate.ts";
import { readBody } from "../../http/counted-body.ts";
import { loopLag } from "../../http/loop-lag.ts";
import { operationId, PROBLEMS_LISTED } from "../../http/openapi.ts";
import type { PositionText } from "../../http/position-text.ts";
import { sendProblem } from "../../http/problem-reply.ts";
import { isProblem, type JsonSchema } from "../../http/route.ts";
import { GATE_PROBLEMS, listedProblems } from "../../http/route-problems.ts";
import { traceOf } from "../../http/trace.ts";
import { PAYLOAD_BYTES_MAX } from "../../streams/payloads.ts";
import { type Problem, problem } from "../../streams/problems.ts";

/**
 * Webhooks under way at once, and the bytes of their bodies in memory: the rest is told to come again (P10). A request is
 * under way once its body is there: until then a client holds a connection and the bytes it has really sent, no more.
 * Both are given out in shares (`BodyBudget`).
 * On its way to the log a body is there several times, as bytes, as text and as a record: memory is some times `bytes`.
 * `decisions`: so many are decided at once, the rest wait, and the accounts take turns. All of a burst at once would be done
 * at one time, and where the log is slow that is too late for each of them.
 * `lagMs`: so late an event loop leaves much unseen in sockets. Senders wait for 3 s (Slack) and more.
 * `lookMs` and `decideMs`: a log that hangs does not keep a sender longer, 10 s being what most wait. What is decided
 * behind such an answer holds: the sender's repeat is answered with it.
 */
export type IngestLimits = {
  readonly requests: number;
  readonly bytes: number;
  readonly decisions: number;
  readonly lagMs: number;
  readonly lookMs: number;
  readonly decideMs: number;
};
export const INGEST_LIMITS: IngestLimits = {
  requests: 4_000,
  bytes: 32 * 1_048_576,
  decisions: 256,
  lagMs: 2_000,
  lookMs: 3_000,
  decideMs: 6_000,
};
const RETRY_AFTER_S = 1;
const LATE_RETRY_AFTER_S = 5;
/** How long a body may bring no byte. Senders have theirs ready: a longer pause is a dead network, or no sender. */
const SILENCE_MS = 5_000;

export type IngestDeps = {
  readonly activeSource: ActiveSource;
  readonly admit: Admission;
  readonly positions: Pick<PositionText, "of">;
  readonly clock: Clock;
  readonly planOf: (account: string) => Promise<Plan>;
  readonly limits?: IngestLimits;
  readonly silenceMs?: number;
};

/** Until its signature is verified a body is hashed and no more, so that the plan does not matter yet. */
const UNVERIFIED_BYTES_PER_S = 8 * 1_048_576;

/** One request's part of the budget. `forget` drops the bytes that have been read. */
type Share = { readonly body: BudgetedBody; readonly account: string; forget: () => void };

/** For a request that is refused before its source is known. */
const NO_ROOM: BudgetedBody = {
  take: () => false,
  enter: () => false,
  complete: () => undefined,
  verified: () => undefined,
  party: () => "",
  isTrusted: () => false,
  leave: () => undefined,
};

const PROBLEMS = listedProblems(
  "not-found",
  "source-paused",
  "invalid-signature",
  "delivery-id-reused",
  "too-large",
  "request-timeout",
  "overloaded",
  ...GATE_PROBLEMS,
);

const PATH = "/v1/webhooks/{provider}/{source_id}";

const taken = (more: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: "object",
  properties: { event_id: { type: "string" }, status: { type: "string" }, ...more },
});

/** For the description alone: a schema of parameters or of the body would be checked for each webhook. */
const SCHEMA = {
  operationId: operationId("POST", PATH),
  summary: "Take a webhook of any content type; the source's secret is the credential",
  tags: ["sources"],
  response: {
    200: {
      description: "A duplicate, or a provider's check of this address",
      ...taken({ duplicate: { const: true } }),
    },
    202: { description: "Recorded, queued, or held for approval", ...taken({ approval_id: { type: "string" } }) },
  },
  [PROBLEMS_LISTED]: [...PROBLEMS],
};

const overloaded = problem("overloaded", "This node has too many requests in flight: send it again in a second.", {
  retryAfterS: RETRY_AFTER_S,
});

const late = problem("unavailable", "The log does not answer at the moment: send it again.", {
  retryAfterS: LATE_RETRY_AFTER_S,
});

const inTime = async <T>(limitMs: number, work: Promise<T>): Promise<T | Problem> => {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<Problem>((resolve) => {
    timer = setTimeout(() => resolve(late), limitMs);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
};

// The route's own parameters, both present by its path.
const addressOf = ({ params }: FastifyRequest) => params as { readonly provider: string; readonly source_id: string };

/** `POST /v1/webhooks/{provider}/{source_id}`: outside of the route table, as it takes any content type and every cost here
 * is paid by each webhook. */
export const ingest =
  ({ activeSource, admit, positions, clock, planOf, limits = INGEST_LIMITS, silenceMs = SILENCE_MS }: IngestDeps) =>
  async (app: FastifyInstance): Promise<void> => {
    const lag = loopLag();
    const budget = new BodyBudget(limits, clock);
    const deciding = windowOf(limits.decisions);
    const rate = new ByteRate(clock);
    const shares = new WeakMap<FastifyRequest, Share>();

    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (request, raw, done) => {
      // The share of a client that has gone is given back.
      const take = (bytes: number): boolean => shares.get(request)?.body.take(bytes) ?? false;
      const forget = readBody(raw, { bytesMax: PAYLOAD_BYTES_MAX, silenceMs, take }, done);
      const share = shares.get(request);
      if (share !== undefined) share.forget = forget;
    });

    app.addHook("onRequest", async (request, reply) => {
      // Told when its body has been read: see `readBody`.
      shares.set(request, { body: NO_ROOM, account: "", forget: () => undefined });
      if (budget.requests < limits.requests && lag() <= limits.lagMs) {
        const { provider, source_id: sourceId } = addressOf(request);
        const source = await inTime(limits.lookMs, activeSource(provider, sourceId));
        if ("problem" in source) return sendProblem(request, reply, source);
        const sender = { account: source.account, source: sourceId, network: networkOf(request.ip) };
        const body = budget.begin(sender, () => share.forget());
        const share: Share = { body, account: source.account, forget: () => undefined };
        // The client may have gone meanwhile.
        if (shares.has(request)) shares.set(request, share);
      }
      // Fastify answers 415 to a content type that is none, as `json`: what to make of it is the receiver's affair.
      // Only the choice of a parser reads these headers, and the one there is reads anything.
      if (request.mediaType === undefined) request.headers = { "content-type": undefined };
    });
    /** Once answered or given up. Not on response: that of a client who is gone never ends, and its place would be lost. */
    const leave = (request: FastifyRequest): void => {
      const share = shares.get(request);
      if (share === undefined) return;
      shares.delete(request);
      share.body.leave();
    };
    app.addHook("onSend", (request, _reply, _payload, done) => {
      leave(request);
      done();
    });
    app.addHook("onRequestAbort", async (request) => leave(request));

    const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const share = shares.get(request);
      // A client who is gone has left its share, and reads no answer either.
      share?.body.complete();
      if (share === undefined || !share.body.enter()) return sendProblem(request, reply, overloaded);
      const { body, account } = share;
      const party = body.party();
      const receivedAt = clock.now();
      const from = performance.now();
      const content = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const bytes = content.length;
      const bytesPerS =
        bytes > SMALL_BYTES && body.isTrusted() ? (await planOf(account)).largeBodyBytesPerS : UNVERIFIED_BYTES_PER_S;
      const waitMs = rate.turn({ party, bytes, bytesPerS, limitMs: limits.decideMs });
      if (waitMs === null) return sendProblem(request, reply, overloaded);
      if (waitMs > 0) await sleep(waitMs);
      if (!(await deciding.enter(party, limits.decideMs - waitMs))) return sendProblem(request, reply, late);
      const done = (): void => deciding.leave(party);
      // Gone while it waited: its sender comes again.
      if (!shares.has(request)) {
        done();
        return sendProblem(request, reply, overloaded);
      }
      const { provider, source_id: sourceId } = addressOf(request);
      const admitted = admit({
        provider,
        sourceId,
        headers: request.raw.headers,
        rawHeaders: request.raw.rawHeaders,
        body: content,
        ip: request.ip,
        trace: traceOf(request),
        receivedAt,
        onVerified: body.verified,
      });
      // Not once its sender is answered: what is late is still under way.
      void admitted.then(done, done);
      const answer = await inTime(limits.decideMs - (performance.now() - from), admitted);
      if (isProblem(answer)) return sendProblem(request, reply, answer);
      if (answer.position !== undefined) reply.header("countersign-position", positions.of(answer.position));
      return reply.code(answer.status).send(answer.body);
    };
    app.post(
      "/v1/webhooks/:provider/:source_id",
      { bodyLimit: PAYLOAD_BYTES_MAX, schema: SCHEMA, config: { problems: PROBLEMS, call: `POST ${PATH}` } },
      handle,
    );
  };
