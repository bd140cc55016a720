import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fold } from "../../../domain/decider.ts";
import { delivery } from "../../../domain/delivery/decider.ts";
import type { DeliveryEvent } from "../../../domain/delivery/events.ts";
import { statusOf } from "../../../domain/delivery/status.ts";
import type { EventDocument } from "../../../projections/event-document.ts";
import { events } from "../../../projections/events.ts";
import { at, deliveryFacts, history } from "../../support/history.ts";
import { folded } from "../../support/projected.ts";

const test = suite("delivery status");
const is = deliveryFacts();

const LIVES: readonly (readonly DeliveryEvent[])[] = [
  [is.blocked()],
  [is.admitted()],
  [is.admitted({ endpoint_id: null })],
  [is.admitted(), is.started(1, 1)],
  [is.admitted(), is.started(1, 1), is.attemptFailed(1, 2, at(9))],
  [is.admitted(), is.started(1, 1), is.attemptFailed(1, 2, null), is.failed(2)],
  [is.admitted(), is.started(1, 1), is.succeeded(1, 2), is.delivered(2)],
  [is.held()],
  [is.held(), is.released(5)],
  [is.held({}, { endpoint_id: null }), is.released(5, "apr_1", null)],
  [is.held(), is.released(5), is.started(1, 6), is.succeeded(1, 7), is.delivered(7)],
  [is.held(), is.holdEnded(5, "rejected")],
  [is.held(), is.holdEnded(5, "expired")],
  [is.held(), is.holdEnded(5, "cancelled")],
  [is.admitted(), is.cancelled(5)],
  [is.admitted(), is.started(1, 1), is.cancelling(2), is.attemptFailed(1, 3, null), is.cancelled(3, 1)],
];

test("the stream and the view have the same status after any records", () => {
  const seen = new Set<string>();
  for (const facts of LIVES) {
    const log = history();
    for (const fact of facts) log.add("delivery-evt_1", fact);
    const status = statusOf(fold(delivery, facts));
    assert.is(folded(events, log.events).get<EventDocument>("evt_1")?.status, status);
    seen.add(status);
  }
  assert.is(seen.size, 11, "every status there is");
});

test.run();
