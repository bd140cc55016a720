import { monthOf } from "../calendar.ts";
import { accept, type Decision } from "../decider.ts";
import type { AccountEvent } from "./events.ts";
import { blocksBeyond, largerOf, monthBefore, newestTwo, planNamed } from "./overage.ts";
import { PLANS, type Plan } from "./plans.ts";
import { type OutlastingPlan, outlastingPlans, type RetentionTerm, termsUnder } from "./retention.ts";

/** `past_due`: the provider could not collect; the plan holds until the provider ends it. */
export type SubscriptionStatus = "active" | "past_due" | "cancelled";

/** Times are ISO-8601 UTC with milliseconds. */
export type Subscription = {
  readonly plan: string;
  readonly scheduled: { readonly plan: string; readonly from: string } | null;
  readonly status: SubscriptionStatus;
  /** Null until a provider has billed the account. */
  readonly provider: string | null;
  /** The provider's id of the account; null if it has none. */
  readonly customer: string | null;
  /** The provider's customer that bought the current plan and can end it; null if the plan came from elsewhere. */
  readonly buyer: string | null;
  /** The largest plan of a month (YYYY-MM), for the months around the last change: see `largestIn`. */
  readonly largest: Readonly<Record<string, string>>;
  /** Of those months the newest two in which a plan with a hard stop followed one without: see `overageIn`. */
  readonly stopped: readonly string[];
  /** Earlier plans whose retention still applies. */
  readonly outlastingPlans: readonly OutlastingPlan[];
  /** Begun blocks reported to the provider, by month. */
  readonly reported: Readonly<Record<string, number>>;
  /** Grows with each change, including a scheduled one that takes effect: `versionAt`. */
  readonly version: number;
  /** Sources of the newest changes: a checkout that is confirmed twice takes effect once. */
  readonly references: readonly string[];
};

export type SubscriptionCommand =
  /** An upgrade takes effect at once, a downgrade at the end of the paid period. */
  | {
      readonly type: "ChangePlan";
      readonly plan: Plan["name"];
      readonly provider: string;
      /** The provider's session or event that the change comes from. */
      readonly reference: string;
      readonly by: string;
      readonly periodEnd: string;
      /** The version that the caller has seen; at any other version nothing changes. Missing: any version. */
      readonly version?: number;
      readonly at: string;
    }
  /** The provider's state replaces the subscription, in any order and however often it arrives. */
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
      /** YYYY-MM. */
      readonly month: string;
      readonly blocks: number;
      readonly at: string;
    };

/** A checkout link is valid for an hour, in which no account confirms as many others. */
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

/** A scheduled downgrade takes effect without a record. */
export const planAt = ({ plan, scheduled }: Pick<Subscription, "plan" | "scheduled">, at: string): string =>
  scheduled !== null && scheduled.from <= at ? scheduled.plan : plan;

/**
 * The largest plan that holds at some time of the current or last month (YYYY-MM). The month includes its volume, so a
 * change of plan never turns included events into overage.
 */
export const largestIn = ({ plan, scheduled, largest }: Subscription, month: string): string => {
  const start = `${month}-01T00:00:00.000Z`;
  const held = largest[month] ?? planAt({ plan, scheduled }, start);
  return scheduled?.from.startsWith(month) === true ? largerOf(held, scheduled.plan) : held;
};

const stops = (plan: string): boolean => planNamed(plan).hardStop;

/** The month within which the scheduled plan brings a hard stop; null if none does, or if it begins with the month. */
const stopOf = ({ plan, scheduled }: Pick<Subscription, "plan" | "scheduled">): string | null => {
  if (scheduled === null || stops(plan) || !stops(scheduled.plan)) return null;
  const month = monthOf(Date.parse(scheduled.from));
  return Date.parse(scheduled.from) > Date.parse(`${month}-01T00:00:00.000Z`) ? month : null;
};

/**
 * The begun blocks of a month with this many events. A reported block stays, whatever changed since. Events under a
 * free plan that follows a paid one cost nothing: the whole free volume is deducted, because those events are not
 * counted apart.
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

/** The subscription after the scheduled change, if that is due. */
const asOf = (subscription: Subscription, at: string): Subscription => {
  const { scheduled, version } = subscription;
  if (scheduled === null || scheduled.from > at) return subscription;
  return { ...under(subscription, scheduled.plan, scheduled.from), version: version + 1 };
};

/** For how long payloads are stored; events under an unknown plan belong to no term. */
export const retentionAt = (subscription: Subscription, at: string): readonly RetentionTerm[] => {
  const current = asOf(subscription, at);
  return termsUnder(current.plan, current.outlastingPlans);
};

/** Two reads with the same version have seen the same subscription. */
export const versionAt = (subscription: Subscription, at: string): number => asOf(subscription, at).version;

/** Only a provider records changes in its own name. */
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
  // A change of the plan has cancelled the scheduled one.
  const left = plan === current ? pending : null;
  if (scheduled !== null && (left?.plan !== scheduled.plan || left.from !== scheduled.from)) {
    events.push({ type: "DowngradeScheduled", data: { ...about, ...scheduled } });
  }
  if (scheduled === null && left !== null) events.push({ type: "DowngradeCancelled", data: about });
  const isNews = status !== before.status || provider !== before.provider || customer !== before.customer;
  // A plan that was given, or bought by another customer, may be paid by this one from now on: the record says which
  // customer can end it.
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
