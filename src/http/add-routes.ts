import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { subkey } from "../../infra/crypto/subkey.ts";
import { type Problem, problem } from "../streams/problems.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import type { Authenticate, PresentedCredential } from "./authenticate.ts";
import type { ChangeAllowance } from "./change-allowance.ts";
import { compressedAnswer } from "./compressed-answer.ts";
import { crossSite, isUnsafe, type Protected } from "./cross-site.ts";
import { type Command, type Idempotency, newCommand } from "./idempotency.ts";
import { idempotencyKey } from "./idempotency-key.ts";
import { onceFolded } from "./late-views.ts";
import { VIEW_WAIT_MS } from "./limits.ts";
import { headerValues } from "./malformed-requests.ts";
import { routeSchema } from "./openapi.ts";
import type { PositionText } from "./position-text.ts";
import { forbiddenFor, presentedCredential } from "./presented-credential.ts";
import { ProblemError } from "./problem-error.ts";
import { sendProblem } from "./problem-reply.ts";
import { type Requester, type RequestLimits, rateLimitHeaders, takeRequest, type WindowCounter } from "./rate-limit.ts";
import { type Call, isProblem, type Principal, type Route } from "./route.ts";
import { noteProblem, problemsOf } from "./route-problems.ts";
import { type SentAnswer, sendAnswer, sentAnswer, withOwnPosition } from "./sent-answer.ts";
import { traceOf } from "./traceparent.ts";

export type AddRoutesDeps = {
  readonly authenticate: Authenticate;
  readonly idempotency: Idempotency;
  readonly progress: Pick<ViewProgress, "waitFor" | "lowest">;
  readonly positions: PositionText;
  readonly head: EventLog["head"];
  readonly rate: WindowCounter;
  readonly changes: ChangeAllowance;
  readonly rateOf: (account: string) => Promise<RequestLimits>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly publicUrl: () => string;
};

declare module "fastify" {
  interface FastifyRequest {
    principal: Principal | null;
    authenticatedAt: number;
  }
}

const PUBLIC: Principal = { kind: "key", account: "", id: "public", role: "viewer" };

/** If a body takes longer to arrive, its credential is checked again, so that a revoked one is refused in time. */
const BODY_MS_MAX = 500;

const requesterOf = (principal: Principal): Requester => {
  const { account, kind, id } = principal;
  return kind === "member"
    ? { account, kind: "session", credential: principal.session }
    : { account, kind, credential: id };
};

const RATE_OF: Readonly<Record<Requester["kind"], string>> = {
  session: "The sessions of this account",
  key: "The keys of this account",
  agent: "The agents of this account",
};

/**
 * The member for whom a page was loaded. Another one may have signed in since in the same browser, in another tab. Each
 * answer to a session names its member, for a page that asked before it knew who is signed in.
 */
const MEMBER = "countersign-member";

const otherMember = ({ headers }: FastifyRequest, { kind, id }: Principal): Problem | null => {
  const expected = headers[MEMBER];
  if (kind !== "member" || expected === undefined || expected === id) return null;
  return problem("unauthenticated", "The session is that of another member than Countersign-Member names.");
};

const protectedIn = ({ who }: Route, presented: PresentedCredential | null): Protected | null => {
  if (presented?.kind === "bearer") return null;
  if (who === "anyone") return "visitor";
  return presented === null ? null : "session";
};

const NO_CREDENTIAL = "Send a valid session cookie or Authorization: Bearer with an API key.";
const WRONG_CREDENTIAL = "The key or the session is not valid: it is wrong, was revoked, or has ended.";

/** Admits or refuses a call before its body is read, so that only a valid credential makes the server read one. */
const admit = (route: Route, deps: AddRoutesDeps) => {
  const { authenticate, rate, rateOf, publicUrl } = deps;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<Problem | null> => {
    const presented = presentedCredential(request.raw.rawHeaders);
    if (presented !== null && typeof presented === "object" && "problem" in presented) return presented;
    const usable = presented === "unusable" ? null : presented;
    const who = protectedIn(route, usable);
    const foreign = who === null ? null : crossSite(request.method, request.headers, who, publicUrl());
    if (foreign !== null || route.who === "anyone") return foreign;

    const principal = usable === null ? null : await authenticate(usable);
    if (principal === null) {
      return problem("unauthenticated", presented === null ? NO_CREDENTIAL : WRONG_CREDENTIAL);
    }
    const other = otherMember(request, principal);
    if (other !== null) return other;
    request.principal = principal;
    if (principal.kind === "member") reply.header(MEMBER, principal.id);
    request.authenticatedAt = deps.clock.now();
    const requester = requesterOf(principal);
    const window = takeRequest(rate, requester, await rateOf(principal.account));
    reply.headers(rateLimitHeaders(window));
    if (!window.ok) {
      const who = window.policy === "api" ? "This credential" : `${RATE_OF[requester.kind]} together`;
      const detail = `${who} may make ${window.limit} requests a minute.`;
      return problem("rate-limited", detail, { retryAfterS: window.resetS });
    }
    return forbiddenFor(principal, route.who);
  };
};

const checkBody = (route: Route) => async (request: FastifyRequest) => {
  const { body } = request;
  if (route.body !== undefined) {
    if (body !== undefined) return;
    if (route.bodyOptional !== true) throw new ProblemError(problem("invalid-request", "This call needs a JSON body."));
    request.body = {};
    return;
  }
  if (body === undefined || (body !== null && typeof body === "object" && JSON.stringify(body) === "{}")) return;
  throw new ProblemError(
    problem("invalid-request", "This call takes no body.", { errors: [{ path: "", message: "no body" }] }),
  );
};

const principalNow = async (
  { who }: Route,
  request: FastifyRequest,
  deps: AddRoutesDeps,
): Promise<Principal | Problem> => {
  if (who === "anyone") return PUBLIC;
  const presented = presentedCredential(request.raw.rawHeaders);
  const principal =
    presented === null || typeof presented !== "object" || "problem" in presented
      ? null
      : await deps.authenticate(presented);
  if (principal === null || principal.account !== request.principal?.account) {
    return problem("unauthenticated", "The credential was revoked while this request was under way.");
  }
  return forbiddenFor(principal, who) ?? principal;
};

const isStillAllowed = async (route: Route, request: FastifyRequest, deps: AddRoutesDeps): Promise<boolean> =>
  !("problem" in (await principalNow(route, request, deps)));

const credentialProblem = async (
  route: Route,
  request: FastifyRequest,
  deps: AddRoutesDeps,
): Promise<Problem | null> => {
  if (request.principal === null) return null;
  const tookMs = deps.clock.now() - request.authenticatedAt;
  // If the clock was set back, it is unknown how long the body took, so the credential is checked again.
  if (tookMs >= 0 && tookMs <= BODY_MS_MAX) return null;
  const principal = await principalNow(route, request, deps);
  if ("problem" in principal) return principal;
  // The caller's role may have been lowered meanwhile, so the answer is made for the present role.
  request.principal = principal;
  return null;
};

const namedHeaders = ({ headers = {} }: Route, request: FastifyRequest): Call["headers"] =>
  Object.fromEntries(
    Object.keys(headers).map((name) => [name, headerValues(request.raw.rawHeaders, name).join(", ") || undefined]),
  );

type Called = {
  readonly route: Route;
  readonly request: FastifyRequest;
  readonly closing: AbortSignal;
  readonly key?: string;
};

const callOf = ({ route, request, closing, key }: Called, deps: AddRoutesDeps, { commandId, seed }: Command): Call => {
  const principal = request.principal ?? PUBLIC;
  return {
    principal,
    params: request.params as Readonly<Record<string, string>>,
    query: request.query as Readonly<Record<string, unknown>>,
    body: request.body,
    envelope: {
      commandId,
      account: principal.account,
      actor:
        request.principal === null ? { kind: "system", id: PUBLIC.id } : { kind: principal.kind, id: principal.id },
      trace: traceOf(request),
      at: new Date(deps.clock.now()).toISOString(),
    },
    secret: (purpose) => subkey(seed, purpose),
    ip: request.ip,
    userAgent: request.headers["user-agent"] ?? "",
    headers: namedHeaders(route, request),
    key: key ?? null,
    isStillAllowed: () => isStillAllowed(route, request, deps),
    closing,
  };
};

const handled = async (called: Called, deps: AddRoutesDeps, command: Command): Promise<SentAnswer> => {
  const { route, request } = called;
  const answer = await onceFolded(route, deps, () => route.handle(callOf(called, deps, command)));
  if (isProblem(answer)) noteProblem(request, answer);
  return sentAnswer(answer, request.id, deps.positions);
};

const answerUnderKey = async (called: Called, deps: AddRoutesDeps): Promise<SentAnswer | Problem | null> => {
  const { route, request } = called;
  const { principal } = request;
  if (principal === null || !isUnsafe(request.method)) return null;
  const key = idempotencyKey(headerValues(request.raw.rawHeaders, "idempotency-key"));
  if (key === null && route.answersRepeats === true) {
    return problem("invalid-request", "This call needs an Idempotency-Key, so that it can be repeated safely.");
  }
  if (key !== null && typeof key !== "string") return key;
  if (key !== null && route.answersRepeats === true) {
    return handled({ ...called, key }, deps, newCommand(deps.randomness));
  }
  const allow = () => deps.changes(requesterOf(principal), route, request.body);
  if (key === null) {
    const allowed = await allow();
    return typeof allowed === "string" ? null : allowed;
  }
  const { envelope } = callOf(called, deps, newCommand(deps.randomness));
  const keyed = { key, method: request.method, url: request.url, body: request.body, envelope };
  const wire = await deps.idempotency.run(keyed, allow, (command) => handled(called, deps, command));
  return wire === null || "problem" in wire ? wire : withOwnPosition(wire, deps.positions);
};

const noPosition = (message: string, detail: string): Problem =>
  problem("invalid-request", detail, { errors: [{ path: "/after", message }] });

const OF_ANOTHER_LOG = noPosition(
  "must be a position of this log",
  "The position in `after` is of another log: the log was moved since. Leave `after` out.",
);
const AFTER_THE_END = noPosition(
  "must not be after the end of the log",
  "The log ends before the position in `after`: it was never given out, or the log was restored from an older copy. Leave `after` out.",
);
const BEHIND = problem("view-behind", "This view has not reached the position in `after` yet.", { retryAfterS: 1 });

const waitFor = async (
  { reads }: Route,
  request: FastifyRequest,
  { progress, positions, head }: AddRoutesDeps,
): Promise<Problem | null> => {
  const { after } = request.query as { readonly after?: string };
  if (after === undefined) return null;
  const position = positions.read(after);
  if (position === null) return OF_ANOTHER_LOG;
  const isInLog = async (): Promise<boolean> => {
    const end = await head();
    return end !== null && end >= position;
  };
  let leftMs = VIEW_WAIT_MS;
  // Views do not wait for a position beyond the end, because they fold in a hurry while anybody waits.
  if (!(await isInLog())) {
    // Where nodes share a log, a node may learn of another's append a moment late, so it waits once before it refuses.
    await sleep(VIEW_WAIT_MS);
    if (!(await isInLog())) return AFTER_THE_END;
    leftMs = 0;
  }
  return reads === undefined || (await progress.waitFor(reads, position, leftMs)) ? null : BEHIND;
};

/** With it as `after`, `GET /v1/stream` says everything that an answer to this read may not show. */
const VIEW_POSITION = "countersign-view-position";

/** Called before the read begins, because the views go on meanwhile. */
const sayViewPosition = (request: FastifyRequest, reply: FastifyReply, { progress, positions }: AddRoutesDeps) => {
  if (request.method !== "GET" || request.principal === null) return;
  const lowest = progress.lowest();
  if (lowest !== null) reply.header(VIEW_POSITION, positions.of(lowest));
};

const respond =
  (route: Route, closing: AbortSignal, deps: AddRoutesDeps) => async (request: FastifyRequest, reply: FastifyReply) => {
    const lost = await credentialProblem(route, request, deps);
    if (lost !== null) return sendProblem(request, reply, lost);
    const behind = await waitFor(route, request, deps);
    if (behind !== null) return sendProblem(request, reply, behind);
    sayViewPosition(request, reply, deps);
    const left = route.waits === true ? untilLeft(reply, closing) : null;
    try {
      const called = { route, request, closing: left?.signal ?? closing };
      const keyed = await answerUnderKey(called, deps);
      if (keyed !== null) return "problem" in keyed ? sendProblem(request, reply, keyed) : sendAnswer(reply, keyed);
      const answer = await handled(called, deps, newCommand(deps.randomness));
      const { method, principal, headers } = request;
      return sendAnswer(
        reply,
        await compressedAnswer(answer, { method, principal, acceptEncoding: headers["accept-encoding"]?.toString() }),
      );
    } finally {
      left?.release();
    }
  };

const untilLeft = (reply: FastifyReply, closing: AbortSignal) => {
  const left = new AbortController();
  const leave = (): void => left.abort();
  if (closing.aborted) leave();
  closing.addEventListener("abort", leave);
  reply.raw.once("close", leave);
  return { signal: left.signal, release: () => closing.removeEventListener("abort", leave) };
};

const routerPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

export const addRoutes = (app: FastifyInstance, routes: readonly Route[], deps: AddRoutesDeps): void => {
  app.decorateRequest("authenticatedAt", 0);
  const closing = new AbortController();
  // Each open audit stream adds a listener; 0 turns off Node's warning, as the route itself limits their number.
  setMaxListeners(0, closing.signal);
  app.addHook("preClose", async () => closing.abort());
  for (const route of routes) {
    const admission = admit(route, deps);
    app.route({
      method: route.method,
      url: routerPath(route.path),
      schema: routeSchema(route),
      config: { problems: problemsOf(route), call: `${route.method} ${route.path}` },
      onRequest: async (request, reply) => {
        const refusal = await admission(request, reply);
        return refusal === null ? undefined : sendProblem(request, reply, refusal);
      },
      preValidation: checkBody(route),
      handler: respond(route, closing.signal, deps),
    });
  }
};
