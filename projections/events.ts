import { type AccountFacets, NO_FACETS, withEvent } from "./account-facets.ts";
import type { EventDocument } from "./event-document.ts";
import { type Decision, evolveEvent, givenBackIn, isDecision } from "./event-fold.ts";
import { storedForm } from "./event-stored-form.ts";
import { documentOf, eventOf, type Projection } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

/** One document for each event of the API, and one for each account with the types and origins of its events. */
export const events: Projection<EventDocument | AccountFacets> = {
  schema: {
    name: "events.v3",
    fields: {
      account: "text",
      status: "text",
      origin_kind: "text",
      origin_id: "text",
      endpoint_id: "text",
      policy_id: "text",
      run_id: "text",
      type: "text",
      replayable: "text",
      received_at: "text",
    },
    indexes: [
      ["account", "received_at"],
      ["account", "origin_id", "received_at"],
      ["account", "endpoint_id", "received_at"],
      ["account", "policy_id", "received_at"],
      ["account", "run_id", "received_at"],
      ["account", "type", "received_at"],
      // The store takes the last of equally good indexes, so the better one for lists by status comes last.
      ["account", "status", "received_at"],
      ["account", "replayable", "received_at"],
    ],
    // A sender chooses the types, so there may be as many as events.
    packing: {
      members: {
        account: "word",
        status: "word",
        origin_kind: "word",
        origin_id: "word",
        endpoint_id: "word",
        policy_id: "word",
        run_id: "text",
        replayable: "word",
        received_at: "time",
        delivery_id: "text",
        cost: "number",
        decisions: "number",
        duplicates: "number",
        reused: "number",
        trace_id: "text",
        stopped_at: "position",
      },
    },
  },

  idsOf: (event) => {
    const id = deliveryOf(event);
    if (id === null) {
      const givenBack = givenBackIn(event);
      return givenBack === null ? [] : [givenBack];
    }
    return isDecision(event) ? [id, event.meta.account] : [id];
  },

  apply(event, documents) {
    const givenBack = givenBackIn(event);
    if (givenBack !== null) {
      const undone = documentOf<EventDocument>(documents, givenBack);
      if (undone !== null) documents.put(givenBack, storedForm({ ...undone, cost: 0 }));
      return;
    }
    const id = deliveryOf(event);
    if (id === null) return;
    const before = documentOf<EventDocument>(documents, id);
    const after = evolveEvent(before, event);
    if (after !== null && after !== before) documents.put(id, storedForm(after));
    if (!isDecision(event)) return;
    const { account } = event.meta;
    const seen = documentOf<AccountFacets>(documents, account) ?? NO_FACETS;
    // The account's document is derived from the record alone, because the event's document may be folded further.
    const more = withEvent(seen, eventOf<Decision>(event).data);
    if (more !== seen) documents.put(account, more);
  },
};
