import { iso } from "../../domain/calendar.ts";
import { isEndpointGone } from "../../domain/delivery/gone.ts";
import { endpoint } from "../../domain/endpoint/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { causedEnvelope } from "../streams/envelope.ts";

export const endpointReactions = (
  aggregates: Aggregates,
  clock: Clock,
  onRecovered: () => void,
): readonly Reaction[] => [
  reaction("AttemptFailed", async (attempt, cause) => {
    if (!isEndpointGone(attempt)) return;
    const at = iso(clock.now());
    const startedAt = iso(Date.parse(attempt.at) - attempt.duration_ms);
    const reason = "The receiver answered 410: it asks not to be called again.";
    await aggregates.handle(
      endpoint,
      `endpoint-${attempt.endpoint_id}`,
      { type: "DisableEndpoint", account: cause.meta.account, reason, startedAt, at },
      causedEnvelope(cause, { actor: "endpoints", commandId: `react-${cause.id}`, at }),
    );
  }),
  { on: "EndpointEnabled", run: async () => onRecovered() },
  { on: "EndpointRecovered", run: async () => onRecovered() },
];
