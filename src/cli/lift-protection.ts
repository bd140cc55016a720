import { controls } from "../../domain/change-control/decider.ts";
import { policy } from "../../domain/policy/decider.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { systemClock } from "../../infra/clock.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { controlsStream } from "../change-control/control-parts.ts";
import { isPolicyId } from "../change-control/references.ts";
import { aggregates } from "../streams/aggregates.ts";
import { NO_TRACE } from "../streams/envelope.ts";

/**
 * Resolves with the time at which the protection ends: in 24 hours, so that the account's people can see it and cancel
 * it before.
 */
export const liftProtection = async (log: EventLog, policyId: string): Promise<string> => {
  const streams = aggregates(log, systemClock);
  const { state } = isPolicyId(policyId) ? await streams.load(policy, `policy-${policyId}`) : { state: policy.initial };
  if (state.phase !== "published") throw new Error("There is no policy with this id.");
  const { account } = state;
  const at = new Date(systemClock.now()).toISOString();
  const actor = { kind: "system", id: "account-recover" } as const;
  const envelope = { commandId: randomId("cmd_", randomness), account, actor, trace: NO_TRACE, at };
  const command = { type: "LiftProtection", account, policyId, at } as const;
  const done = await streams.handle(controls, controlsStream(account), command, envelope);
  const liftsAt = done.state.lifts.get(policyId)?.effectiveAt;
  if (liftsAt === undefined) throw new Error("This policy is not protected.");
  return liftsAt;
};
