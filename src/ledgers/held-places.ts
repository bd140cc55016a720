import type { Plan } from "../../domain/account/plans.ts";
import { bundle } from "../../domain/bundle/decider.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { subjectOf } from "../../projections/streams.ts";
import type { Reaction } from "../following/reaction.ts";
import type { Trace } from "../streams/envelope.ts";
import type { OrPromise } from "../streams/or-promise.ts";
import { foldStream } from "../streams/run-command.ts";
import type { Ledgers, Reservation } from "./ledgers.ts";

const SUFFIX = "-held_approvals";

const ledgerOf = (account: string): string => `ledger-${account}${SUFFIX}`;

export const isHeldLedger = (ledger: string): boolean => ledger.endsWith(SUFFIX);

/** "over": the request was claimed and does not wait for people. "undecided": it may still be held. */
export const holdOf = async (log: EventLog, id: string): Promise<"held" | "over" | "undecided"> => {
  const { state } = id.startsWith("bun_")
    ? await foldStream(log, bundle, `bundle-${id}`)
    : await foldStream(log, delivery, `delivery-${id}`);
  if (state.phase === "held") return "held";
  // A state has a `request` only after the request was claimed.
  return "request" in state ? "over" : "undecided";
};

export type HeldPlaces = {
  /** Returns `max` if the account already has as many held requests as its plan allows. */
  take(account: string, id: string, trace: Trace): Promise<Reservation | { readonly max: number }>;
};

export type HeldPlacesDeps = {
  readonly ledgers: Pick<Ledgers, "reserve">;
  readonly accountOf: (account: string) => OrPromise<{ readonly plan: Plan }>;
};

export const heldPlaces = ({ ledgers, accountOf }: HeldPlacesDeps): HeldPlaces => ({
  async take(account, id, trace) {
    const max = (await accountOf(account)).plan.counts.held_approvals;
    const reservation = await ledgers.reserve({
      stream: ledgerOf(account),
      account,
      event: id,
      limits: { count: max },
      trace,
    });
    return reservation.answer.granted ? reservation : { max };
  },
});

const ENDS = ["EventReleased", "HoldEnded", "HoldWithdrawn", "BundleReleased", "BundleHoldEnded"] as const;

export const heldReactions = ({ resolve }: Pick<Ledgers, "resolve">): readonly Reaction[] =>
  ENDS.map((on) => ({
    on,
    run: ({ stream, meta: { account } }) => resolve(ledgerOf(account), account, subjectOf(stream)),
  }));
