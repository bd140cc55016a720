import type { ReplayCommand } from "../../domain/delivery/commands.ts";
import type { FailedDelivery } from "../../domain/delivery/state.ts";
import type { Judged } from "../admission/judge.ts";
import { refusal } from "../admission/refusal.ts";
import type { IncomingRequest } from "../gates/incoming-request.ts";
import type { Ledgers } from "../ledgers/ledgers.ts";
import { type Problem, problem } from "../streams/problems.ts";
import type { AskedAgain } from "./asked-again.ts";
import type { ReplayOrder } from "./replay-order.ts";

export type TakenAgain = {
  readonly places: NonNullable<ReplayCommand["places"]>;
  /** Settles what is spent by having been asked for. */
  keep(): void;
  giveBack(): Promise<void>;
};

/**
 * An agent's request whose cost was given back, as nothing of it had reached its target, has no places any more: its
 * policy is asked again, as it is now, and what it allows is reserved under the event as before.
 */
export const placesAgain =
  ({ ledgers, judge }: { readonly ledgers: Ledgers; readonly judge: (it: IncomingRequest) => Promise<Judged> }) =>
  async (
    { eventId, envelope: { account, trace, at }, replay }: ReplayOrder,
    { request, releases }: FailedDelivery,
    again: AskedAgain,
  ): Promise<TakenAgain | Problem> => {
    const it = await again(request, { account, replay, trace, askedAt: Date.parse(at) });
    if ("problem" in it) return it;
    // What is sent is what was admitted: another endpoint or another version is another request.
    if (it.asked?.action.digest !== request.action?.digest) {
      return problem("conflict", "The action has been redefined since: the agent has to request it again.");
    }
    const judged = await judge(it);
    const { verdict, reservations, cost } = judged;
    const giveBack = async (): Promise<void> => {
      for (const reservation of reservations) await ledgers.release(reservation, trace);
    };
    if (verdict.decision === "deny") return refusal({ event_id: eventId }, judged);
    // What people have approved is what is sent, and nothing of it has happened yet.
    if (verdict.decision === "hold" && releases.length === 0) {
      await giveBack();
      return problem("conflict", "The policy now requires approval: the agent has to request it again.");
    }
    const lasting = reservations.filter(({ lasts }) => lasts);
    return {
      places: { ledgers: lasting.map(({ stream }) => stream), cost },
      keep() {
        for (const reservation of reservations) {
          if (!reservation.lasts) ledgers.settle(reservation, cost ?? 0, trace);
        }
      },
      giveBack,
    };
  };
