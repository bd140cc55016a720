import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Plan } from "../../../domain/account/plans.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import { fairSemaphore } from "../../../infra/fair-semaphore.ts";
import { networkOf } from "../../../infra/http/network.ts";
import type { ActiveSource } from "../../admission/active-source.ts";
import type { Admission } from "../../admission/admission.ts";
import { BodyBudget, type BudgetedBody } from "../../http/body-budget.ts";
import { ByteRate, SMALL_BYTES } from "../../http/byte-rate.ts";
import { readBody } from "../../http/counted-body.ts";
import { BODY_SILENCE_MS } from "../../http/limits.ts";
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
 * `requests` and `bytes` limit the webhooks whose bodies have arrived, in shares (`BodyBudget`); others are told to come
 * again (P10). A body exists several times at once, as bytes, text and record, so memory is a multiple of `bytes`.
 * `decisions` are made at once while the rest wait and accounts take turns: deciding a whole burst at once could be too
 * late for all of it. `lagMs`: an event loop this late hides requests in sockets, while senders wait 3 s (Slack) or more.
 * `lookMs` and `decideMs`: a hanging log does not delay the sender longer, as most give up after 10 s. A decision made
 * after that is final, and the sender's repeat is answered with it.
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

export type IngestDeps = {
  readonly activeSource: ActiveSource;
  readonly admit: Admission;
  readonly positions: Pick<PositionText, "of">;
  readonly clock: Clock;
  readonly planOf: (account: string) => Promise<Plan>;
  readonly limits?: IngestLimits;
  readonly silenceMs?: number;
};

/** An unverified body is only hashed, so the plan does not matter yet. */
const UNVERIFIED_BYTES_PER_S = 8 * 1_048_576;
/** Further large bodies that come too late are refused at once: each that waits occupies a connection and its buffers. */
const REFUSED_LATER_MAX = 256;

/** `forget` drops the bytes that have been read. */
type Share = {
  readonly body: BudgetedBody;
  readonly account: string;
  forget: () => void;
  /** Milliseconds for which it has waited for its turn; null if it has not asked for one. */
  waitedMs: number | null;
};

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

/** For the description only: Fastify would check a schema of parameters for each webhook. */
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

const overloaded = problem("overloaded", "This node has too many requests in flight. Repeat the request in a second.", {
  retryAfterS: RETRY_AFTER_S,
});

const late = problem("unavailable", "The log does not answer at the moment. Repeat the request.", {
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

// The path has both parameters.
const addressOf = ({ params }: FastifyRequest) => params as { readonly provider: string; readonly source_id: string };

/** `POST /v1/webhooks/{provider}/{source_id}`, outside of the route table: it accepts any content type and must be cheap. */
export const ingest =
  ({
    activeSource,
    admit,
    positions,
    clock,
    planOf,
    limits = INGEST_LIMITS,
    silenceMs = BODY_SILENCE_MS,
  }: IngestDeps) =>
  async (app: FastifyInstance): Promise<void> => {
    const lag = loopLag();
    const budget = new BodyBudget(limits, clock);
    const deciding = fairSemaphore(limits.decisions);
    const rate = new ByteRate(clock);
    const shares = new WeakMap<FastifyRequest, Share>();
    let refusedLater = 0;

    const refuseLater = async (): Promise<Problem> => {
      if (refusedLater >= REFUSED_LATER_MAX) return overloaded;
      refusedLater += 1;
      await sleep(limits.decideMs);
      refusedLater -= 1;
      return overloaded;
    };

    /** Waits for the turn of a large body. A sender whose turn is too late learns it late, so that it slows down. */
    const awaitTurn = async (share: Share, bytes: number): Promise<Problem | null> => {
      const { body, account } = share;
      const isPaced = bytes > SMALL_BYTES && body.isTrusted();
      const plan = isPaced ? await inTime(limits.lookMs, planOf(account)) : null;
      if (plan !== null && "problem" in plan) return plan;
      const bytesPerS = plan?.largeBodyBytesPerS ?? UNVERIFIED_BYTES_PER_S;
      const waitMs = rate.turn({ party: body.party(), bytes, bytesPerS, limitMs: limits.decideMs });
      if (waitMs === null) return refuseLater();
      share.waitedMs = waitMs;
      if (waitMs > 0) await sleep(waitMs);
      return null;
    };

    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (request, raw, done) => {
      const take = (bytes: number): boolean => shares.get(request)?.body.take(bytes) ?? false;
      const forget = readBody(raw, { bytesMax: PAYLOAD_BYTES_MAX, silenceMs, take }, done);
      const share = shares.get(request);
      if (share !== undefined) share.forget = forget;
    });

    app.addHook("onRequest", async (request, reply) => {
      // `readBody` has reported it.
      shares.set(request, { body: NO_ROOM, account: "", forget: () => undefined, waitedMs: null });
      if (budget.requests < limits.requests && lag() <= limits.lagMs) {
        const { provider, source_id: sourceId } = addressOf(request);
        const source = await inTime(limits.lookMs, activeSource(provider, sourceId));
        if ("problem" in source) return sendProblem(request, reply, source);
        const sender = { account: source.account, source: sourceId, network: networkOf(request.ip) };
        const body = budget.begin(sender, () => share.forget());
        const share: Share = { body, account: source.account, forget: () => undefined, waitedMs: null };
        // The client may have disconnected meanwhile.
        if (shares.has(request)) shares.set(request, share);
        // A large body that announces its length waits unread, so that reading it costs nothing before its turn.
        const announced = Number(request.headers["content-length"] ?? 0);
        if (announced > SMALL_BYTES && announced <= PAYLOAD_BYTES_MAX && body.isTrusted()) {
          const tooLate = await awaitTurn(share, announced);
          if (tooLate !== null) return sendProblem(request, reply, tooLate);
        }
      }
      // Fastify would answer 415 to an invalid content type such as `json`; here the source's rules decide.
      if (request.mediaType === undefined) request.headers = { "content-type": undefined };
    });
    /** Not an onResponse hook: for a client that disconnected it never runs, and the place would be lost. */
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
      // The client has disconnected and its share is given back.
      share?.body.complete();
      if (share === undefined || !share.body.enter()) return sendProblem(request, reply, overloaded);
      const { body } = share;
      const party = body.party();
      const receivedAt = clock.now();
      const content = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const tooLate = share.waitedMs === null ? await awaitTurn(share, content.length) : null;
      if (tooLate !== null) return sendProblem(request, reply, tooLate);
      const leftMs = limits.decideMs - (share.waitedMs ?? 0);
      const from = performance.now();
      if (!(await deciding.enter(party, leftMs))) return sendProblem(request, reply, late);
      const done = (): void => deciding.leave(party);
      // The client disconnected while it waited and will repeat the request.
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
      // Only when the decision is made, which may be after the answer.
      void admitted.then(done, done);
      const answer = await inTime(leftMs - (performance.now() - from), admitted);
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
