import type { Stripe } from "stripe";
import type { ProvidedSubscription } from "../../../domain/ports/billing.ts";
import { codeOf, type StripeOptions } from "./client.ts";

export const SUBSCRIPTIONS_MAX = 100;

type PaidPlan = keyof StripeOptions["prices"];

/** The plans, by rising price: of a customer's subscriptions, the one for the last of these plans counts. */
const RANK: readonly PaidPlan[] = ["starter", "core", "scale"];

export type LiveSubscription = {
  readonly id: string;
  readonly itemId: string;
  /** Null if the subscription was bought at a price that no plan has any more. */
  readonly plan: PaidPlan | null;
  readonly status: "active" | "past_due";
  readonly scheduled: ProvidedSubscription["scheduled"];
  readonly paymentMethod: string | null;
};

/** Stripe's statuses and ours. A subscription with any other (not begun, paused, ended, `unpaid`) gives no plan. */
const STATUS: Readonly<Record<string, LiveSubscription["status"]>> = {
  active: "active",
  trialing: "active",
  past_due: "past_due",
};

const timeOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();
const idOf = (it: string | { readonly id: string } | null): string | null =>
  it === null || typeof it === "string" ? it : it.id;

const planOf = (prices: StripeOptions["prices"], price: string | null): PaidPlan | null =>
  RANK.find((plan) => prices[plan] === price) ?? null;

/** The change of plan that Stripe will make by itself: an end, or a later phase of a schedule. Null: there is none. */
const scheduledFor = (
  prices: StripeOptions["prices"],
  subscription: Stripe.Subscription,
  item: Stripe.SubscriptionItem,
): LiveSubscription["scheduled"] => {
  const { cancel_at, cancel_at_period_end, schedule } = subscription;
  if (cancel_at !== null) return { plan: "free", from: timeOf(cancel_at) };
  if (cancel_at_period_end) return { plan: "free", from: timeOf(item.current_period_end) };
  if (schedule === null || typeof schedule === "string") return null;
  const current = planOf(prices, item.price.id);
  const running = schedule.current_phase?.start_date ?? 0;
  for (const phase of schedule.phases.filter(({ start_date }) => start_date > running)) {
    const plan = phase.items.map(({ price }) => planOf(prices, idOf(price))).find((it) => it !== null);
    if (plan !== undefined && plan !== null && plan !== current) return { plan, from: timeOf(phase.start_date) };
  }
  return null;
};

/** The item that buys a plan at a price that no plan has any more. Metered items are for overage and buy no plan. */
const itemAtReplacedPrice = (
  { overagePrice }: Pick<StripeOptions, "overagePrice">,
  { metadata, items }: Stripe.Subscription,
): Stripe.SubscriptionItem | undefined =>
  metadata.account === undefined
    ? undefined
    : items.data.find(({ price }) => price.id !== overagePrice && price.recurring?.usage_type !== "metered");

const liveOf = (options: StripeOptions, subscription: Stripe.Subscription): LiveSubscription | null => {
  const { prices } = options;
  const status = STATUS[subscription.status];
  const planned = subscription.items.data.find(({ price }) => planOf(prices, price.id) !== null);
  const item = planned ?? itemAtReplacedPrice(options, subscription);
  if (status === undefined || item === undefined) return null;
  const { id, default_payment_method } = subscription;
  const scheduled = scheduledFor(prices, subscription, item);
  const plan = planOf(prices, item.price.id);
  return { id, itemId: item.id, plan, status, scheduled, paymentMethod: idOf(default_payment_method) };
};

const rankOf = ({ plan, status, scheduled }: LiveSubscription): number =>
  (plan === null ? -1 : RANK.indexOf(plan)) * 4 + (status === "active" ? 2 : 0) + (scheduled === null ? 1 : 0);

export const liveSubscription = async (
  stripe: Stripe,
  options: StripeOptions,
  customer: string,
): Promise<LiveSubscription | null> => {
  const { data } = await stripe.subscriptions.list({
    customer,
    limit: SUBSCRIPTIONS_MAX,
    expand: ["data.schedule"],
  });
  const live = data.flatMap((it) => liveOf(options, it) ?? []);
  return live.toSorted((one, other) => rankOf(other) - rankOf(one))[0] ?? null;
};

const ENDED = { plan: "free", scheduled: null, status: "cancelled" } as const;

export const customerOf = async (
  stripe: Stripe,
  customer: string,
): Promise<Stripe.Customer | Stripe.DeletedCustomer | null> => {
  try {
    return await stripe.customers.retrieve(customer);
  } catch (error) {
    if (codeOf(error) === "resource_missing") return null;
    throw error;
  }
};

/** Null for an unknown customer, or a price that no plan has any more. "cancelled": no subscription is in force. */
export const subscriptionOf = async (
  stripe: Stripe,
  options: StripeOptions,
  customer: string,
): Promise<ProvidedSubscription | null> => {
  const found = await customerOf(stripe, customer);
  if (found === null) return null;
  if (found.deleted === true) return { account: null, ...ENDED };
  const account = found.metadata.account ?? null;
  const live = await liveSubscription(stripe, options, customer);
  if (live === null) return { account, ...ENDED };
  const { plan, scheduled, status } = live;
  if (plan === null) return null;
  return { account, plan, scheduled, status };
};
