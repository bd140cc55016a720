import { Stripe } from "stripe";
import type { BillingNotice, BillingWebhooks } from "../../../domain/ports/billing.ts";
import { callStripe, type StripeOptions } from "./client.ts";
import { subscriptionOf } from "./subscriptions.ts";

const ABOUT = /^(?:checkout\.session\.|customer\.subscription\.|subscription_schedule\.|invoice\.(?:paid|payment_))/;

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

const isEvent = (it: unknown): it is Stripe.Event =>
  text(member(it, "id")) !== null &&
  text(member(it, "type")) !== null &&
  typeof member(member(it, "data"), "object") === "object";

/** Null if the event concerns no customer's plan. Its fields depend on Stripe's API version, so several are tried. */
const noticeOf = ({ id, type, data }: Stripe.Event): BillingNotice | null => {
  const about: unknown = data.object;
  const named = member(about, "customer");
  const customer = text(named) ?? text(member(named, "id"));
  if (!ABOUT.test(type) || customer === null) return null;
  const account = text(member(member(about, "metadata"), "account")) ?? text(member(about, "client_reference_id"));
  return { reference: id, customer, account };
};

export const stripeWebhooks = (stripe: Stripe, options: StripeOptions): BillingWebhooks => ({
  read(headers, body) {
    const signature = headers["stripe-signature"];
    if (typeof signature !== "string") return "forged";
    try {
      const event: unknown = stripe.webhooks.constructEvent(Buffer.from(body), signature, options.webhookSecret);
      return isEvent(event) ? noticeOf(event) : "malformed";
    } catch (error) {
      // A signature that is too old counts as a forged one. A "malformed" event has a valid signature and no readable
      // content.
      return error instanceof Stripe.errors.StripeSignatureVerificationError ? "forged" : "malformed";
    }
  },
  subscriptionOf: (customer) =>
    callStripe(options, "reading a subscription", () => subscriptionOf(stripe, options, customer)),
});
