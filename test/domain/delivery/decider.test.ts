import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fold } from "../../../domain/decider.ts";
import type { AttemptEnd } from "../../../domain/delivery/attempt-end.ts";
import type { DeliveryCommand } from "../../../domain/delivery/commands.ts";
import { delivery } from "../../../domain/delivery/decider.ts";
import { erasure } from "../../../domain/delivery/erasure.ts";
import type { DeliveryEvent, Request } from "../../../domain/delivery/events.ts";
import { specFor } from "../../support/given.ts";

const given = specFor(delivery);
const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

const request = (endpoint: string | null = "end_1"): Request => ({
  event_id: "evt_1",
  origin: { kind: "source", id: "src_1", name: "shop", type: "stripe" },
  delivery_key: "evt_stripe",
  type: "payment_intent.succeeded",
  payload: { revision: 0, content_type: "application/json", size: 2, commitment: "00" },
  endpoint_id: endpoint,
  verdict: { decision: "allow", policy: null, gates: [] },
  cost: null,
  received_at: at(0),
  authenticated_at: at(0),
  at: at(0),
});
const admitted: DeliveryEvent = { type: "EventAdmitted", data: request() };
const blocked: DeliveryEvent = { type: "EventBlocked", data: request() };
const abandoned: DeliveryEvent = { type: "AdmissionAbandoned", data: { event_id: "evt_1", at: at(1) } };
const started = (number: number, from: number): DeliveryEvent => ({
  type: "AttemptStarted",
  data: {
    event_id: "evt_1",
    endpoint_id: "end_1",
    number,
    trigger: "auto",
    node: "a",
    lease_until: at(from + 30),
    at: at(from),
  },
});
const end = (number: number, when: number): AttemptEnd & { status_code: number } => ({
  event_id: "evt_1",
  endpoint_id: "end_1",
  number,
  at: at(when),
  duration_ms: 5,
  status_code: 200,
  timings_ms: { dns: 0, connect: 0, tls: 0, first_byte: 4, total: 5 },
});
const failure = { kind: "http-5xx", detail: "The receiver answered 500" } as const;
const failed = (number: number, when: number, next: string | null): DeliveryEvent => ({
  type: "AttemptFailed",
  data: { ...end(number, when), failure, retryable: true, next_attempt_at: next },
});
const delivered: DeliveryEvent = {
  type: "EventDelivered",
  data: { event_id: "evt_1", endpoint_id: "end_1", admitted_at: at(0), at: at(2) },
};
const start = (node: string, when: number, othersAreGone = false) =>
  ({
    type: "StartAttempt",
    endpointId: "end_1",
    trigger: "auto",
    node,
    at: at(when),
    leaseUntil: at(when + 30),
    othersAreGone,
  }) as const;

const giveUp = (node: string, when: number, othersAreGone = false) =>
  ({ type: "GiveUp", failure, node, othersAreGone, at: at(when) }) as const;
const deliveryFailed = (when: number): DeliveryEvent => ({
  type: "DeliveryFailed",
  data: { event_id: "evt_1", endpoint_id: "end_1", failure, at: at(when) },
});

const test = suite("delivery");

test("an event is admitted once", () => {
  given().when({ type: "Admit", request: request() }).then(admitted);
  given(admitted).when({ type: "Admit", request: request() }).rejects("already-admitted");
  given(admitted).when({ type: "Block", request: request() }).rejects("already-admitted");
});
test("a blocked event that comes again may be decided again", () => {
  given(blocked).when({ type: "Admit", request: request() }).then(admitted);
  given(blocked).when({ type: "Block", request: request() }).then(blocked);
});
test("an admission that died is fenced, and may be decided again", () => {
  given()
    .when({ type: "Abandon", eventId: "evt_1", at: at(1) })
    .then(abandoned);
  given(abandoned).when({ type: "Admit", request: request() }).then(admitted);
  given(admitted)
    .when({ type: "Abandon", eventId: "evt_1", at: at(1) })
    .rejects("already-admitted");
});
test("only an admitted event with a destination is attempted", () => {
  given(blocked).when(start("a", 1)).rejects("not-admitted");
  given({ type: "EventAdmitted", data: request(null) })
    .when(start("a", 1))
    .rejects("already-ended");
  given(admitted).when(start("a", 1)).then(started(1, 1));
});
test("a lease keeps every other process away until it runs out or its holder is known to be gone", () => {
  given(admitted, started(1, 1)).when(start("b", 20)).rejects("leased");
  given(admitted, started(1, 1)).when(start("a", 20)).rejects("leased");
  given(admitted, started(1, 1))
    .when({ ...start("b", 31), node: "a" })
    .then(started(2, 31));
  const taken = { ...started(2, 20).data, node: "b" } as const;
  given(admitted, started(1, 1))
    .when(start("b", 20, true))
    .then({ type: "AttemptStarted", data: taken } as DeliveryEvent);
});
test("the first attempt is due at once, also on a clock that was set back", () => {
  given(admitted).when(start("a", -3_600)).then(started(1, -3_600));
  given(held, released(3)).when(start("a", 2)).then(started(1, 2));
});
test("the next attempt waits until it is due", () => {
  given(admitted, started(1, 1), failed(1, 2, at(10)))
    .when(start("a", 9))
    .rejects("not-due");
  given(admitted, started(1, 1), failed(1, 2, at(10)))
    .when(start("a", 10))
    .then(started(2, 10));
});
test("a success ends the delivery, and nothing follows it", () => {
  given(admitted, started(1, 1))
    .when({ type: "Succeed", end: end(1, 2) })
    .then({ type: "AttemptSucceeded", data: end(1, 2) }, delivered);
  const over = [admitted, started(1, 1), { type: "AttemptSucceeded", data: end(1, 2) } as const, delivered];
  given(...over)
    .when(start("a", 99))
    .rejects("already-ended");
  given(...over)
    .when({ type: "Succeed", end: end(1, 3) })
    .rejects("already-ended");
});
test("a success of an attempt whose lease has passed is a success", () => {
  given(admitted, started(1, 1), started(2, 31))
    .when({ type: "Succeed", end: end(1, 2) })
    .then({ type: "AttemptSucceeded", data: end(1, 2) }, delivered);
});
test("a failure of an attempt whose lease has passed says nothing about the one that runs", () => {
  given(admitted, started(1, 1), started(2, 31))
    .when({ type: "Fail", end: end(1, 32), failure, retryable: true, nextAttemptAt: at(60) })
    .rejects("lease-lost");
});
test("the last failure ends the delivery", () => {
  given(admitted, started(1, 1))
    .when({ type: "Fail", end: end(1, 2), failure, retryable: true, nextAttemptAt: null })
    .then(failed(1, 2, null), {
      type: "DeliveryFailed",
      data: { event_id: "evt_1", endpoint_id: "end_1", failure, at: at(2) },
    });
});
test("an erased payload is not sent any more, even by a node that has a copy", () => {
  const erased: DeliveryEvent = {
    type: "PayloadErased",
    data: { event_id: "evt_1", reason: "asked", up_to: 0, at: at(1) },
  };
  given(admitted, erased).when(start("a", 2)).rejects("payload-erased");
});
test("a delivery that can never be sent ends without an attempt", () => {
  given(admitted).when(giveUp("a", 5)).then(deliveryFailed(5));
});

const approval = {
  approval_id: "apr_1",
  digest: "d1",
  min_approvals: 1,
  exclude_requester: false,
  expires_at: at(60),
  reasons: [],
  requesters: [],
};
const held: DeliveryEvent = { type: "EventHeld", data: { ...request(), approval } };
const released = (when: number, endpoint: string | null = "end_1"): DeliveryEvent => ({
  type: "EventReleased",
  data: {
    event_id: "evt_1",
    approval_id: "apr_1",
    digest: "d1",
    origin_kind: "source",
    endpoint_id: endpoint,
    observed: false,
    held_at: at(0),
    at: at(when),
  },
});
const holdEnded = (outcome: "rejected" | "expired" | "cancelled"): DeliveryEvent => ({
  type: "HoldEnded",
  data: { event_id: "evt_1", approval_id: "apr_1", outcome, reason: "why", at: at(5) },
});
const release = (when: number, over = {}) =>
  ({ type: "Release", approvalId: "apr_1", digest: "d1", at: at(when), ...over }) as const;
const cancel = (when: number) => ({ type: "Cancel", reason: "suspended", at: at(when) }) as const;
const cancelled = (when: number, attempts = 0): DeliveryEvent => ({
  type: "EventCancelled",
  data: { event_id: "evt_1", endpoint_id: "end_1", attempts, reason: "suspended", at: at(when) },
});

test("a held event is decided: it is neither admitted, blocked, held again nor fenced, and nothing is sent", () => {
  given().when({ type: "Hold", request: request(), approval }).then(held);
  given(blocked).when({ type: "Hold", request: request(), approval }).then(held);
  for (const past of [[held], [admitted], [held, holdEnded("rejected")]]) {
    for (const command of [
      { type: "Admit", request: request() },
      { type: "Block", request: request() },
      { type: "Hold", request: request(), approval },
      { type: "Abandon", eventId: "evt_1", at: at(1) },
    ] as const)
      given(...past)
        .when(command)
        .rejects("already-admitted");
  }
  given(held).when(start("a", 1)).rejects("not-admitted");
  given(held, abandoned).when(release(2)).then(released(2));
});
test("an approval releases its request once, and the request is due at once", () => {
  given(held).when(release(3)).then(released(3));
  given(held)
    .when(release(3, { digest: "other" }))
    .rejects("digest-mismatch");
  given(held)
    .when(release(3, { approvalId: "apr_2" }))
    .rejects("not-held");
  given(held, released(3)).when(release(9)).thenNothing();
  given(held, released(3))
    .when(release(9, { approvalId: "apr_2" }))
    .rejects("already-admitted");
  given(held, released(3)).when(start("a", 3)).then(started(1, 3));
  given(blocked).when(release(3)).rejects("not-held");
  given(admitted).when(release(3)).rejects("already-admitted");
});
test("a released request without an endpoint is recorded", () => {
  const nowhere: DeliveryEvent = { type: "EventHeld", data: { ...request(null), approval } };
  given(nowhere).when(release(3)).then(released(3, null));
  given(nowhere, released(3, null)).when(start("a", 4)).rejects("already-ended");
});
test("the time to the delivery is counted from the release", () => {
  given(held, released(30), started(1, 31))
    .when({ type: "Succeed", end: end(1, 32) })
    .then(
      { type: "AttemptSucceeded", data: end(1, 32) },
      { type: "EventDelivered", data: { event_id: "evt_1", endpoint_id: "end_1", admitted_at: at(30), at: at(32) } },
    );
});
test("a hold ends once, and is never released afterwards", () => {
  for (const outcome of ["rejected", "expired", "cancelled"] as const) {
    const endHold = { type: "EndHold", outcome, reason: "why", at: at(5) } as const;
    given(held).when(endHold).then(holdEnded(outcome));
    given(held, holdEnded("rejected")).when(endHold).thenNothing();
    given(held, released(3)).when(endHold).rejects("already-admitted");
    given(held, holdEnded(outcome)).when(release(6)).rejects("already-ended");
    given(held, holdEnded(outcome)).when(start("a", 6)).rejects("not-admitted");
    given(blocked).when(endHold).rejects("not-held");
  }
});
test("a payload erased during the hold is not sent after the release", () => {
  const erased: DeliveryEvent = {
    type: "PayloadErased",
    data: { event_id: "evt_1", reason: "asked", up_to: 0, at: at(1) },
  };
  given(held, erased, released(3)).when(start("a", 4)).rejects("payload-erased");
});
test("a held or waiting delivery is cancelled, and its record counts the attempts", () => {
  given(held)
    .when(cancel(5))
    .then({
      ...holdEnded("cancelled"),
      data: { ...holdEnded("cancelled").data, reason: "suspended" },
    } as DeliveryEvent);
  given(admitted).when(cancel(5)).then(cancelled(5));
  given(held, released(3)).when(cancel(5)).then(cancelled(5));
  given(admitted, started(1, 1), failed(1, 2, at(10)))
    .when(cancel(5))
    .then(cancelled(5, 1));
  given(admitted, cancelled(5)).when(cancel(6)).thenNothing();
  given(admitted, cancelled(5)).when(start("a", 6)).rejects("not-admitted");
  given(admitted, started(1, 1), { type: "AttemptSucceeded", data: end(1, 2) }, delivered)
    .when(cancel(5))
    .rejects("already-ended");
  given(blocked).when(cancel(5)).rejects("not-admitted");
});
test("a cancellation awaits the running attempt, and no other attempt follows", () => {
  const asked: DeliveryEvent = {
    type: "CancellationRequested",
    data: { event_id: "evt_1", reason: "suspended", at: at(5) },
  };
  const running = [admitted, started(1, 1)];
  given(...running)
    .when(cancel(5))
    .then(asked);
  given(...running, asked)
    .when(cancel(6))
    .thenNothing();
  const failing = { type: "Fail", end: end(1, 7), failure, retryable: true } as const;
  given(...running, asked)
    .when({ ...failing, nextAttemptAt: at(20) })
    .then(failed(1, 7, null), cancelled(7, 1));
  given(...running, asked)
    .when({ type: "Succeed", end: end(1, 2) })
    .then({ type: "AttemptSucceeded", data: end(1, 2) }, delivered);
  // Whose end nobody saw: the next who would try ends it instead, as does the next who cancels.
  given(...running, asked)
    .when(start("b", 30))
    .rejects("leased");
  given(...running, asked)
    .when(start("b", 31))
    .then(cancelled(31, 1));
  given(...running, asked)
    .when(cancel(31))
    .then(cancelled(31, 1));
  given(...running)
    .when(cancel(31))
    .then(cancelled(31, 1));
});

/** Node "a" attempts the event until second 31. */
const attempting = [admitted, started(1, 1)] as const;
const asked: DeliveryEvent = {
  type: "CancellationRequested",
  data: { event_id: "evt_1", reason: "suspended", at: at(20) },
};
const erase = { type: "ErasePayload", eventId: "evt_1", reason: "asked", upTo: 0 } as const;
const replay = { id: "rpl_1", by: { kind: "member", id: "mem_1" }, reason: null } as const;

test("a delivery is given up only when no attempt can succeed any more", () => {
  given(...attempting)
    .when(giveUp("b", 20))
    .rejects("leased");
  given(...attempting)
    .when(giveUp("a", 20))
    .rejects("leased");
  given(...attempting)
    .when(giveUp("b", 31))
    .then(deliveryFailed(31));
  given(...attempting)
    .when(giveUp("b", 20, true))
    .then(deliveryFailed(20));
  given(...attempting, failed(1, 2, at(60)))
    .when(giveUp("b", 20))
    .then(deliveryFailed(20));
});

test("while another node attempts an event, no command ends it but that attempt's own outcome", () => {
  const refused: readonly (readonly [DeliveryCommand, string])[] = [
    [{ type: "Admit", request: request() }, "already-admitted"],
    [{ type: "Block", request: request() }, "already-admitted"],
    [{ type: "Hold", request: request(), approval }, "already-admitted"],
    [{ type: "Abandon", eventId: "evt_1", at: at(20) }, "already-admitted"],
    [release(20), "already-admitted"],
    [{ type: "EndHold", outcome: "expired", reason: "why", at: at(20) }, "already-admitted"],
    [start("b", 20), "leased"],
    [giveUp("b", 20), "leased"],
    [{ type: "Replay", replay, places: null, at: at(20) }, "in-progress"],
    // Of an attempt that is not under way, as the second one is.
    [{ type: "Fail", end: end(2, 20), failure, retryable: false, nextAttemptAt: null }, "lease-lost"],
  ];
  for (const [command, rejection] of refused) {
    const decision = delivery.decide(command, fold(delivery, attempting));
    assert.equal(decision, { ok: false, rejection }, command.type);
  }
  given(...attempting)
    .when(cancel(20))
    .then(asked);
  const erasing = erasure.decide({ ...erase, at: at(20) }, fold(erasure, attempting));
  assert.equal(erasing, { ok: false, rejection: "under-way" });
});

test("a cancellation that waits for an attempt keeps the delivery from being given up under its lease as well", () => {
  given(...attempting, asked)
    .when(giveUp("b", 21))
    .rejects("leased");
  given(...attempting, asked)
    .when(start("b", 31))
    .then(cancelled(31, 1));
});

test("an erased payload does not end an attempt that is under way", () => {
  const erased: DeliveryEvent = {
    type: "PayloadErased",
    data: { event_id: "evt_1", reason: "asked", up_to: 0, at: at(2) },
  };
  given(...attempting, erased)
    .when(start("b", 20))
    .rejects("leased");
  given(...attempting, erased)
    .when(start("b", 31))
    .rejects("payload-erased");
});

test("a success ends the event under the lease of a later attempt too: its receiver has it", () => {
  given(...attempting, { ...started(2, 31), data: { ...started(2, 31).data, node: "b" } } as DeliveryEvent)
    .when({ type: "Succeed", end: end(1, 2) })
    .then({ type: "AttemptSucceeded", data: end(1, 2) }, delivered);
});

test.run();
