import type { Plan } from "../account/plans.ts";
import type { SubscriptionStatus } from "../account/subscription.ts";

export type Payer = {
  readonly account: string;
  readonly email: string;
  /** The member who asks. */
  readonly by: string;
  /** The provider's id of the account; null if it has none yet. */
  readonly customer: string | null;
};

/** A page of the provider on which a person buys or changes a plan. */
export type BillingPage = {
  readonly url: string;
  readonly sessionId: string;
  /** ISO-8601 UTC with milliseconds. */
  readonly expiresAt: string;
  /** The provider's id of the account; null if it needs none. */
  readonly customer: string | null;
};

/** The customer that a webhook concerns. `reference` identifies the notice permanently. */
export type BillingNotice = {
  readonly reference: string;
  readonly customer: string;
  /** Null if the webhook does not name the account. */
  readonly account: string | null;
};

/** The present state at the provider. */
export type ProvidedSubscription = {
  /** Null if the provider no longer knows the account. */
  readonly account: string | null;
  readonly plan: Plan["name"];
  readonly scheduled: { readonly plan: Plan["name"]; readonly from: string } | null;
  readonly status: SubscriptionStatus;
};

/** Webhooks arrive late, twice and in any order: each is only a reason to ask for the present state. */
export type BillingWebhooks = {
  /**
   * "forged": the signature does not match. "malformed": it matches, but the body is not an event. Null: the event
   * changes no subscription.
   */
  read(headers: Readonly<Record<string, unknown>>, body: Uint8Array): BillingNotice | null | "forged" | "malformed";
  /**
   * Status "cancelled" means that no subscription is active. Null if the customer or its state is unknown: then nothing
   * changes.
   */
  subscriptionOf(customer: string): Promise<ProvidedSubscription | null>;
};

/** Adapters throw `BillingUnavailable` (`infra/billing/errors.ts`) if the provider does not answer. */
export type BillingProvider = {
  /** Appears on the bill and in the webhooks' path: POST /billing/<name>/webhook. */
  readonly name: string;
  startCheckout(
    payer: Payer,
    order: { readonly plan: Plan["name"]; readonly successUrl: string | null; readonly cancelUrl: string | null },
  ): Promise<BillingPage>;
  portal(payer: Payer, returnUrl: string | null): Promise<BillingPage>;
  /**
   * Reports one begun block of a month (YYYY-MM, blocks count from 1); a repeat within a day has no effect. Null if
   * overage is not collected: the summary shows it regardless.
   */
  readonly reportOverage:
    | ((overage: { account: string; customer: string; month: string; block: number }) => Promise<void>)
    | null;
  readonly webhooks: BillingWebhooks | null;
};
