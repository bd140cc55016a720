import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { GateName, GateResult, Verdict } from "../domain/gate/verdict.ts";
import { perDocument } from "./projection.ts";

/** Which gate refused an event, to search by. It stays when the event is admitted later: whoever searches looks at both. */
export type RefusalDocument = {
  readonly account: string;
  readonly gate: GateName;
  readonly code: string;
  /** As in `events.v2`: of the first request. */
  readonly received_at: string;
};

/** The gate that a blocked event was refused by. */
export const refusalIn = ({ gates }: Pick<Verdict, "gates">): GateResult | undefined =>
  gates.find(({ outcome }) => outcome === "deny");

/**
 * One document for every event that was blocked, under its id. A view of its own, so that an index by what refused costs
 * the admitted events nothing.
 */
export const refusals = perDocument<RefusalDocument>(
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
    // `idOf` lets this one through.
    const { data } = recorded as unknown as Extract<DeliveryEvent, { type: "EventBlocked" }>;
    const refused = refusalIn(data.verdict);
    if (refused === undefined) return before;
    return {
      account: recorded.meta.account,
      gate: refused.gate,
      code: refused.code,
      received_at: before?.received_at ?? data.received_at,
    };
  },
);
