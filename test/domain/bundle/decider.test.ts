import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { BundleCommand } from "../../../domain/bundle/commands.ts";
import { bundle } from "../../../domain/bundle/decider.ts";
import type { BundleEvent } from "../../../domain/bundle/events.ts";
import { fold } from "../../../domain/decider.ts";
import { specFor } from "../../support/given.ts";
import { at, bundleFacts, bundleRequest, bundleStep, heldFor } from "../../support/history.ts";
import { words } from "../../support/personal-words.ts";

const test = suite("bundle");
const given = specFor(bundle);
const is = bundleFacts();

const PAYLOAD = { revision: 0, content_type: "application/json", size: 2, commitment: "00" };
const start = (index: number, second: number): BundleCommand => ({
  type: "StartStep",
  index,
  payload: PAYLOAD,
  at: at(second),
});
const undo = (index: number, second: number): BundleCommand => ({
  type: "StartUndo",
  index,
  payload: PAYLOAD,
  at: at(second),
});
const end = (
  index: number,
  second: number,
  outcome: "succeeded" | "failed" | "unknown",
  cost: number | null = 10_000,
): BundleCommand => ({ type: "EndStep", index, outcome, cost, at: at(second) });
const endUndo = (
  index: number,
  second: number,
  outcome: "succeeded" | "failed" | "unknown",
  cost: number | null = 0,
): BundleCommand => ({ type: "EndUndo", index, outcome, cost, at: at(second) });
const refuse = (index: number, second: number): BundleCommand => ({
  type: "RefuseStep",
  index,
  refusal: { code: "missing-result", detail: "step 0 has answered nothing" },
  at: at(second),
});
const cancel = (second: number): BundleCommand => ({ type: "Cancel", reason: "said so", at: at(second) });
const resolve = (index: number, second: number, comment = "by phone"): BundleCommand => ({
  type: "Resolve",
  index,
  by: "mem_1",
  comment: words(comment),
  at: at(second),
});

/** Both steps have succeeded but for the end of the second. */
const SECOND_RUNS = [is.admitted(), is.started(0, 1), is.ended(0, 2, "succeeded"), is.started(1, 3)] as const;
const UNKNOWN = "Step 1 (act.1) has an unknown outcome";
const ROLLING: readonly BundleEvent[] = [
  ...SECOND_RUNS,
  is.ended(1, 4, "unknown"),
  is.rollback(4, 1, UNKNOWN),
  is.undoing(1, 5),
];
const INCOMPLETE: readonly BundleEvent[] = [
  ...ROLLING,
  ...[is.undone(1, 6, "failed", null), is.undoing(0, 7), is.undone(0, 8, "compensated", 0)],
  ...[is.incomplete(8, 1), is.spent(8, 10_000)],
];

test("a bundle is decided once, unless it was blocked or abandoned", () => {
  const admit: BundleCommand = { type: "Admit", request: bundleRequest() };
  given().when(admit).then(is.admitted());
  given(is.blocked(), is.abandoned(1)).when(admit).then(is.admitted());
  given(is.admitted()).when(admit).rejects("already-decided");
  given(is.held()).when({ type: "Block", request: bundleRequest() }).rejects("already-decided");
  given(is.admitted())
    .when({ type: "Abandon", bundleId: "bun_1", at: at(1) })
    .rejects("already-decided");
  given()
    .when({ type: "Abandon", bundleId: "bun_1", at: at(1) })
    .then(is.abandoned(1));
  given().when({ type: "Hold", request: bundleRequest(), approval: heldFor() }).then(is.held());
});

test("a hold is released once, by its approval with the digest that was shown", () => {
  const release = (approvalId = "apr_1", digest = "d1"): BundleCommand => ({
    type: "Release",
    approvalId,
    digest,
    at: at(5),
  });
  given(is.held()).when(release()).then(is.released(5));
  given(is.held(), is.released(5)).when(release()).thenNothing();
  given(is.held()).when(release("apr_2")).rejects("not-held");
  given(is.held()).when(release("apr_1", "d2")).rejects("digest-mismatch");
  given(is.admitted()).when(release()).rejects("already-decided");
  given(is.held(), is.holdEnded(4, "expired")).when(release()).rejects("already-ended");
});

test("a hold that ends without a release gives its places back", () => {
  const endHold: BundleCommand = { type: "EndHold", outcome: "expired", reason: "said so", at: at(9) };
  given(is.held()).when(endHold).then(is.holdEnded(9, "expired"), is.spent(9, null));
  given(is.held()).when(cancel(9)).then(is.holdEnded(9, "cancelled"), is.spent(9, null));
  given(is.held(), is.holdEnded(9, "expired")).when(endHold).thenNothing();
  given(is.held(), is.holdEnded(9, "expired")).when(cancel(10)).thenNothing();
  given(is.held(), is.released(5)).when(endHold).rejects("already-decided");
  given().when(endHold).rejects("not-held");
});

test("steps run one after another, and each move is made once", () => {
  given(is.admitted()).when(start(0, 1)).then(is.started(0, 1));
  given(is.admitted()).when(start(1, 1)).rejects("not-next");
  given(is.admitted(), is.started(0, 1)).when(start(0, 2)).rejects("not-next");
  given(is.admitted(), is.started(0, 1)).when(start(1, 2)).rejects("not-next");
  given(is.admitted(), is.started(0, 1))
    .when(end(0, 2, "succeeded"))
    .then(is.ended(0, 2, "succeeded"));
  given(is.admitted(), is.started(0, 1), is.ended(0, 2, "succeeded"))
    .when(end(0, 3, "failed"))
    .rejects("not-next");
  given(is.held()).when(start(0, 1)).rejects("not-next");
  given().when(start(0, 1)).rejects("not-found");
  given(is.admitted()).when(start(2, 1)).rejects("not-next");
});

test("a bundle is committed with its last step, at the cost of all", () => {
  given(...SECOND_RUNS)
    .when(end(1, 4, "succeeded", 2_500))
    .then(is.ended(1, 4, "succeeded", 2_500), is.committed(4), is.spent(4, 12_500, [10_000, 2_500]));
});

test("a failed step needs no undo: the rollback goes on with the step before it", () => {
  given(...SECOND_RUNS)
    .when(end(1, 4, "failed"))
    .then(is.ended(1, 4, "failed"), is.rollback(4, 1, "Step 1 (act.1) failed"), is.undone(1, 4, "not-needed"));
  given(is.admitted(), is.started(0, 1))
    .when(end(0, 2, "failed", null))
    .then(
      ...[is.ended(0, 2, "failed", null), is.rollback(2, 0, "Step 0 (act.0) failed"), is.undone(0, 2, "not-needed")],
      ...[is.rolledBack(2), is.spent(2, null, [0, null])],
    );
});

test("a step with an unknown outcome is undone first, then those before it, whatever comes of each", () => {
  given(...SECOND_RUNS)
    .when(end(1, 4, "unknown"))
    .then(is.ended(1, 4, "unknown"), is.rollback(4, 1, UNKNOWN));
  given(...ROLLING.slice(0, -1))
    .when(undo(0, 5))
    .rejects("not-next");
  given(...ROLLING.slice(0, -1))
    .when(undo(1, 5))
    .then(is.undoing(1, 5));
  given(...ROLLING)
    .when(endUndo(1, 6, "unknown", null))
    .then(is.undone(1, 6, "failed", null));
  given(...ROLLING, is.undone(1, 6, "failed", null), is.undoing(0, 7))
    .when(endUndo(0, 8, "succeeded"))
    .then(is.undone(0, 8, "compensated", 0, "evt_bun_1_0"), is.incomplete(8, 1), is.spent(8, 10_000, [0, 10_000]));
  given(...ROLLING, is.undone(1, 6, "compensated", 300), is.undoing(0, 7))
    .when(endUndo(0, 8, "succeeded", 200))
    .then(is.undone(0, 8, "compensated", 200, "evt_bun_1_0"), is.rolledBack(8), is.spent(8, 500, [200, 300]));
  given(...ROLLING)
    .when(start(1, 6))
    .rejects("not-next");
});

test("a reversible step needs no undo, and an irreversible one has none", () => {
  const reversible = { reversibility: "reversible", compensation: null } as const;
  const irreversible = { reversibility: "irreversible", compensation: null } as const;
  const steps = [bundleStep(0, reversible), bundleStep(1, irreversible)];
  given(is.admitted({ steps }), is.started(0, 1), is.ended(0, 2, "succeeded"), is.started(1, 3))
    .when(end(1, 4, "unknown"))
    .then(
      ...[is.ended(1, 4, "unknown"), is.rollback(4, 1, UNKNOWN), is.undone(1, 4, "impossible")],
      ...[is.undone(0, 4, "not-needed"), is.incomplete(4, 1), is.spent(4, 20_000, [10_000, 10_000])],
    );
});

test("a reversible step whose action names a compensation is taken back by it", () => {
  const steps = [bundleStep(0, { reversibility: "reversible" }), bundleStep(1)];
  const rolling = [is.admitted({ steps }), ...SECOND_RUNS.slice(1), is.ended(1, 4, "failed"), is.rollback(4, 1)];
  given(...rolling, is.undone(1, 4, "not-needed"))
    .when(undo(0, 5))
    .then(is.undoing(0, 5));
});

/** The costs in the end of a first step that ended so and was taken back, and of a second one that was refused. */
const spentOn = (first: BundleEvent, undone: BundleCommand): unknown => {
  const rolling = [
    ...[is.admitted(), is.started(0, 1), first, is.started(1, 3), is.ended(1, 4, "failed", 0)],
    ...[is.rollback(4, 1), is.undone(1, 4, "not-needed"), is.undoing(0, 5)],
  ];
  const decision = bundle.decide(undone, fold(bundle, rolling));
  const last = decision.ok ? decision.events.at(-1) : undefined;
  return last?.type === "BundleCostDetermined" ? [last.data.cost, last.data.steps] : decision;
};

test("a reported cost stays spent, an estimate is given back with the undo, and an undo gives back what it reports", () => {
  const estimated = is.ended(0, 2, "succeeded", 10_000);
  const reported = is.ended(0, 2, "succeeded", 7_000, { reported: true });
  const paid = (first: BundleEvent, outcome: "succeeded" | "failed", cost: number | null) =>
    spentOn(first, endUndo(0, 6, outcome, cost));
  assert.equal(paid(estimated, "succeeded", 0), [0, [0, 0]]);
  assert.equal(paid(estimated, "succeeded", 500), [500, [500, 0]]);
  assert.equal(paid(reported, "succeeded", 0), [7_000, [7_000, 0]]);
  assert.equal(paid(reported, "succeeded", 500), [7_500, [7_500, 0]]);
  assert.equal(paid(reported, "succeeded", -7_000), [0, [0, 0]]);
  assert.equal(paid(reported, "succeeded", -2_000), [5_000, [5_000, 0]]);
  // No more than it has cost.
  assert.equal(paid(reported, "succeeded", -9_000), [0, [0, 0]]);
  assert.equal(paid(estimated, "succeeded", -9_000), [0, [0, 0]]);
  assert.equal(paid(estimated, "failed", null), [10_000, [10_000, 0]]);
  assert.equal(paid(estimated, "failed", 300), [10_300, [10_300, 0]]);
});

test("an undo names the step's event only if it gives an estimate back", () => {
  const named = (first: BundleEvent, outcome: "succeeded" | "failed"): string | undefined => {
    const rolling = [
      ...[is.admitted(), is.started(0, 1), first, is.started(1, 3), is.ended(1, 4, "failed", 0)],
      ...[is.rollback(4, 1), is.undone(1, 4, "not-needed"), is.undoing(0, 5)],
    ];
    const decision = bundle.decide(endUndo(0, 6, outcome, 0), fold(bundle, rolling));
    const undone = decision.ok ? decision.events.find(({ type }) => type === "StepUndone") : undefined;
    return undone?.type === "StepUndone" ? undone.data.gives_back : "none";
  };
  assert.is(named(is.ended(0, 2, "succeeded", 10_000), "succeeded"), "evt_bun_1_0");
  assert.is(named(is.ended(0, 2, "succeeded", 10_000), "failed"), undefined);
  assert.is(named(is.ended(0, 2, "succeeded", 10_000, { reported: true }), "succeeded"), undefined);
  assert.is(named(is.ended(0, 2, "succeeded", 0), "succeeded"), undefined);
});

test("a step whose payload cannot be made is never started, and the steps before it are rolled back", () => {
  const reason = "Step 1 (act.1) was not started: step 0 has answered nothing";
  given(is.admitted(), is.started(0, 1), is.ended(0, 2, "succeeded"))
    .when(refuse(1, 3))
    .then(is.refused(1, 3), is.rollback(3, 1, reason));
  given(is.admitted())
    .when(refuse(0, 3))
    .then(
      ...[is.refused(0, 3), is.rollback(3, 0, reason.replace("1 (act.1)", "0 (act.0)"))],
      ...[is.rolledBack(3), is.spent(3, null, [null, null])],
    );
  given(is.admitted(), is.started(0, 1)).when(refuse(0, 2)).rejects("not-next");
});

test("a cancelled bundle awaits the running step and rolls back", () => {
  given(is.admitted())
    .when(cancel(1))
    .then(is.rollback(1), is.rolledBack(1), is.spent(1, null, [null, null]));
  given(...SECOND_RUNS)
    .when(cancel(4))
    .then(is.rollback(4));
  given(...SECOND_RUNS, is.rollback(4))
    .when(cancel(5))
    .thenNothing();
  given(...SECOND_RUNS, is.rollback(4))
    .when(end(1, 5, "succeeded"))
    .then(is.ended(1, 5, "succeeded"));
  given(...INCOMPLETE)
    .when(cancel(9))
    .rejects("already-ended");
  given().when(cancel(1)).rejects("not-found");
});

test("while a step or an undo is attempted, no command ends the bundle or starts another: only its own end moves it on", () => {
  const cancelling = [...SECOND_RUNS, is.rollback(4)];
  const commands: readonly BundleCommand[] = [
    { type: "Admit", request: bundleRequest() },
    { type: "Abandon", bundleId: "bun_1", at: at(9) },
    { type: "EndHold", outcome: "expired", reason: "why", at: at(9) },
    ...[start(1, 9), start(2, 9), refuse(1, 9), end(0, 9, "failed"), undo(0, 9), undo(1, 9)],
    ...[endUndo(0, 9, "succeeded"), resolve(0, 9), resolve(1, 9)],
  ];
  const ownEnd = endUndo(1, 9, "succeeded");
  const attempting: readonly (readonly [readonly BundleEvent[], readonly BundleCommand[]])[] = [
    [SECOND_RUNS, [...commands, ownEnd]],
    [cancelling, [...commands, ownEnd]],
    [ROLLING, commands],
  ];
  for (const [past, refused] of attempting) {
    for (const command of refused) {
      assert.is(bundle.decide(command, fold(bundle, past)).ok, false, JSON.stringify(command));
    }
  }
  given(...SECOND_RUNS)
    .when(cancel(9))
    .then(is.rollback(9));
  given(...cancelling)
    .when(cancel(9))
    .thenNothing();
  given(...ROLLING)
    .when(cancel(9))
    .thenNothing();
});

const TOO_LATE = "The cancellation came too late: said so";

test("a bundle whose cancellation comes after its irreversible last step is committed", () => {
  const steps = [bundleStep(0), bundleStep(1, { reversibility: "irreversible", compensation: null })];
  const late = [is.admitted({ steps }), ...SECOND_RUNS.slice(1), is.rollback(4)];
  given(...late)
    .when(end(1, 5, "succeeded"))
    .then(is.ended(1, 5, "succeeded"), is.committed(5, TOO_LATE), is.spent(5, 20_000, [10_000, 10_000]));
  const committed = fold(bundle, [...late, is.ended(1, 5, "succeeded"), is.committed(5, TOO_LATE)]);
  assert.equal(committed.phase === "running" && [committed.rollback, committed.tooLate], [null, TOO_LATE]);
});

test("a person resolves a step that is to be undone by hand once, and no other step", () => {
  given(...INCOMPLETE)
    .when(resolve(1, 60))
    .then(is.resolved(1, 60));
  given(...INCOMPLETE, is.resolved(1, 60))
    .when(resolve(1, 61))
    .thenNothing();
  given(...INCOMPLETE, is.resolved(1, 60))
    .when(resolve(1, 61, "by mail"))
    .rejects("nothing-to-resolve");
  given(...INCOMPLETE)
    .when(resolve(0, 60))
    .rejects("nothing-to-resolve");
  given(...INCOMPLETE)
    .when(resolve(7, 60))
    .rejects("nothing-to-resolve");
  given(...SECOND_RUNS)
    .when(resolve(1, 60))
    .rejects("nothing-to-resolve");
  given(is.held()).when(resolve(0, 60)).rejects("nothing-to-resolve");
  given(is.blocked()).when(resolve(0, 60)).rejects("not-found");
});

test("a step resolved before the rollback ends is not among those to undo by hand", () => {
  const early = [...ROLLING, is.undone(1, 6, "failed", null), is.resolved(1, 7), is.undoing(0, 7)];
  given(...early)
    .when(endUndo(0, 8, "succeeded"))
    .then(is.undone(0, 8, "compensated", 0, "evt_bun_1_0"), is.rolledBack(8), is.spent(8, 10_000, [0, 10_000]));
});

test("a bundle without ledgers and estimate has a recorded cost as well", () => {
  const { ledgers: _, ...bare } = bundleRequest({ steps: [bundleStep(0, { cost: null })], cost: null });
  given({ type: "BundleAdmitted", data: bare }, is.started(0, 1))
    .when(end(0, 2, "succeeded", 0))
    .then(is.ended(0, 2, "succeeded", 0), is.committed(2), {
      type: "BundleCostDetermined",
      data: {
        bundle_id: "bun_1",
        ledgers: [],
        estimate: null,
        cost: 0,
        steps: [0],
        events: ["evt_bun_1_0"],
        at: at(2),
      },
    });
});

test.run();
