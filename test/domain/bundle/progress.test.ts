import { suite } from "uvu";
import * as assert from "uvu/assert";
import { bundle } from "../../../domain/bundle/decider.ts";
import type { BundleEvent } from "../../../domain/bundle/events.ts";
import { nextOf } from "../../../domain/bundle/next.ts";
import type { Bundle } from "../../../domain/bundle/state.ts";
import { bundleStatus, stepStatuses, stepsToUndoByHand } from "../../../domain/bundle/status.ts";
import { fold } from "../../../domain/decider.ts";
import { bundleFacts, bundleStep } from "../../support/history.ts";

const test = suite("how far a bundle is, and what comes next");
const is = bundleFacts();

const after = (...past: readonly BundleEvent[]): Bundle => fold(bundle, past);
const shown = (state: Bundle) => [bundleStatus(state), ...stepStatuses(state)];
/** What it says, and what comes next, after each of these facts. */
const told = (...past: readonly (readonly [BundleEvent, string, ...(string | number)[]])[]): void => {
  for (const [at, [, ...expected]] of past.entries()) {
    const state = after(...past.slice(0, at + 1).map(([fact]) => fact));
    const next = nextOf(state);
    assert.equal([...shown(state), next.do, ...("index" in next ? [next.index] : [])], expected);
  }
};

test("a bundle goes from step to step to its end", () =>
  told(
    [is.admitted(), "running", "pending", "pending", "start", 0],
    [is.started(0, 1), "running", "running", "pending", "admit", 0],
    [is.ended(0, 2, "succeeded"), "running", "succeeded", "pending", "start", 1],
    [is.started(1, 3), "running", "succeeded", "running", "admit", 1],
    [is.ended(1, 4, "succeeded"), "running", "succeeded", "succeeded", "nothing"],
    [is.committed(4), "committed", "succeeded", "succeeded", "nothing"],
  ));

test("a bundle cancelled during a step goes back from undo to undo", () =>
  told(
    [
      is.admitted({ steps: [0, 1, 2].map((index) => bundleStep(index)) }),
      "running",
      "pending",
      "pending",
      "pending",
      "start",
      0,
    ],
    [is.started(0, 1), "running", "running", "pending", "pending", "admit", 0],
    [is.ended(0, 2, "succeeded"), "running", "succeeded", "pending", "pending", "start", 1],
    [is.started(1, 3), "running", "succeeded", "running", "pending", "admit", 1],
    [is.rollback(4), "rolling_back", "succeeded", "running", "skipped", "cancel-step", 1],
    [is.ended(1, 5, "unknown"), "rolling_back", "succeeded", "unknown", "skipped", "undo", 1],
    [is.undoing(1, 6), "rolling_back", "succeeded", "unknown", "skipped", "admit-undo", 1],
    [is.undone(1, 7, "failed"), "rolling_back", "succeeded", "compensation_failed", "skipped", "undo", 0],
    [is.undoing(0, 8), "rolling_back", "succeeded", "compensation_failed", "skipped", "admit-undo", 0],
    [is.undone(0, 9, "compensated", 0), "rolling_back", "compensated", "compensation_failed", "skipped", "nothing"],
    [is.incomplete(9, 1), "rollback_incomplete", "compensated", "compensation_failed", "skipped", "nothing"],
    [is.resolved(1, 60), "rolled_back", "compensated", "compensated", "skipped", "nothing"],
  ));

test("a hold waits for people", () => {
  told(
    [is.held(), "held", "pending", "pending", "wait"],
    [is.released(5), "running", "pending", "pending", "start", 0],
  );
  told(
    [is.held(), "held", "pending", "pending", "wait"],
    [is.holdEnded(5, "rejected"), "cancelled", "skipped", "skipped", "nothing"],
  );
});

test("a refused bundle has no steps to run", () => {
  told(
    [is.blocked(), "blocked", "skipped", "skipped", "nothing"],
    [is.abandoned(1), "blocked", "skipped", "skipped", "nothing"],
  );
  assert.equal(shown(after()), ["blocked"]);
  assert.is(nextOf(after()).do, "nothing");
});

test("after a rollback a failed step is failed, a reversible one compensated, and one that nothing undoes unknown", () => {
  const started = [is.admitted(), is.started(0, 1)];
  const first = (...more: readonly BundleEvent[]) => stepStatuses(after(...started, ...more))[0];
  assert.is(first(is.ended(0, 2, "failed"), is.rollback(2, 0), is.undone(0, 2, "not-needed")), "failed");
  assert.is(first(is.ended(0, 2, "succeeded"), is.rollback(2), is.undone(0, 2, "not-needed")), "compensated");
  assert.is(first(is.ended(0, 2, "unknown"), is.rollback(2), is.undone(0, 2, "impossible")), "unknown");
});

test("a step that was refused or cancelled before any attempt is skipped", () => {
  const refused = after(is.admitted(), is.refused(0, 1), is.rollback(1, 0), is.rolledBack(1));
  assert.equal(shown(refused), ["rolled_back", "skipped", "skipped"]);
  const unsent = [
    is.admitted(),
    is.started(0, 1),
    is.rollback(1),
    is.ended(0, 2, "failed", null, { never_sent: true }),
  ];
  assert.equal(shown(after(...unsent)), ["rolling_back", "skipped", "skipped"]);
  assert.equal(shown(after(...unsent, is.undone(0, 2, "not-needed"), is.rolledBack(2)))[1], "skipped");
});

test("a step to undo by hand is named with the reason", () => {
  const alone = bundleStep(1, { reversibility: "irreversible", compensation: null });
  const state = after(
    ...[is.admitted({ steps: [bundleStep(0), alone] }), is.started(0, 1), is.ended(0, 2, "succeeded")],
    ...[is.started(1, 3), is.ended(1, 4, "unknown"), is.rollback(4, 1), is.undone(1, 4, "impossible")],
    ...[is.undoing(0, 5), is.undone(0, 6, "failed"), is.incomplete(6, 0, 1)],
  );
  assert.equal(stepsToUndoByHand(state), [
    { index: 0, action: "act.0", why: "Its compensation undo.0 did not succeed." },
    { index: 1, action: "act.1", why: "Nothing takes it back, and it may have done what it was asked." },
  ]);
  assert.equal(stepsToUndoByHand(after(is.held())), []);
});

test.run();
