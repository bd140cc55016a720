import { suite } from "uvu";
import * as assert from "uvu/assert";
import { stripeBilling } from "../../../infra/billing/stripe/provider.ts";
import { ACCOUNT, type BillingWorldOptions, billingWorld } from "../../support/billing-world.ts";
import { PUBLIC_URL } from "../../support/http-app.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  OVERAGE_PRICE,
  PERIOD_END,
  PRICES,
  type StripeServer,
  type StripeSubscription,
  startStripe,
} from "../../support/stripe-server.ts";
import { until } from "../../support/until.ts";

const test = suite<{ stripe: StripeServer }>("Stripe");
const END = new Date(PERIOD_END * 1_000).toISOString();
const SUCCESS = "https://shop.example/done?x=1";
const CANCEL = "https://shop.example/back";

test.before.each(async (context) => {
  context.stripe = await startStripe();
});
test.after.each(async ({ stripe }) => stripe.stop());

type Sent = ReturnType<StripeServer["webhook"]>;

const world = async (stripe: StripeServer, options: BillingWorldOptions = {}) => {
  const provider = stripeBilling(stripe.place, () => PUBLIC_URL);
  const made = await billingWorld({ ...options, provider });
  return {
    ...made,
    /** The status of the answer, and what became of it. */
    async hook({ payload, headers }: Sent): Promise<readonly [number, string]> {
      const answer = await made.app.inject({ method: "POST", url: "/billing/stripe/webhook", headers, payload });
      return [answer.statusCode, answer.json().outcome ?? answer.json().code];
    },
    async stands() {
      const { plan, scheduled, status } = await made.subscriptionOf();
      return { plan, scheduled, status };
    },
  };
};

/** Who has begun a checkout, and is a customer. */
const customerOf = async (it: Awaited<ReturnType<typeof world>>): Promise<string> => {
  await it.start("core");
  return (await it.subscriptionOf()).customer ?? "";
};

const subscription = (customer: string, over: Partial<StripeSubscription> = {}): StripeSubscription => ({
  id: "sub_1",
  customer,
  price: PRICES.core,
  metadata: { account: ACCOUNT },
  ...over,
});

test("a checkout is a Stripe session for one customer, and the purchased plan is in force at once", async ({
  stripe,
}) => {
  const it = await world(stripe);
  const { status, body } = await it.start("core", { success_url: SUCCESS, cancel_url: CANCEL });
  assert.is(status, 200);
  assert.equal(
    [body.checkout_url, body.session_id, body.expires_at],
    ["https://checkout.stripe.test/cs_test_2", "cs_test_2", END],
  );
  const [customer] = stripe.customers.values();
  assert.equal([customer?.email, customer?.metadata], ["ana@a.example", { account: ACCOUNT }]);
  const [session] = stripe.posted("/v1/checkout/sessions");
  assert.equal(session, {
    mode: "subscription",
    customer: "cus_1",
    client_reference_id: ACCOUNT,
    "metadata[account]": ACCOUNT,
    "subscription_data[metadata][account]": ACCOUNT,
    "line_items[0][price]": PRICES.core,
    "line_items[0][quantity]": "1",
    success_url: SUCCESS,
    cancel_url: CANCEL,
  });
  assert.is((await it.subscriptionOf()).customer, "cus_1", "known before anybody can pay");
  assert.is(await it.plan(), "free");

  stripe.has(subscription("cus_1"));
  assert.equal(await it.hook(stripe.webhook("customer.subscription.created", { customer: "cus_1" })), [
    200,
    "followed",
  ]);
  const summary = await it.summary();
  assert.equal([summary.plan, summary.status, summary.provider], ["core", "active", "stripe"]);
  await it.start("scale");
  assert.is(stripe.customers.size, 1);
});

test("webhooks that come twice and in any order end where Stripe is, and say each change once", async ({ stripe }) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  const steps: readonly (readonly [StripeSubscription, string, object])[] = [
    [subscription(customer), "customer.subscription.created", { plan: "core", scheduled: null, status: "active" }],
    [
      subscription(customer, { price: PRICES.scale }),
      "customer.subscription.updated",
      { plan: "scale", scheduled: null, status: "active" },
    ],
    [
      subscription(customer, { price: PRICES.scale, status: "past_due" }),
      "invoice.payment_failed",
      { plan: "scale", scheduled: null, status: "past_due" },
    ],
    [
      subscription(customer, { price: PRICES.scale, cancel_at_period_end: true }),
      "customer.subscription.updated",
      { plan: "scale", scheduled: { plan: "free", from: END }, status: "active" },
    ],
    [
      subscription(customer, { price: PRICES.scale, status: "canceled" }),
      "customer.subscription.deleted",
      { plan: "free", scheduled: null, status: "cancelled" },
    ],
  ];
  const random = seededRandom(7);
  const sent: Sent[] = [];
  for (const [now, type, stands] of steps) {
    stripe.has(now);
    sent.push(stripe.webhook(type, { id: now.id, object: "subscription", customer, metadata: { account: ACCOUNT } }));
    const before = (await it.typesOf()).length;
    for (let n = 0; n < 6; n += 1) {
      const one = sent[random.below(sent.length)];
      if (one !== undefined) assert.is((await it.hook(one))[0], 200);
    }
    const newest = sent.at(-1);
    if (newest !== undefined) await Promise.all([it.hook(newest), it.hook(newest)]);
    assert.equal(await it.stands(), stands);
    assert.ok((await it.typesOf()).length <= before + 2, "one record a change");
  }
});

test("a webhook that reads Stripe earlier and writes later than another one does not win", async ({ stripe }) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  stripe.has(subscription(customer));
  const append = it.log.append;
  let isHeld = true;
  // The first to write has read "core"; before it does, Stripe goes on and another webhook is followed.
  Object.assign(it.log, {
    append: async (...args: Parameters<typeof append>) => {
      if (args[2][0]?.type === "PlanChanged" && isHeld) {
        isHeld = false;
        stripe.has(subscription(customer, { price: PRICES.scale }));
        await it.hook(stripe.webhook("customer.subscription.updated", { customer }));
      }
      return append(...args);
    },
  });
  await it.hook(stripe.webhook("customer.subscription.created", { customer }));
  assert.is(await it.plan(), "scale");
});

test("the best of several subscriptions counts: the end of an old one takes nothing from a new one", async ({
  stripe,
}) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  const old = subscription(customer, { id: "sub_old", price: PRICES.starter });
  stripe.has(old);
  await it.hook(stripe.webhook("customer.subscription.created", { customer }));
  stripe.has(subscription(customer, { id: "sub_new", price: PRICES.scale }));
  stripe.has(subscription(customer, { id: "sub_other", price: "price_of_another_product" }));
  stripe.has({ ...old, status: "canceled" });
  await it.hook(stripe.webhook("customer.subscription.deleted", { customer, id: "sub_old" }));
  assert.equal(await it.stands(), { plan: "scale", scheduled: null, status: "active" });
});

test("the next phase of a schedule is the plan that follows; taken back, it is not", async ({ stripe }) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  stripe.has(subscription(customer, { next: { price: PRICES.starter, from: PERIOD_END } }));
  await it.hook(stripe.webhook("subscription_schedule.created", { customer }));
  assert.equal(await it.stands(), { plan: "core", scheduled: { plan: "starter", from: END }, status: "active" });
  assert.equal((await it.summary()).scheduled_change, { plan: "starter", from: END });
  stripe.has(subscription(customer, { cancel_at: PERIOD_END - 86_400 }));
  await it.hook(stripe.webhook("customer.subscription.updated", { customer }));
  assert.equal((await it.stands()).scheduled, { plan: "free", from: "2026-04-09T00:00:00.000Z" });
  stripe.has(subscription(customer));
  await it.hook(stripe.webhook("customer.subscription.updated", { customer }));
  assert.is((await it.stands()).scheduled, null);
});

test("where nothing that was bought holds any more, the plan is the free one, however it ended", async ({ stripe }) => {
  const ended: readonly Partial<StripeSubscription>[] = [
    ...["paused", "incomplete", "incomplete_expired", "unpaid", "canceled", "unheard_of"].map((status) => ({ status })),
    { price: "price_of_another_product", metadata: {} },
  ];
  const it = await world(stripe, { plan: "scale" });
  const customer = await customerOf(it);
  for (const over of ended) {
    stripe.has(subscription(customer));
    await it.hook(stripe.webhook("customer.subscription.updated", { customer }));
    assert.equal(await it.stands(), { plan: "core", scheduled: null, status: "active" });
    stripe.has(subscription(customer, over));
    assert.equal(await it.hook(stripe.webhook("customer.subscription.updated", { customer })), [200, "followed"]);
    assert.equal(await it.stands(), { plan: "free", scheduled: null, status: "cancelled" }, JSON.stringify(over));
  }
});

test("a price that was replaced ends no plan that was bought at it: it goes on, can be changed, and ends with its subscription", async ({
  stripe,
}) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  stripe.has(subscription(customer));
  await it.hook(stripe.webhook("customer.subscription.created", { customer }));
  const old = { price: "price_core_of_last_year" };
  stripe.has(subscription(customer, old));
  stripe.has({ id: "sub_overage", customer, price: OVERAGE_PRICE, metadata: { account: ACCOUNT } });
  assert.equal(await it.hook(stripe.webhook("invoice.paid", { customer })), [200, "ignored"]);
  assert.equal(await it.stands(), { plan: "core", scheduled: null, status: "active" });

  await it.start("scale");
  const [asked] = stripe.posted("/v1/billing_portal/sessions");
  assert.is(asked?.["flow_data[subscription_update_confirm][subscription]"], "sub_1", "nobody is sold a second one");
  stripe.has(subscription(customer, { ...old, status: "canceled" }));
  assert.equal(await it.hook(stripe.webhook("customer.subscription.deleted", { customer })), [200, "followed"]);
  assert.equal(await it.stands(), { plan: "free", scheduled: null, status: "cancelled" });
});

test("a plan that was given and is then bought ends with what was bought", async ({ stripe }) => {
  const it = await world(stripe, { plan: "scale" });
  const customer = await customerOf(it);
  stripe.has(subscription(customer, { price: PRICES.scale }));
  await it.hook(stripe.webhook("customer.subscription.created", { customer }));
  stripe.has(subscription(customer, { price: PRICES.scale, status: "canceled" }));
  await it.hook(stripe.webhook("customer.subscription.deleted", { customer }));
  assert.equal(await it.stands(), { plan: "free", scheduled: null, status: "cancelled" });
});

test("an unpaid checkout changes nothing: a plan that was not bought at Stripe stays", async ({ stripe }) => {
  const it = await world(stripe, { plan: "scale" });
  const customer = await customerOf(it);
  stripe.has(subscription(customer, { status: "incomplete" }));
  for (const status of ["incomplete_expired", "paused", "unpaid", "canceled"]) {
    stripe.has(subscription(customer, { id: `sub_${status}`, status }));
  }
  assert.equal(await it.hook(stripe.webhook("customer.subscription.created", { customer })), [200, "ignored"]);
  assert.is(await it.plan(), "scale");
});

test("a webhook that is forged, stale or signed for another body is refused, and asks Stripe for nothing", async ({
  stripe,
}) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  stripe.has(subscription(customer));
  const before = stripe.asked.length;
  const about = ["customer.subscription.created", { customer }] as const;
  const good = stripe.webhook(...about);
  const { "stripe-signature": _, ...unsigned } = good.headers;
  const bad: readonly { payload: string; headers: Record<string, string> }[] = [
    stripe.webhook(...about, { secret: "whsec_another" }),
    stripe.webhook(...about, { ageS: 3_600 }),
    { ...good, payload: good.payload.replace("cus_1", "cus_2") },
    { ...good, payload: "" },
    { ...good, headers: unsigned },
  ];
  for (const sent of bad) assert.equal(await it.hook(sent as Sent), [401, "invalid-signature"]);
  assert.equal([stripe.asked.length, await it.plan()], [before, "free"]);
  assert.equal(await it.hook(good), [200, "followed"]);
});

test("a signed body that is no event is malformed; no content type is needed", async ({ stripe }) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  stripe.has(subscription(customer));
  const bodies = ["null", "[]", "{", "<xml/>", '{"id":"evt_1","object":"event"}', '{"id":"evt_1","type":"x","data":1}'];
  for (const payload of bodies) assert.equal(await it.hook(stripe.signed(payload)), [400, "invalid-request"], payload);
  const { payload, headers } = stripe.webhook("customer.subscription.created", { customer });
  const { "content-type": _, ...bare } = headers;
  assert.equal(await it.hook({ payload, headers: bare as typeof headers }), [200, "followed"]);
  for (const type of ["", "nonsense", "text/plain"]) {
    assert.equal(await it.hook({ payload, headers: { ...headers, "content-type": type } }), [200, "followed"], type);
  }
});

test("a Stripe that hangs is no page that hangs", async ({ stripe }) => {
  const it = await world({ ...stripe, place: { ...stripe.place, answerMs: 200 } });
  let isHanging = true;
  stripe.world.before = async () => {
    while (isHanging) await new Promise((resolve) => setTimeout(resolve, 20));
    return undefined;
  };
  const refused = await it.portal();
  assert.equal([refused.status, refused.body.code, refused.body.retryable], [503, "unavailable", true]);
  isHanging = false;
  // On a machine that is busy an answer may come late as well.
  await until("it is opened", async () => (await it.portal()).status === 200);
});

test("a webhook about an unknown account or without a subscription is acknowledged and changes nothing", async ({
  stripe,
}) => {
  const it = await world(stripe);
  await customerOf(it);
  stripe.customers.set("cus_shop", { id: "cus_shop", email: "", metadata: {}, deleted: false });
  stripe.customers.set("cus_else", { id: "cus_else", email: "", metadata: { account: "acc_else" }, deleted: false });
  for (const customer of ["cus_shop", "cus_else", "cus_none"]) {
    stripe.has(subscription(customer, { id: `sub_${customer}`, metadata: {} }));
    assert.equal(await it.hook(stripe.webhook("customer.subscription.created", { customer })), [200, "ignored"]);
  }
  const asked = stripe.asked.length;
  for (const type of ["charge.succeeded", "product.created"])
    assert.equal(await it.hook(stripe.webhook(type, { customer: "cus_1" })), [200, "ignored"]);
  assert.equal(await it.hook(stripe.webhook("invoice.paid", { customer: null })), [200, "ignored"]);
  assert.is(stripe.asked.length, asked);
  assert.is(await it.plan(), "free");
});

test("an account with a subscription changes it on Stripe's page, and never pays for two", async ({ stripe }) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  stripe.has(subscription(customer));
  await it.hook(stripe.webhook("customer.subscription.created", { customer }));
  const { body } = await it.start("starter", { success_url: SUCCESS });
  assert.match(body.checkout_url, /^https:\/\/billing\.stripe\.test\//);
  const [asked] = stripe.posted("/v1/billing_portal/sessions");
  assert.is(asked?.["flow_data[type]"], "subscription_update_confirm");
  assert.is(asked?.["flow_data[subscription_update_confirm][subscription]"], "sub_1");
  assert.is(asked?.["flow_data[subscription_update_confirm][items][0][price]"], PRICES.starter);
  assert.is(stripe.posted("/v1/checkout/sessions").length, 1);
});

test("a checkout is decided on the state at Stripe, even if webhooks were lost", async ({ stripe }) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  stripe.has(subscription(customer));
  const bought = await it.start("core");
  assert.equal([bought.status, bought.body.code, await it.plan()], [409, "conflict", "core"], "it is paid for");
  stripe.has(subscription(customer, { status: "canceled" }));
  const again = await it.start("core");
  assert.equal([again.status, await it.plan()], [200, "free"], "it has ended");
  assert.match(again.body.checkout_url, /^https:\/\/checkout\.stripe\.test\//);
});

test("the portal is Stripe's own, for the customer there is, or a new one where it was deleted", async ({ stripe }) => {
  const it = await world(stripe);
  const { body } = await it.portal({ return_url: CANCEL });
  assert.match(body.portal_url, /^https:\/\/billing\.stripe\.test\//);
  assert.ok(Date.parse(body.expires_at) > 0);
  assert.equal(stripe.posted("/v1/billing_portal/sessions"), [{ customer: "cus_1", return_url: CANCEL }]);

  stripe.has(subscription("cus_1"));
  await it.hook(stripe.webhook("customer.subscription.created", { customer: "cus_1" }));
  stripe.has(subscription("cus_1", { status: "canceled" }));
  stripe.customers.set("cus_1", { id: "cus_1", email: "", metadata: {}, deleted: true });
  const gone = stripe.webhook("customer.subscription.deleted", { customer: "cus_1", metadata: { account: ACCOUNT } });
  await it.hook(gone);
  assert.equal(await it.stands(), { plan: "free", scheduled: null, status: "cancelled" });
  await it.portal();
  const { customer } = await it.subscriptionOf();
  assert.is.not(customer, "cus_1");
  stripe.has(subscription(customer ?? "", { id: "sub_2" }));
  await it.hook(stripe.webhook("customer.subscription.created", { customer }));
  assert.equal(await it.hook(gone), [200, "ignored"], "what the former customer had is over");
  assert.is(await it.plan(), "core");
});

/** Has bought, and lost its customer at Stripe; then the portal was opened, for a new customer, before the webhook came. */
const lostCustomer = async (stripe: StripeServer) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  stripe.has(subscription(customer));
  await it.hook(stripe.webhook("customer.subscription.created", { customer }));
  stripe.has(subscription(customer, { status: "canceled" }));
  stripe.customers.set(customer, { id: customer, email: "", metadata: {}, deleted: true });
  await it.portal();
  const next = (await it.subscriptionOf()).customer ?? "";
  assert.is.not(next, customer);
  const gone = stripe.webhook("customer.subscription.deleted", { customer, metadata: { account: ACCOUNT } });
  return { it, next, gone };
};

test("a purchased plan ends even if the account has a new customer id by then", async ({ stripe }) => {
  const { it, gone } = await lostCustomer(stripe);
  assert.equal(await it.hook(gone), [200, "followed"]);
  assert.equal(await it.stands(), { plan: "free", scheduled: null, status: "cancelled" });
});

test("a plan bought under the new customer id stays, and ends with that customer", async ({ stripe }) => {
  const { it, next, gone } = await lostCustomer(stripe);
  stripe.has(subscription(next, { id: "sub_2" }));
  await it.hook(stripe.webhook("customer.subscription.created", { customer: next }));
  assert.equal(await it.hook(gone), [200, "ignored"]);
  assert.is(await it.plan(), "core");
  stripe.has(subscription(next, { id: "sub_2", status: "canceled" }));
  await it.hook(stripe.webhook("customer.subscription.deleted", { customer: next }));
  assert.is(await it.plan(), "free");
});

test("of several checkouts that were begun only the last can be paid, and one that is being paid is no reason for another", async ({
  stripe,
}) => {
  const it = await world(stripe);
  for (const plan of ["core", "scale", "core"]) assert.is((await it.start(plan)).status, 200);
  const statuses = (): readonly string[] => [...stripe.sessions.values()].map(({ status }) => status);
  assert.equal(statuses(), ["expired", "expired", "open"]);

  stripe.world.before = async ({ path }) => {
    const [last] = [...stripe.sessions.values()].slice(-1);
    if (last !== undefined && path.endsWith("/expire")) stripe.sessions.set(last.id, { ...last, status: "complete" });
    return undefined;
  };
  assert.is((await it.start("scale")).status, 503);
  assert.equal(statuses(), ["expired", "expired", "complete"]);
});

test("a purchase that is paid while another checkout begins is seen, and no second subscription is sold", async ({
  stripe,
}) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  stripe.world.before = async ({ method, path }) => {
    const [first] = stripe.sessions.values();
    if (first?.status !== "open" || method !== "GET" || path !== "/v1/checkout/sessions") return undefined;
    stripe.sessions.set(first.id, { ...first, status: "complete" });
    stripe.has(subscription(customer));
    return undefined;
  };
  const { body } = await it.start("scale");
  assert.match(body.checkout_url, /^https:\/\/billing\.stripe\.test\//);
  assert.is(stripe.posted("/v1/checkout/sessions").length, 1);
});

test("two checkouts at once are one customer; an answer that was lost is asked for again under its key", async ({
  stripe,
}) => {
  const it = await world(stripe);
  let lost = 0;
  stripe.world.before = async ({ path }) => {
    if (path !== "/v1/customers" || lost > 0) return undefined;
    lost += 1;
    return "lost";
  };
  const [one, other] = await Promise.all([it.start("core"), it.start("scale")]);
  assert.equal([one.status, other.status], [200, 200]);
  assert.equal([lost, stripe.customers.size], [1, 1]);
});

test("while Stripe does not answer nothing is sold, and no webhook is acknowledged", async ({ stripe }) => {
  const it = await world(stripe);
  const customer = await customerOf(it);
  stripe.has(subscription(customer));
  stripe.world.before = async () => "fails";
  const refused = await it.start("scale");
  assert.equal([refused.status, refused.body.code, refused.body.retryable], [503, "unavailable", true]);
  assert.not.match(JSON.stringify(refused.body), "sk_test");
  const sent = stripe.webhook("customer.subscription.created", { customer });
  assert.equal(await it.hook(sent), [503, "unavailable"]);
  stripe.world.before = async () => undefined;
  assert.equal(await it.hook(sent), [200, "followed"]);
  assert.is(await it.plan(), "core");
});

test.run();
