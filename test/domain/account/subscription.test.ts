import { suite } from "uvu";
import * as assert from "uvu/assert";
import { account } from "../../../domain/account/decider.ts";
import type { AccountEvent } from "../../../domain/account/events.ts";
import type { Plan } from "../../../domain/account/plans.ts";
import { planAt, type SubscriptionCommand } from "../../../domain/account/subscription.ts";
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
const change = (plan: Plan["name"], over: { at?: string } = {}): SubscriptionCommand => ({
  type: "ChangePlan",
  plan,
  provider: "manual",
  reference: "ses_1",
  by: "mem_1",
  periodEnd: end,
  at,
  ...over,
});
const changed = (plan: string): AccountEvent => ({ type: "PlanChanged", data: { ...billed(), plan } });
const scheduled = (plan: string): AccountEvent => ({
  type: "DowngradeScheduled",
  data: { ...billed(), plan, from: end },
});

const plansOf = (...events: readonly AccountEvent[]) => {
  const state = fold(account, events);
  return state.phase === "open" ? [at, later, behind].map((time) => planAt(state.subscription, time)) : [];
};

const test = suite("subscription");

test("up at once, down at the end of the period, and no record is needed for that", () => {
  given(opened("free")).when(change("core")).then(changed("core"));
  given(opened("free"), changed("core")).when(change("starter")).then(scheduled("starter"));
  assert.equal(plansOf(opened("free"), changed("core"), scheduled("starter")), ["core", "core", "starter"]);
});

test("the plan that it has already changes nothing, and takes back what was scheduled", () => {
  given(opened("core")).when(change("core")).thenNothing();
  given(opened("core"), scheduled("free")).when(change("free")).thenNothing();
  given(opened("core"), scheduled("free")).when(change("core")).then({ type: "DowngradeCancelled", data: billed() });
  assert.equal(plansOf(opened("core"), scheduled("free"), { type: "DowngradeCancelled", data: billed() }), [
    "core",
    "core",
    "core",
  ]);
});

test("an upgrade takes back what was scheduled; what has taken effect is where the next change begins", () => {
  assert.equal(plansOf(opened("core"), scheduled("free"), changed("scale")), ["scale", "scale", "scale"]);
  given(opened("core"), scheduled("free"))
    .when(change("core", { at: behind }))
    .then({ type: "PlanChanged", data: { ...billed({ at: behind }), plan: "core" } });
});

test("a provider's word is the subscription: said twice, or late, it changes nothing", () => {
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

test("an account that is not there has no plan", () => {
  given().when(change("core")).rejects("account-absent");
});

test.run();
