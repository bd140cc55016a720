import { suite } from "uvu";
import { erasure } from "../../../domain/delivery/erasure.ts";
import type { DeliveryEvent } from "../../../domain/delivery/events.ts";
import { specFor } from "../../support/given.ts";
import { at, deliveryFacts } from "../../support/history.ts";

const given = specFor(erasure);
const test = suite("erasure of a payload");
const is = deliveryFacts();
const erase = { type: "ErasePayload", eventId: "evt_1", reason: "asked for", upTo: 0, at: at(20) } as const;

test("the payload of any decided event is erased, also while it is held or after it failed", () => {
  for (const past of [
    [is.blocked()],
    [is.admitted()],
    [is.held()],
    [is.held(), is.holdEnded(5, "rejected")],
    [is.held(), is.released(5)],
  ])
    given(...past)
      .when(erase)
      .then(is.erased(20, 0));
  given().when(erase).rejects("absent");
});

test("a payload is erased once, and not during an attempt", () => {
  given(is.held(), is.released(5), is.started(1, 6)).when(erase).rejects("under-way");
  given(is.held(), is.erased(10, 0)).when(erase).thenNothing();
});

const replayed: DeliveryEvent = {
  type: "EventReplayed",
  data: {
    event_id: "evt_1",
    endpoint_id: "end_1",
    replay_id: "rpl_1",
    by: { kind: "member", id: "mem_1" },
    reason: null,
    attempts: 1,
    admitted_at: at(0),
    at: at(9),
  },
};
const expire = (endedUpTo: number) => ({ ...erase, endedUpTo: at(endedUpTo) });

test("retention erases only payloads of deliveries that have ended by its time", () => {
  for (const past of [
    [is.blocked({ at: at(5) })],
    [is.admitted({ endpoint_id: null, at: at(5) })],
    [is.held(), is.holdEnded(5, "expired")],
    [is.held(), is.released(5, "apr_1", null)],
    [is.admitted(), is.cancelled(5)],
    [is.admitted(), is.started(1, 1), is.succeeded(1, 5), is.delivered(5)],
    [is.admitted(), is.started(1, 1), is.attemptFailed(1, 5, null), is.failed(5)],
    [{ type: "AdmissionAbandoned", data: { event_id: "evt_1", at: at(5) } } as const],
  ]) {
    given(...past)
      .when(expire(4))
      .rejects("not-ended");
    given(...past)
      .when(expire(5))
      .then(is.erased(20, 0));
    given(...past, is.erased(10, 0))
      .when(expire(5))
      .thenNothing();
  }
  for (const past of [
    [is.admitted()],
    [is.held()],
    [is.held(), is.released(2)],
    [is.blocked(), is.admitted()],
    [is.admitted(), is.started(1, 1), is.attemptFailed(1, 5, at(30))],
    [is.admitted(), is.started(1, 1), is.attemptFailed(1, 5, null), is.failed(5), replayed],
  ])
    given(...past)
      .when(expire(19))
      .rejects("not-ended");
  given().when(expire(19)).rejects("absent");
});

test("a payload erased by hand before the end is recorded once more after the end", () => {
  given(is.held(), is.erased(3, 0), is.holdEnded(5, "rejected")).when(expire(4)).rejects("not-ended");
  given(is.held(), is.erased(3, 0), is.holdEnded(5, "rejected")).when(expire(5)).then(is.erased(20, 0));
  given(is.held(), is.erased(3, 0), is.holdEnded(5, "rejected")).when(erase).thenNothing();
});

test("a payload that was stored after an erasure is erased by another one", () => {
  const first = [is.blocked(), is.erased(10, 3)] as const;
  given(...first)
    .when({ ...erase, upTo: 3 })
    .thenNothing();
  given(...first)
    .when({ ...erase, upTo: null })
    .thenNothing();
  given(...first)
    .when({ ...erase, upTo: 4 })
    .then(is.erased(20, 4));
});

test.run();
