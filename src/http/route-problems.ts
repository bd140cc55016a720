import type { FastifyRequest } from "fastify";
import type { Problem, ProblemCode } from "../streams/problems.ts";
import { isUnsafe } from "./cross-site.ts";
import type { Route } from "./route.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Every problem that the route can answer; left out: the route has no list. */
    problems?: ReadonlySet<ProblemCode>;
    /** Of a route of the table: its method and its path, as `POST /v1/events/{id}/replay`. */
    call?: string;
  }
  interface FastifyInstance {
    /** Told of each answer with a problem that its route does not list. */
    onUnlisted?: (sentence: string) => void;
    /** Told of each problem that is answered. */
    onProblem?: (request: FastifyRequest, it: Problem) => void;
  }
}

/** Answered by the server for any route. */
const ANY: readonly ProblemCode[] = ["invalid-request", "headers-too-large", "internal", "unavailable"];
/** Answered where a JSON body is read. */
const OF_BODY: readonly ProblemCode[] = ["too-large", "unsupported-media-type"];
/** Answered where a credential is needed. */
const OF_CREDENTIAL: readonly ProblemCode[] = ["unauthenticated", "forbidden", "rate-limited"];
/** Answered to a request with an Idempotency-Key. */
const OF_KEY: readonly ProblemCode[] = ["idempotency-key-reused", "in-progress"];

/** The verdict of a gate on an agent's request. */
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

/** The problems that follow from what a route is: from its method, its path, who may call it and what it reads. */
const commonProblems = ({ method, path, who, reads }: Route): readonly ProblemCode[] => {
  const isPublic = who === "anyone";
  return [
    ...ANY,
    "mixed-credentials",
    ...(path.includes("{") ? (["not-found"] as const) : []),
    ...(isUnsafe(method) ? OF_BODY : []),
    ...(isUnsafe(method) && (isPublic || who.session !== undefined) ? (["cross-site"] as const) : []),
    ...(isPublic ? [] : OF_CREDENTIAL),
    ...(isPublic || !isUnsafe(method) ? [] : OF_KEY),
    ...(reads === undefined ? [] : (["view-behind"] as const)),
  ];
};

/** Every problem that a route of the table can answer: those of its row and those that it shares with others. */
export const problemsOf = (route: Route): ReadonlySet<ProblemCode> =>
  new Set([...commonProblems(route), ...(route.problems ?? [])]);

/** The same for a route that has no row in the table: `own` are its problems. */
export const listedProblems = (...own: readonly ProblemCode[]): ReadonlySet<ProblemCode> => new Set([...ANY, ...own]);

/** Called for every problem that is answered: reports one that the route does not list, and tells who records it. */
export const noteProblem = (request: FastifyRequest, it: Problem): void => {
  const { routeOptions, method, server } = request;
  const { config, url } = routeOptions;
  if (config.problems?.has(it.problem) === false)
    server.onUnlisted?.(`${method} ${url} answered ${it.problem}, which is not among its problems`);
  server.onProblem?.(request, it);
};
