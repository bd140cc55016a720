import { type Costing, eventCost, isUnspent } from "./cost-text.ts";

/** The sum of a request in a table, and below it that it was not spent. */
export const EventCost = (event: Costing) => (
  <>
    {eventCost(event)}
    {isUnspent(event) ? <span class="sub">not spent</span> : null}
  </>
);
