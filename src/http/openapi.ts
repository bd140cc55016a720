import { STATUS_CODES } from "node:http";
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { defined } from "../../domain/defined.ts";
import { PROBLEMS, type ProblemCode } from "../streams/problems.ts";
import { SESSION_COOKIE } from "./authenticate.ts";
import { isUnsafe } from "./cross-site.ts";
import { POSITION_PATTERN } from "./position-text.ts";
import type { JsonSchema, Route } from "./route.ts";
import { problemsOf } from "./route-problems.ts";

const AFTER: JsonSchema = {
  type: "string",
  pattern: POSITION_PATTERN,
  description:
    "A `Countersign-Position`: the answer includes everything written up to it, or is 503 `view-behind`. A position from " +
    "before the log was moved, or after its end, is 400 `invalid-request`.",
};

const IDEMPOTENCY_KEY: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description: "For 7 days, the same request with the same key gets the first answer again.",
};

const PROBLEM: JsonSchema = {
  type: "object",
  description: "RFC 9457",
  required: ["type", "title", "status", "detail", "code", "retryable", "trace_id"],
  properties: {
    type: { type: "string", description: "/problems/<code>" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string" },
    retryable: { type: "boolean", description: "The same request may succeed later." },
    trace_id: { type: "string", pattern: "^[0-9a-f]{32}$" },
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: { path: { type: "string" }, message: { type: "string" } },
      },
    },
  },
};

export const operationId = (method: string, path: string): string =>
  method.toLowerCase() +
  path
    .replaceAll("{", "by-")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

const security = ({ who }: Route): Record<string, string[]>[] => {
  if (who === "anyone") return [];
  return [
    ...(who.session === undefined ? [] : [{ session: [] }]),
    ...(who.key === undefined ? [] : [{ apiKey: [] }]),
    ...(who.agent === undefined ? [] : [{ agentKey: [] }]),
  ];
};

const responses = ({ answers, produces = "application/json" }: Route): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => {
      const description = STATUS_CODES[status] ?? "Success";
      return [
        status,
        schema === null ? { type: "null", description } : { description, content: { [produces]: { schema } } },
      ];
    }),
  );

export const PROBLEMS_LISTED = "x-problems";

const KEY_NEEDED = "x-idempotency-key-needed";

export const routeSchema = (route: Route): Record<string, unknown> => {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const params = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  // Every read accepts `after`: if it uses no view, it reads streams, which show each append at once.
  const isRead = route.method === "GET" && route.who !== "anyone";
  const query = { ...route.query, ...defined({ after: isRead || route.reads !== undefined ? AFTER : undefined }) };
  return {
    operationId: operationId(route.method, route.path),
    summary: route.summary,
    tags: [route.tag],
    security: security(route),
    ...defined({
      [KEY_NEEDED]: route.answersRepeats,
      params: names.length === 0 ? undefined : { type: "object", required: names, properties: params },
      querystring: { type: "object", additionalProperties: route.anyQuery === true, properties: query },
      body: route.body,
      headers: route.headers && { type: "object", properties: route.headers },
    }),
    response: responses(route),
    [PROBLEMS_LISTED]: [...problemsOf(route)],
  };
};

type Operation = { responses: Record<string, unknown>; [PROBLEMS_LISTED]?: readonly ProblemCode[] };

const isOperation = (it: unknown): it is Operation => typeof it === "object" && it !== null && "responses" in it;

const PROBLEM_TYPE = "application/problem+json";
const PROBLEM_REF = { $ref: "#/components/schemas/Problem" };

const problemResponse = (codes: readonly ProblemCode[]): { description: string; content: object } => {
  const code = { type: "object", properties: { code: { enum: codes } } };
  return {
    description: codes.map((it) => `${it}: ${PROBLEMS[it].title}`).join("; "),
    content: { [PROBLEM_TYPE]: { schema: { allOf: [PROBLEM_REF, code] } } },
  };
};

const describeProblems = (operation: Operation): void => {
  const { [PROBLEMS_LISTED]: listed = [], responses: answers } = operation;
  delete operation[PROBLEMS_LISTED];
  for (const status of new Set(listed.map((code) => PROBLEMS[code].status))) {
    const problems = problemResponse(listed.filter((code) => PROBLEMS[code].status === status));
    const answer = answers[status] as typeof problems | undefined;
    answers[status] =
      answer === undefined ? problems : { ...answer, content: { ...answer.content, ...problems.content } };
  }
};

const withProblems = (document: { paths?: object; components?: object }): object => {
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(item ?? {})) {
      if (!isOperation(operation)) continue;
      describeProblems(operation);
      operation.responses.default = { $ref: "#/components/responses/Problem" };
    }
  }
  const content = { [PROBLEM_TYPE]: { schema: PROBLEM_REF } };
  return {
    ...document,
    components: {
      ...document.components,
      schemas: { Problem: PROBLEM },
      responses: { Problem: { description: "A problem (RFC 9457)", content } },
    },
  };
};

/** Adds Idempotency-Key to the published description only, as `add-routes.ts` reads that header without a schema. */
const withIdempotencyKey = (schema: unknown, method: unknown): Record<string, unknown> => {
  const given: Record<string, unknown> = typeof schema === "object" && schema !== null ? { ...schema } : {};
  const { [KEY_NEEDED]: isNeeded, ...known } = given;
  const secured = Array.isArray(known.security) && known.security.length > 0;
  if (!secured || typeof method !== "string" || !isUnsafe(method)) return known;
  const { properties = {} } = (known.headers ?? {}) as { readonly properties?: object };
  const headers = { type: "object", properties: { "idempotency-key": IDEMPOTENCY_KEY, ...properties } };
  return { ...known, headers: isNeeded === true ? { ...headers, required: ["idempotency-key"] } : headers };
};

const DOCS_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const describeRoutes = async (app: FastifyInstance, version: string): Promise<void> => {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Countersign",
        version,
        description:
          "Authenticate, gate, deliver once, record: a governance layer between a trigger and the action that follows.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      externalDocs: { description: "JSON Schemas of the views' documents in MongoDB", url: "/schemas" },
      components: {
        securitySchemes: {
          session: { type: "apiKey", in: "cookie", name: SESSION_COOKIE },
          apiKey: { type: "http", scheme: "bearer", description: "An account's API key, csk_…" },
          agentKey: { type: "http", scheme: "bearer", description: "An agent's key, csa_…" },
          metricsToken: { type: "http", scheme: "bearer", description: "The METRICS_TOKEN of the operator" },
        },
      },
    },
    transform: ({ schema, url, route }) => ({ schema: withIdempotencyKey(schema, route.method), url }),
    transformObject: (document) => ("openapiObject" in document ? withProblems(document.openapiObject) : {}),
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: DOCS_CSP,
    // Without this, the page would send the description to validator.swagger.io.
    uiConfig: { validatorUrl: null },
  });
};
