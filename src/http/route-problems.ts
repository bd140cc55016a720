import type { FastifyRequest } from "fastify";
import type { Problem, ProblemCode } from "../streams/problems.ts";
import { isUnsafe } from "./cross-site.ts";
import type { Route } from "./route.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Every problem that the route can answer. */
    problems?: ReadonlySet<ProblemCode>;
    /** The method and path of a route of the table, such as `POST /v1/events/{id}/replay`. */
    call?: string;
  }
  interface FastifyInstance {
    /** Called for each problem that its route does not list. */
    onUnlisted?: (sentence: string) => void;
    /** Called for each problem. */
    onProblem?: (request: FastifyRequest, it: Problem) => void;
  }
}

const FOR_ALL: readonly ProblemCode[] = ["invalid-request", "headers-too-large", "internal", "unavailable"];
const WITH_BODY: readonly ProblemCode[] = ["too-large", "unsupported-media-type"];
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

/** Every problem that a route of the table can answer: those of its row and those that it shares with others. */
export const problemsOf = (route: Route): ReadonlySet<ProblemCode> =>
  new Set([...commonProblems(route), ...(route.problems ?? [])]);

/** The same for a route that has no row in the table: `own` are its problems. */
export const listedProblems = (...own: readonly ProblemCode[]): ReadonlySet<ProblemCode> =>
  new Set([...FOR_ALL, ...own]);

/** Called for every problem that is answered: reports one that the route does not list, and tells who records it. */
export const noteProblem = (request: FastifyRequest, it: Problem): void => {
  const { routeOptions, method, server } = request;
  const { config, url } = routeOptions;
  if (config.problems?.has(it.problem) === false)
    server.onUnlisted?.(`${method} ${url} answered ${it.problem}, which is not among its problems`);
  server.onProblem?.(request, it);
};
