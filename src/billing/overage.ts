import { account as accountDecider } from "../../domain/account/decider.ts";
import { monthBefore } from "../../domain/account/overage.ts";
import { overageIn, type Subscription } from "../../domain/account/subscription.ts";
import { monthOf } from "../../domain/calendar.ts";
import type { BillingProvider } from "../../domain/ports/billing.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { billing } from "../../projections/billing.ts";
import { usage, usageId } from "../../projections/usage.ts";
import { accountStream } from "../accounts/accounts.ts";
import { pollLoop } from "../following/poll-loop.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { documentIn, pagesIn } from "../views/typed-documents.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import { providerEnvelope } from "./subscription-sync.ts";

export type OverageLoop = {
  start(): void;
  stop(): Promise<void>;
  /** Resolves with the number of blocks that were reported. */
  look(): Promise<number>;
};

export type OverageDeps = {
  readonly views: Pick<ViewStore, "get" | "page">;
  readonly progress: Pick<ViewProgress, "waitFor">;
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly provider: BillingProvider;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
};

/** Milliseconds. A block is 25,000 events, so no account fills two of them in this time. */
const LOOK_MS = 60_000;
const PAGE = 200;

/** This text sorts before every position of a log. */
const ANY_POSITION: Position = "";

const SORT = { field: "account", order: "asc" } as const;

/** True if the clock was set back. Nothing is reported then, as reports of earlier months are no longer known. */
const isAhead = ({ reported }: Subscription, month: string): boolean =>
  Object.keys(reported).some((told) => told > month);

/**
 * Reports the blocks begun in this month and the previous one. A block is recorded in the account's stream once the
 * provider has it; after a crash in between, it is reported again, and the provider recognizes the repeat.
 */
export const overageLoop = ({ views, progress, aggregates, provider, clock, onError }: OverageDeps): OverageLoop => {
  const { name, reportOverage } = provider;

  /** Null if the account is unknown or is billed by another provider. */
  const billed = async (id: string): Promise<(Subscription & { customer: string }) | null> => {
    const { state } = await aggregates.load(accountDecider, accountStream(id), 0);
    if (state.phase !== "open") return null;
    const { subscription } = state;
    const { customer } = subscription;
    return customer === null || subscription.provider !== name ? null : { ...subscription, customer };
  };

  const ofMonth = async (account: string, month: string): Promise<number> => {
    const used = await documentIn(views, usage, usageId(account, month));
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

  /** Reports an error instead of throwing it, so that the other accounts are still billed. */
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
    // After a restore the view may show usage that is not in the log: nothing is reported until the view is rebuilt.
    if (!(await progress.waitFor([usage.schema.name], ANY_POSITION, 0))) return 0;
    const where = [{ field: "provider", is: "=", value: name }] as const;
    let reported = 0;
    for await (const page of pagesIn(views, billing, { where, sort: SORT, limit: PAGE })) {
      for (const { id } of page) {
        if (looks.isStopping()) return reported;
        reported += await ofAccount(id);
      }
    }
    return reported;
  };

  const looks = pollLoop(look, { everyMs: LOOK_MS, onError });

  return {
    start() {
      if (reportOverage !== null) looks.start();
    },
    stop: looks.stop,
    look,
  };
};
