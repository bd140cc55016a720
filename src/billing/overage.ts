import { account as accountDecider } from "../../domain/account/decider.ts";
import { monthBefore } from "../../domain/account/overage.ts";
import { overageIn, type Subscription } from "../../domain/account/subscription.ts";
import { monthOf } from "../../domain/calendar.ts";
import type { BillingProvider } from "../../domain/ports/billing.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Found, ViewStore } from "../../domain/ports/view-store.ts";
import { billing } from "../../projections/billing.ts";
import { type UsageDocument, usage, usageId } from "../../projections/usage.ts";
import { accountStream } from "../accounts/accounts.ts";
import { looking } from "../following/looking.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import { providerEnvelope } from "./following.ts";

export type OverageLoop = {
  start(): void;
  /** Finishes the block in hand. */
  stop(): Promise<void>;
  /** Reports what is to be reported now; how many blocks that were. */
  look(): Promise<number>;
};

export type OverageDeps = {
  readonly views: Pick<ViewStore, "get" | "page">;
  /** Tells whether the usage is of this log. */
  readonly progress: Pick<ViewProgress, "waitFor">;
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly provider: BillingProvider;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
};

/** A block is 25,000 events: nobody fills two in this time. */
const LOOK_MS = 60_000;
/** Held in memory at once. */
const PAGE = 200;

/** Every position of a log sorts after it. */
const ANY_POSITION: Position = "";

const SORT = { field: "account", order: "asc" } as const;

/**
 * Whether months were reported that the clock has not reached: then it was set back, and of the months that it leads to nobody
 * knows any more what was reported of them.
 */
const isAhead = ({ reported }: Subscription, month: string): boolean =>
  Object.keys(reported).some((told) => told > month);

/**
 * Tells the provider of begun blocks of the running and of the last month. What was reported is in the account's own stream,
 * written once the provider has it: after a crash in between the block is reported again, which the provider knows as the
 * same. The views may be behind, and then show less: it is reported when they are not.
 */
export const overageLoop = ({ views, progress, aggregates, provider, clock, onError }: OverageDeps): OverageLoop => {
  const { name, reportOverage } = provider;

  /** As the account's own stream has it at this moment, if this provider bills it. */
  const billed = async (id: string): Promise<(Subscription & { customer: string }) | null> => {
    const { state } = await aggregates.load(accountDecider, accountStream(id), 0);
    if (state.phase !== "open") return null;
    const { subscription } = state;
    const { customer } = subscription;
    return customer === null || subscription.provider !== name ? null : { ...subscription, customer };
  };

  const ofMonth = async (account: string, month: string): Promise<number> => {
    // Written by the projection alone.
    const used = (await views.get(usage.schema.name, usageId(account, month))) as UsageDocument | null;
    const subscription = used === null ? null : await billed(account);
    if (used === null || subscription === null || reportOverage === null) return 0;
    if (isAhead(subscription, monthOf(clock.now()))) return 0;
    const told = subscription.reported[month] ?? 0;
    const due = overageIn(subscription, month, used.events);
    for (let block = told + 1; block <= due; block += 1) {
      if (looks.isStopping()) return block - told - 1;
      await reportOverage({ account, customer: subscription.customer, month, block });
      const at = new Date(clock.now()).toISOString();
      const envelope = providerEnvelope(name, `overage-${account}/${month}/${block}`, account, at);
      const command = { type: "RecordOverage", provider: name, month, blocks: block, at } as const;
      await aggregates.handle(accountDecider, accountStream(account), command, envelope);
    }
    return Math.max(0, due - told);
  };

  /** What fails for one account does not keep the others from being billed. */
  const ofAccount = async (account: string): Promise<number> => {
    const month = monthOf(clock.now());
    try {
      return (await ofMonth(account, monthBefore(month))) + (await ofMonth(account, month));
    } catch (error) {
      onError(error);
      return 0;
    }
  };

  const look = async (): Promise<number> => {
    // Beside a restored log the view may show usage that the log does not know, until it is folded again.
    if (!(await progress.waitFor([usage.schema.name], ANY_POSITION, 0))) return 0;
    const where = [{ field: "provider", is: "=", value: name }] as const;
    let reported = 0;
    let last: Found | undefined;
    for (;;) {
      const after = last === undefined ? {} : { after: { value: last.id, id: last.id } };
      const found = await views.page(billing.schema.name, { where, sort: SORT, limit: PAGE, ...after });
      for (const { id } of found) {
        if (looks.isStopping()) return reported;
        reported += await ofAccount(id);
      }
      last = found.at(-1);
      if (found.length < PAGE) return reported;
    }
  };

  const looks = looking(look, LOOK_MS, onError);

  return {
    start() {
      if (reportOverage !== null) looks.start();
    },
    stop: looks.stop,
    look,
  };
};
