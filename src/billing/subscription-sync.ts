import { account } from "../../domain/account/decider.ts";
import type { Subscription } from "../../domain/account/subscription.ts";
import type {
  BillingNotice,
  BillingProvider,
  BillingWebhooks,
  ProvidedSubscription,
} from "../../domain/ports/billing.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { accountStream } from "../accounts/accounts.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { type Envelope, systemEnvelope } from "../streams/envelope.ts";

export type SubscriptionSyncDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly clock: Clock;
};

type SyncOutcome = "followed" | "ignored";

export type SyncSubscription = (notice: BillingNotice) => Promise<SyncOutcome>;

const READS_MAX = 5;

export const providerEnvelope = (provider: string, commandId: string, accountId: string, at: string): Envelope =>
  systemEnvelope({ actor: provider, commandId, account: accountId, at });

/** A subscription's end counts only for the customer whose purchase is in force: the account may have had others. */
const isAbout = ({ buyer }: Subscription, customer: string, provided: ProvidedSubscription): boolean =>
  provided.status !== "cancelled" || buyer === customer;

/**
 * Webhooks come late, twice and in any order, and several nodes may read at once. So a node reads the provider's state
 * and writes it until it reads what it wrote: the last one to write has then also been the last one to read.
 */
export const subscriptionSync = (
  { name: provider }: Pick<BillingProvider, "name">,
  webhooks: Pick<BillingWebhooks, "subscriptionOf">,
  { aggregates, clock }: SubscriptionSyncDeps,
): SyncSubscription => {
  const write = async (
    accountId: string,
    { customer, reference }: BillingNotice,
    provided: ProvidedSubscription,
  ): Promise<SyncOutcome> => {
    const stream = accountStream(accountId);
    const { state } = await aggregates.load(account, stream, 0);
    if (state.phase !== "open" || !isAbout(state.subscription, customer, provided)) return "ignored";
    const at = new Date(clock.now()).toISOString();
    const { plan, scheduled, status } = provided;
    const command = { type: "FollowProvider", plan, scheduled, status, provider, customer, reference, at } as const;
    // The id contains the state, because a repeated webhook may find another state at the provider.
    const commandId = `${provider}-${reference}-${JSON.stringify([at, plan, scheduled, status])}`;
    await aggregates.handle(account, stream, command, providerEnvelope(provider, commandId, accountId, at));
    return "followed";
  };

  return async (notice) => {
    let before = "";
    for (let reads = 0; reads < READS_MAX; reads += 1) {
      const provided = await webhooks.subscriptionOf(notice.customer);
      const accountId = provided?.account ?? notice.account;
      if (provided === null || accountId === null) return "ignored";
      const now = JSON.stringify(provided);
      if (now === before) return "followed";
      if ((await write(accountId, notice, provided)) === "ignored") return "ignored";
      before = now;
    }
    throw new Error(`${provider} gave a different state of customer ${notice.customer} on each of ${READS_MAX} reads`);
  };
};
