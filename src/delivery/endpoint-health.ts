import { type Endpoint, endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import type { EndpointLane } from "./endpoint-lane.ts";
import type { AttemptResult } from "./outcome.ts";

const iso = (ms: number): string => new Date(ms).toISOString();

/** Decides on the state that this node saw last, so that few attempts read the stream, which decides again. */
export const reportAttempt = (
  lane: EndpointLane,
  account: string,
  { startedAt, at: endedAt, succeeded, retryAt }: AttemptResult,
) => {
  const { seen: endpoint } = lane;
  if (endpoint === null) return null;
  const counted = lane.attempts.count(endpoint.wellAt, { startedAt, at: endedAt, succeeded });
  if (counted === null) return null;
  const attempt = { startedAt: iso(startedAt), succeeded, notBefore: retryAt === null ? null : iso(retryAt) };
  const command = { type: "ReportAttempt", account, attempt, counts: counted, at: iso(endedAt) } as const;
  const decision = endpointDecider.decide(command, endpoint);
  if (!decision.ok || decision.events.length === 0) return null;
  const expected = decision.events.reduce<Endpoint>(endpointDecider.evolve, endpoint);
  return { command, expected };
};
