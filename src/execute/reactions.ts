import { delivery } from "../../domain/delivery/decider.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import type { DataOf } from "../../domain/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { events } from "../../projections/events.ts";
import { suspensionReason, uncached } from "../accounts/agent-suspension.ts";
import type { Deliverer } from "../delivery/deliverer.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import type { ReactorOptions } from "../following/reactor.ts";
import type { Ledgers } from "../ledgers/ledgers.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { causedEnvelope, type Envelope } from "../streams/envelope.ts";
import { foldStream, runCommand } from "../streams/run-command.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import type { Outcomes } from "./outcome-waits.ts";
import { suspensionReactions } from "./suspension-reactions.ts";

export type CostReactionsDeps = {
  readonly ledgers: Pick<Ledgers, "charge" | "settleNow" | "resolve">;
  readonly timeZoneOf: (account: string) => Promise<string>;
};

export type StoppedRequestsDeps = {
  readonly log: EventLog;
  readonly aggregates: Pick<Aggregates, "load">;
  readonly views: Pick<ViewStore, "page">;
  readonly progress: Pick<ViewProgress, "waitFor">;
  readonly outcomes: Pick<Outcomes<Delivery>, "changed">;
  readonly deliver: Pick<Deliverer, "isSending">;
  readonly clock: Clock;
};

/** A separate reactor waits for views and cancels thousands of requests without delaying settlements. */
export const SUSPENSIONS_REACTOR: ReactorOptions = {
  name: "suspensions",
  gatherMs: 100,
  atOnce: { keyOf: ({ meta }) => meta.account, keysMax: 8 },
};

/** Held requests, which wait for people, are cancelled first. */
const UNDER_WAY = ["held", "queued", "retrying", "delivering"] as const;

/** The deliverer already sends nothing of a suspended agent; cancelling shows that, and frees reservations. */
export const stoppedRequests = (deps: StoppedRequestsDeps): readonly Reaction[] => {
  const { log, clock } = deps;
  const current = uncached(deps.aggregates);

  const envelopeOf = (cause: RecordedEvent, eventId: string): Envelope =>
    causedEnvelope(cause, {
      actor: "agents",
      commandId: `agents-${cause.id}/${eventId}`,
      at: new Date(clock.now()).toISOString(),
    });

  const cancel = async (cause: RecordedEvent, eventId: string): Promise<void> => {
    const stream = `delivery-${eventId}`;
    const known = await foldStream(log, delivery, stream);
    const { state } = known;
    const reason = "request" in state ? await suspensionReason(current, state.request) : null;
    // The agent was resumed and sent this request afterwards, so the request goes on.
    if (reason === null) return;
    const envelope = envelopeOf(cause, eventId);
    const command = { type: "Cancel", reason, at: envelope.at, underWay: deps.deliver.isSending(eventId) } as const;
    const ran = await runCommand(log, { decider: delivery, stream, from: known, command, envelope });
    deps.outcomes.changed(eventId, ran.known);
  };

  const shown = { view: events, statuses: UNDER_WAY, agentId: "origin_id", newest: "received_at" };
  return suspensionReactions(deps, shown, cancel);
};

export const costReactions = ({ ledgers, timeZoneOf }: CostReactionsDeps): readonly Reaction[] => {
  /** The additional cost of a replay counts for the day on which it was determined. */
  const charge = async (
    account: string,
    { event_id, cost, replay_id, policy_ids = [], at }: DataOf<"CostDetermined">,
    trace: Envelope["trace"],
  ): Promise<void> => {
    if (replay_id === undefined || cost === null) return;
    for (const id of policy_ids) {
      const policy = { account, id, timeZone: await timeZoneOf(account) };
      await ledgers.charge({ policy, name: `${event_id}/${replay_id}`, cost, at: Date.parse(at), trace });
    }
  };

  return [
    reaction("CostDetermined", async (data, { meta }) => {
      const { event_id, ledgers: names, cost } = data;
      const trace = { trace_id: meta.trace_id, span_id: meta.span_id };
      await charge(meta.account, data, trace);
      for (const stream of names) {
        // `resolve` leaves alone what a replay has reserved since: other nodes react to this record too, some of them
        // late.
        if (cost === null) await ledgers.resolve(stream, meta.account, event_id);
        else await ledgers.settleNow({ stream, account: meta.account, event: event_id, cost, trace });
      }
    }),
  ];
};
