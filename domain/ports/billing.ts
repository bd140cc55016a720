import type { Plan } from "../account/plans.ts";
import type { SubscriptionStatus } from "../account/subscription.ts";

export type Payer = {
  readonly account: string;
  readonly email: string;
  readonly by: string;
  /** The provider's id of the account; null if the provider has none yet. */
  readonly customer: string | null;
};

export type BillingPage = {
  readonly url: string;
  readonly sessionId: string;
  readonly expiresAt: string;
  /** The provider's id of the account; null if the provider needs none. */
  readonly customer: string | null;
};

export type BillingNotice = {
  readonly reference: string;
  readonly customer: string;
  readonly account: string | null;
};

export type ProvidedSubscription = {
  readonly account: string | null;
  readonly plan: Plan["name"];
  readonly scheduled: { readonly plan: Plan["name"]; readonly from: string } | null;
  readonly status: SubscriptionStatus;
};

/** Webhooks arrive late, twice and in any order: each is only a reason to ask for the present state. */
export type BillingWebhooks = {
  /** "forged": the signature is wrong. "malformed": signed, but no event. Null: it changes no subscription. */
  read(headers: Readonly<Record<string, unknown>>, body: Uint8Array): BillingNotice | null | "forged" | "malformed";
  /** "cancelled" means that no subscription is active. Null if the state is unknown: then nothing changes. */
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
   * Null if overage is not billed. A month is YYYY-MM, its blocks count from 1, and a repeat within a day is ignored.
   */
  readonly reportOverage:
    | ((overage: { account: string; customer: string; month: string; block: number }) => Promise<void>)
    | null;
  readonly webhooks: BillingWebhooks | null;
};
