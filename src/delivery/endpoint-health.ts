import { iso } from "../../domain/calendar.ts";
import { type Endpoint, endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import type { EndpointLane } from "./endpoint-lane.ts";
import type { AttemptResult } from "./outcome.ts";

/** Null if the attempt does not change the state that this node saw last. Else the stream is read and decides anew. */
export const reportAttempt = ({ account, seen: endpoint, attempts }: EndpointLane, result: AttemptResult) => {
  if (endpoint === null) return null;
  const counts = attempts.count(endpoint.wellAt, result);
  if (counts === null) return null;
  const { startedAt, at, succeeded, retryAt } = result;
  const attempt = { startedAt: iso(startedAt), succeeded, notBefore: retryAt === null ? null : iso(retryAt) };
  const command = { type: "ReportAttempt", account, attempt, counts, at: iso(at) } as const;
  const decision = endpointDecider.decide(command, endpoint);
  if (!decision.ok || decision.events.length === 0) return null;
  const expected = decision.events.reduce<Endpoint>(endpointDecider.evolve, endpoint);
  return { command, expected };
};
