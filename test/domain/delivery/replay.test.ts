import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fold } from "../../../domain/decider.ts";
import type { AttemptEnd } from "../../../domain/delivery/attempt-end.ts";
import type { DeliveryCommand, ReplayCommand } from "../../../domain/delivery/commands.ts";
import { delivery } from "../../../domain/delivery/decider.ts";
import type { DeliveryEvent, Request } from "../../../domain/delivery/events.ts";
import { attemptOfSchedule, REPLAYS_MAX, triggerOf } from "../../../domain/delivery/replay.ts";
import { attemptableAt, type Delivery, isActive } from "../../../domain/delivery/state.ts";
import { specFor } from "../../support/given.ts";
import { at, deliveryFacts, SERVER_ERROR } from "../../support/history.ts";
import { words } from "../../support/personal-words.ts";

const given = specFor(delivery);
const is = deliveryFacts();
const BY = { kind: "member", id: "mem_1" } as const;
const AGENT = { kind: "agent", id: "agt_1", name: "refunds", type: "agent" } as const;

const replay = (second: number, id = "rpl_1", places: ReplayCommand["places"] = null): ReplayCommand => ({
  type: "Replay",
  replay: { id, by: BY, reason: words("mended") },
  places,
  at: at(second),
});
type Replayed = Extract<DeliveryEvent, { type: "EventReplayed" }>;
const replayed = (second: number, over: Partial<Replayed["data"]> = {}): Replayed => ({
  type: "EventReplayed",
  data: {
    event_id: "evt_1",
    endpoint_id: "end_1",
    replay_id: "rpl_1",
    by: BY,
    reason: words("mended"),
    attempts: 1,
    admitted_at: at(0),
    at: at(second),
    ...over,
  },
});
const start = (second: number, node = "node_1"): DeliveryCommand => ({
  type: "StartAttempt",
  endpointId: "end_1",
  trigger: "replay",
  node,
  at: at(second),
  leaseUntil: at(second + 30),
  othersAreGone: false,
});
const giveUp = (second: number): DeliveryCommand => ({
  type: "GiveUp",
  failure: SERVER_ERROR,
  node: "node_1",
  othersAreGone: false,
  at: at(second),
});
const end = (number: number, second: number, over: Partial<AttemptEnd> = {}): AttemptEnd & { status_code: number } => ({
  event_id: "evt_1",
  endpoint_id: "end_1",
  number,
  at: at(second),
  duration_ms: 5,
  timings_ms: { dns: 0, connect: 0, tls: 0, first_byte: 4, total: 5 },
  ...over,
  status_code: 200,
});
const stateOf = (...events: readonly DeliveryEvent[]): Delivery => fold(delivery, events);
const activeState = (...events: readonly DeliveryEvent[]) => {
  const state = stateOf(...events);
  if (!isActive(state)) throw new Error(state.phase);
  return state;
};

/** One attempt, and no other is planned. */
const failed = [is.admitted(), is.started(1, 1), is.attemptFailed(1, 2, null), is.failed(2)];

const test = suite("replay of a delivery");

test("a failed delivery begins anew, due at once, under its own id", () => {
  given(...failed)
    .when(replay(60))
    .then(replayed(60));
  const state = activeState(...failed, replayed(60));
  assert.equal([attemptableAt(state), state.attempts, state.admittedAt], [at(60), 1, at(0)]);
});

test("the same replay again changes nothing, and another one replays a delivery that has failed again", () => {
  const again = [...failed, replayed(60)];
  given(...again)
    .when(replay(61))
    .thenNothing();
  given(...again)
    .when(replay(61, "rpl_2"))
    .rejects("in-progress");
  const twice = [...again, is.started(2, 61), is.attemptFailed(2, 62, null), is.failed(62)];
  given(...twice)
    .when(replay(70))
    .thenNothing();
  given(...twice)
    .when(replay(70, "rpl_2"))
    .then(replayed(70, { replay_id: "rpl_2", attempts: 2 }));
});

test("an earlier replay that is given again changes nothing, in whichever state the delivery is", () => {
  const twice = [
    ...[...failed, replayed(60), is.started(2, 61), is.attemptFailed(2, 62, null), is.failed(62)],
    ...[replayed(70, { replay_id: "rpl_2" }), is.started(3, 71), is.attemptFailed(3, 72, null), is.failed(72)],
  ];
  const by = (id: string) => ({ replay: { id, by: BY, reason: words("mended") } });
  const held = [is.blocked(), is.blocked(by("rpl_1")), is.held({}, by("rpl_2"))];
  for (const past of [
    twice,
    held,
    [...held, is.released(60)],
    [...held, is.holdEnded(60, "rejected")],
    [is.blocked(by("rpl_1")), is.admitted(by("rpl_2"))],
  ])
    given(...past)
      .when(replay(80))
      .thenNothing();
});

test("only a failed delivery that is not erased and of no bundle is replayed", () => {
  const delivered = [is.admitted(), is.started(1, 1), is.succeeded(1, 2), is.delivered(2)];
  given(...delivered)
    .when(replay(60))
    .rejects("already-delivered");
  for (const past of [
    [is.admitted()],
    [is.admitted(), is.started(1, 1)],
    [is.admitted(), is.started(1, 1), is.attemptFailed(1, 2, at(9))],
    [is.held()],
  ])
    given(...past)
      .when(replay(60))
      .rejects("in-progress");
  for (const past of [
    [is.held(), is.holdEnded(5, "rejected")],
    [is.held(), is.holdEnded(5, "expired")],
    [is.admitted(), is.cancelled(5)],
    [is.admitted({ endpoint_id: null })],
  ])
    given(...past)
      .when(replay(60))
      .rejects("not-failed");
  given().when(replay(60)).rejects("not-admitted");
  given(is.blocked()).when(replay(60)).rejects("not-admitted");
  given(...failed, is.erased(5))
    .when(replay(60))
    .rejects("payload-erased");
  const bundle = { id: "bun_1", index: 0, undo: false };
  given(is.admitted({ bundle }), ...failed.slice(1))
    .when(replay(60))
    .rejects("of-bundle");
});

test("attempts go on counting, the first of a replay is the replay's, and the schedule begins anew", () => {
  const waiting = activeState(...failed, replayed(60));
  assert.is(triggerOf(waiting), "replay");
  const tried = activeState(...failed, replayed(60), is.started(2, 60), is.attemptFailed(2, 61, at(66)));
  assert.equal([triggerOf(tried), attemptOfSchedule(tried)], ["auto", 1]);
  assert.is(triggerOf(activeState(is.admitted())), "auto");
  const blocked = activeState(is.blocked(), is.admitted({ replay: { id: "rpl_1", by: BY, reason: null } }));
  assert.is(triggerOf(blocked), "replay");
});

test("the ends of a replay name it, and the time to the delivery is counted from it", () => {
  const running = [...failed, replayed(60), is.started(2, 60)];
  given(...running)
    .when({ type: "Succeed", end: end(2, 61) })
    .then(
      { type: "AttemptSucceeded", data: end(2, 61) },
      {
        type: "EventDelivered",
        data: { event_id: "evt_1", endpoint_id: "end_1", admitted_at: at(60), replay_id: "rpl_1", at: at(61) },
      },
    );
  given(...failed, replayed(60))
    .when(giveUp(61))
    .then({
      type: "DeliveryFailed",
      data: { event_id: "evt_1", endpoint_id: "end_1", failure: SERVER_ERROR, replay_id: "rpl_1", at: at(61) },
    });
  const replayOfBlocked = { id: "rpl_9", by: BY, reason: null };
  given(is.held({}, { replay: replayOfBlocked, cost: null }))
    .when({ type: "EndHold", outcome: "expired", reason: "said so", at: at(9) })
    .then({
      type: "HoldEnded",
      data: {
        event_id: "evt_1",
        approval_id: "apr_1",
        outcome: "expired",
        reason: "said so",
        replay_id: "rpl_9",
        at: at(9),
      },
    });
});

const asked = (over: Partial<Request> = {}): DeliveryEvent =>
  is.admitted({ origin: AGENT, cost: 2_000_000, ledgers: ["ledger-pol_1-2026-03-01"], ...over });
const refusedConnection = (second: number): DeliveryEvent => ({
  type: "AttemptFailed",
  data: {
    ...end(1, second),
    status_code: null,
    failure: { kind: "connect", detail: "refused" },
    retryable: true,
    next_attempt_at: null,
  },
});
const determined = (second: number, cost: number | null): DeliveryEvent => ({
  type: "CostDetermined",
  data: {
    event_id: "evt_1",
    ledgers: ["ledger-pol_1-2026-03-01"],
    estimate: 2_000_000,
    cost,
    basis: cost === null ? "not-reached" : "estimate",
    at: at(second),
  },
});
const notReached = [asked(), is.started(1, 1), refusedConnection(2), is.failed(2), determined(2, null)];
const reached = [asked(), is.started(1, 1), is.attemptFailed(1, 2, null), is.failed(2), determined(2, 2_000_000)];
const places = { ledgers: ["ledger-pol_1-2026-03-09"], cost: 3_000_000 };

test("a request that gave its places back needs them again for a replay, and settles them by its cost", () => {
  given(...notReached)
    .when(replay(60))
    .rejects("places-needed");
  const event = replayed(60, places);
  given(...notReached)
    .when(replay(60, "rpl_1", places))
    .then(event);
  given(...notReached, event, is.started(2, 60))
    .when({ type: "Succeed", end: end(2, 61) })
    .then(
      { type: "AttemptSucceeded", data: end(2, 61) },
      {
        type: "EventDelivered",
        data: { event_id: "evt_1", endpoint_id: "end_1", admitted_at: at(60), replay_id: "rpl_1", at: at(61) },
      },
      {
        type: "CostDetermined",
        data: {
          event_id: "evt_1",
          ledgers: places.ledgers,
          estimate: places.cost,
          cost: places.cost,
          basis: "estimate",
          at: at(61),
        },
      },
    );
});

test("a replay that dies between its places and its record is fenced", () => {
  const fence: DeliveryCommand = { type: "Abandon", eventId: "evt_1", at: at(60) };
  const fenced: DeliveryEvent = { type: "AdmissionAbandoned", data: { event_id: "evt_1", at: at(60) } };
  given(...notReached)
    .when(fence)
    .then(fenced);
  given(...notReached, fenced)
    .when(replay(61, "rpl_1", places))
    .then(replayed(61, places));
  given(...notReached, replayed(60, places))
    .when(fence)
    .rejects("already-admitted");
  given(...reached)
    .when(fence)
    .rejects("already-admitted");
});

test("a replay adds only the reported cost beyond what was counted before", () => {
  const event = replayed(60, { cost: 0, ledgers: [], counted: 2_000_000 });
  given(...reached)
    .when(replay(60))
    .then(event);
  const success = (reported?: number) => end(2, 61, reported === undefined ? {} : { cost_reported: reported });
  const delivered: DeliveryEvent = {
    type: "EventDelivered",
    data: { event_id: "evt_1", endpoint_id: "end_1", admitted_at: at(60), replay_id: "rpl_1", at: at(61) },
  };
  const running = [...reached, event, is.started(2, 60)];
  for (const reported of [undefined, 1_500_000, 2_000_000])
    given(...running)
      .when({ type: "Succeed", end: success(reported) })
      .then({ type: "AttemptSucceeded", data: success(reported) }, delivered);
  given(...running)
    .when({ type: "Succeed", end: success(5_000_000) })
    .then({ type: "AttemptSucceeded", data: success(5_000_000) }, delivered, {
      type: "CostDetermined",
      data: {
        event_id: "evt_1",
        ledgers: [],
        estimate: 0,
        cost: 3_000_000,
        basis: "reported",
        counted: 2_000_000,
        replay_id: "rpl_1",
        policy_ids: ["pol_1"],
        at: at(61),
      },
    });
});

const second = fc.integer({ min: 0, max: 200 });
const anyCommand: fc.Arbitrary<DeliveryCommand> = fc.oneof(
  fc.tuple(second, fc.constantFrom("rpl_1", "rpl_2", "rpl_3")).map(([s, id]) => replay(s, id, places)),
  second.map((s) => start(s)),
  second.map((s): DeliveryCommand => ({ type: "Abandon", eventId: "evt_1", at: at(s) })),
  fc
    .tuple(fc.integer({ min: 1, max: 6 }), second)
    .map(([n, s]): DeliveryCommand => ({ type: "Succeed", end: end(n, s) })),
  fc.tuple(fc.integer({ min: 1, max: 6 }), second, fc.boolean(), fc.boolean()).map(
    ([n, s, isLast, isUnsent]): DeliveryCommand => ({
      type: "Fail",
      end: end(n, s),
      failure: isUnsent ? { kind: "connect", detail: "refused" } : SERVER_ERROR,
      retryable: true,
      nextAttemptAt: isLast ? null : at(s + 5),
    }),
  ),
  second.map(giveUp),
  second.map((s): DeliveryCommand => ({ type: "Cancel", reason: "stop", at: at(s) })),
);

test("in any order of commands, each replay takes effect once, and only on a failed delivery", () => {
  fc.assert(
    fc.property(fc.constantFrom(is.admitted(), asked()), fc.array(anyCommand, { maxLength: 40 }), (first, commands) => {
      let state = stateOf(first);
      const events: DeliveryEvent[] = [];
      for (const command of commands) {
        const decision = delivery.decide(command, state);
        if (!decision.ok) continue;
        if (decision.events.some(({ type }) => type === "EventReplayed")) {
          assert.is(state.phase, "failed");
        }
        events.push(...decision.events);
        state = decision.events.reduce(delivery.evolve, state);
      }
      const types = events.map(({ type }) => type);
      const ids = events.flatMap((it) => (it.type === "EventReplayed" ? [it.data.replay_id] : []));
      assert.is(new Set(ids).size, ids.length, "one replay of an id");
      const ends = events.flatMap((it) =>
        it.type === "EventDelivered" || it.type === "DeliveryFailed" || it.type === "EventCancelled"
          ? [it.data.replay_id ?? ""]
          : [],
      );
      assert.is(new Set(ends).size, ends.length, "each ends once");
      const over = types.findIndex((type) => type === "EventDelivered" || type === "EventCancelled");
      if (over !== -1)
        assert.equal(
          types.slice(over + 1).filter((type) => type !== "CostDetermined"),
          [],
        );
      const numbers = events.flatMap((it) => (it.type === "AttemptStarted" ? [it.data.number] : []));
      assert.equal(
        numbers,
        numbers.map((_, index) => index + 1),
      );
    }),
    { numRuns: 3_000 },
  );
});

test("one event has a maximum number of replays", () => {
  const failed = [is.admitted(), is.started(1, 1), is.attemptFailed(1, 2, null), is.failed(2)];
  const times = (count: number) =>
    Array.from({ length: count }, (_, n) => [
      replayed(3, { replay_id: `rpl_${n}`, attempts: n + 1 }),
      is.started(n + 2, 3, "replay"),
      is.attemptFailed(n + 2, 4, null),
      is.failed(4),
    ]).flat();
  given(...failed, ...times(REPLAYS_MAX - 1))
    .when(replay(5, "rpl_last"))
    .then(replayed(5, { replay_id: "rpl_last", attempts: REPLAYS_MAX }));
  given(...failed, ...times(REPLAYS_MAX))
    .when(replay(5, "rpl_last"))
    .rejects("too-often");
  given(...failed, ...times(REPLAYS_MAX))
    .when(replay(5, `rpl_${REPLAYS_MAX - 1}`))
    .thenNothing();
});

test("a payload that was missing before a replay does not end the replay", () => {
  const before = [is.admitted(), is.started(1, 1), is.attemptFailed(1, 2, null), is.failed(2)];
  const found = (inReplay: string | null) => ({ ...giveUp(9), inReplay }) as DeliveryCommand;
  given(...before, replayed(5))
    .when(found(null))
    .rejects("in-progress");
  given(...before, replayed(5, { replay_id: "rpl_2" }))
    .when(found("rpl_1"))
    .rejects("in-progress");
  const decision = delivery.decide(found("rpl_1"), fold(delivery, [...before, replayed(5)]));
  assert.equal(decision.ok && decision.events.map(({ type }) => type), ["DeliveryFailed"]);
});

test.run();
