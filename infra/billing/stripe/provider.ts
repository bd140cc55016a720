import { hash } from "node:crypto";
import type { Stripe } from "stripe";
import type { BillingPage, BillingProvider, Payer } from "../../../domain/ports/billing.ts";
import { asked, codeOf, type StripePlace, stripeClient } from "./client.ts";
import { customerOf, type Live, liveSubscription, SUBSCRIPTIONS_MAX } from "./subscriptions.ts";
import { stripeWebhooks } from "./webhooks.ts";

/** Stripe says no end of its portal's sessions; one that is not opened within some minutes is of no use any more. */
const PORTAL_MS = 300_000;

/** A meter event whose identifier came before is refused, so it is there: with this code, or with these words and no code. */
const isToldBefore = (error: unknown): boolean =>
  codeOf(error) === "duplicate_meter_event" ||
  (codeOf(error) !== null && error instanceof Error && error.message.includes("already exists with identifier"));

const isoOf = (seconds: number, moreMs = 0): string => new Date(seconds * 1_000 + moreMs).toISOString();

const pageOf = (session: Stripe.BillingPortal.Session, customer: string): BillingPage => ({
  url: session.url,
  sessionId: session.id,
  expiresAt: isoOf(session.created, PORTAL_MS),
  customer,
});

/** One customer an account. What was deleted at Stripe is made anew. */
const customerFor = async (stripe: Stripe, { account, email, customer: known }: Payer): Promise<string> => {
  const found = known === null ? null : await customerOf(stripe, known);
  if (found !== null && found.deleted !== true) return found.id;
  // A crash before its id is written down makes the same one again. Stripe refuses a key that comes with another body.
  const idempotencyKey = `customer-${hash("sha256", JSON.stringify([account, known, email]))}`;
  const made = await stripe.customers.create({ email, metadata: { account } }, { idempotencyKey });
  return made.id;
};

/** Nobody pays for two plans: what was bought is changed, on Stripe's own page. */
const changePage = (
  stripe: Stripe,
  customer: string,
  { id, itemId }: Live,
  price: string,
  returnUrl: string,
): Promise<Stripe.BillingPortal.Session> =>
  stripe.billingPortal.sessions.create({
    customer,
    return_url: returnUrl,
    flow_data: {
      type: "subscription_update_confirm",
      subscription_update_confirm: { subscription: id, items: [{ id: itemId, price, quantity: 1 }] },
      after_completion: { type: "redirect", redirect: { return_url: returnUrl } },
    },
  });

/** More than anybody leaves open: each is closed before the next one is made. */
const OPEN_MAX = 100;

/** Pages that were left in another tab sell nothing any more: two that are both paid would be two subscriptions. */
const closeOthers = async (stripe: Stripe, customer: string): Promise<void> => {
  const { data } = await stripe.checkout.sessions.list({ customer, status: "open", limit: OPEN_MAX });
  for (const { id } of data) await stripe.checkout.sessions.expire(id);
};

const checkoutPage = async (
  stripe: Stripe,
  customer: string,
  price: string,
  account: string,
  { successUrl, cancelUrl }: { readonly successUrl: string; readonly cancelUrl: string },
): Promise<BillingPage> => {
  const session = await stripe.checkout.sessions.create({
    mode: "subscription",
    customer,
    client_reference_id: account,
    metadata: { account },
    subscription_data: { metadata: { account } },
    line_items: [{ price, quantity: 1 }],
    success_url: successUrl,
    cancel_url: cancelUrl,
  });
  if (session.url === null) throw new Error(`Stripe's checkout session ${session.id} has no page`);
  return { url: session.url, sessionId: session.id, expiresAt: isoOf(session.expires_at), customer };
};

/** With any other status it collects, or will. */
const ENDED_STATUS: ReadonlySet<string> = new Set(["canceled", "incomplete_expired"]);

/** A subscription of its own collects overage, as Stripe's portal changes only subscriptions of a single price. */
const collectOverage = async (stripe: Stripe, place: StripePlace, account: string, customer: string): Promise<void> => {
  const { overagePrice: price } = place;
  if (price === null) return;
  const { data } = await stripe.subscriptions.list({ customer, price, status: "all", limit: SUBSCRIPTIONS_MAX });
  if (data.some(({ status }) => !ENDED_STATUS.has(status))) return;
  const paymentMethod = (await liveSubscription(stripe, place, customer))?.paymentMethod ?? null;
  // Of this very one: under the key of one that has ended Stripe would show that one, and under that of another body refuse.
  const key = hash("sha256", JSON.stringify([account, customer, paymentMethod, data.length]));
  await stripe.subscriptions.create(
    {
      customer,
      items: [{ price }],
      metadata: { account },
      ...(paymentMethod === null ? {} : { default_payment_method: paymentMethod }),
    },
    { idempotencyKey: `overage-${key}` },
  );
};

/** `publicUrl`, without a slash at the end, is where Stripe's pages lead when nobody said. */
export const stripeBilling = (place: StripePlace, publicUrl: () => string): BillingProvider => {
  const stripe = stripeClient(place);
  return {
    name: "stripe",

    startCheckout: (payer, { plan, successUrl, cancelUrl }) =>
      asked(place, "starting a checkout", async () => {
        if (plan === "free") throw new Error("nobody buys the free plan");
        const back = `${publicUrl()}/`;
        const customer = await customerFor(stripe, payer);
        // Before the look at what there is: what is paid up to here is among it, and behind it nothing can be paid any more.
        await closeOthers(stripe, customer);
        const live = await liveSubscription(stripe, place, customer);
        const price = place.prices[plan];
        if (live !== null) return pageOf(await changePage(stripe, customer, live, price, successUrl ?? back), customer);
        const urls = { successUrl: successUrl ?? back, cancelUrl: cancelUrl ?? back };
        return checkoutPage(stripe, customer, price, payer.account, urls);
      }),

    portal: (payer, returnUrl) =>
      asked(place, "opening the portal", async () => {
        const customer = await customerFor(stripe, payer);
        const return_url = returnUrl ?? `${publicUrl()}/`;
        return pageOf(await stripe.billingPortal.sessions.create({ customer, return_url }), customer);
      }),

    reportOverage: ({ account, customer, month, block }) =>
      asked(place, "reporting overage", async () => {
        await collectOverage(stripe, place, account, customer);
        const identifier = `${account}/${month}/${block}`;
        try {
          // No idempotency key of ours: under one, Stripe would give a failure of its own again for a day.
          await stripe.billing.meterEvents.create({
            event_name: place.meterEvent,
            identifier,
            payload: { stripe_customer_id: customer, value: "1" },
          });
        } catch (error) {
          if (!isToldBefore(error)) throw error;
        }
      }),

    webhooks: stripeWebhooks(stripe, place),
  };
};
