import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fold } from "../../../domain/decider.ts";
import type { DeliveryCommand } from "../../../domain/delivery/commands.ts";
import { delivery } from "../../../domain/delivery/decider.ts";
import { erasure } from "../../../domain/delivery/erasure.ts";
import type { Bound } from "../../../domain/delivery/events.ts";
import { paidOf } from "../../../domain/delivery/state.ts";
import { statusOf } from "../../../domain/delivery/status.ts";
import type { Target } from "../../../domain/endpoint/target.ts";
import { specFor } from "../../support/given.ts";
import { at, deliveryFacts, heldFor } from "../../support/history.ts";

const test = suite("a delivery that is bound to a target");

const given = specFor(delivery);
const facts = deliveryFacts();

const SEEN: Target = {
  endpoint_id: "end_1",
  url: "https://seen.example/",
  headers: { "x-a": "d1", authorization: null },
};
const OTHER: Target = { ...SEEN, url: "https://other.example/" };
const boundTo = (target: Target): { readonly bound: Bound } => ({ bound: { target, action_version: null } });
const held = facts.held({}, boundTo(SEEN));
const released = facts.released(1);
const failed = facts.attemptFailed(1, 3, at(10));
const heldAgain = facts.heldAgain(11, true, boundTo(OTHER));
const tried = [held, released, facts.started(1, 2), failed] as const;

const start = (second: number, target?: Target): DeliveryCommand => ({
  ...{ type: "StartAttempt", endpointId: "end_1", trigger: "auto", node: "node_1", othersAreGone: false },
  ...{ at: at(second), leaseUntil: at(second + 30), ...(target === undefined ? {} : { target }) },
});
const holdAgain = (second: number): DeliveryCommand => ({
  ...{ type: "HoldAgain", approvalId: "apr_1", ...boundTo(OTHER) },
  ...{
    approval: heldFor({ approval_id: "apr_2", digest: "d2" }),
    node: "node_1",
    othersAreGone: false,
    at: at(second),
  },
});
const release: DeliveryCommand = { type: "Release", approvalId: "apr_2", digest: "d2", at: at(12) };

test("an attempt starts only with the target that was approved, and its record names it", () => {
  for (const target of [
    undefined,
    OTHER,
    { ...SEEN, headers: {} },
    { ...SEEN, headers: { ...SEEN.headers, "x-a": "d2" } },
  ])
    given(held, released).when(start(2, target)).rejects("target-changed");
  const started = facts.started(1, 2);
  given(held, released)
    .when(start(2, { ...SEEN, headers: { authorization: null, "x-a": "d1" } }))
    .then({ ...started, data: { ...started.data, target: SEEN } } as typeof started);
  given(facts.admitted()).when(start(2, OTHER)).then(facts.started(1, 2));
});

test("a delivery is held again between two attempts, and not during one or after its end", () => {
  given(...tried)
    .when(holdAgain(11))
    .then(heldAgain);
  given(held, released, facts.started(1, 2)).when(holdAgain(3)).rejects("leased");
  given(held, released, facts.started(1, 2))
    .when(holdAgain(40))
    .then(facts.heldAgain(40, true, boundTo(OTHER)));
  given(...tried, facts.failed(11))
    .when(holdAgain(12))
    .rejects("already-ended");
  given(facts.admitted()).when(holdAgain(11)).thenNothing();
  given(held)
    .when(holdAgain(11))
    .then(facts.heldAgain(11, false, boundTo(OTHER)));
  given(held, facts.holdEnded(2, "expired")).when(holdAgain(11)).rejects("not-held");
});

test("a node that finds the changed target later does nothing", () => {
  given(...tried, heldAgain)
    .when(holdAgain(12))
    .thenNothing();
  given(...tried, heldAgain, facts.releasedAgain(12, 1))
    .when(holdAgain(13))
    .thenNothing();
});

test("a bundle's step is not held again", () => {
  const step = facts.admitted({ ...boundTo(SEEN), bundle: { id: "bun_1", index: 0, undo: false } });
  given(step).when(start(2, OTHER)).rejects("target-changed");
  given(step).when(holdAgain(3)).thenNothing();
});

test("a delivery released again is due at once, goes on counting attempts, and costs nothing more", () => {
  given(...tried, heldAgain)
    .when(release)
    .then(facts.releasedAgain(12, 1));
  given(...tried, heldAgain)
    .when({ type: "Release", approvalId: "apr_1", digest: "d1", at: at(12) })
    .rejects("not-held");
  const state = fold(delivery, [...tried, heldAgain, facts.releasedAgain(12, 1)]);
  assert.ok(state.phase === "waiting");
  assert.equal([state.attempts, state.dueAt, state.releases], [1, at(12), ["apr_1", "apr_2"]]);
  assert.equal([statusOf(state), state.request.bound?.target], ["retrying", OTHER]);
  const second = delivery.decide(start(12, OTHER), state);
  assert.ok(second.ok && second.events[0]?.type === "AttemptStarted" && second.events[0].data.number === 2);
});

test("an attempt from before the second hold is counted when that hold ends", () => {
  const agents = { origin: { kind: "agent", id: "agt_1", name: "a", type: "agent" }, cost: 7, ledgers: ["l"] } as const;
  const past = [
    facts.held({}, { ...boundTo(SEEN), ...agents }),
    ...[released, facts.started(1, 2), failed, facts.heldAgain(11, true, { ...boundTo(OTHER), ...agents })],
  ];
  const state = fold(delivery, past);
  const ended = delivery.decide(
    { type: "EndHold", approvalId: "apr_2", outcome: "rejected", reason: "no", at: at(12) },
    state,
  );
  assert.ok(ended.ok);
  const [end, cost] = ended.events;
  assert.equal([end?.type, cost?.type === "CostDetermined" && cost.data.cost], ["HoldEnded", 7]);
  const after = fold(delivery, [...past, ...ended.events]);
  assert.ok(after.phase === "stopped");
  assert.equal([after.outcome, after.attempts, after.heldFor, after.releases], ["rejected", 1, "apr_2", ["apr_1"]]);
});

test("a late success ends the hold, because the receiver has the event", () => {
  const past = [held, released, facts.started(1, 2), facts.heldAgain(40, true, boundTo(OTHER))];
  const success = facts.succeeded(1, 41);
  assert.ok(success.type === "AttemptSucceeded");
  const done = delivery.decide({ type: "Succeed", end: success.data }, fold(delivery, past));
  assert.ok(done.ok);
  assert.equal(
    done.events.map(({ type }) => type),
    ["HoldWithdrawn", "AttemptSucceeded", "EventDelivered"],
  );
  const state = fold(delivery, [...past, ...done.events]);
  assert.is(statusOf(state), "delivered");
  assert.equal(delivery.decide(release, state), { ok: false, rejection: "already-admitted" });
});

test("a replaced approval ends the hold only by a rejection", () => {
  const end = (outcome: "expired" | "cancelled" | "rejected") =>
    ({ type: "EndHold", approvalId: "apr_1", outcome, reason: "said so", at: at(12) }) as const;
  const again = facts.heldAgain(11, false, { ...boundTo(OTHER), cost: null });
  given(held, again).when(end("expired")).thenNothing();
  given(held, again).when(end("cancelled")).thenNothing();
  given(held, again)
    .when(end("rejected"))
    .then(facts.holdEnded(12, "rejected", "apr_2"));
});

test("the cost before a replay stays known while the event is held again", () => {
  const paid = { event_id: "evt_1", ledgers: ["l"], estimate: 7, cost: 7, basis: "estimate", at: at(4) } as const;
  const state = fold(delivery, [
    ...[held, released, facts.started(1, 2), facts.attemptFailed(1, 3, null), facts.failed(3)],
    ...[{ type: "CostDetermined", data: paid } as const, facts.replayed(5), heldAgain],
  ]);
  assert.ok(state.phase === "held");
  assert.equal(paidOf(state), { ledgers: ["l"], cost: 7 });
});

test("the payload stays while the event is held again", () => {
  const past = [...tried, facts.failed(4), facts.replayed(5), heldAgain];
  const sweep = {
    type: "ErasePayload",
    eventId: "evt_1",
    reason: "aged",
    upTo: 0,
    endedUpTo: at(60),
    at: at(70),
  } as const;
  assert.equal(erasure.decide(sweep, fold(erasure, past)), { ok: false, rejection: "not-ended" });
});

test.run();
