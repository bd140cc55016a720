import type { ReplayCommand } from "../../domain/delivery/commands.ts";
import type { FailedDelivery } from "../../domain/delivery/state.ts";
import { denialProblem } from "../admission/denial-problem.ts";
import type { Judgement } from "../admission/judge.ts";
import type { IncomingRequest } from "../gates/incoming-request.ts";
import type { Ledgers } from "../ledgers/ledgers.ts";
import type { Problem } from "../streams/problems.ts";
import type { RepeatedRequests } from "./repeated-requests.ts";
import type { ReplayOrder } from "./replay-order.ts";
import { conflict } from "./replay-problems.ts";

export type RenewedPlaces = {
  readonly places: NonNullable<ReplayCommand["places"]>;
  /** Settles the places that a request uses up even if it fails. */
  keep(): void;
  giveBack(): Promise<void>;
};

/**
 * Asks the gates again about an agent's request that failed without reaching its target: its places were given back
 * then.
 */
export const renewedPlaces =
  ({ ledgers, judge }: { readonly ledgers: Ledgers; readonly judge: (it: IncomingRequest) => Promise<Judgement> }) =>
  async (
    { eventId, envelope: { account, trace, at }, replay }: ReplayOrder,
    { request, releases }: FailedDelivery,
    again: RepeatedRequests,
  ): Promise<RenewedPlaces | Problem> => {
    const it = await again(request, { account, replay, trace, askedAt: Date.parse(at) });
    if ("problem" in it) return it;
    if (it.asked?.action.digest !== request.action?.digest) {
      return conflict("The action was redefined in the meantime: the agent has to request it again.", "action-changed");
    }
    const judged = await judge(it);
    const { verdict, reservations, cost } = judged;
    const giveBack = async (): Promise<void> => {
      for (const reservation of reservations) await ledgers.release(reservation, trace);
    };
    if (verdict.decision === "deny") return denialProblem({ event_id: eventId }, judged);
    // A request that people approved needs no second approval, because it never reached its target.
    if (verdict.decision === "hold" && releases.length === 0) {
      await giveBack();
      return conflict("The policy now requires approval: the agent has to request it again.", "approval-needed");
    }
    const lasting = reservations.filter(({ lasts }) => lasts);
    return {
      places: { ledgers: lasting.map(({ stream }) => stream), cost },
      keep() {
        for (const reservation of reservations) {
          if (!reservation.lasts) ledgers.settle(reservation, cost ?? 0);
        }
      },
      giveBack,
    };
  };
