import { hash } from "node:crypto";
import type { Stripe } from "stripe";
import type { BillingPage, BillingProvider, Payer } from "../../../domain/ports/billing.ts";
import { callStripe, codeOf, type StripeOptions, stripeClient } from "./client.ts";
import { customerOf, type LiveSubscription, liveSubscription, SUBSCRIPTIONS_MAX } from "./subscriptions.ts";
import { stripeWebhooks } from "./webhooks.ts";

/** A guess, as Stripe does not report when a session of its portal ends; an unopened one expires within minutes. */
const PORTAL_MS = 300_000;

/** Stripe refuses a meter event whose identifier was reported before, by this code or by these words and no code. */
const isReportedAlready = (error: unknown): boolean =>
  codeOf(error) === "duplicate_meter_event" ||
  (codeOf(error) !== null && error instanceof Error && error.message.includes("already exists with identifier"));

const isoOf = (seconds: number, moreMs = 0): string => new Date(seconds * 1_000 + moreMs).toISOString();

const pageOf = (session: Stripe.BillingPortal.Session, customer: string): BillingPage => ({
  url: session.url,
  sessionId: session.id,
  expiresAt: isoOf(session.created, PORTAL_MS),
  customer,
});

const customerFor = async (stripe: Stripe, { account, email, customer: known }: Payer): Promise<string> => {
  const found = known === null ? null : await customerOf(stripe, known);
  if (found !== null && found.deleted !== true) return found.id;
  // Stripe refuses a repeated idempotency key with another body, so the key covers all parts of the body.
  const idempotencyKey = `customer-${hash("sha256", JSON.stringify([account, known, email]))}`;
  const made = await stripe.customers.create({ email, metadata: { account } }, { idempotencyKey });
  return made.id;
};

/** The page changes the current subscription, so that no account pays for two plans. */
const changePage = (
  stripe: Stripe,
  customer: string,
  {
    live: { id, itemId },
    price,
    returnUrl,
  }: { readonly live: LiveSubscription; readonly price: string; readonly returnUrl: string },
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

const OPEN_MAX = 100;

/** Expires the customer's open checkout pages: two abandoned pages that are both paid would be two subscriptions. */
const closeOthers = async (stripe: Stripe, customer: string): Promise<void> => {
  const { data } = await stripe.checkout.sessions.list({ customer, status: "open", limit: OPEN_MAX });
  for (const { id } of data) await stripe.checkout.sessions.expire(id);
};

type Checkout = {
  readonly account: string;
  readonly price: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
};

const checkoutPage = async (
  stripe: Stripe,
  customer: string,
  { account, price, successUrl, cancelUrl }: Checkout,
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

/** A subscription with one of these statuses never collects overage again, so a new one is made. */
const ENDED_STATUS: ReadonlySet<string> = new Set(["canceled", "incomplete_expired"]);

/** Overage has a separate subscription, because Stripe's portal changes only subscriptions with a single price. */
const collectOverage = async (
  stripe: Stripe,
  options: StripeOptions,
  account: string,
  customer: string,
): Promise<void> => {
  const { overagePrice: price } = options;
  if (price === null) return;
  const { data } = await stripe.subscriptions.list({ customer, price, status: "all", limit: SUBSCRIPTIONS_MAX });
  if (data.some(({ status }) => !ENDED_STATUS.has(status))) return;
  const paymentMethod = (await liveSubscription(stripe, options, customer))?.paymentMethod ?? null;
  // For a repeated key Stripe would return the subscription made under it, which may have ended. So the key includes
  // how many subscriptions there were.
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

/** `publicUrl` has no slash at the end. Stripe's pages lead back to it where the caller names no URL. */
export const stripeBilling = (options: StripeOptions, publicUrl: () => string): BillingProvider => {
  const stripe = stripeClient(options);
  return {
    name: "stripe",

    startCheckout: (payer, { plan, successUrl, cancelUrl }) =>
      callStripe(options, "starting a checkout", async () => {
        if (plan === "free") throw new Error("the free plan needs no checkout");
        const back = `${publicUrl()}/`;
        const customer = await customerFor(stripe, payer);
        // Open checkout pages are closed before the subscriptions are read, else one could be paid after the reading.
        await closeOthers(stripe, customer);
        const live = await liveSubscription(stripe, options, customer);
        const price = options.prices[plan];
        if (live !== null) {
          const returnUrl = successUrl ?? back;
          return pageOf(await changePage(stripe, customer, { live, price, returnUrl }), customer);
        }
        const urls = { successUrl: successUrl ?? back, cancelUrl: cancelUrl ?? back };
        return checkoutPage(stripe, customer, { account: payer.account, price, ...urls });
      }),

    portal: (payer, returnUrl) =>
      callStripe(options, "opening the portal", async () => {
        const customer = await customerFor(stripe, payer);
        const return_url = returnUrl ?? `${publicUrl()}/`;
        return pageOf(await stripe.billingPortal.sessions.create({ customer, return_url }), customer);
      }),

    reportOverage: ({ account, customer, month, block }) =>
      callStripe(options, "reporting overage", async () => {
        await collectOverage(stripe, options, account, customer);
        const identifier = `${account}/${month}/${block}`;
        try {
          // No idempotency key is sent, because Stripe would repeat its own failure under it for a day.
          await stripe.billing.meterEvents.create({
            event_name: options.meterEvent,
            identifier,
            payload: { stripe_customer_id: customer, value: "1" },
          });
        } catch (error) {
          if (!isReportedAlready(error)) throw error;
        }
      }),

    webhooks: stripeWebhooks(stripe, options),
  };
};
