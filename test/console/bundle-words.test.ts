import { suite } from "uvu";
import * as assert from "uvu/assert";
import { refusedSteps } from "../../console/src/pages/bundle-verdict.ts";
import {
  actionsText,
  finalSteps,
  howUndone,
  reasonText,
  type Sent,
  type Step,
  shownState,
  stepStages,
  turnedAt,
  whatItDid,
  whyInState,
  withRefusals,
} from "../../console/src/pages/bundle-words.ts";

const test = suite("what a bundle's steps did");

const START = Date.UTC(2026, 10, 17, 6);
const at = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();
const NEVER = { started_at: null, ended_at: null, undo_started_at: null, undo_ended_at: null };

const step = (over: Partial<Step>): Step => ({
  ...{
    index: 0,
    action: "payout.send",
    status: "succeeded",
    reversibility: "compensable",
    compensation: "payout.recall",
  },
  ...{ event_id: "evt_a", compensation_event_id: null, refusal: null, resolution: null, times: NEVER },
  ...over,
});
const failed: Sent = { attempt_count: 5, failure: { detail: "HTTP 409" } };

test("a step that was sent says where, and one that was not says why", () => {
  const did = (over: Partial<Step>, sent?: Sent): string => whatItDid(step(over), "bank", sent);
  assert.is(did({}), "Sent to bank");
  assert.is(did({ status: "compensation_failed" }), "Sent to bank");
  assert.is(did({ status: "failed" }, failed), "Nothing: HTTP 409");
  assert.is(did({ status: "failed" }), "Nothing: bank refused it");
  assert.is(did({ status: "skipped", refusal: { detail: "the budget is used up" } }), "Nothing: the budget is used up");
  assert.is(did({ status: "skipped" }), "Nothing: it was never started");
  assert.is(did({ status: "unknown" }, failed), "Unknown: bank may have done it. HTTP 409");
});

test("a step that waits for an endpoint says which, and one that is being sent says that", () => {
  const stopped = { id: "end_a", name: "bank", health: { state: "open" } };
  const running = step({ status: "running" });
  const sent = { attempt_count: 0, failure: null };
  assert.is(
    whatItDid(running, "bank", { ...sent, status: "queued" }, stopped),
    "It waits for bank, whose circuit is open",
  );
  assert.is(whatItDid(running, "bank", { ...sent, status: "delivering" }, stopped), "It is being sent to bank");
  assert.is(whatItDid(running, "bank", { ...sent, status: "queued" }, null), "It is being sent to bank");
});

test("a step is held only with its bundle; in a running one it waits for its turn", () => {
  const pending = step({ status: "pending", event_id: null });
  assert.equal([shownState("held", pending), shownState("running", pending)], ["pending", "queued"]);
  assert.is(shownState("running", step({ status: "running" })), "running");
  const stages = stepStages([pending], () => undefined, { now: START, bundle: "running" });
  assert.is(stages[0]?.state, "queued");
});

test("a bundle that was refused marks the steps at which gates said no, and why", () => {
  const gate = (detail: string, outcome = "deny") => ({ gate: "content", outcome, code: "denied", detail });
  const gates = [
    gate("step 0: no rule matched", "allow"),
    gate('step 1: refused by "a; b"; step 11: refused by "c"'),
    gate("step 1: missing: customer.id"),
    gate("3.00 of 1.00 EUR used today, this one costs 3.00 EUR"),
  ];
  const refused = refusedSteps({ decision: "deny", gates });
  assert.equal(
    [...refused],
    [
      [1, 'refused by "a; b"; missing: customer.id'],
      [11, 'refused by "c"'],
    ],
  );
  assert.is(refusedSteps(null).size, 0);
  const skipped = { status: "skipped", event_id: null };
  const [first, second] = withRefusals([step(skipped), step({ ...skipped, index: 1 })], refused);
  assert.ok(first && second);
  assert.equal(
    [shownState("blocked", first), whatItDid(first, "bank", undefined)],
    ["skipped", "Nothing: it was never started"],
  );
  assert.equal(
    [shownState("blocked", second), whatItDid(second, "bank", undefined)],
    ["blocked", 'Nothing: refused by "a; b"; missing: customer.id'],
  );
});

test("how a step is undone is told as it came out", () => {
  const undo = "evt_u";
  assert.is(howUndone(step({ status: "compensated", compensation_event_id: undo }), undefined), "succeeded");
  const left = step({ status: "compensation_failed", compensation_event_id: undo });
  assert.is(howUndone(left, failed), "failed 5 times: HTTP 409");
  assert.is(howUndone(step({ status: "failed" }), undefined), "There is nothing to undo");
  const final = { reversibility: "irreversible", compensation: null };
  assert.is(howUndone(step({ status: "skipped", ...final }), undefined), "There is nothing to undo");
  assert.is(howUndone(step({ status: "succeeded", ...final }), undefined), "It cannot be undone");
});

test("only what was done, or may still be done, cannot be undone", () => {
  const final = { reversibility: "irreversible", compensation: null };
  const [done, never] = [step({ status: "succeeded", ...final }), step({ status: "skipped", ...final })];
  const pending = step({ status: "pending", ...final });
  assert.equal(finalSteps("rolled_back", [step({}), never]), []);
  assert.equal(finalSteps("rollback_incomplete", [done, never]), [done]);
  assert.equal(finalSteps("running", [step({}), pending]), [pending]);
  assert.equal(finalSteps("rolling_back", [pending]), []);
  assert.equal(finalSteps("blocked", [step({ status: "skipped", ...final })]), []);
});

test("a bundle without a name is called by its actions, each once", () => {
  const last = step({ action: "payout.send" });
  assert.is(
    actionsText([step({ action: "stock.move" }), step({ action: "stock.move" }), last]),
    "2 × stock.move, payout.send",
  );
});

test("a reason counts steps from one, and is a sentence", () => {
  assert.is(reasonText("Step 0 (payout.send) failed"), "Step 1 (payout.send) failed.");
  assert.is(reasonText("A member cancelled it."), "A member cancelled it.");
});

test("a list says in one line why a bundle is in its state", () => {
  const [done, pending] = [step({}), step({ index: 1, status: "pending" })];
  const why = (status: string, steps: readonly Step[], reason: string | null = null) =>
    whyInState({ status, steps, reason });
  assert.is(why("held", [pending]), "It waits for a decision.");
  assert.is(why("running", [done, pending]), "1 of 2 are done.");
  assert.is(why("running", [pending]), "0 of 1 are done.");
  assert.is(why("committed", [done]), "");
  assert.is(why("rolled_back", [done], "Step 0 (payout.send) failed"), "Step 1 (payout.send) failed.");
  const left = step({ index: 2, status: "compensation_failed" });
  const byHand = step({ ...left, index: 3, resolution: { comment: "Called the bank" } });
  const reason = "Step 4 (mail.send) failed";
  assert.is(why("rollback_incomplete", [left, byHand], reason), "Step 3 (payout.send) was not undone.");
  assert.is(why("rollback_incomplete", [left, { ...left, index: 3 }], reason), "2 steps were not undone.");
});

test("a step and its undo are two bars of one row, and a step that never came has none", () => {
  const steps = [
    step({
      ...{ status: "compensated", compensation_event_id: "evt_u" },
      times: { started_at: at(0), ended_at: at(1), undo_started_at: at(5), undo_ended_at: at(6) },
    }),
    step({ index: 1, status: "failed", times: { ...NEVER, started_at: at(1), ended_at: at(4) } }),
    step({ index: 2, status: "skipped", reversibility: "irreversible", compensation: null, event_id: null }),
  ];
  const [first, second, third] = stepStages(steps, (id) => (id === null ? undefined : failed), {
    now: START + 9_000,
    bundle: "rolled_back",
  });
  assert.equal([first?.start, first?.end, first?.took], [START, START + 1_000, "1 s, 1 s"]);
  assert.equal([first?.undo?.start, first?.undo?.note], [START + 5_000, "undone"]);
  assert.equal([second?.name, second?.note, second?.took], ["2 payout.send", "HTTP 409", "3 s"]);
  assert.equal([third?.isAbsent, third?.note], [true, "not started; it cannot be undone, so it comes last"]);
  const byHand = steps.slice(0, 1).map((it) => ({ ...it, resolution: { comment: "Called the bank" } }));
  const [later] = stepStages(byHand, () => failed, { now: START + 9_000, bundle: "rolled_back" });
  assert.equal([later?.undo?.state, later?.undo?.note, later?.took], ["failed", "5 undos refused", "1 s, 1 s"]);
  assert.is(turnedAt(steps), START + 5_000);
  assert.is(turnedAt(steps.slice(1)), null);
});

test.run();
