import type { Server } from "node:http";
import Fastify, {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Plan } from "../domain/account/plans.ts";
import type { Clock } from "../domain/ports/clock.ts";
import type { EventLog } from "../domain/ports/event-log.ts";
import type { Randomness } from "../domain/ports/randomness.ts";
import { randomId } from "../infra/crypto/ids.ts";
import type { SecretBox } from "../infra/crypto/secret-box.ts";
import { addRoutes } from "./http/add-routes.ts";
import { ArrivingBodies } from "./http/arriving-bodies.ts";
import type { Authenticate } from "./http/authenticate.ts";
import { bareHandlersFirst } from "./http/bare-handlers.ts";
import { changeAllowance } from "./http/change-allowance.ts";
import { clientAddress, type Trust, type TrustedProxies, trustOf } from "./http/client-address.ts";
import { limitPipelines, shareConnections } from "./http/connection-limits.ts";
import { Idempotency } from "./http/idempotency.ts";
import { jsonBodyParser } from "./http/json-body.ts";
import { API_BODY_BYTES_MAX, HEADER_BYTES_MAX, HTTP_LIMITS, type HttpLimits, PARAM_LENGTH_MAX } from "./http/limits.ts";
import {
  answerConnectAndExpect,
  clientErrorHandler,
  continueWhenRead,
  type RawAnswers,
  refuseAmbiguous,
} from "./http/malformed-requests.ts";
import { describeRoutes } from "./http/openapi.ts";
import { addPages } from "./http/pages.ts";
import type { PositionText } from "./http/position-text.ts";
import { problemOfError } from "./http/problem-error.ts";
import { sendProblem } from "./http/problem-reply.ts";
import { logAnswered, type ProgramLogger } from "./http/program-logger.ts";
import { apiRate } from "./http/rate-limit.ts";
import type { Route } from "./http/route.ts";
import type { OnProblem } from "./http/route-problems.ts";
import { safeHeaders } from "./http/safe-headers.ts";
import { requestId, traceIds } from "./http/traceparent.ts";
import type { UnknownPage } from "./http/unknown-page.ts";
import { schemaErrorFormatter, validatorCompiler } from "./http/validation.ts";
import type { ByteAllowances } from "./ledgers/byte-allowances.ts";
import type { AnswerReport } from "./observability/observer.ts";
import { ANSWER_EXAMPLES } from "./routes/answer-examples/all.ts";
import { notFound, problem } from "./streams/problems.ts";
import type { ViewProgress } from "./views/view-progress.ts";

export type AppDeps = {
  readonly routes: readonly Route[];
  readonly authenticate: Authenticate;
  readonly log: EventLog;
  readonly progress: Pick<ViewProgress, "waitFor" | "lowest">;
  readonly positions: PositionText;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly box: SecretBox;
  /** A key of 32 bytes for the digests by which requests with one Idempotency-Key are compared. */
  readonly digestKey: Uint8Array;
  /** True if no other process answers calls on this log, so that no other node still runs a claimed request. */
  readonly othersAreGone?: boolean;
  readonly planOf: (account: string) => Promise<Plan>;
  readonly allowances: Pick<ByteAllowances, "take">;
  readonly config: {
    /** The service's address; a function, because the port may be known only after the server listens. */
    readonly publicUrl: () => string;
    readonly version: string;
    readonly trustProxy: TrustedProxies;
  };
  readonly logger: ProgramLogger | null;
  readonly onAnswered?: (call: AnswerReport) => void;
  /** Called with a sentence if a route answers a problem that it does not list. By default the sentence is logged. */
  readonly onUnlisted?: (sentence: string) => void;
  readonly onProblem?: OnProblem;
  readonly limits?: Partial<HttpLimits>;
  /** Left out: a browser is answered with a problem, as other clients are. */
  readonly unknownPage?: UnknownPage;
  /** Registers further routes, such as those of webhooks, which are not in the route table and need no credential. */
  readonly register?: (app: FastifyInstance) => void | Promise<void>;
};

const NOT_FOUND = 404;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/** A person who opened an address, and no client of the API. */
const isOpenedInBrowser = ({ method, url, headers }: FastifyRequest): boolean =>
  method === "GET" && !url.startsWith("/v1/") && (headers.accept ?? "").includes("text/html");

/** The shell for a person whose address no route has; false for all others. */
const isAnsweredByPage = (request: FastifyRequest, reply: FastifyReply, page: UnknownPage | undefined): boolean => {
  if (page === undefined || !isOpenedInBrowser(request)) return false;
  const { headers, body } = page(request.headers["accept-encoding"]);
  reply.code(NOT_FOUND).headers(headers).send(body);
  return true;
};

const answerUnrouted = (request: FastifyRequest, reply: FastifyReply, page?: UnknownPage): FastifyReply => {
  const [url = "/"] = request.url.split("?");
  const allowed = METHODS.filter((method) => request.server.findRoute({ method, url }) !== null);
  if (allowed.length === 0 && isAnsweredByPage(request, reply, page)) return reply;
  if (allowed.length === 0) return sendProblem(request, reply, notFound());
  reply.header("allow", allowed.join(", "));
  return sendProblem(request, reply, problem("method-not-allowed", `This address allows ${allowed.join(", ")}.`));
};

/** Fastify's error for a QUERY request without a content type, which it raises before it looks for a route. */
const QUERY_WITHOUT_TYPE = "FST_ERR_ROUTE_MISSING_CONTENT_TYPE";
/** Fastify's errors for addresses that it looks up no route for: a part is too long, or its encoding is broken. */
const UNROUTABLE: ReadonlySet<unknown> = new Set(["FST_ERR_MAX_PARAM_LENGTH", "FST_ERR_BAD_URL"]);

const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  if (error instanceof Error && "code" in error && error.code === QUERY_WITHOUT_TYPE) {
    return answerUnrouted(request, reply);
  }
  return sendProblem(request, reply, problemOfError(error, request));
};

type ServerParts = { readonly limits: HttpLimits; readonly answers: RawAnswers; readonly trust: Trust | false };

const serverOptions = (deps: AppDeps, { limits, answers, trust }: ServerParts): FastifyHttpOptions<Server> => ({
  ...(deps.logger === null ? { logger: false } : { loggerInstance: deps.logger }),
  // `logAnswered` writes one line: Fastify's two lines and child logger cost more than a whole admission.
  childLoggerFactory: (logger) => logger,
  logController: new LogController({ disableRequestLogging: true }),
  requestIdHeader: false,
  genReqId: (request) => requestId(request, answers.ids),
  trustProxy: trust,
  bodyLimit: API_BODY_BYTES_MAX,
  routerOptions: { maxParamLength: PARAM_LENGTH_MAX, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false },
  requestTimeout: limits.requestTimeoutMs,
  connectionTimeout: limits.idleTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  // While the server closes, requests on open connections are still answered: Fastify's own 503 is no problem+json.
  return503OnClosing: false,
  forceCloseConnections: "idle",
  http: {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    // `refuseAmbiguous` answers a missing Host with a problem, where node would answer 400 without a body.
    requireHostHeader: false,
    insecureHTTPParser: false,
  },
  clientErrorHandler: clientErrorHandler(answers),
  // Fastify sends these answers without calling the hooks that add the headers.
  frameworkErrors: (error, request, reply) => {
    reply.headers(answers.headers());
    if (UNROUTABLE.has(error.code) && isAnsweredByPage(request, reply, deps.unknownPage)) return;
    answerError(error, request, reply);
  },
});

/** Connections are closed after `graceMs`, because a client that never reads must not keep the process alive. */
const closeInTime = (app: FastifyInstance, graceMs: number): void => {
  let cut: NodeJS.Timeout | undefined;
  app.addHook("preClose", async () => {
    // Node closes the connections that are idle now. Each busy connection has to end after its answer.
    app.server.keepAliveTimeout = 1;
    cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
  });
  app.addHook("onClose", async () => clearTimeout(cut));
};

export const app = async (deps: AppDeps): Promise<FastifyInstance> => {
  const { clock, randomness, config } = deps;
  const limits = { ...HTTP_LIMITS, ...deps.limits };
  const ids = traceIds(randomness);
  const answers: RawAnswers = { ids, headers: () => safeHeaders(config.publicUrl()) };
  const trust = trustOf(config.trustProxy);
  const instance: FastifyInstance = Fastify(serverOptions(deps, { limits, answers, trust }));
  instance.server.maxHeadersCount = 0;
  shareConnections(instance.server);
  bareHandlersFirst(instance, {
    server: instance,
    log: instance.log,
    safeHeaders: answers.headers,
    addressOf: clientAddress(trust),
    onAnswered: deps.onAnswered ?? null,
  });
  limitPipelines(instance.server);
  answerConnectAndExpect(instance.server, answers);
  closeInTime(instance, limits.closeGraceMs);

  instance.decorateRequest("principal", null);
  instance.decorate("traceIds", ids);
  instance.decorate("onUnlisted", deps.onUnlisted ?? ((sentence: string) => instance.log.error(sentence)));
  instance.decorate("onProblem", deps.onProblem ?? (() => undefined));
  instance.removeAllContentTypeParsers();
  instance.setErrorHandler(answerError);
  instance.setNotFoundHandler((request, reply) => answerUnrouted(request, reply, deps.unknownPage));
  instance.setValidatorCompiler(validatorCompiler());
  instance.setSchemaErrorFormatter(schemaErrorFormatter);
  // Response schemas only describe: an answer written by its schema would lose what the schema forgot.
  instance.setSerializerCompiler(() => JSON.stringify);
  instance.addHook("onRequest", (_request, reply, done) => {
    reply.headers(answers.headers());
    done();
  });
  instance.addHook("onRequest", refuseAmbiguous);
  continueWhenRead(instance);
  const { onAnswered } = deps;
  if (onAnswered !== undefined) {
    instance.addHook("onResponse", ({ method, routeOptions }, { statusCode: status, elapsedTime: ms }, done) => {
      onAnswered({ method, route: routeOptions.url ?? null, status, ms });
      done();
    });
  }

  const { version, publicUrl } = config;
  await describeRoutes(instance, { version, publicUrl, examples: ANSWER_EXAMPLES });
  const idempotent = new Idempotency({
    log: deps.log,
    box: deps.box,
    digestKey: deps.digestKey,
    clock,
    randomness,
    node: randomId("node_", randomness),
    othersAreGone: deps.othersAreGone ?? false,
    onLost: (error) => instance.log.warn({ err: error }, "an answer under an Idempotency-Key was not kept"),
  });
  await instance.register(async (api) => {
    api.addContentTypeParser("application/json", jsonBodyParser(new ArrivingBodies()));
    if (deps.logger !== null) api.addHook("onResponse", logAnswered(deps.logger));
    addRoutes(api, deps.routes, {
      authenticate: deps.authenticate,
      idempotency: idempotent,
      progress: deps.progress,
      positions: deps.positions,
      head: (what) => deps.log.head(what),
      rate: apiRate(clock),
      changes: changeAllowance(deps.allowances.take, clock),
      rateOf: async (account) => {
        const { apiRatePerMinute: credential, apiRatePerMinuteAccount } = await deps.planOf(account);
        return { credential, account: apiRatePerMinuteAccount };
      },
      clock,
      randomness,
      publicUrl: config.publicUrl,
    });
    let text: string | undefined;
    const description = (): string => {
      text ??= JSON.stringify(api.swagger());
      return text;
    };
    api.get("/openapi.json", { schema: { hide: true } }, async (_request, reply) =>
      reply.headers({ "content-type": "application/json; charset=utf-8" }).send(description()),
    );
    addPages(api, () => api.swagger());
  });
  const { register } = deps;
  if (register !== undefined) await instance.register(async (scope) => register(scope));
  await instance.ready();
  return instance;
};
