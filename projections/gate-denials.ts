import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { GateName, GateResult, Verdict } from "../domain/gate/verdict.ts";
import { eventOf, perDocument } from "./projection.ts";

/** The document stays if the event is admitted later, so a search has to check the event's status as well. */
export type GateDenialDocument = {
  readonly account: string;
  readonly gate: GateName;
  readonly code: string;
  /** When the first request came, as in the view of events. */
  readonly received_at: string;
};

export const denialIn = ({ gates }: Pick<Verdict, "gates">): GateResult | undefined =>
  gates.find(({ outcome }) => outcome === "deny");

/** A separate view instead of an index of `events`, so that admitted events do not write to it. */
export const gateDenials = perDocument<GateDenialDocument>(
  {
    name: "refusals.v1",
    fields: { account: "text", gate: "text", code: "text", received_at: "text" },
    indexes: [
      ["account", "gate", "received_at"],
      ["account", "code", "received_at"],
    ],
  },
  ({ type, data }) => (type === "EventBlocked" ? String(data.event_id) : null),
  (before, recorded) => {
    const { data } = eventOf<Extract<DeliveryEvent, { type: "EventBlocked" }>>(recorded);
    const denial = denialIn(data.verdict);
    if (denial === undefined) return before;
    return {
      account: recorded.meta.account,
      gate: denial.gate,
      code: denial.code,
      received_at: before?.received_at ?? data.received_at,
    };
  },
);
