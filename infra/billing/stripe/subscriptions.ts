import type { Stripe } from "stripe";
import type { ProvidedSubscription } from "../../../domain/ports/billing.ts";
import { codeOf, type StripePlace } from "./client.ts";

/** More than one account ever has at once. */
export const SUBSCRIPTIONS_MAX = 100;

type PaidPlan = keyof StripePlace["prices"];

/** By what they cost: of several subscriptions the best one counts. */
const RANK: readonly PaidPlan[] = ["starter", "core", "scale"];

/** A subscription that holds: of one of our plans, and not at its end. */
export type Live = {
  readonly id: string;
  readonly itemId: string;
  /** Null: sold here at a price that none of the plans has any more. */
  readonly plan: PaidPlan | null;
  readonly status: "active" | "past_due";
  readonly scheduled: ProvidedSubscription["scheduled"];
  readonly paymentMethod: string | null;
};

/** With any other status nothing is paid for: not begun, paused, ended, or given up to collect (`unpaid`). */
const STATUS: Readonly<Record<string, Live["status"]>> = {
  active: "active",
  trialing: "active",
  past_due: "past_due",
};

const timeOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();
const idOf = (it: string | { readonly id: string } | null): string | null =>
  it === null || typeof it === "string" ? it : it.id;

const planOf = (prices: StripePlace["prices"], price: string | null): PaidPlan | null =>
  RANK.find((plan) => prices[plan] === price) ?? null;

/** What Stripe will do with it by itself: end it, or go on to the next phase of its schedule. */
const scheduledFor = (
  prices: StripePlace["prices"],
  subscription: Stripe.Subscription,
  item: Stripe.SubscriptionItem,
): Live["scheduled"] => {
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

/** What was bought before the price of its plan was replaced is of a plan all the same; overage, which is metered, never is. */
const soldBefore = (
  { overagePrice }: Pick<StripePlace, "overagePrice">,
  { metadata, items }: Stripe.Subscription,
): Stripe.SubscriptionItem | undefined =>
  metadata.account === undefined
    ? undefined
    : items.data.find(({ price }) => price.id !== overagePrice && price.recurring?.usage_type !== "metered");

const liveOf = (place: StripePlace, subscription: Stripe.Subscription): Live | null => {
  const { prices } = place;
  const status = STATUS[subscription.status];
  const planned = subscription.items.data.find(({ price }) => planOf(prices, price.id) !== null);
  const item = planned ?? soldBefore(place, subscription);
  if (status === undefined || item === undefined) return null;
  const { id, default_payment_method } = subscription;
  const scheduled = scheduledFor(prices, subscription, item);
  const plan = planOf(prices, item.price.id);
  return { id, itemId: item.id, plan, status, scheduled, paymentMethod: idOf(default_payment_method) };
};

const rankOf = ({ plan, status, scheduled }: Live): number =>
  (plan === null ? -1 : RANK.indexOf(plan)) * 4 + (status === "active" ? 2 : 0) + (scheduled === null ? 1 : 0);

/** The best subscription of a customer; null: none holds. */
export const liveSubscription = async (stripe: Stripe, place: StripePlace, customer: string): Promise<Live | null> => {
  const { data } = await stripe.subscriptions.list({
    customer,
    limit: SUBSCRIPTIONS_MAX,
    expand: ["data.schedule"],
  });
  const live = data.flatMap((it) => liveOf(place, it) ?? []);
  return live.toSorted((one, other) => rankOf(other) - rankOf(one))[0] ?? null;
};

const ENDED = { plan: "free", scheduled: null, status: "cancelled" } as const;

/** Stripe keeps deleted customers and ends what they had bought. */
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

/**
 * What holds of a customer; null: Stripe has never had it, or it pays a price that is no plan's any more, of which nobody can
 * say here what it buys. "Cancelled" says that nothing holds, whether anything ever did or not.
 */
export const subscriptionOf = async (
  stripe: Stripe,
  place: StripePlace,
  customer: string,
): Promise<ProvidedSubscription | null> => {
  const found = await customerOf(stripe, customer);
  if (found === null) return null;
  if (found.deleted === true) return { account: null, ...ENDED };
  const account = found.metadata.account ?? null;
  const live = await liveSubscription(stripe, place, customer);
  if (live === null) return { account, ...ENDED };
  const { plan, scheduled, status } = live;
  if (plan === null) return null;
  return { account, plan, scheduled, status };
};
