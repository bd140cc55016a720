import { type Endpoint, endpoint as endpointDecider } from "../../domain/endpoint/decider.ts";
import type { EndpointLane } from "./endpoint-lane.ts";
import type { Answered } from "./outcome.ts";

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Counts an attempt, and returns the command that reports it, with the endpoint as it will then be; null if nothing follows
 * from it. This is decided on the state that this node saw last, so that nearly no attempt has to read the endpoint's
 * stream. The stream decides again when the command is given.
 */
export const reportAttempt = (
  lane: EndpointLane,
  account: string,
  { startedAt, at: endedAt, succeeded, retryAt }: Answered,
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
