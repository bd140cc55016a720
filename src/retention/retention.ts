import type { Plan } from "../../domain/account/plans.ts";
import type { RetentionTerm } from "../../domain/account/retention.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { defined } from "../../domain/defined.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { Condition, FoundDocument, ViewStore } from "../../domain/ports/view-store.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { LogUnavailable, OutcomeUnknown } from "../../infra/log-errors.ts";
import { ViewsUnavailable } from "../../infra/view-errors.ts";
import { retention as retained } from "../../projections/retention.ts";
import { expirePayload } from "../erasure/erasures.ts";
import { pollLoop } from "../following/poll-loop.ts";
import { systemEnvelope } from "../streams/envelope.ts";
import type { Sweep } from "./aged-records.ts";

export type Retention = {
  start(): void;
  stop(): Promise<void>;
  look(): Promise<number>;
};

export type RetentionDeps = {
  readonly log: EventLog;
  readonly views: Pick<ViewStore, "page" | "next">;
  readonly sweeps: readonly Sweep[];
  /** An account without terms keeps everything, because it is unknown what its plan promises. */
  readonly termsOf: (account: string) => Promise<readonly RetentionTerm[]>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly onError: (error: unknown) => void;
};

const LOOK_MS = 60_000;
const PAGE = 100;
const GAP_MS = 100;

const VIEW = retained.schema.name;
const BY_END = { field: "ended_at", order: "asc" } as const;

const reasonOf = ({ name, retentionDays }: Plan): string => `retention: ${retentionDays} days of the ${name} plan`;

/**
 * A payload is kept for the longer retention of two plans: the current one, and that under which the event ended. Every
 * node runs this loop and the view may lag, so the event's stream decides.
 */
export const retention = (deps: RetentionDeps): Retention => {
  const { log, views, sweeps, termsOf, clock, randomness, onError } = deps;

  const alone = async (work: () => Promise<number>): Promise<number> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof LogUnavailable || error instanceof OutcomeUnknown || error instanceof ViewsUnavailable)
        throw error;
      onError(error);
      return 0;
    }
  };

  const expire = ({ id, document }: FoundDocument, plan: Plan, endedUpTo: string): Promise<boolean> =>
    expirePayload(
      log,
      id,
      { reason: reasonOf(plan), endedUpTo },
      systemEnvelope({
        actor: "retention",
        // The id is random: another node's erasure may cover less, and this command must not count as its repeat.
        commandId: randomId("cmd_", randomness),
        account: String(document.account),
        at: new Date(clock.now()).toISOString(),
      }),
    );

  const underTerm = async (account: string, { plan, after: from, upTo }: RetentionTerm): Promise<number> => {
    const due = new Date(clock.now() - plan.retentionDays * DAY_MS).toISOString();
    const endedUpTo = upTo === null || due < upTo ? due : upTo;
    const where: readonly Condition[] = [
      { field: "account", is: "=", value: account },
      { field: "ended_at", is: "<=", value: endedUpTo },
      ...(from === null ? [] : [{ field: "ended_at", is: ">", value: from } as const]),
    ];
    let erased = 0;
    let last: FoundDocument | undefined;
    for (;;) {
      const after = last && { value: String(last.document.ended_at), id: last.id };
      const page = await views.page(VIEW, defined({ where, sort: BY_END, limit: PAGE, after }));
      for (const found of page) {
        if (looks.isStopping()) return erased;
        erased += await alone(async () => ((await expire(found, plan, endedUpTo)) ? 1 : 0));
      }
      last = page.at(-1);
      if (page.length < PAGE) return erased;
      await looks.pause(GAP_MS);
    }
  };

  const ofAccount = async (account: string): Promise<number> => {
    let erased = 0;
    for (const term of await termsOf(account)) erased += await underTerm(account, term);
    return erased;
  };

  const look = async (): Promise<number> => {
    let erased = 0;
    for (let account = ""; !looks.isStopping(); ) {
      const of = await views.next(VIEW, "account", account);
      if (of === null) break;
      account = of;
      erased += await alone(() => ofAccount(of));
    }
    return erased;
  };

  const expireAll = async (): Promise<void> => {
    await look().catch(onError);
    for (const each of sweeps) {
      if (!looks.isStopping()) await each.sweep(looks.isStopping).catch(onError);
    }
  };

  const looks = pollLoop(expireAll, { everyMs: LOOK_MS, onError });

  return { start: looks.start, stop: looks.stop, look };
};
