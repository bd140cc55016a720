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

export type FollowingDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly clock: Clock;
};

type Followed = "followed" | "ignored";

export type Following = (notice: BillingNotice) => Promise<Followed>;

const READS_MAX = 5;

export const providerEnvelope = (provider: string, commandId: string, accountId: string, at: string): Envelope =>
  systemEnvelope({ actor: provider, commandId, account: accountId, at });

/** The end of a subscription counts only for the customer whose purchase is in force. */
const isAbout = ({ buyer }: Subscription, customer: string, said: ProvidedSubscription): boolean =>
  said.status !== "cancelled" || buyer === customer;

/**
 * Webhooks come late, twice and in any order, and several nodes may read at once. Each writer reads again until the
 * answer is what it wrote, so the last writer has also read last.
 */
export const following = (
  { name: provider }: Pick<BillingProvider, "name">,
  webhooks: Pick<BillingWebhooks, "subscriptionOf">,
  { aggregates, clock }: FollowingDeps,
): Following => {
  const write = async (accountId: string, notice: BillingNotice, said: ProvidedSubscription): Promise<Followed> => {
    const stream = accountStream(accountId);
    const { state } = await aggregates.load(account, stream, 0);
    const { customer, reference } = notice;
    if (state.phase !== "open" || !isAbout(state.subscription, customer, said)) return "ignored";
    const at = new Date(clock.now()).toISOString();
    const { plan, scheduled, status } = said;
    const command = { type: "FollowProvider", plan, scheduled, status, provider, customer, reference, at } as const;
    // A repeated webhook may lead to another state, as the state is read anew.
    const commandId = `${provider}-${reference}-${JSON.stringify([at, plan, scheduled, status])}`;
    await aggregates.handle(account, stream, command, providerEnvelope(provider, commandId, accountId, at));
    return "followed";
  };

  return async (notice: BillingNotice): Promise<Followed> => {
    let before = "";
    for (let reads = 0; reads < READS_MAX; reads += 1) {
      const said = await webhooks.subscriptionOf(notice.customer);
      const accountId = said?.account ?? notice.account;
      if (said === null || accountId === null) return "ignored";
      const now = JSON.stringify(said);
      if (now === before) return "followed";
      if ((await write(accountId, notice, said)) === "ignored") return "ignored";
      before = now;
    }
    throw new Error(`${provider} gave a different state of customer ${notice.customer} on each of ${READS_MAX} reads`);
  };
};
