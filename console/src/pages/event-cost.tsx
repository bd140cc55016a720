import { type Costing, eventCost, isUnspent } from "./cost-text.ts";

/** Stands below a sum in a table, if it was not spent. */
export const Unspent = (of: Omit<Costing, "verdict">) => (isUnspent(of) ? <span class="sub">not spent</span> : null);

/** What a request costs, in a table. */
export const EventCost = (event: Costing) => (
  <>
    {eventCost(event)}
    <Unspent {...event} />
  </>
);
