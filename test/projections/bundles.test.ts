import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { BundleEvent } from "../../domain/bundle/events.ts";
import { type BundleDocument, bundles } from "../../projections/bundles.ts";
import { at, bundleFacts, bundleRequest, bundleStep, history } from "../support/history.ts";
import { words } from "../support/personal-words.ts";
import { folded } from "../support/projected.ts";

const test = suite("bundles view");

const is = bundleFacts();

const after = (...facts: readonly BundleEvent[]): BundleDocument => {
  const log = history();
  for (const fact of facts) log.add("bundle-bun_1", fact);
  const document = folded(bundles, log.events).get<BundleDocument>("bun_1");
  assert.ok(document);
  return document;
};
const statuses = ({ status, steps }: BundleDocument) => [status, ...steps.map((step) => step.status)];

test("an admitted one is listed with its steps, before any of them is started", () => {
  const document = after(is.admitted());
  assert.equal(statuses(document), ["running", "pending", "pending"]);
  assert.equal(
    [document.account, document.agent_id, document.name, document.key, document.run_id, document.created_at],
    ["acc_1", "agt_1", "order 17", "order-17", "run_1", at(0)],
  );
  assert.equal([document.cost, document.reason, document.ended_at, document.left], [20_000, null, null, []]);
  const [first] = document.steps;
  assert.equal([first?.action, first?.compensation, first?.event_id, first?.cost], ["act.0", "undo.0", null, 10_000]);
  assert.not("approval_id" in document);
});

test("a step shows its event once it has started, and its cost once it has ended", () => {
  const started = after(is.admitted(), is.started(0, 1));
  assert.equal(statuses(started), ["running", "running", "pending"]);
  assert.equal([started.steps[0]?.event_id, started.steps[0]?.started_at], ["evt_bun_1_0", at(1)]);

  const committed = after(
    ...[is.admitted(), is.started(0, 1), is.ended(0, 2, "succeeded", null), is.started(1, 3)],
    ...[is.ended(1, 4, "succeeded", 7_000), is.committed(4), is.spent(4, 7_000, [1_000, 6_000])],
  );
  assert.equal(statuses(committed), ["committed", "succeeded", "succeeded"]);
  assert.equal(
    committed.steps.map(({ cost, ended_at }) => [cost, ended_at]),
    [
      [1_000, at(2)],
      [6_000, at(4)],
    ],
  );
  assert.equal([committed.cost, committed.ended_at], [7_000, at(4)]);
});

test("a rollback shows its reason, each step's outcome, and the steps left until a person resolves them", () => {
  const steps = [0, 1, 2].map((index) => bundleStep(index));
  const rolling = [
    ...[is.admitted({ steps }), is.started(0, 1), is.ended(0, 2, "succeeded"), is.started(1, 3)],
    ...[is.ended(1, 4, "unknown"), is.rollback(4, 1, "Step 1 failed"), is.undoing(1, 5)],
  ];
  assert.equal(statuses(after(...rolling)), ["rolling_back", "succeeded", "unknown", "skipped"]);
  assert.is(after(...rolling).reason, "Step 1 failed");
  assert.is(after(...rolling).steps[1]?.compensation_event_id, "evt_bun_1_1_undo");

  const ended = [...rolling, is.undone(1, 6, "failed", 300), is.undoing(0, 7), is.undone(0, 8, "compensated", 100)];
  const incomplete = after(...ended, is.incomplete(8, 1), is.spent(8, 10_400));
  assert.equal(statuses(incomplete), ["rollback_incomplete", "compensated", "compensation_failed", "skipped"]);
  assert.equal([incomplete.left, incomplete.cost, incomplete.ended_at], [[1], 10_400, at(8)]);
  assert.equal([incomplete.steps[1]?.undo, incomplete.steps[1]?.compensation_cost], ["failed", 300]);

  const resolved = after(...ended, is.incomplete(8, 1), is.spent(8, 10_400), is.resolved(1, 60));
  assert.equal(statuses(resolved), ["rolled_back", "compensated", "compensated", "skipped"]);
  assert.equal(
    [resolved.left, resolved.steps[1]?.resolution],
    [[], { by: "mem_1", comment: words("by phone"), at: at(60) }],
  );
});

test("a step that was resolved before the rest is undone leaves the bundle rolling back", () => {
  const early = after(
    ...[is.admitted(), is.started(0, 1), is.ended(0, 2, "succeeded"), is.started(1, 3), is.ended(1, 4, "unknown")],
    ...[is.rollback(4, 1), is.undoing(1, 5), is.undone(1, 6, "failed"), is.resolved(1, 7)],
  );
  assert.equal(statuses(early), ["rolling_back", "succeeded", "compensated"]);
});

test("a step without effect, and an irreversible one, show no completed undo", () => {
  const failed = after(is.admitted(), is.started(0, 1), is.ended(0, 2, "failed"), is.rollback(2, 0));
  assert.equal(statuses(failed), ["rolling_back", "failed", "skipped"]);
  const rolledBack = after(
    ...[is.admitted(), is.started(0, 1), is.ended(0, 2, "failed"), is.rollback(2, 0)],
    ...[is.undone(0, 2, "not-needed"), is.rolledBack(2)],
  );
  assert.equal(statuses(rolledBack), ["rolled_back", "failed", "skipped"]);
  const reversible = after(
    ...[is.admitted(), is.started(0, 1), is.ended(0, 2, "unknown"), is.rollback(2, 0), is.undone(0, 2, "not-needed")],
  );
  assert.is(reversible.steps[0]?.status, "compensated");
  const impossible = after(is.admitted(), is.started(0, 1), is.ended(0, 2, "unknown"), is.undone(0, 2, "impossible"));
  assert.is(impossible.steps[0]?.status, "unknown");
});

test("a step that was never sent is skipped, without a cost", () => {
  const refused = after(is.admitted(), is.refused(0, 1), is.rollback(1, 0));
  assert.equal(statuses(refused), ["rolling_back", "skipped", "skipped"]);
  assert.is(refused.steps[0]?.refusal?.code, "missing-result");
  const unsent = after(
    ...[is.admitted(), is.started(0, 1), is.rollback(1), is.ended(0, 2, "failed", null, { never_sent: true })],
    ...[is.undone(0, 2, "not-needed"), is.rolledBack(2), is.spent(2, null, [null, null])],
  );
  assert.equal(statuses(unsent), ["rolled_back", "skipped", "skipped"]);
  for (const { steps } of [refused, unsent, after(is.blocked())])
    assert.equal(
      steps.map(({ cost }) => cost),
      [null, null],
    );
});

test("a bundle that was cancelled too late is committed, with the reason", () => {
  const late = after(
    ...[is.admitted(), is.started(0, 1), is.ended(0, 2, "succeeded"), is.started(1, 3), is.rollback(4)],
    ...[is.ended(1, 5, "succeeded"), is.committed(5, "The cancellation came too late: said so")],
  );
  assert.equal([late.status, late.reason], ["committed", "The cancellation came too late: said so"]);
});

test("a held one names its approval, and how it ended", () => {
  const held = after(is.held());
  assert.equal([...statuses(held), held.approval_id], ["held", "pending", "pending", "apr_1"]);
  assert.equal(statuses(after(is.held(), is.released(5))), ["running", "pending", "pending"]);
  const rejected = after(is.held(), is.holdEnded(5, "rejected"), is.spent(5, null));
  assert.equal(statuses(rejected), ["cancelled", "skipped", "skipped"]);
  assert.equal(
    [rejected.hold_outcome, rejected.reason, rejected.cost, rejected.ended_at],
    ["rejected", "said so", 0, at(5)],
  );
});

test("a blocked one that is asked again keeps its place", () => {
  const blocked = after(is.blocked());
  assert.equal([...statuses(blocked), blocked.ended_at], ["blocked", "skipped", "skipped", at(0)]);
  const admitted = after(is.blocked(), is.abandoned(30), is.admitted({ received_at: at(60), at: at(61) }));
  assert.equal([...statuses(admitted), admitted.created_at], ["running", "pending", "pending", at(0)]);
  assert.is(admitted.ended_at, null);
});

test("records of no decided bundle are ignored", () => {
  const log = history();
  log.add("bundle-bun_1", is.abandoned(1));
  log.add("bundle-bun_1", is.started(0, 1));
  log.add("payload-bun_1", { type: "BundleAdmitted", data: {} });
  log.add("bundle-bun_1", { type: "constructor", data: {} });
  assert.equal(folded(bundles, log.events).all(), {});
  log.add("bundle-bun_1", { type: "BundleAdmitted", data: bundleRequest() as never });
  log.add("bundle-bun_1", { type: "SomethingLater", data: {} });
  assert.equal(Object.keys(folded(bundles, log.events).all()), ["bun_1"]);
});

test.run();
