import { accept, type Decision } from "../decider.ts";
import type { AccountEvent } from "./events.ts";
import { PLANS, type Plan } from "./plans.ts";

/** `past_due`: the provider could not collect what is owed; the plan holds until the provider ends it. */
export type SubscriptionStatus = "active" | "past_due" | "cancelled";

/** Which plan the account has, and will have. Times are ISO-8601 UTC with milliseconds. */
export type Subscription = {
  readonly plan: string;
  readonly scheduled: { readonly plan: string; readonly from: string } | null;
  readonly status: SubscriptionStatus;
  /** Who bills it; null as long as nobody had to. */
  readonly provider: string | null;
  /** What the provider calls the account; null where it has no name for it. */
  readonly customer: string | null;
};

export type SubscriptionCommand =
  /** Up at once, down at the end of the period that has been paid for. */
  | {
      readonly type: "ChangePlan";
      readonly plan: Plan["name"];
      readonly provider: string;
      /** Of whatever it comes from at the provider: a session, an event. */
      readonly reference: string;
      readonly by: string;
      readonly periodEnd: string;
      readonly at: string;
    }
  /** What a provider says: its word is the subscription, however often and in which order it comes. */
  | {
      readonly type: "FollowProvider";
      readonly plan: Plan["name"];
      readonly scheduled: { readonly plan: Plan["name"]; readonly from: string } | null;
      readonly status: SubscriptionStatus;
      readonly provider: string;
      readonly customer: string;
      readonly reference: string;
      readonly at: string;
    };

export type SubscriptionEvent = Extract<
  AccountEvent,
  { type: "PlanChanged" | "DowngradeScheduled" | "DowngradeCancelled" | "SubscriptionChanged" }
>;

export const openedWith = (plan: string): Subscription => ({
  plan,
  scheduled: null,
  status: "active",
  provider: null,
  customer: null,
});

/** The plan that holds at a time: nobody has to do anything for a downgrade to take effect. */
export const planAt = ({ plan, scheduled }: Pick<Subscription, "plan" | "scheduled">, at: string): string =>
  scheduled !== null && scheduled.from <= at ? scheduled.plan : plan;

/** With what was scheduled up to a time done. */
const asOf = (subscription: Subscription, at: string): Subscription => ({
  ...subscription,
  plan: planAt(subscription, at),
  scheduled: subscription.scheduled !== null && subscription.scheduled.from <= at ? null : subscription.scheduled,
});

export const evolveSubscription = (before: Subscription, { type, data }: SubscriptionEvent): Subscription => {
  const subscription = asOf(before, data.at);
  switch (type) {
    case "PlanChanged":
      return { ...subscription, plan: data.plan, scheduled: null, provider: data.provider };
    case "DowngradeScheduled":
      return { ...subscription, scheduled: { plan: data.plan, from: data.from }, provider: data.provider };
    case "DowngradeCancelled":
      return { ...subscription, scheduled: null };
    case "SubscriptionChanged":
      return { ...subscription, status: data.status, provider: data.provider, customer: data.customer };
  }
};

/** A plan that a later build dropped is the free one. */
export const planNamed = (name: string): Plan => PLANS[name as Plan["name"]] ?? PLANS.free;

const isUpgrade = (from: string, to: string): boolean => planNamed(to).priceEurMonth > planNamed(from).priceEurMonth;

type Decided = Decision<SubscriptionEvent, never>;
type CommandOf<T extends SubscriptionCommand["type"]> = Extract<SubscriptionCommand, { type: T }>;

const changePlan = (command: CommandOf<"ChangePlan">, account: string, subscription: Subscription): Decided => {
  const { plan, provider, reference, by, periodEnd, at } = command;
  const about = { account, provider, reference, by, at };
  if (plan === subscription.plan) {
    return subscription.scheduled === null ? accept() : accept({ type: "DowngradeCancelled", data: about });
  }
  if (isUpgrade(subscription.plan, plan)) return accept({ type: "PlanChanged", data: { ...about, plan } });
  if (subscription.scheduled?.plan === plan) return accept();
  return accept({ type: "DowngradeScheduled", data: { ...about, plan, from: periodEnd } });
};

const followProvider = (
  command: CommandOf<"FollowProvider">,
  account: string,
  { plan: current, scheduled: pending, ...before }: Subscription,
): Decided => {
  const { plan, scheduled, status, provider, customer, reference, at } = command;
  const about = { account, provider, reference, by: provider, at };
  const events: SubscriptionEvent[] = [];
  if (plan !== current) events.push({ type: "PlanChanged", data: { ...about, plan } });
  // A change of the plan has taken back what was scheduled.
  const left = plan === current ? pending : null;
  if (scheduled !== null && (left?.plan !== scheduled.plan || left.from !== scheduled.from)) {
    events.push({ type: "DowngradeScheduled", data: { ...about, ...scheduled } });
  }
  if (scheduled === null && left !== null) events.push({ type: "DowngradeCancelled", data: about });
  if (status !== before.status || provider !== before.provider || customer !== before.customer) {
    events.push({ type: "SubscriptionChanged", data: { ...about, status, customer } });
  }
  return accept(...events);
};

export const decideSubscription = (
  command: SubscriptionCommand,
  account: string,
  subscription: Subscription,
): Decided => {
  const current = asOf(subscription, command.at);
  return command.type === "ChangePlan"
    ? changePlan(command, account, current)
    : followProvider(command, account, current);
};
