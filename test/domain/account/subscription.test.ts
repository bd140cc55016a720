import { suite } from "uvu";
import * as assert from "uvu/assert";
import { account } from "../../../domain/account/decider.ts";
import type { AccountEvent } from "../../../domain/account/events.ts";
import { planNamed } from "../../../domain/account/overage.ts";
import { PLANS, type Plan } from "../../../domain/account/plans.ts";
import {
  largestIn,
  overageIn,
  planAt,
  retentionAt,
  type SubscriptionCommand,
} from "../../../domain/account/subscription.ts";
import { fold } from "../../../domain/decider.ts";
import { specFor } from "../../support/given.ts";

const given = specFor(account);
const at = "2026-03-10T12:00:00.000Z";
const later = "2026-03-20T12:00:00.000Z";
const end = "2026-04-01T00:00:00.000Z";
const behind = "2026-04-02T00:00:00.000Z";

const opened = (plan: string): AccountEvent => ({
  type: "AccountOpened",
  data: { account: "acc_1", name: "shop", plan, time_zone: "UTC", at },
});
const billed = (over: Record<string, unknown> = {}) =>
  ({ account: "acc_1", provider: "manual", reference: "ses_1", by: "mem_1", at, ...over }) as const;
const change = (plan: Plan["name"], over: { at?: string; reference?: string } = {}): SubscriptionCommand => ({
  type: "ChangePlan",
  plan,
  provider: "manual",
  reference: "ses_2",
  by: "mem_1",
  periodEnd: end,
  at,
  ...over,
});
const changed = (plan: string, over = {}): AccountEvent => ({ type: "PlanChanged", data: { ...billed(over), plan } });
const scheduled = (plan: string, over = {}): AccountEvent => ({
  type: "DowngradeScheduled",
  data: { ...billed(over), plan, from: end },
});
/** What the command above is recorded as. */
const asked = { reference: "ses_2" };

const plansOf = (...events: readonly AccountEvent[]) => {
  const state = fold(account, events);
  return state.phase === "open" ? [at, later, behind].map((time) => planAt(state.subscription, time)) : [];
};

const test = suite("subscription");

test("an upgrade takes effect at once, a downgrade at the end of the period, without another record", () => {
  given(opened("free")).when(change("core")).then(changed("core", asked));
  given(opened("free"), changed("core")).when(change("starter")).then(scheduled("starter", asked));
  assert.equal(plansOf(opened("free"), changed("core"), scheduled("starter")), ["core", "core", "starter"]);
});

test("events that ended under a larger plan keep its retention, however the plan was reduced", () => {
  const termsAt = (time: string, ...events: readonly AccountEvent[]) => {
    const state = fold(account, events);
    if (state.phase !== "open") return [];
    return retentionAt(state.subscription, time).map(({ plan, after, upTo }) => [plan.name, after, upTo]);
  };
  const down = scheduled("starter");
  assert.equal(termsAt(later, opened("core"), down), [["core", null, null]]);
  const fell = [
    ["core", null, end],
    ["starter", end, null],
  ];
  assert.equal(termsAt(behind, opened("core"), down), fell);
  assert.equal(termsAt(behind, opened("free"), changed("core", { at: later }), down), fell);
  // At once, as a provider may say it; a smaller one once more, and a larger one behind it, which covers what it outlasts.
  const [free, starter] = [changed("free", { at: behind }), changed("starter", { at: "2026-04-03T00:00:00.000Z" })];
  const twice = [opened("core"), down, free];
  assert.equal(termsAt(behind, ...twice), [fell[0], ["starter", end, behind], ["free", behind, null]]);
  assert.equal(termsAt(behind, ...twice, starter), fell);
  assert.equal(termsAt(behind, ...twice, changed("scale", { at: behind })), [["scale", null, null]]);
  // Up and down again: the last time covers the one before it.
  const [up, again] = [changed("core", { at: behind }), changed("free", { at: "2026-04-05T00:00:00.000Z" })];
  assert.equal(termsAt("2026-04-05T00:00:00.000Z", ...twice, up, again), [
    ["core", null, "2026-04-05T00:00:00.000Z"],
    ["free", "2026-04-05T00:00:00.000Z", null],
  ]);
  // What nothing is left of is forgotten; what a newer build's plan promised is in no term, and outlasts every plan.
  const late = changed("core", { at: "2026-08-01T00:00:00.000Z" });
  assert.equal(termsAt("2026-08-01T00:00:00.000Z", ...twice, late), [["core", null, null]]);
  assert.equal(termsAt(later, opened("galaxy"), changed("free", { at: later })), [["free", later, null]]);
});

test("choosing the current plan changes nothing and cancels a scheduled downgrade", () => {
  given(opened("core")).when(change("core")).thenNothing();
  given(opened("core"), scheduled("free")).when(change("free")).thenNothing();
  given(opened("core"), scheduled("free"))
    .when(change("core"))
    .then({ type: "DowngradeCancelled", data: billed(asked) });
  assert.equal(plansOf(opened("core"), scheduled("free"), { type: "DowngradeCancelled", data: billed() }), [
    "core",
    "core",
    "core",
  ]);
});

test("an upgrade cancels a scheduled downgrade, and the next change starts from the plan in effect", () => {
  assert.equal(plansOf(opened("core"), scheduled("free"), changed("scale")), ["scale", "scale", "scale"]);
  given(opened("core"), scheduled("free"))
    .when(change("core", { at: behind }))
    .then({ type: "PlanChanged", data: { ...billed({ ...asked, at: behind }), plan: "core" } });
});

test("the provider's state is the subscription, and a repeated or late message changes nothing", () => {
  const follow: SubscriptionCommand = {
    type: "FollowProvider",
    plan: "core",
    scheduled: { plan: "free", from: end },
    status: "past_due",
    provider: "stripe",
    customer: "cus_1",
    reference: "evt_1",
    at,
  };
  const by = billed({ provider: "stripe", reference: "evt_1", by: "stripe" });
  const events: readonly AccountEvent[] = [
    { type: "PlanChanged", data: { ...by, plan: "core" } },
    { type: "DowngradeScheduled", data: { ...by, plan: "free", from: end } },
    { type: "SubscriptionChanged", data: { ...by, status: "past_due", customer: "cus_1" } },
  ];
  given(opened("starter"))
    .when(follow)
    .then(...events);
  given(opened("starter"), ...events)
    .when({ ...follow, reference: "evt_2" })
    .thenNothing();
  given(opened("starter"), ...events)
    .when({ ...follow, scheduled: null, status: "active" })
    .then(
      { type: "DowngradeCancelled", data: by },
      { type: "SubscriptionChanged", data: { ...by, status: "active", customer: "cus_1" } },
    );
});

test("a change with a known reference is not made again, whatever has changed since", () => {
  given(opened("free"), changed("core", asked), scheduled("starter")).when(change("core")).thenNothing();
});

test("the provider's id of an account is recorded once", () => {
  const name = { provider: "stripe", customer: "cus_1", reference: "cs_1", by: "mem_1", at };
  const named: AccountEvent = { type: "SubscriptionChanged", data: { account: "acc_1", ...name, status: "active" } };
  given(opened("free"))
    .when({ type: "NameCustomer", ...name })
    .then(named);
  given(opened("free"), named)
    .when({ type: "NameCustomer", ...name, reference: "cs_2" })
    .thenNothing();
});

const stateOf = (...events: readonly AccountEvent[]) => {
  const state = fold(account, events);
  if (state.phase !== "open") throw new Error("not open");
  return state.subscription;
};

test("a month includes the volume of its largest plan, so no change of the plan makes overage of it", () => {
  const down = { ...billed({ provider: "stripe", at: later }), plan: "starter" };
  const fell = stateOf(opened("scale"), { type: "PlanChanged", data: down });
  assert.equal(
    ["2026-02", "2026-03", "2026-04"].map((month) => largestIn(fell, month)),
    ["scale", "scale", "starter"],
  );
  assert.equal([overageIn(fell, "2026-03", 250_000), overageIn(fell, "2026-03", 250_001)], [0, 1]);
  assert.is(overageIn(fell, "2026-04", 50_001), 2);

  const rose = stateOf(opened("starter"), changed("core"), scheduled("free", { at: later }));
  assert.equal(
    ["2026-02", "2026-03", "2026-04"].map((month) => largestIn(rose, month)),
    ["starter", "core", "free"],
  );
  const again: AccountEvent = { type: "PlanChanged", data: { ...billed({ at: behind }), plan: "starter" } };
  const back = stateOf(opened("starter"), changed("core"), scheduled("free"), again);
  assert.equal(
    ["2026-03", "2026-04", "2026-05"].map((month) => largestIn(back, month)),
    ["core", "starter", "starter"],
  );
});

test("events under a free plan after a paid one make no overage, whatever is bought later", () => {
  const stripe = { provider: "stripe", at: later };
  const ended: AccountEvent = { type: "PlanChanged", data: { ...billed(stripe), plan: "free" } };
  const ends: AccountEvent = { type: "DowngradeScheduled", data: { ...billed(), plan: "free", from: later } };
  const bought: AccountEvent = { type: "PlanChanged", data: { ...billed({ at: behind }), plan: "core" } };
  for (const events of [[ended], [ends], [ended, bought], [ends, bought]]) {
    const it = stateOf(opened("starter"), ...events);
    assert.equal(
      [25_000, 26_000, 26_001].map((used) => overageIn(it, "2026-03", used)),
      [0, 0, 1],
      JSON.stringify(events),
    );
  }
  const atTheEnd = stateOf(opened("starter"), scheduled("free"), bought);
  assert.equal([overageIn(atTheEnd, "2026-03", 25_001), overageIn(atTheEnd, "2026-04", 100_001)], [1, 1]);
});

test("a block that was reported to the provider stays, and is reported once", () => {
  const told = { provider: "stripe", month: "2026-03", blocks: 1, at };
  const reported: AccountEvent = { type: "OverageReported", data: { account: "acc_1", ...told } };
  given(opened("starter"))
    .when({ type: "RecordOverage", ...told })
    .then(reported);
  given(opened("starter"), reported)
    .when({ type: "RecordOverage", ...told })
    .thenNothing();
  const rose = stateOf(opened("starter"), reported, changed("core"));
  assert.equal(
    [overageIn(rose, "2026-03", 30_000), overageIn(rose, "2026-03", 100_001), overageIn(rose, "2026-03", 125_001)],
    [1, 1, 2],
  );
});

test("overage is counted in begun blocks of 25,000 events, and a plan with a hard stop has none", () => {
  const starter = stateOf(opened("starter"));
  assert.equal(
    [0, 25_000, 25_001, 50_000, 50_001].map((events) => overageIn(starter, "2026-03", events)),
    [0, 0, 1, 1, 2],
  );
  assert.is(overageIn(stateOf(opened("free")), "2026-03", 5_000), 0);
});

test("an account that does not exist has no plan", () => {
  given().when(change("core")).rejects("account-absent");
});

test("a plan that this build does not know counts as the free one, whatever its name", () => {
  for (const name of ["platinum", "constructor", "__proto__"]) assert.is(planNamed(name), PLANS.free, name);
});

test.run();
