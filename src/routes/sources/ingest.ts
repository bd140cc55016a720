import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Plan } from "../../../domain/account/plans.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import { type FairSemaphore, fairSemaphore } from "../../../infra/fair-semaphore.ts";
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
import { traceOf } from "../../http/traceparent.ts";
import { PAYLOAD_BYTES_MAX } from "../../streams/payloads.ts";
import { type Problem, problem } from "../../streams/problems.ts";

/**
 * `requests` and `bytes` limit the webhooks whose bodies have arrived, in shares (`BodyBudget`); others are told to
 * come again. A body exists several times at once, as bytes, text and record, so it takes a multiple of `bytes` in
 * memory. `decisions` are made at once, while the rest wait and accounts take turns: decided all at once, a burst could
 * be too late as a whole. `lagMs`: an event loop as late as this keeps requests unread, while senders wait only 3 s
 * (Slack) or more. `lookMs` and `decideMs` limit how long a hanging log delays an answer, as most senders give up after
 * 10 s. A decision made after that is final, and answers the sender's repeat.
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

/** The rate of untrusted bodies whatever the account's plan is, because such a body is only hashed at first. */
const UNVERIFIED_BYTES_PER_S = 8 * 1_048_576;
/** Beyond so many delayed refusals, large bodies are refused at once: each wait occupies a connection and buffers. */
const REFUSED_LATER_MAX = 256;

/** What one webhook takes of the limits. `forget` drops the bytes read so far. */
type Share = {
  readonly body: BudgetedBody;
  readonly account: string;
  forget: () => void;
  /** How long the body has waited for its turn, in ms; null until its turn was asked for. */
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

/** The description for OpenAPI, without a schema of the parameters, by which Fastify would check each webhook. */
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

// The route's path has both of these parameters.
const addressOf = ({ params }: FastifyRequest) => params as { readonly provider: string; readonly source_id: string };

/** Handles webhooks from their first byte to their answer. */
class Ingest {
  readonly #deps: IngestDeps;
  readonly #limits: IngestLimits;
  readonly #lag = loopLag();
  readonly #budget: BodyBudget;
  readonly #deciding: FairSemaphore;
  readonly #rate: ByteRate;
  readonly #shares = new WeakMap<FastifyRequest, Share>();
  #refusedLater = 0;

  constructor(deps: IngestDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? INGEST_LIMITS;
    this.#budget = new BodyBudget(this.#limits, deps.clock);
    this.#deciding = fairSemaphore(this.#limits.decisions);
    this.#rate = new ByteRate(deps.clock);
  }

  register(app: FastifyInstance): void {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (request, raw, done) => this.#readBody(request, raw, done));
    app.addHook("onRequest", (request, reply) => this.#begin(request, reply));
    // If the client disconnects, Fastify calls no onResponse hook, so the share is given back by these two hooks.
    app.addHook("onSend", (request, _reply, _payload, done) => {
      this.#leave(request);
      done();
    });
    app.addHook("onRequestAbort", async (request) => this.#leave(request));
    app.post(
      "/v1/webhooks/:provider/:source_id",
      { bodyLimit: PAYLOAD_BYTES_MAX, schema: SCHEMA, config: { problems: PROBLEMS, call: `POST ${PATH}` } },
      (request, reply) => this.#handle(request, reply),
    );
  }

  async #begin(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const { requests, lagMs, lookMs } = this.#limits;
    this.#shares.set(request, { body: NO_ROOM, account: "", forget: () => undefined, waitedMs: null });
    if (this.#budget.requests < requests && this.#lag() <= lagMs) {
      const { provider, source_id: sourceId } = addressOf(request);
      const source = await inTime(lookMs, this.#deps.activeSource(provider, sourceId));
      if ("problem" in source) return sendProblem(request, reply, source);
      const sender = { account: source.account, source: sourceId, network: networkOf(request.ip) };
      const body = this.#budget.begin(sender, () => share.forget());
      const share: Share = { body, account: source.account, forget: () => undefined, waitedMs: null };
      // If the client has disconnected meanwhile, its share was given back and must not be set again.
      if (this.#shares.has(request)) this.#shares.set(request, share);
      // A large body that announces its length waits for its turn before it is read, and so costs nothing until then.
      const announced = Number(request.headers["content-length"] ?? 0);
      if (announced > SMALL_BYTES && announced <= PAYLOAD_BYTES_MAX && body.isTrusted()) {
        const tooLate = await this.#awaitTurn(share, announced);
        // The body is unread, so a late answer costs little and slows the sender down.
        if (tooLate === overloaded) await this.#waitBeforeRefusal();
        if (tooLate !== null) return sendProblem(request, reply, tooLate);
      }
    }
    // Fastify would answer 415 to an invalid content type such as `json`. Which ones are accepted is the source's rule.
    if (request.mediaType === undefined) request.headers = { "content-type": undefined };
    return undefined;
  }

  #readBody(request: FastifyRequest, raw: IncomingMessage, done: Parameters<typeof readBody>[2]): void {
    const take = (bytes: number): boolean => this.#shares.get(request)?.body.take(bytes) ?? false;
    const limits = { bytesMax: PAYLOAD_BYTES_MAX, silenceMs: this.#deps.silenceMs ?? BODY_SILENCE_MS, take };
    const forget = readBody(raw, limits, done);
    const share = this.#shares.get(request);
    if (share !== undefined) share.forget = forget;
  }

  async #handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    // Undefined if the client has disconnected, because its share was then given back.
    const share = this.#shares.get(request);
    share?.body.complete();
    if (share === undefined || !share.body.enter()) return sendProblem(request, reply, overloaded);
    const answer = await this.#decide(request, share);
    if (isProblem(answer)) return sendProblem(request, reply, answer);
    if (answer.position !== undefined) {
      reply.header("countersign-position", this.#deps.positions.of(answer.position));
    }
    return reply.code(answer.status).send(answer.body);
  }

  async #decide(request: FastifyRequest, share: Share): ReturnType<Admission> {
    const receivedAt = this.#deps.clock.now();
    const party = share.body.party();
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const tooLate = share.waitedMs === null ? await this.#awaitTurn(share, body.length) : null;
    if (tooLate !== null) return tooLate;
    const leftMs = this.#limits.decideMs - (share.waitedMs ?? 0);
    const from = performance.now();
    if (!(await this.#deciding.enter(party, leftMs))) return late;
    const done = (): void => this.#deciding.leave(party);
    // A client that disconnected while it waited gets no decision, as it will repeat the webhook.
    if (!this.#shares.has(request)) {
      done();
      return overloaded;
    }
    const { provider, source_id: sourceId } = addressOf(request);
    const { headers, rawHeaders } = request.raw;
    const { verified: onVerified } = share.body;
    const webhook = { provider, sourceId, headers, rawHeaders, body, ip: request.ip };
    const admitted = this.#deps.admit({ ...webhook, trace: traceOf(request), receivedAt, onVerified });
    // The decision may end later than the answer, and keeps its turn until then.
    void admitted.then(done, done);
    return inTime(leftMs - (performance.now() - from), admitted);
  }

  /** Waits for the turn of a large body. Answers `overloaded` at once if the turn would come too late. */
  async #awaitTurn(share: Share, bytes: number): Promise<Problem | null> {
    const { body, account } = share;
    const { lookMs, decideMs } = this.#limits;
    const from = performance.now();
    const isPaced = bytes > SMALL_BYTES && body.isTrusted();
    const plan = isPaced ? await inTime(lookMs, this.#deps.planOf(account)) : null;
    if (plan !== null && "problem" in plan) return plan;
    const bytesPerS = plan?.largeBodyBytesPerS ?? UNVERIFIED_BYTES_PER_S;
    const lookedMs = performance.now() - from;
    const waitMs = this.#rate.turn({ party: body.party(), bytes, bytesPerS, limitMs: decideMs - lookedMs });
    if (waitMs === null) return overloaded;
    share.waitedMs = lookedMs + waitMs;
    if (waitMs > 0) await sleep(waitMs);
    return null;
  }

  async #waitBeforeRefusal(): Promise<void> {
    if (this.#refusedLater >= REFUSED_LATER_MAX) return;
    this.#refusedLater += 1;
    await sleep(this.#limits.decideMs);
    this.#refusedLater -= 1;
  }

  #leave(request: FastifyRequest): void {
    const share = this.#shares.get(request);
    if (share === undefined) return;
    this.#shares.delete(request);
    share.body.leave();
  }
}

/** `POST /v1/webhooks/{provider}/{source_id}` is in no route table, as it takes any content type and must be fast. */
export const ingest =
  (deps: IngestDeps) =>
  async (app: FastifyInstance): Promise<void> =>
    new Ingest(deps).register(app);
