import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AttemptEnd, FailureKind } from "../../../domain/delivery/attempt-end.ts";
import type { DeliveryCommand } from "../../../domain/delivery/commands.ts";
import { delivery } from "../../../domain/delivery/decider.ts";
import type { DeliveryEvent, Request, StepOutcome } from "../../../domain/delivery/events.ts";
import { type Delivery, stepEndOf } from "../../../domain/delivery/state.ts";
import { at, request } from "../../support/history.ts";

const test = suite("what becomes of a bundle's step");

const STEP: Partial<Request> = {
  origin: { kind: "agent", id: "agt_1", name: "helper", type: "agent" },
  bundle: { id: "bun_1", index: 2, undo: false },
  cost: 500,
};

const LEASE_S = 20;
type Start = Extract<DeliveryCommand, { type: "StartAttempt" }>;
const start = (number: number, over: Partial<Start> = {}): Start => ({
  type: "StartAttempt",
  endpointId: "end_1",
  trigger: "auto",
  node: "node_1",
  at: at(number * 100),
  leaseUntil: at(number * 100 + LEASE_S),
  othersAreGone: false,
  ...over,
});
const end = (number: number, status_code: number | null): AttemptEnd => ({
  event_id: "evt_1",
  endpoint_id: "end_1",
  number,
  at: at(number * 100 + 1),
  duration_ms: 1,
  status_code,
  timings_ms: { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 },
});
const succeed = (number: number, cost?: number): DeliveryCommand => ({
  type: "Succeed",
  end: { ...end(number, 200), status_code: 200, ...(cost === undefined ? {} : { cost_reported: cost }) },
});
type Failed = readonly [FailureKind, number | null];
const fail = (number: number, [kind, status]: Failed, isLast: boolean): DeliveryCommand => ({
  type: "Fail",
  end: end(number, status),
  failure: { kind, detail: "" },
  retryable: !isLast,
  nextAttemptAt: isLast ? null : at(number * 100 + 50),
});
const cancel = (second: number): DeliveryCommand => ({ type: "Cancel", reason: "rolled back", at: at(second) });
const giveUp = (second: number): DeliveryCommand => ({
  type: "GiveUp",
  failure: { kind: "endpoint-deleted", detail: "" },
  node: "node_1",
  othersAreGone: false,
  at: at(second),
});

/** All that is recorded, and the state that it leads to; refusals fail. */
const given = (asked: Partial<Request>, ...commands: readonly DeliveryCommand[]) => {
  let state: Delivery = delivery.initial;
  const events: DeliveryEvent[] = [];
  for (const command of [{ type: "Admit", request: request(asked) } as const, ...commands]) {
    const decision = delivery.decide(command, state);
    if (!decision.ok) throw new Error(`${command.type}: ${decision.rejection}`);
    events.push(...decision.events);
    state = decision.events.reduce(delivery.evolve, state);
  }
  return { events, state };
};

/** The outcome and the cost that the last record says, which the state knows from there on; null as long as it says none. */
const of = (...commands: readonly DeliveryCommand[]): readonly [StepOutcome, number | null] | null => {
  const { events, state } = given(STEP, ...commands);
  const ends = events.filter(({ type }) => type === "BundleStepEnded");
  const stepEnd = stepEndOf(state);
  const last = events.at(-1);
  if (last?.type !== "BundleStepEnded") {
    assert.equal([ends.length, stepEnd], [0, null]);
    return null;
  }
  const { outcome, cost, bundle, event_id, reported, never_sent } = last.data;
  const said = {
    ...(reported === undefined ? {} : { reported }),
    ...(never_sent === undefined ? {} : { neverSent: never_sent }),
  };
  assert.equal([ends.length, stepEnd], [1, { outcome, cost, ...said }]);
  assert.equal([bundle, event_id], [STEP.bundle, "evt_1"]);
  return [outcome, cost];
};

const REFUSED: Failed = ["http-4xx", 422];
const UNREACHED: Failed = ["connect", null];
const TIMEOUT: Failed = ["timeout", null];

test("a delivered step has succeeded, whatever its earlier attempts were", () => {
  assert.equal(of(start(1), succeed(1)), ["succeeded", 500]);
  assert.equal(of(start(1), succeed(1, 70)), ["succeeded", 70]);
  assert.equal(of(start(1), fail(1, TIMEOUT, false), start(2), succeed(2)), ["succeeded", 500]);
  assert.equal(of(start(1), start(2), succeed(2)), ["succeeded", 500]);
});

test("a step that was refused or never reached has failed", () => {
  const refusals: readonly (readonly [Failed, number | null])[] = [
    ...([400, 404, 409, 410, 422, 425, 429] as const).map((status) => [["http-4xx", status], 0] as const),
    ...([500, 501, 503, 507, 521, 523] as const).map((status) => [["http-5xx", status], 0] as const),
    ...(["dns", "connect", "tls", "blocked-address"] as const).map((kind) => [[kind, null], null] as const),
  ];
  for (const [failure, cost] of refusals)
    assert.equal(of(start(1), fail(1, failure, true)), ["failed", cost], failure[0]);
  assert.equal(of(start(1), fail(1, UNREACHED, false), start(2), fail(2, REFUSED, true)), ["failed", 0]);
  assert.equal(of(giveUp(5)), ["failed", null]);
  assert.equal(of(start(1), fail(1, UNREACHED, false), giveUp(200)), ["failed", null]);
});

test("without a success, one attempt that may have been executed makes the outcome unknown", () => {
  const unknown: readonly Failed[] = [
    ...([
      TIMEOUT,
      ["reset", null],
      ["response-too-large", 200],
      ["invalid-response", null],
      ["redirect", 302],
    ] as const),
    ...([
      ["http-4xx", 408],
      ["http-5xx", 502],
      ["http-5xx", 504],
      ["http-5xx", 520],
      ["http-5xx", 522],
      ["http-5xx", 524],
    ] as const),
  ];
  for (const failure of unknown) {
    assert.equal(of(start(1), fail(1, failure, true)), ["unknown", 500], `${failure}`);
    assert.equal(of(start(1), fail(1, failure, false), start(2), fail(2, REFUSED, true)), ["unknown", 500]);
    assert.equal(of(start(1), fail(1, REFUSED, false), start(2), fail(2, failure, true)), ["unknown", 500]);
  }
});

test("an attempt without a recorded end may have been executed", () => {
  assert.equal(of(start(1), start(2), fail(2, REFUSED, true)), ["unknown", 500]);
  const other = { node: "node_2", at: at(105), othersAreGone: true };
  assert.equal(of(start(1), start(1, other), fail(2, UNREACHED, true)), ["unknown", 500]);
  assert.equal(of(start(1), giveUp(130)), ["unknown", 500]);
});

test("a timeout before the connection is a failure without cost", () => {
  const unsent = (number: number, isLast: boolean, over: Partial<AttemptEnd> = {}): DeliveryCommand => ({
    type: "Fail",
    end: { ...end(number, null), unsent: true, ...over },
    failure: { kind: "timeout", detail: "" },
    retryable: !isLast,
    nextAttemptAt: isLast ? null : at(number * 100 + 50),
  });
  assert.equal(of(start(1), unsent(1, true)), ["failed", null]);
  assert.equal(of(start(1), unsent(1, false), start(2), fail(2, REFUSED, true)), ["failed", 0]);
  assert.equal(of(start(1), unsent(1, false), start(2), fail(2, TIMEOUT, true)), ["unknown", 500]);
  // Before that it was sent on another connection.
  assert.equal(of(start(1), unsent(1, true, { resent: true })), ["unknown", 500]);
});

test("a request that was sent twice may have been executed the first time, whatever the second answer is", () => {
  const resent = (number: number, [kind, status]: Failed, isLast: boolean): DeliveryCommand => ({
    type: "Fail",
    end: { ...end(number, status), resent: true },
    failure: { kind, detail: "" },
    retryable: !isLast,
    nextAttemptAt: isLast ? null : at(number * 100 + 50),
  });
  for (const failure of [UNREACHED, REFUSED]) {
    assert.equal(of(start(1), resent(1, failure, true)), ["unknown", 500], failure[0]);
    assert.equal(of(start(1), resent(1, failure, false), start(2), fail(2, UNREACHED, true)), ["unknown", 500]);
    assert.equal(of(start(1), resent(1, failure, false), cancel(160)), ["unknown", 500]);
  }
});

test("a cancelled step has the outcome that is known by then", () => {
  assert.equal(of(cancel(5)), ["failed", null]);
  assert.equal(of(start(1), fail(1, REFUSED, false), cancel(120)), ["failed", 0]);
  assert.equal(of(start(1), fail(1, TIMEOUT, false), cancel(120)), ["unknown", 500]);
  // The lease has run out.
  assert.equal(of(start(1), cancel(130)), ["unknown", 500]);

  assert.is(of(start(1), cancel(101)), null);
  assert.equal(of(start(1), cancel(101), fail(1, REFUSED, false)), ["failed", 0]);
  assert.equal(of(start(1), cancel(101), fail(1, TIMEOUT, false)), ["unknown", 500]);
  assert.equal(of(start(1), cancel(101), succeed(1)), ["succeeded", 500]);
  assert.equal(of(start(1), cancel(101), start(2)), ["unknown", 500]);
});

/** The last record of all. */
const ended = (asked: Partial<Request>, ...commands: readonly DeliveryCommand[]) => {
  const last = given(asked, ...commands).events.at(-1);
  return last?.type === "BundleStepEnded" ? last.data : undefined;
};

test("the end of a step says whether its cost was reported, and a refusal costs only what was reported", () => {
  const refused: DeliveryCommand = {
    type: "Fail",
    end: { ...end(1, 422), cost_reported: 30 },
    failure: { kind: "http-4xx", detail: "" },
    retryable: false,
    nextAttemptAt: null,
  };
  for (const [commands, cost, reported] of [
    [[start(1), succeed(1)], 500, undefined],
    [[start(1), succeed(1, 70)], 70, true],
    [[start(1), refused], 30, true],
    [[start(1), fail(1, REFUSED, true)], 0, undefined],
  ] as const) {
    const it = ended(STEP, ...commands);
    assert.equal([it?.cost, it?.reported], [cost, reported]);
  }
  const undo = { ...STEP, bundle: { id: "bun_1", index: 2, undo: true }, cost: null };
  assert.equal(
    [ended(undo, start(1), succeed(1, -70))].map((it) => [it?.cost, it?.reported]),
    [[-70, true]],
  );
});

test("a step cancelled before any attempt was never sent", () => {
  assert.is(ended(STEP, cancel(5))?.never_sent, true);
  for (const commands of [
    [start(1), cancel(130)],
    [start(1), fail(1, UNREACHED, false), cancel(130)],
    // Not for want of trying.
    [giveUp(5)],
  ])
    assert.is(ended(STEP, ...commands)?.never_sent, undefined);
});

test("only the end of a step records its cost", () => {
  const { events } = given(STEP, start(1), succeed(1, 70));
  assert.not(events.some(({ type }) => type === "CostDetermined"));
});

test("an undo without a reported cost costs nothing, and a delivery without a step records no step's end", () => {
  const undo = { ...STEP, bundle: { id: "bun_1", index: 2, undo: true }, cost: null };
  const { events } = given(undo, start(1), succeed(1));
  const last = events.at(-1);
  assert.equal(last?.type === "BundleStepEnded" ? [last.data.cost, last.data.bundle.undo] : null, [0, true]);
  assert.not(events.some(({ type }) => type === "CostDetermined"));

  const { bundle: _, ...ordinary } = STEP;
  for (const asked of [ordinary, {}]) {
    const { events, state } = given(asked, start(1), succeed(1));
    assert.not(events.some(({ type }) => type === "BundleStepEnded"));
    assert.is(stepEndOf(state), null);
  }
});

test.run();
