import {
  type Endpoint,
  endpoint as endpointDecider,
  type PresentEndpoint,
  takesDeliveries,
} from "../../domain/endpoint/decider.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { systemEnvelope, type Trace } from "../streams/envelope.ts";
import type { Answered } from "./attempts.ts";
import { endpointCounts } from "./endpoint-counts.ts";
import type { Job } from "./lanes.ts";
import type { Paces } from "./paces.ts";

export type EndpointHealthDeps = {
  readonly aggregates: Pick<Aggregates, "handle">;
  readonly randomness: Randomness;
  readonly paces: Pick<Paces, "seen">;
  /** Told at once of an endpoint that will get nothing more, before that is written down. */
  readonly onClosing: (endpointId: string, state: PresentEndpoint) => void;
};

export type EndpointHealth = {
  /** Counts what came of an attempt; the endpoint as it is then, null where nothing follows. Rejects with the log's errors. */
  answered(job: Job, answered: Answered, trace: Trace): Promise<Endpoint | null>;
};

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Turns what this node sees of its endpoints' attempts into what all nodes hold to be their health. Whether something follows
 * is asked of the endpoint as it was last seen here, so that nearly every attempt costs no look at a stream; what follows is
 * decided again on the stream itself.
 */
export const endpointHealth = ({ aggregates, randomness, paces, onClosing }: EndpointHealthDeps): EndpointHealth => {
  const counts = endpointCounts();

  return {
    async answered({ account, endpointId }, answered, trace) {
      const state = paces.seen(endpointId);
      if (state === null) return null;
      const counted = counts.count(endpointId, state.wellAt, answered);
      if (counted === null) return null;
      const { succeeded, retryAt } = answered;
      const attempt = {
        startedAt: iso(answered.startedAt),
        succeeded,
        notBefore: retryAt === null ? null : iso(retryAt),
      };
      const at = iso(answered.at);
      const command = { type: "ReportAttempt", account, attempt, counts: counted, at } as const;
      const decision = endpointDecider.decide(command, state);
      if (!decision.ok || decision.events.length === 0) return null;
      const expected = decision.events.reduce<Endpoint>(endpointDecider.evolve, state);
      if (expected.phase === "present" && !takesDeliveries(expected)) onClosing(endpointId, expected);
      const done = await aggregates.handle(
        endpointDecider,
        `endpoint-${endpointId}`,
        command,
        systemEnvelope({ actor: "deliverer", commandId: randomId("cmd_", randomness), account, trace, at }),
      );
      return done.state;
    },
  };
};
