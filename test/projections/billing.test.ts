import { suite } from "uvu";
import * as assert from "uvu/assert";
import { account } from "../../domain/account/decider.ts";
import { planAt, SUBSCRIPTION_EVENTS } from "../../domain/account/subscription.ts";
import { type BillingDocument, billing } from "../../projections/billing.ts";
import { broadHistory } from "../support/broad-history.ts";
import { at, history } from "../support/history.ts";
import { folded } from "../support/projected.ts";

const test = suite("billing view");
const ACCOUNTS = ["acc_free", "acc_core", "acc_scale", "acc_kept", "acc_over"];

test("the document follows the account's stream", () => {
  const { events } = broadHistory();
  const view = folded(billing, events);
  const types: readonly string[] = SUBSCRIPTION_EVENTS;
  for (const id of ACCOUNTS) {
    const own = events.filter(({ stream }) => stream === `account-${id}`);
    assert.ok(own.every(({ type }) => type === "AccountOpened" || types.includes(type)));
    // The world's own facts.
    const state = own.reduce((before, event) => account.evolve(before, event as never), account.initial);
    const document = view.get<BillingDocument>(id);
    assert.ok(document !== null && state.phase === "open");
    const { subscription } = state;
    for (const second of [300, 10_000]) assert.is(planAt(document, at(second)), planAt(subscription, at(second)), id);
    assert.equal(
      [document.status, document.provider, document.customer, document.overage_reported],
      [subscription.status, subscription.provider ?? "", subscription.customer ?? "", subscription.reported],
    );
  }
});

test("records without an account make no document", () => {
  const log = history();
  const data = { account: "acc_1", provider: "stripe", reference: "r", by: "stripe", plan: "core", at: at(0) };
  log.add("account-acc_1", { type: "PlanChanged", data });
  assert.equal(folded(billing, log.events).all(), {});
});

test.run();
