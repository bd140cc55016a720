import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from "fastify";
import type { Problem, ProblemCode } from "../streams/problems.ts";
import { isUnsafe } from "./cross-site.ts";
import type { Route } from "./route.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    problems?: ReadonlySet<ProblemCode>;
    call?: string;
  }
  interface FastifyInstance {
    onUnlisted?: (sentence: string) => void;
    onProblem?: OnProblem;
  }
}

/** What is read of a request to which a problem is answered. A request that is not Fastify's has it as well. */
export type RefusedRequest = Pick<FastifyRequest, "id" | "method" | "ip" | "headers" | "params" | "principal"> & {
  readonly raw: Pick<FastifyRequest["raw"], "rawHeaders">;
  readonly routeOptions: { readonly url?: string | undefined; readonly config: Readonly<FastifyContextConfig> };
  readonly server: Pick<FastifyInstance, "traceIds" | "onUnlisted" | "onProblem">;
};

export type OnProblem = (request: RefusedRequest, it: Problem) => void;

const FOR_ALL: readonly ProblemCode[] = ["invalid-request", "headers-too-large", "internal", "unavailable"];
const WITH_BODY: readonly ProblemCode[] = ["too-large", "unsupported-media-type", "request-timeout", "overloaded"];
const WITH_CREDENTIAL: readonly ProblemCode[] = ["unauthenticated", "forbidden", "rate-limited"];
const WITH_KEY: readonly ProblemCode[] = ["idempotency-key-reused", "in-progress"];

export const GATE_PROBLEMS: readonly ProblemCode[] = [
  "gate-require-fields",
  "gate-content",
  "gate-schema",
  "gate-rate",
  "gate-budget",
  "gate-loop",
  "gate-quota",
  "cost-unknown",
  "limit-reached",
  "out-of-scope",
  "forbidden",
];

const commonProblems = ({ method, path, who, reads }: Route): readonly ProblemCode[] => {
  const isPublic = who === "anyone";
  return [
    ...FOR_ALL,
    "mixed-credentials",
    ...(path.includes("{") ? (["not-found"] as const) : []),
    ...(isUnsafe(method) ? WITH_BODY : []),
    ...(isUnsafe(method) && (isPublic || who.session !== undefined) ? (["cross-site"] as const) : []),
    ...(isPublic ? [] : WITH_CREDENTIAL),
    ...(isPublic || !isUnsafe(method) ? [] : WITH_KEY),
    ...(reads === undefined ? [] : (["view-behind"] as const)),
  ];
};

export const problemsOf = (route: Route): ReadonlySet<ProblemCode> =>
  new Set([...commonProblems(route), ...(route.problems ?? [])]);

/** The problems of a route that is registered outside of the route table. */
export const listedProblems = (...own: readonly ProblemCode[]): ReadonlySet<ProblemCode> =>
  new Set([...FOR_ALL, ...own]);

export const noteProblem = (request: RefusedRequest, it: Problem): void => {
  const { routeOptions, method, server } = request;
  const { config, url } = routeOptions;
  if (config.problems?.has(it.problem) === false)
    server.onUnlisted?.(`${method} ${url} answered ${it.problem}, which is not among its problems`);
  server.onProblem?.(request, it);
};
