import type { IncomingRequest } from "../gates/incoming-request.ts";
import { goOn, type OrPromise } from "../streams/or-promise.ts";
import type { GroupDeps } from "./admission-group.ts";
import { AdmissionGroups } from "./admission-groups.ts";
import { type ClaimDeps, claiming, type EventClaimResult, UNKNOWN } from "./claim-event.ts";
import { Judge, type PassedGates } from "./judge.ts";
import { judgingOf } from "./judge-request.ts";

export type NewClaimDeps = ClaimDeps & GroupDeps;

/** Claims events whose ids are most likely new. What a group cannot admit is claimed alone. */
export const claimingNew = (deps: NewClaimDeps): ((it: IncomingRequest) => OrPromise<EventClaimResult>) => {
  const judge = new Judge(deps);
  const groups = new AdmissionGroups(deps);
  const claim = claiming(deps);

  const claimPassed = async (it: IncomingRequest, gated: PassedGates): Promise<EventClaimResult> => {
    const grouped = await groups.admit(it, gated);
    try {
      return grouped.outcome === "claimed" ? grouped : await claim(it, UNKNOWN, gated);
    } finally {
      // Lost places are given back after the decision, so that no other event takes them meanwhile.
      for (const reservation of grouped.lost) {
        // A place that stays taken is found by the ledger's next sweep.
        await deps.ledgers.release(reservation, it.trace).catch(() => undefined);
      }
    }
  };

  return (it) =>
    goOn(judge.gates(judgingOf(deps, it)), (gated) =>
      "denied" in gated ? claim(it, UNKNOWN, gated) : claimPassed(it, gated),
    );
};
