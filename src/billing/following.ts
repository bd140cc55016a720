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

/** Throws `BillingUnavailable` where the provider does not say what holds. */
export type Following = (notice: BillingNotice) => Promise<Followed>;

/** Webhooks of one customer that come at once settle within one or two. */
const READS_MAX = 5;

/** Of an envelope for what the provider wants: it has no credential of ours. */
export const providerEnvelope = (provider: string, commandId: string, accountId: string, at: string): Envelope =>
  systemEnvelope({ actor: provider, commandId, account: accountId, at });

/**
 * Only what was bought there can have ended there: a plan that came from elsewhere stays, whatever was begun and not paid.
 * A customer who is not the account's any more, as an admin once began two checkouts at once or it was deleted there, counts
 * when it has bought; that what another has bought is not touched by its end.
 */
const isAbout = ({ buyer }: Subscription, customer: string, said: ProvidedSubscription): boolean =>
  said.status !== "cancelled" || buyer === customer;

/**
 * Makes the account's plan what the provider says. Webhooks come late, twice and in any order, and several nodes may read
 * at once: whoever has written looks again, until what was written is what holds. The last to write has then read last.
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
    // The same webhook may have to be followed to another end: what it is about was read anew.
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
    throw new Error(`${provider} said another thing of customer ${notice.customer} each time it was asked`);
  };
};
