import { suite } from "uvu";
import * as assert from "uvu/assert";
import { deliveryQueue, type QueueDocument } from "../../projections/delivery-queue.ts";
import { type EndpointDocument, endpoints } from "../../projections/endpoints.ts";
import type { EventDocument } from "../../projections/event-document.ts";
import { events } from "../../projections/events.ts";
import { hourId, type StatusHour, status } from "../../projections/status.ts";
import { type UsageDocument, usage, usageId } from "../../projections/usage.ts";
import { at, deliveryFacts, endpointRegistered, history } from "../support/history.ts";
import { folded } from "../support/projected.ts";

const test = suite("views of an event that is held again");
const facts = deliveryFacts();

const HELD_AGAIN = [
  ...[facts.held(), facts.released(1), facts.started(1, 2), facts.attemptFailed(1, 3, at(9))],
  facts.heldAgain(9, true),
];
const RELEASED_AGAIN = [...HELD_AGAIN, facts.releasedAgain(20, 1)];

const told = (past: readonly Parameters<ReturnType<typeof history>["add"]>[1][]) => {
  const log = history();
  log.add("endpoint-end_1", endpointRegistered());
  for (const fact of past) log.add("delivery-evt_1", fact);
  return log.events;
};

test("an event held again waits for no attempt; released again it waits for its next one", () => {
  assert.is(folded(deliveryQueue, told(HELD_AGAIN)).get("evt_1"), null);
  const waits = folded(deliveryQueue, told(RELEASED_AGAIN)).get<QueueDocument>("evt_1");
  assert.equal([waits?.due_at, waits?.attempts, waits?.node], [at(20), 1, null]);
  const queued = (past: typeof HELD_AGAIN) => folded(endpoints, told(past)).get<EndpointDocument>("end_1")?.queued;
  assert.equal([queued(HELD_AGAIN), queued(RELEASED_AGAIN)], [0, 1]);
});

test("the event shows that it is held, for which approval, and goes on with its attempts", () => {
  const shown = (past: typeof HELD_AGAIN) => folded(events, told(past)).get<EventDocument>("evt_1");
  const held = shown(HELD_AGAIN);
  assert.equal([held?.status, held?.approval_id, held?.timeline.at(-1)?.stage], ["held", "apr_2", "held"]);
  const released = shown(RELEASED_AGAIN);
  assert.equal([released?.status, released?.attempts.length], ["retrying", 1]);
});

test("it is counted once, by its first release", () => {
  const used = folded(usage, told(RELEASED_AGAIN)).get<UsageDocument>(usageId("acc_1", "2026-03"));
  assert.is(used?.events, 1);
  assert.is(folded(status, told(RELEASED_AGAIN)).get<StatusHour>(hourId(at(0)))?.admitted, 1);
});

test.run();
