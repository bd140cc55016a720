import { monthOf } from "../calendar.ts";
import { accept, type Decision } from "../decider.ts";
import type { AccountEvent } from "./events.ts";
import { blocksBeyond, largerOf, monthBefore, newestTwo, planNamed } from "./overage.ts";
import { PLANS, type Plan } from "./plans.ts";
import { type OutlastingPlan, outlastingPlans, type RetentionTerm, termsUnder } from "./retention.ts";

/** `past_due`: the provider could not collect the money, but the account keeps its plan until the provider ends it. */
export type SubscriptionStatus = "active" | "past_due" | "cancelled";

export type Subscription = {
  readonly plan: string;
  readonly scheduled: { readonly plan: string; readonly from: string } | null;
  readonly status: SubscriptionStatus;
  /** The billing provider through which the subscription last changed; null before the first change. */
  readonly provider: string | null;
  readonly customer: string | null;
  /** The provider's customer who bought the current plan and can end it; null if the plan was not bought there. */
  readonly buyer: string | null;
  /** The largest plan of a month (YYYY-MM), for the month of the last change and the month before it. */
  readonly largest: Readonly<Record<string, string>>;
  readonly stopped: readonly string[];
  readonly outlastingPlans: readonly OutlastingPlan[];
  /** Begun blocks of overage that were reported to the provider, by month (YYYY-MM). */
  readonly reported: Readonly<Record<string, number>>;
  /** Grows by one with each change of the subscription, also when a scheduled change takes effect. */
  readonly version: number;
  /** References of the newest changes, so that a checkout that is confirmed twice takes effect once. */
  readonly references: readonly string[];
};

export type SubscriptionCommand =
  /** An upgrade takes effect at once, a downgrade at the end of the paid period. */
  | {
      readonly type: "ChangePlan";
      readonly plan: Plan["name"];
      readonly provider: string;
      readonly reference: string;
      readonly by: string;
      readonly periodEnd: string;
      /** If the subscription no longer has this version, the command changes nothing. Absent: any version will do. */
      readonly version?: number;
      readonly at: string;
    }
  /** The provider's present state replaces the recorded one, so its webhooks may come in any order and repeatedly. */
  | {
      readonly type: "FollowProvider";
      readonly plan: Plan["name"];
      readonly scheduled: { readonly plan: Plan["name"]; readonly from: string } | null;
      readonly status: SubscriptionStatus;
      readonly provider: string;
      readonly customer: string;
      readonly reference: string;
      readonly at: string;
    }
  | {
      readonly type: "NameCustomer";
      readonly provider: string;
      readonly customer: string;
      readonly reference: string;
      readonly by: string;
      readonly at: string;
    }
  | {
      readonly type: "RecordOverage";
      readonly provider: string;
      readonly month: string;
      readonly blocks: number;
      readonly at: string;
    };

/** A checkout can be confirmed for an hour, in which no account changes its plan this often. */
const REFERENCES_MAX = 50;

export const SUBSCRIPTION_EVENTS = [
  "PlanChanged",
  "DowngradeScheduled",
  "DowngradeCancelled",
  "SubscriptionChanged",
  "OverageReported",
] as const satisfies readonly AccountEvent["type"][];

export type SubscriptionEvent = Extract<AccountEvent, { type: (typeof SUBSCRIPTION_EVENTS)[number] }>;

export const openedWith = (plan: string): Subscription => ({
  plan,
  scheduled: null,
  status: "active",
  provider: null,
  customer: null,
  buyer: null,
  largest: {},
  stopped: [],
  outlastingPlans: [],
  reported: {},
  version: 0,
  references: [],
});

/** The plan at the time `at` (ISO-8601 UTC): a scheduled downgrade takes effect without a record. */
export const planAt = ({ plan, scheduled }: Pick<Subscription, "plan" | "scheduled">, at: string): string =>
  scheduled !== null && scheduled.from <= at ? scheduled.plan : plan;

/** A month's included events are those of its largest plan, so a change of plan never turns them into overage. */
export const largestIn = ({ plan, scheduled, largest }: Subscription, month: string): string => {
  const start = `${month}-01T00:00:00.000Z`;
  const held = largest[month] ?? planAt({ plan, scheduled }, start);
  return scheduled?.from.startsWith(month) === true ? largerOf(held, scheduled.plan) : held;
};

const stops = (plan: string): boolean => planNamed(plan).hardStop;

/** The month (YYYY-MM) during which a scheduled hard stop begins; null without one, or if it begins with a month. */
const stopOf = ({ plan, scheduled }: Pick<Subscription, "plan" | "scheduled">): string | null => {
  if (scheduled === null || stops(plan) || !stops(scheduled.plan)) return null;
  const month = monthOf(Date.parse(scheduled.from));
  return Date.parse(scheduled.from) > Date.parse(`${month}-01T00:00:00.000Z`) ? month : null;
};

/**
 * The month's blocks of overage; a reported one is never taken back. Events under a free plan after a paid one are free
 * but not counted apart, so the free plan's whole volume is deducted.
 */
export const overageIn = (subscription: Subscription, month: string, events: number): number => {
  const hasStopped = subscription.stopped.includes(month) || stopOf(subscription) === month;
  const billed = events - (hasStopped ? PLANS.free.eventsPerMonth : 0);
  return Math.max(blocksBeyond(planNamed(largestIn(subscription, month)), billed), subscription.reported[month] ?? 0);
};

const under = (subscription: Subscription, plan: string, at: string): Subscription => ({
  ...subscription,
  plan,
  scheduled: null,
  outlastingPlans: outlastingPlans(subscription.outlastingPlans, { from: subscription.plan, to: plan, at }),
});

const asOf = (subscription: Subscription, at: string): Subscription => {
  const { scheduled, version } = subscription;
  if (scheduled === null || scheduled.from > at) return subscription;
  return { ...under(subscription, scheduled.plan, scheduled.from), version: version + 1 };
};

export const retentionAt = (subscription: Subscription, at: string): readonly RetentionTerm[] => {
  const current = asOf(subscription, at);
  return termsUnder(current.plan, current.outlastingPlans);
};

/** The version counts a scheduled change from the moment it takes effect. */
export const versionAt = (subscription: Subscription, at: string): number => asOf(subscription, at).version;

const saysProvider = ({ by, provider }: { readonly by: string; readonly provider: string }): boolean => by === provider;

const changed = (subscription: Subscription, event: Exclude<SubscriptionEvent, { type: "OverageReported" }>) => {
  const { type, data } = event;
  switch (type) {
    case "PlanChanged": {
      const buyer = saysProvider(data) ? subscription.customer : null;
      return { ...under(subscription, data.plan, data.at), provider: data.provider, buyer };
    }
    case "DowngradeScheduled":
      return { ...subscription, scheduled: { plan: data.plan, from: data.from }, provider: data.provider };
    case "DowngradeCancelled":
      return { ...subscription, scheduled: null };
    case "SubscriptionChanged": {
      const { status, provider, customer } = data;
      return { ...subscription, status, provider, customer, buyer: saysProvider(data) ? customer : subscription.buyer };
    }
  }
};

export const evolveSubscription = (before: Subscription, event: SubscriptionEvent): Subscription => {
  if (event.type === "OverageReported") {
    const { month, blocks } = event.data;
    return { ...before, reported: newestTwo({ ...before.reported, [month]: blocks }) };
  }
  const { at, reference } = event.data;
  const current = asOf(before, at);
  const after = changed(current, event);
  const month = monthOf(Date.parse(at));
  const last = monthBefore(month);
  const held = before.largest[month] ?? planAt(before, `${month}-01T00:00:00.000Z`);
  const done = current === before ? null : stopOf(before);
  const fell = !stops(current.plan) && stops(after.plan) ? month : null;
  return {
    ...after,
    stopped: [...new Set([...before.stopped, ...[done, fell].filter((it) => it !== null)])].toSorted().slice(-2),
    version: current.version + 1,
    largest: { [last]: largestIn(before, last), [month]: [current.plan, after.plan].reduce(largerOf, held) },
    references: [...before.references.slice(1 - REFERENCES_MAX), reference],
  };
};

const isUpgrade = (from: string, to: string): boolean => planNamed(to).priceEurMonth > planNamed(from).priceEurMonth;

type Decided = Decision<SubscriptionEvent, never>;
type CommandOf<T extends SubscriptionCommand["type"]> = Extract<SubscriptionCommand, { type: T }>;

const changePlan = (command: CommandOf<"ChangePlan">, account: string, subscription: Subscription): Decided => {
  const { plan, provider, reference, by, periodEnd, at, version = subscription.version } = command;
  const about = { account, provider, reference, by, at };
  if (subscription.references.includes(reference) || version !== subscription.version) return accept();
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
  const left = plan === current ? pending : null;
  if (scheduled !== null && (left?.plan !== scheduled.plan || left.from !== scheduled.from)) {
    events.push({ type: "DowngradeScheduled", data: { ...about, ...scheduled } });
  }
  if (scheduled === null && left !== null) events.push({ type: "DowngradeCancelled", data: about });
  const isNews = status !== before.status || provider !== before.provider || customer !== before.customer;
  // The plan may have been given, or bought by another customer: the record names the customer who can end it now.
  if (isNews || (plan === current && before.buyer !== customer)) {
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
  switch (command.type) {
    case "ChangePlan":
      return changePlan(command, account, current);
    case "FollowProvider":
      return followProvider(command, account, current);
    case "NameCustomer": {
      const { type: _, ...named } = command;
      if (named.provider === current.provider && named.customer === current.customer) return accept();
      return accept({ type: "SubscriptionChanged", data: { account, ...named, status: current.status } });
    }
    case "RecordOverage": {
      const { type: _, ...told } = command;
      if (told.blocks <= (current.reported[told.month] ?? 0)) return accept();
      return accept({ type: "OverageReported", data: { account, ...told } });
    }
  }
};
