import { suite } from "uvu";
import * as assert from "uvu/assert";
import { approvalOfHeld, approvalOfHeldBundle } from "../../../domain/approval/requested.ts";
import { bundleSummaryOf, bundleTitleOf, summaryOf } from "../../../domain/approval/summary.ts";
import { approvalTerms } from "../../../domain/approval/terms.ts";
import { allowed, denied } from "../../../domain/gate/verdict.ts";
import { at, bundleRequest, bundleStep, request, START, heldFor as terms } from "../../support/history.ts";

const test = suite("the request for approval");

const ABOUT = {
  approvalId: "apr_1",
  digest: "d1",
  gates: [allowed("rate", "1 of 60")],
  atMs: START,
  requesters: ["mem_2"],
};
const AGENT = { kind: "agent", id: "agt_1", name: "refunds", type: "agent" } as const;

test("the rule of the policy is fixed when the request is held", () => {
  assert.equal(approvalTerms([{ expires_after_s: 60 }], ABOUT), {
    approval_id: "apr_1",
    digest: "d1",
    min_approvals: 1,
    exclude_requester: false,
    expires_at: at(60),
    reasons: ["The policy asks for an approval of every request."],
    requesters: ["mem_2"],
  });
  const rule = { when: " cost_eur > 5.0 ", min_approvals: 3, exclude_requester: true, expires_after_s: 3_600 };
  const observed = denied("content", "denied-by-rule", 'refused by "large"');
  assert.equal(approvalTerms([rule], { ...ABOUT, gates: [...ABOUT.gates, observed], member: "mem_1" }), {
    approval_id: "apr_1",
    digest: "d1",
    min_approvals: 3,
    exclude_requester: true,
    expires_at: at(3_600),
    reasons: [
      "The policy asks for an approval when cost_eur > 5.0",
      'The policy only observes content: refused by "large"',
    ],
    member: "mem_1",
    requesters: ["mem_2"],
  });
  for (const always of [{}, { when: " true " }]) {
    const { when: _, ...rest } = rule;
    const [reason] = approvalTerms([{ ...rest, ...always }], ABOUT).reasons;
    assert.is(reason, "The policy asks for an approval of every request.");
  }
});

test("the request for approval is made from the record of the hold alone", () => {
  const approval = approvalTerms([{ expires_after_s: 60 }], { ...ABOUT, member: "mem_1" });
  assert.equal(approvalOfHeld("acc_1", { ...request({ origin: AGENT, type: "refund.create" }), approval }), {
    approval_id: "apr_1",
    account: "acc_1",
    subject: { kind: "event", id: "evt_1" },
    action: "refund.create",
    summary: 'Agent "refunds" asks for refund.create, 0.02 EUR',
    digest: "d1",
    cost: 20_000,
    requested_by: { kind: "agent", id: "agt_1", name: "refunds", member: "mem_1" },
    requested_at: at(0),
    expires_at: at(60),
    min_approvals: 1,
    exclude_requester: false,
    requesters: ["mem_2"],
    policy: { id: "pol_1", version: 1 },
    reasons: ["The policy asks for an approval of every request."],
  });
  assert.is(approvalOfHeld("acc_1", { ...request({ type: "" }), approval }).action, null);
});

test("a summary is one line, whatever the names are", () => {
  const of = (over: Parameters<typeof request>[0]) => summaryOf(request(over));
  assert.is(of({ cost: null }), 'Source "shop" (stripe) sent payment_intent.succeeded');
  assert.is(of({ cost: null, type: "" }), 'Source "shop" (stripe) sent an event');
  assert.is(of({ cost: 120_000_000, origin: AGENT, type: "refund.create" }).split(", ")[1], "120.00 EUR");
  for (const [micro, euros] of [
    [0, "0.00"],
    [1, "0.000001"],
    [70_000, "0.07"],
    [1_234_500, "1.2345"],
    [999_999_999_999_999, "999999999.999999"],
  ] as const)
    assert.is(of({ cost: micro }).split(", ")[1], `${euros} EUR`);
  const name = `a\n\r\t b\u202e\u0000\u2028c${"x".repeat(300)}`;
  const line = of({ origin: { ...AGENT, name }, type: name, cost: null });
  assert.not.match(line, /[\p{Cc}\p{Cf}\p{Zl}]/u);
  assert.match(line, /^Agent "a\\u000a\\u000d\\u0009 b\\u202e\\u0000\\u2028cx+…" asks for a/);
  assert.ok(line.length < 500);
  // A character of two units is cut as a whole.
  assert.match(of({ origin: { ...AGENT, name: "😀".repeat(200) } }), /"(?:😀){120}…"/u);
});

test("a bundle has one approval for all its steps, with one digest", () => {
  const { steps: _, origin: _agent, ...held } = bundleRequest({ cost: 120_000_000, received_at: at(1), at: at(2) });
  const steps = [bundleStep(0), bundleStep(1)];
  const asked = approvalOfHeldBundle("acc_1", { ...held, steps, origin: AGENT, approval: terms() });
  assert.equal(
    [asked.subject, asked.digest, asked.action, asked.requested_by, asked.requested_at, asked.policy],
    [
      { kind: "bundle", id: "bun_1" },
      "d1",
      null,
      { kind: "agent", id: "agt_1", name: "refunds" },
      at(2),
      held.verdict.policy,
    ],
  );
  assert.is(asked.summary, 'Agent "refunds" asks for 2 actions as one ("order 17"): act.0, act.1, 120.00 EUR');

  const unnamed = { origin: AGENT, name: null, steps: [bundleStep(0)], cost: null };
  assert.is(bundleSummaryOf(unnamed), 'Agent "refunds" asks for 1 action as one: act.0');
  const many = Array.from({ length: 50 }, (_, index) => bundleStep(index));
  assert.ok(bundleSummaryOf({ ...unnamed, name: "x".repeat(300), steps: many }).length < 400);
});

test("a bundle's summary cuts no name, counts what is left, and names what cannot be undone", () => {
  const named = (index: number, name: string, more: object = {}) => {
    const step = bundleStep(index);
    return { ...step, action: { ...step.action, name }, ...more };
  };
  const of = (steps: readonly ReturnType<typeof named>[]) =>
    bundleSummaryOf({ origin: AGENT, name: null, cost: null, steps }).replace('Agent "refunds" asks for ', "");
  const moves = Array.from({ length: 48 }, (_, index) => named(index, "stock.move"));
  const last = named(49, "payout.send", { reversibility: "irreversible" });
  assert.is(
    of([...moves, named(48, "mail.send"), last]),
    "50 actions as one: 48 × stock.move, mail.send, payout.send; step 50 (payout.send) cannot be undone",
  );
  const others = Array.from({ length: 49 }, (_, index) => named(index, `warehouse.reserve.${index}`));
  assert.match(
    of([...others, last]),
    /^50 actions as one: (warehouse\.reserve\.\d, ){4,6}warehouse\.reserve\.\d and 4\d more; step 50 \(payout\.send\) cannot be undone$/,
  );
});

test("the sentence of a bundle says what is asked for, in how many steps, and which cannot be undone", () => {
  const stepsOf = (count: number, ...final: readonly number[]) =>
    Array.from({ length: count }, (_, index) => ({
      ...bundleStep(index),
      reversibility: final.includes(index) ? ("irreversible" as const) : ("compensable" as const),
    }));
  const of = (count: number, ...final: readonly number[]) =>
    bundleTitleOf({ origin: AGENT, name: "order 17", steps: stepsOf(count, ...final) });
  const asked = (steps: string) => `Agent refunds asks for "order 17", ${steps}`;
  assert.is(of(1), asked("1 step"));
  assert.is(of(2), asked("2 steps as one"));
  assert.is(of(50, 49), asked("50 steps as one; step 50 (act.49) cannot be undone"));
  assert.is(of(4, 1, 2, 3), asked("4 steps as one; steps 2 (act.1), 3 (act.2) and 4 (act.3) cannot be undone"));
  assert.is(of(9, 0, 1, 2, 3), asked("9 steps as one; 4 of them cannot be undone"));
  assert.is(
    bundleTitleOf({ origin: AGENT, name: null, steps: stepsOf(2) }),
    "Agent refunds asks for act.0, act.1, 2 steps as one",
  );
  const hostile = bundleTitleOf({ origin: AGENT, name: `a\n${"x".repeat(300)}`, steps: stepsOf(50, 1, 2, 3) });
  assert.match(hostile, /"a\\u000ax+…"/);
  assert.ok(hostile.length < 800);
});

test.run();
