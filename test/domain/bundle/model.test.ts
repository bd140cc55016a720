import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { BundleEvent, Step } from "../../../domain/bundle/events.ts";
import { bundleStatus, stepStatuses, stepsToUndoByHand } from "../../../domain/bundle/status.ts";
import type { DeliveryEvent } from "../../../domain/delivery/events.ts";
import type { LedgerCommand } from "../../../domain/ledger/commands.ts";
import { decideLedger } from "../../../domain/ledger/decider.ts";
import type { LedgerEvent } from "../../../domain/ledger/events.ts";
import { emptyLedger, evolveLedger } from "../../../domain/ledger/state.ts";
import { START } from "../../support/history.ts";
import { type Attempt, type Played, play, type Scene, type Target } from "./simulation.ts";

const test = suite("a bundle, whatever happens");

const attempt = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Attempt>("done") },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Attempt[]>(
      "refused",
      "gone",
      "unreached",
      "unseen",
      "unseen-done",
      "gateway",
      "gateway-done",
    ),
  },
);
const rarely = fc.integer({ min: 0, max: 29 }).map((nth) => nth === 29);
/** `least`: an undo may give back, and say more than it has to. */
const target = (least: number): fc.Arbitrary<Target> =>
  fc.record({
    attempts: fc.array(attempt, { minLength: 1, maxLength: 3 }),
    reported: fc.option(fc.integer({ min: least, max: 900 }), { freq: 2 }),
    deletedAtS: fc.oneof(
      { weight: 14, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 150 }) },
    ),
  });
const step = fc.record({
  // Irreversible ones come last, below.
  reversibility: fc.constantFrom("compensable", "compensable", "compensable", "reversible" as const),
  isReversibleByAction: fc.boolean(),
  cost: fc.option(fc.integer({ min: 0, max: 1_000 }), { freq: 4 }),
  isRefused: rarely,
  forward: target(0),
  undo: target(-1_200),
});

const scene: fc.Arbitrary<Scene> = fc
  .record({
    steps: fc.array(step, { minLength: 1, maxLength: 6 }),
    isLastIrreversible: fc.boolean(),
    decision: fc.constantFrom("admit", "admit", "admit", "release", "release", "reject" as const),
    cancelAfter: fc.option(fc.nat(30), { freq: 1 }),
    schedule: fc.array(fc.record({ turn: fc.nat(5), crash: fc.integer({ min: 0, max: 9 }).map((nth) => nth === 9) }), {
      maxLength: 300,
      size: "max",
    }),
  })
  .map(({ isLastIrreversible, steps, ...rest }) => {
    const last = isLastIrreversible ? steps.length - 1 : -1;
    return {
      ...rest,
      steps: steps.map((it, index) => (index === last ? { ...it, reversibility: "irreversible" as const } : it)),
    };
  });

const RUNS = 1_500;

const always = (check: (played: Played, scene: Scene) => void): void =>
  fc.assert(
    fc.property(scene, (it) => check(play(it), it)),
    { numRuns: RUNS },
  );

type DataOf<T extends BundleEvent["type"]> = Extract<BundleEvent, { type: T }>["data"];
/** An event's type says what its data are. */
const dataOf = <T extends BundleEvent["type"]>(events: readonly BundleEvent[], type: T): readonly DataOf<T>[] =>
  events.filter((event) => event.type === type).map((event) => event.data as DataOf<T>);

const ENDS: readonly BundleEvent["type"][] = [
  "BundleHoldEnded",
  "BundleCommitted",
  "BundleRolledBack",
  "RollbackIncomplete",
];

test("a bundle ends once, with the end that fits its steps, and nothing stays open", () =>
  always(({ state, events }) => {
    const status = bundleStatus(state);
    assert.ok(["committed", "rolled_back", "rollback_incomplete", "cancelled"].includes(status), status);
    assert.is(events.filter(({ type }) => ENDS.includes(type)).length, 1);
    assert.ok(ENDS.includes(events.at(-2)?.type ?? "BundleAdmitted"));
    assert.is(events.at(-1)?.type, "BundleCostDetermined");
    for (const it of stepStatuses(state)) assert.not(it === "pending" || it === "running", it);
    assert.is(stepsToUndoByHand(state).length > 0, status === "rollback_incomplete");
  }));

test("every started step is committed or has exactly one undo outcome, in reverse order of the starts", () =>
  always(({ events, state }) => {
    const started = dataOf(events, "StepStarted").map(({ index }) => index);
    assert.equal(
      started,
      started.map((_, nth) => nth),
      "started in order, each once",
    );
    const undone = dataOf(events, "StepUndone").map(({ index }) => index);
    if (bundleStatus(state) === "committed") {
      assert.equal(undone, []);
      assert.equal(
        dataOf(events, "StepEnded").map(({ index, outcome }) => [index, outcome]),
        stepStatuses(state).map((_, index) => [index, "succeeded"]),
      );
    } else assert.equal(undone, started.toReversed());
    // Registered before it is sent, and one at a time: the undo before it has ended.
    const order = events.flatMap((event) =>
      event.type === "UndoStarted" || event.type === "StepUndone" ? [event.data.index] : [],
    );
    assert.equal(
      order,
      order.toSorted((a, b) => b - a),
    );
  }));

/** What stands at the targets in the end. */
const standing = ({ effects, request }: Played, { event_id, undo_event_id }: Step): boolean => {
  const [done, undone] = [event_id, undo_event_id].map((id) => effects.find(({ webhookId }) => webhookId === id));
  if (done !== undefined && undone !== undefined) assert.ok(done.nth < undone.nth, request.bundle_id);
  return done !== undefined && undone === undefined;
};

test("all steps stand, or none, or exactly those that the bundle names", () =>
  always((played) => {
    const { state, request, effects } = played;
    const status = bundleStatus(state);
    const left = new Set(stepsToUndoByHand(state).map(({ index }) => index));
    for (const one of request.steps) {
      const stands = standing(played, one);
      if (status === "committed") assert.ok(stands, `step ${one.index} is not done`);
      // Nothing of it has to be taken back.
      else if (one.reversibility === "reversible" && one.compensation === null) continue;
      else if (stands) assert.ok(left.has(one.index), `step ${one.index} stands`);
    }
    const ids = effects.map(({ webhookId }) => webhookId);
    assert.is(new Set(ids).size, ids.length);
    const known = new Set(request.steps.flatMap(({ event_id, undo_event_id }) => [event_id, undo_event_id]));
    for (const id of ids) assert.ok(known.has(id), "each step and each undo has one webhook-id");
  }));

type Spent = { readonly said: number | null; readonly isRefused: boolean };

/** What a target has said of its cost by what was written of its attempts, whatever was made of that; null when none can have arrived. */
const spentBy = (events: readonly DeliveryEvent[], { reported }: Target): Spent | null => {
  const ends = events.flatMap((event) => {
    if (event.type === "AttemptSucceeded") return [{ number: event.data.number, arrived: true, answered: true }];
    if (event.type !== "AttemptFailed") return [];
    const { number, failure, status_code } = event.data;
    return [{ number, arrived: failure.kind !== "connect", answered: [422, 410].includes(status_code ?? 0) }];
  });
  const arrived = events.some(
    (event) =>
      event.type === "AttemptStarted" && (ends.find(({ number }) => number === event.data.number)?.arrived ?? true),
  );
  if (!arrived) return null;
  const isRefused = events.some(({ type, data }) => type === "BundleStepEnded" && data.outcome === "failed");
  return { said: ends.some(({ answered }) => answered) ? reported : null, isRefused };
};

/** What was said counts whatever came of it, an estimate only of what was done and stands; an undo gives back no more than that. */
const spentOn = (step: Spent | null, undo: Spent | null, estimate: number | null, isTakenBack: boolean): number => {
  const isFree = step === null || step.isRefused || isTakenBack;
  return Math.max(0, (step?.said ?? (isFree ? 0 : (estimate ?? 0))) + (undo?.said ?? 0));
};

test("the ledger is settled once, at the real cost", () =>
  always(({ events, request, state, deliveryOf }, { steps }) => {
    const undone = new Map(dataOf(events, "StepUndone").map(({ index, outcome }) => [index, outcome]));
    const costs = request.steps.map(({ index, event_id, undo_event_id }) => {
      const scripted = steps[index];
      assert.ok(scripted);
      const step = spentBy(deliveryOf(event_id), scripted.forward);
      const undo = spentBy(deliveryOf(undo_event_id), scripted.undo);
      const isReached = step !== null || undo !== null;
      return { isReached, cost: spentOn(step, undo, scripted.cost, undone.get(index) === "compensated") };
    });
    const sum = costs.reduce((all, { cost }) => all + cost, 0);
    const expected = costs.some(({ isReached }) => isReached) ? sum : null;
    const determined = dataOf(events, "BundleCostDetermined");
    assert.equal(
      determined.map(({ cost, estimate, ledgers }) => ({ cost, estimate, ledgers })),
      [{ cost: expected, estimate: request.cost, ledgers: request.ledgers ?? [] }],
    );
    const statuses = stepStatuses(state);
    if (dataOf(events, "BundleHoldEnded").length === 0)
      assert.equal(
        determined[0]?.steps,
        costs.map(({ cost }, index) => (statuses[index] === "skipped" ? null : cost)),
      );

    const ledger = emptyLedger();
    const stream: LedgerEvent[] = [];
    const send = (command: LedgerCommand): void => {
      for (const event of decideLedger(ledger, [command], START).events) {
        evolveLedger(ledger, event, stream.length);
        stream.push(event);
      }
    };
    const event = request.bundle_id;
    send({ type: "Reserve", event, cost: request.cost ?? 0, places: steps.length, limits: {} });
    for (const { cost } of determined) {
      send(cost === null ? { type: "Release", event, upTo: 1 } : { type: "Settle", event, cost });
    }
    assert.equal(
      [ledger.reserved, ledger.settled, ledger.open.size, ledger.settledCount],
      [0, expected ?? 0, 0, expected === null ? 0 : steps.length],
    );
  }));

test("the simulated bundles reach every end and every undo outcome", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(scene, (it) => {
      const { state, events } = play(it);
      seen.add(bundleStatus(state));
      for (const { outcome } of dataOf(events, "StepUndone")) seen.add(outcome);
      for (const { outcome } of dataOf(events, "StepEnded")) seen.add(outcome);
      for (const it of stepStatuses(state)) seen.add(it);
    }),
    { numRuns: RUNS, seed: 7 },
  );
  const expected = [
    ...["committed", "rolled_back", "rollback_incomplete", "cancelled"],
    ...["compensated", "not-needed", "failed", "impossible", "succeeded", "unknown", "compensation_failed", "skipped"],
  ];
  for (const one of expected) assert.ok(seen.has(one), one);
});

test.run();
