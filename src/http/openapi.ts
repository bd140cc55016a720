import { STATUS_CODES } from "node:http";
import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { defined } from "../../domain/defined.ts";
import { SESSION_COOKIE } from "./authenticate.ts";
import { isUnsafe } from "./cross-site.ts";
import { type AnswerExamples, BODY_OPTIONAL, documentWithNames, PROBLEMS_LISTED } from "./openapi-document.ts";
import { OPERATION_IDS } from "./operation-ids.ts";
import { POSITION_PATTERN } from "./position-text.ts";
import type { JsonSchema, Route } from "./route.ts";
import { problemsOf } from "./route-problems.ts";
import { TAGS } from "./tags.ts";

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

/** For a call that has no name of its own: "postV1ThingsById". */
const spelled = (method: string, path: string): string =>
  method.toLowerCase() +
  path
    .replaceAll("{", "by-")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

export const operationId = (method: string, path: string): string =>
  OPERATION_IDS[`${method} ${path}`] ?? spelled(method, path);

const security = ({ who }: Route): Record<string, string[]>[] => {
  if (who === "anyone") return [];
  return [
    ...(who.session === undefined ? [] : [{ session: [] }]),
    ...(who.key === undefined ? [] : [{ apiKey: [] }]),
    ...(who.agent === undefined ? [] : [{ agentKey: [] }]),
  ];
};

/** Under a range of types, a client reads the body by the type that it has, so the schema says nothing about it. */
const contentOf = (types: readonly string[], schema: JsonSchema): Record<string, unknown> =>
  Object.fromEntries(types.map((type) => [type, { schema: type.endsWith("/*") ? {} : schema }]));

const responses = ({ answers, produces = "application/json" }: Route): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => {
      const description = STATUS_CODES[status] ?? "Success";
      return [
        status,
        schema === null
          ? { type: "null", description }
          : { description, content: contentOf([produces].flat(), schema) },
      ];
    }),
  );

const KEY_NEEDED = "x-idempotency-key-needed";
/** The member of a route's schema with the body as it is published, if it differs from the one that is checked. */
export const BODY_SHOWN = "x-body";

export const routeSchema = (route: Route): Record<string, unknown> => {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const params = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  // Every read accepts `after`: if it uses no view, it reads streams, which show each append at once.
  const isRead = route.method === "GET" && route.who !== "anyone";
  const query = {
    ...route.query,
    ...defined({ after: isRead || route.reads !== undefined ? (route.query?.after ?? AFTER) : undefined }),
  };
  return {
    operationId: operationId(route.method, route.path),
    summary: route.summary,
    tags: [route.tag],
    security: security(route),
    ...defined({
      hide: route.hidden,
      [KEY_NEEDED]: route.answersRepeats,
      [BODY_SHOWN]: route.bodyShown,
      [BODY_OPTIONAL]: route.bodyOptional,
      params: names.length === 0 ? undefined : { type: "object", required: names, properties: params },
      querystring: {
        type: "object",
        required: route.queryRequired ?? [],
        additionalProperties: route.anyQuery === true,
        properties: query,
      },
      body: route.body,
      headers: route.headers && { type: "object", properties: route.headers },
    }),
    response: responses(route),
    [PROBLEMS_LISTED]: [...problemsOf(route)],
  };
};

/** Adds Idempotency-Key to the published description only, as `add-routes.ts` reads that header without a schema. */
const withIdempotencyKey = (known: Record<string, unknown>, isNeeded: unknown, method: unknown) => {
  const secured = Array.isArray(known.security) && known.security.length > 0;
  if (!secured || typeof method !== "string" || !isUnsafe(method)) return known;
  const { properties = {} } = (known.headers ?? {}) as { readonly properties?: object };
  const headers = { type: "object", properties: { "idempotency-key": IDEMPOTENCY_KEY, ...properties } };
  return { ...known, headers: isNeeded === true ? { ...headers, required: ["idempotency-key"] } : headers };
};

/** The schema as it is published: some of what it says is for people, and not for the validator. */
const published = (schema: unknown, method: unknown): Record<string, unknown> => {
  const given: Record<string, unknown> = typeof schema === "object" && schema !== null ? { ...schema } : {};
  const { [KEY_NEEDED]: isNeeded, [BODY_SHOWN]: bodyShown, ...known } = given;
  return withIdempotencyKey({ ...known, ...defined({ body: bodyShown ?? known.body }) }, isNeeded, method);
};

type Described = {
  readonly version: string;
  /** Asked when the description is, as the port may be known only once the service listens. */
  readonly publicUrl: () => string;
  readonly examples: AnswerExamples;
};

export const describeRoutes = async (
  app: FastifyInstance,
  { version, publicUrl, examples }: Described,
): Promise<void> => {
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
    transform: ({ schema, url, route }) => ({ schema: published(schema, route.method), url }),
    transformObject: (document) =>
      "openapiObject" in document
        ? { ...documentWithNames(document.openapiObject, examples), servers: [{ url: publicUrl() }], tags: [...TAGS] }
        : {},
  });
};
