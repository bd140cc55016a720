import { monthOf } from "../calendar.ts";
import { accept, type Decision } from "../decider.ts";
import type { AccountEvent } from "./events.ts";
import { blocksBeyond, largerOf, monthBefore, newestTwo, planNamed } from "./overage.ts";
import { PLANS, type Plan } from "./plans.ts";
import { type Outlasting, outlasting, type RetentionTerm, termsUnder } from "./retention.ts";

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
  /** Which customer of the provider has bought the plan that holds, so that it can end there; null: it came from elsewhere. */
  readonly buyer: string | null;
  /** The largest plan that held in a month (YYYY-MM), of the months around the last change: see `largestIn`. */
  readonly largest: Readonly<Record<string, string>>;
  /** Of those months the ones in which a plan that stops followed one that goes on, the newest two: see `overageIn`. */
  readonly stopped: readonly string[];
  /** Plans before the one that holds, whose days payloads still have. */
  readonly outlasting: readonly Outlasting[];
  /** How many begun blocks of a month the provider has been told of. */
  readonly reported: Readonly<Record<string, number>>;
  /** Grows with each change, also with one that takes effect by itself: `versionAt`. */
  readonly version: number;
  /** What the newest changes came from: a checkout that is confirmed twice is confirmed once. */
  readonly references: readonly string[];
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
      /** Of what the asker had before them: of any other nothing is changed. Missing: whatever holds. */
      readonly version?: number;
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
    }
  /** What the provider calls the account from now on. */
  | {
      readonly type: "NameCustomer";
      readonly provider: string;
      readonly customer: string;
      readonly reference: string;
      readonly by: string;
      readonly at: string;
    }
  /** The provider knows of so many begun blocks of a month. */
  | {
      readonly type: "RecordOverage";
      readonly provider: string;
      /** YYYY-MM. */
      readonly month: string;
      readonly blocks: number;
      readonly at: string;
    };

/** A link to a checkout holds for an hour: nobody has confirmed so many others meanwhile. */
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
  outlasting: [],
  reported: {},
  version: 0,
  references: [],
});

/** The plan that holds at a time: nobody has to do anything for a downgrade to take effect. */
export const planAt = ({ plan, scheduled }: Pick<Subscription, "plan" | "scheduled">, at: string): string =>
  scheduled !== null && scheduled.from <= at ? scheduled.plan : plan;

/**
 * The largest plan that holds at some time of a month (YYYY-MM), the running or the last one: what the month includes, so
 * that no change of the plan makes overage of what was included before it.
 */
export const largestIn = ({ plan, scheduled, largest }: Subscription, month: string): string => {
  const start = `${month}-01T00:00:00.000Z`;
  const held = largest[month] ?? planAt({ plan, scheduled }, start);
  return scheduled?.from.startsWith(month) === true ? largerOf(held, scheduled.plan) : held;
};

const stops = (plan: string): boolean => planNamed(plan).hardStop;

/** The month in the middle of which what is scheduled stops; null: it goes on, or a month begins with it. */
const stopOf = ({ plan, scheduled }: Pick<Subscription, "plan" | "scheduled">): string | null => {
  if (scheduled === null || stops(plan) || !stops(scheduled.plan)) return null;
  const month = monthOf(Date.parse(scheduled.from));
  return Date.parse(scheduled.from) > Date.parse(`${month}-01T00:00:00.000Z`) ? month : null;
};

/**
 * The begun blocks that a month's events come to. A block that the provider was told of stays, whatever changed since. What
 * the free plan let through behind one that is paid for costs nothing: at most so much, as nobody counts it apart.
 */
export const overageIn = (subscription: Subscription, month: string, events: number): number => {
  const hasStopped = subscription.stopped.includes(month) || stopOf(subscription) === month;
  const billed = events - (hasStopped ? PLANS.free.eventsPerMonth : 0);
  return Math.max(blocksBeyond(planNamed(largestIn(subscription, month)), billed), subscription.reported[month] ?? 0);
};

/** Under another plan from `at` on. */
const under = (subscription: Subscription, plan: string, at: string): Subscription => ({
  ...subscription,
  plan,
  scheduled: null,
  outlasting: outlasting(subscription.outlasting, { from: subscription.plan, to: plan, at }),
});

/** With what was scheduled up to a time done. */
const asOf = (subscription: Subscription, at: string): Subscription => {
  const { scheduled, version } = subscription;
  if (scheduled === null || scheduled.from > at) return subscription;
  return { ...under(subscription, scheduled.plan, scheduled.from), version: version + 1 };
};

/** For how long payloads are kept at a time: together all of them, but for those under a plan of a newer build. */
export const retentionAt = (subscription: Subscription, at: string): readonly RetentionTerm[] => {
  const current = asOf(subscription, at);
  return termsUnder(current.plan, current.outlasting);
};

/** What somebody who looks at a time has before them: two looks with one version are of the same. */
export const versionAt = (subscription: Subscription, at: string): number => asOf(subscription, at).version;

/** Nobody but a provider says of itself what it says. */
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
  // A change of the plan has taken back what was scheduled.
  const left = plan === current ? pending : null;
  if (scheduled !== null && (left?.plan !== scheduled.plan || left.from !== scheduled.from)) {
    events.push({ type: "DowngradeScheduled", data: { ...about, ...scheduled } });
  }
  if (scheduled === null && left !== null) events.push({ type: "DowngradeCancelled", data: about });
  const isNews = status !== before.status || provider !== before.provider || customer !== before.customer;
  // That a plan which was given, or bought by another customer, is paid for now is written down as well: by whom it can end.
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
