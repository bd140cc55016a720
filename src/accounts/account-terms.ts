import { account } from "../../domain/account/decider.ts";
import { planNamed } from "../../domain/account/overage.ts";
import { PLANS, type Plan } from "../../domain/account/plans.ts";
import type { RetentionTerm } from "../../domain/account/retention.ts";
import { openedWith, planAt, retentionAt, type Subscription } from "../../domain/account/subscription.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { goOn, type OrPromise } from "../streams/or-promise.ts";
import { accountStream } from "./accounts.ts";

/** The plan is read from the account's stream and not from a view, so that a change applies on every node at once. */
export type AccountTerms = {
  accountOf(id: string): OrPromise<{ readonly plan: Plan; readonly timeZone: string }>;
  planOf(id: string): Promise<Plan>;
  timeZoneOf(id: string): Promise<string>;
  subscriptionOf(id: string): Promise<Subscription>;
  /** Empty if the account is unknown or its plan is of a newer version: nothing is erased without a known retention. */
  retentionOf(id: string): Promise<readonly RetentionTerm[]>;
};

export const accountTerms = (aggregates: Pick<Aggregates, "load">, clock: Clock): AccountTerms => {
  const openAccount = (id: string) =>
    goOn(aggregates.load(account, accountStream(id)), ({ state }) => (state.phase === "open" ? state : null));
  const now = (): string => new Date(clock.now()).toISOString();

  const accountOf: AccountTerms["accountOf"] = (id) =>
    goOn(openAccount(id), (open) => {
      if (open === null) return { plan: PLANS.free, timeZone: "UTC" };
      const { subscription, time_zone: timeZone } = open;
      // The time matters only while a change is scheduled.
      const plan = subscription.scheduled === null ? subscription.plan : planAt(subscription, now());
      return { plan: planNamed(plan), timeZone };
    });
  return {
    accountOf,
    planOf: async (id) => (await accountOf(id)).plan,
    timeZoneOf: async (id) => (await accountOf(id)).timeZone,
    subscriptionOf: async (id) => (await openAccount(id))?.subscription ?? openedWith(PLANS.free.name),
    async retentionOf(id) {
      const open = await openAccount(id);
      return open === null ? [] : retentionAt(open.subscription, now());
    },
  };
};
