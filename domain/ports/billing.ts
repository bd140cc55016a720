import type { Plan } from "../account/plans.ts";
import type { SubscriptionStatus } from "../account/subscription.ts";

/** Who pays, as the provider is told. */
export type Payer = {
  readonly account: string;
  readonly email: string;
  /** The member who asks. */
  readonly by: string;
  /** What this provider calls the account; null: it has no name there yet. */
  readonly customer: string | null;
};

/** A page on which a person buys, or changes what was bought. */
export type BillingPage = {
  readonly url: string;
  readonly sessionId: string;
  /** ISO-8601 UTC with milliseconds. */
  readonly expiresAt: string;
  /** What the provider calls the account; null where it needs no name for it. */
  readonly customer: string | null;
};

/** Whom a webhook is about. `reference` names it for ever. */
export type BillingNotice = {
  readonly reference: string;
  readonly customer: string;
  /** Where the webhook itself says which account the customer is. */
  readonly account: string | null;
};

/** What holds at the provider at the moment. */
export type ProvidedSubscription = {
  /** Null where the provider does not know any more which account the customer was. */
  readonly account: string | null;
  readonly plan: Plan["name"];
  readonly scheduled: { readonly plan: Plan["name"]; readonly from: string } | null;
  readonly status: SubscriptionStatus;
};

/**
 * A provider's webhooks. They come late, twice and in any order: each is only the occasion to ask what holds.
 */
export type BillingWebhooks = {
  /**
   * "forged" when the signature does not hold, "malformed" when it does and what it is of is no event; null when that is
   * about nothing that changes a subscription.
   */
  read(headers: Readonly<Record<string, unknown>>, body: Uint8Array): BillingNotice | null | "forged" | "malformed";
  /**
   * "Cancelled": nothing holds, whether anything was bought before or not. Null: there is no such customer, or nobody
   * knows what it has: then nothing changes.
   */
  subscriptionOf(customer: string): Promise<ProvidedSubscription | null>;
};

/** Whoever takes the money. Adapters throw `BillingUnavailable` (`infra/billing/errors.ts`) when the provider does not answer. */
export type BillingProvider = {
  /** As the bill shows it, and in the address of its webhooks: POST /billing/<name>/webhook. */
  readonly name: string;
  startCheckout(
    payer: Payer,
    order: { readonly plan: Plan["name"]; readonly successUrl: string | null; readonly cancelUrl: string | null },
  ): Promise<BillingPage>;
  portal(payer: Payer, returnUrl: string | null): Promise<BillingPage>;
  /**
   * Tells of one begun block of a month (YYYY-MM, blocks count from 1). The same block again is the same for a day at
   * least. Null: nobody collects it, the summary shows it all the same.
   */
  readonly reportOverage:
    | ((overage: { account: string; customer: string; month: string; block: number }) => Promise<void>)
    | null;
  readonly webhooks: BillingWebhooks | null;
};
