import type { Server } from "node:http";
import Fastify, {
  type FastifyBaseLogger,
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
import { changeAllowance } from "./http/change-allowance.ts";
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
import type { PositionText } from "./http/position-text.ts";
import { expectedProblem } from "./http/problem-error.ts";
import { sendProblem } from "./http/problem-reply.ts";
import { logAnswered } from "./http/program-logger.ts";
import { apiRate } from "./http/rate-limit.ts";
import type { Route } from "./http/route.ts";
import { safeHeaders } from "./http/safe-headers.ts";
import { remoteParent, traceIds } from "./http/traceparent.ts";
import { schemaErrorFormatter, validatorCompiler } from "./http/validation.ts";
import type { ByteAllowances } from "./ledgers/byte-allowances.ts";
import type { AnswerReport } from "./observability/observer.ts";
import { notFound, type Problem, problem } from "./streams/problems.ts";
import type { ViewProgress } from "./views/view-progress.ts";

export type AppDeps = {
  readonly routes: readonly Route[];
  readonly authenticate: Authenticate;
  readonly log: EventLog;
  readonly progress: Pick<ViewProgress, "waitFor">;
  readonly positions: PositionText;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly box: SecretBox;
  /** 32 bytes, for digests of requests with an Idempotency-Key. */
  readonly digestKey: Uint8Array;
  /** True if no other process answers calls on this log. */
  readonly othersAreGone?: boolean;
  readonly planOf: (account: string) => Promise<Plan>;
  readonly allowances: Pick<ByteAllowances, "take">;
  readonly config: {
    /** A function, because the port is known only after listening. */
    readonly publicUrl: () => string;
    readonly version: string;
    /** The proxies whose `X-Forwarded-For` is trusted; false trusts none. */
    readonly trustProxy: boolean | string | string[];
  };
  readonly logger: FastifyBaseLogger | null;
  readonly onAnswered?: (call: AnswerReport) => void;
  /** Called for a problem that the route does not list. Default: an error line. */
  readonly onUnlisted?: (sentence: string) => void;
  readonly onProblem?: (request: FastifyRequest, it: Problem) => void;
  readonly limits?: Partial<HttpLimits>;
  /** Registers routes that are not in the route table and need no credential. */
  readonly register?: (app: FastifyInstance) => void | Promise<void>;
};

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

const answerUnrouted = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const [url = "/"] = request.url.split("?");
  const allowed = METHODS.filter((method) => request.server.findRoute({ method, url }) !== null);
  if (allowed.length === 0) return sendProblem(request, reply, notFound());
  reply.header("allow", allowed.join(", "));
  return sendProblem(request, reply, problem("method-not-allowed", `This address allows ${allowed.join(", ")}.`));
};

/** Fastify refuses QUERY requests without a content type before it looks for a route. */
const QUERY_WITHOUT_TYPE = "FST_ERR_ROUTE_MISSING_CONTENT_TYPE";

const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  if (error instanceof Error && "code" in error && error.code === QUERY_WITHOUT_TYPE) {
    return answerUnrouted(request, reply);
  }
  const expected = expectedProblem(error);
  if (expected !== null) {
    if (expected.problem === "unavailable") request.log.warn({ err: error, trace_id: request.id }, "log unavailable");
    return sendProblem(request, reply, expected);
  }
  request.log.error({ err: error, trace_id: request.id }, "unexpected error");
  return sendProblem(request, reply, problem("internal", "The cause is in our log under this trace id."));
};

const serverOptions = (deps: AppDeps, limits: HttpLimits, answers: RawAnswers): FastifyHttpOptions<Server> => ({
  ...(deps.logger === null ? { logger: false } : { loggerInstance: deps.logger }),
  // One child logger and two lines for each request cost more than a whole admission: `logAnswered` writes one line.
  childLoggerFactory: (logger) => logger,
  logController: new LogController({ disableRequestLogging: true }),
  // The request's id is its trace id, which the client chooses only by a valid traceparent.
  requestIdHeader: false,
  genReqId: ({ headers: { traceparent } }) =>
    remoteParent(typeof traceparent === "string" ? traceparent : undefined)?.traceId ?? answers.ids.traceId(),
  trustProxy: deps.config.trustProxy,
  bodyLimit: API_BODY_BYTES_MAX,
  routerOptions: { maxParamLength: PARAM_LENGTH_MAX, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false },
  requestTimeout: limits.requestTimeoutMs,
  connectionTimeout: limits.idleTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  // Requests on open connections are still answered, since Fastify's own 503 is no problem+json.
  return503OnClosing: false,
  forceCloseConnections: "idle",
  http: {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    // `refuseAmbiguous` answers a problem; node would answer 400 without a body.
    requireHostHeader: false,
    insecureHTTPParser: false,
  },
  clientErrorHandler: clientErrorHandler(answers),
  // Fastify sends these answers without calling hooks.
  frameworkErrors: (error, request, reply) => {
    reply.headers(answers.headers());
    answerError(error, request, reply);
  },
});

/** A client that never reads must not keep the process alive, so connections end after `graceMs`. */
const closeInTime = (app: FastifyInstance, graceMs: number): void => {
  let cut: NodeJS.Timeout | undefined;
  app.addHook("preClose", async () => {
    // Node closes the connections that are idle now; each of the others must end after its answer.
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
  const instance: FastifyInstance = Fastify(serverOptions(deps, limits, answers));
  instance.server.maxHeadersCount = 0;
  shareConnections(instance.server);
  limitPipelines(instance.server);
  answerConnectAndExpect(instance.server, answers);
  closeInTime(instance, limits.closeGraceMs);

  instance.decorateRequest("principal", null);
  instance.decorate("traceIds", ids);
  instance.decorate("onUnlisted", deps.onUnlisted ?? ((sentence: string) => instance.log.error(sentence)));
  instance.decorate("onProblem", deps.onProblem ?? (() => undefined));
  instance.removeAllContentTypeParsers();
  instance.setErrorHandler(answerError);
  instance.setNotFoundHandler(answerUnrouted);
  instance.setValidatorCompiler(validatorCompiler());
  instance.setSchemaErrorFormatter(schemaErrorFormatter);
  // Response schemas only describe: serialising by them would drop each field that a schema forgot.
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

  await describeRoutes(instance, config.version);
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
    api.addHook("onResponse", logAnswered(api.log));
    addRoutes(api, deps.routes, {
      authenticate: deps.authenticate,
      idempotency: idempotent,
      progress: deps.progress,
      positions: deps.positions,
      head: () => deps.log.head(),
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
  });
  const { register } = deps;
  if (register !== undefined) await instance.register(async (scope) => register(scope));
  await instance.ready();
  return instance;
};
