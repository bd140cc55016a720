import type { AttemptEnd } from "../../domain/delivery/events.ts";
import { endpoint } from "../../domain/endpoint/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Reaction } from "../following/reactor.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { causedEnvelope } from "../streams/envelope.ts";

const GONE = 410;

/** What follows for an endpoint from what happens to its deliveries. `well` is told when one takes deliveries again. */
export const endpointReactions = (aggregates: Aggregates, clock: Clock, well: () => void): readonly Reaction[] => [
  {
    on: "AttemptFailed",
    async run({ id, data, meta }: RecordedEvent) {
      // The type of a recorded event says what its data are.
      const attempt = data as unknown as AttemptEnd;
      if (attempt.status_code !== GONE || attempt.elsewhere === true) return;
      const at = new Date(clock.now()).toISOString();
      const startedAt = new Date(Date.parse(attempt.at) - attempt.duration_ms).toISOString();
      const reason = "The receiver answered 410: it asks not to be called again.";
      await aggregates.handle(
        endpoint,
        `endpoint-${attempt.endpoint_id}`,
        { type: "DisableEndpoint", account: meta.account, reason, startedAt, at },
        causedEnvelope({ id, meta }, { actor: "endpoints", commandId: `react-${id}`, at }),
      );
    },
  },
  { on: "EndpointEnabled", run: async () => well() },
  { on: "EndpointRecovered", run: async () => well() },
];
