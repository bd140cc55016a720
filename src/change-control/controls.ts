import {
  type Configuration,
  type PartChange,
  type PartKind,
  type Parts,
  partChange,
  withPart,
} from "../../domain/change-control/configuration.ts";
import type { ControlChange } from "../../domain/change-control/control-change.ts";
import { type ChangeControls, controls as controlsDecider, weakenedBy } from "../../domain/change-control/decider.ts";
import { defined } from "../../domain/defined.ts";
import { turnsByKey } from "../../infra/turns.ts";
import { LISTED_ERRORS_MAX } from "../http/limits.ts";
import { positionOf } from "../http/route.ts";
import { changedMeanwhile, type Problem, problem } from "../streams/problems.ts";
import type { Controls } from "./control-change.ts";
import { controlsStream } from "./control-parts.ts";
import { type HoldingDeps, holdChange } from "./held-changes.ts";
import { PART_STREAMS } from "./parts.ts";
import { partsInForce } from "./parts-in-force.ts";

/** A change builds on the recorded part, so that two concurrent changes both count. */
const changed = (state: Configuration, { kind, id, base, changes, replaces }: ControlChange): PartChange => {
  const before = replaces === true ? null : (state[kind].get(id) ?? base);
  // A new part is complete, and a change of an existing one has members of the same kind.
  return partChange(kind, id, changes === null ? null : ({ ...before, ...changes } as Parts[PartKind]));
};

const personRequired = (command: ChangeControls, state: Configuration): Problem => {
  const reasons = weakenedBy(command, state).map(({ why }) => why);
  return problem(
    "person-required",
    `A key cannot weaken a control: ${reasons[0] ?? "the change does"}. A person with a session can make this change. ` +
      "Keys can make it as well if the policy is on the action or the endpoint (policy_id), as it then applies to every caller.",
    { errors: reasons.slice(0, LISTED_ERRORS_MAX).map((message) => ({ path: "", message })) },
  );
};

const isNothing = (command: ChangeControls, state: Configuration): boolean => {
  const decision = controlsDecider.decide(command, state);
  return decision.ok && decision.events.length === 0;
};

const NOT_LATER = problem(
  "conflict",
  "This change weakens a protected policy, and it cannot be held until people approve it. Put the policy on the action or " +
    "the endpoint first (policy_id); invite people as viewers, and change their role, which is held.",
);

const decidedChanges = (deps: HoldingDeps, inForce: ReturnType<typeof partsInForce>): Controls => ({
  async authorize(call, change, deferred) {
    const { principal, envelope } = call;
    const { aggregates } = deps;
    const { account, id: by, kind } = principal;
    // A recorded change may not have happened: a crash cut it off, or the part's own stream refused it.
    const asTheyAre = async (state: Configuration) =>
      ({ type: "CorrectParts", account, parts: await inForce(account, state), at: envelope.at }) as const;
    const correction = { ...envelope, commandId: `${envelope.commandId}/corrected` };
    await aggregates.handleDerived(controlsDecider, controlsStream(account), asTheyAre, correction);
    const actually = async (state: Configuration) => {
      const parts = await inForce(account, state);
      return parts.length === 0 ? undefined : { parts, change: changed(parts.reduce(withPart, state), change) };
    };
    const commandOf = async (state: Configuration): Promise<ChangeControls> => ({
      type: "ChangeControls",
      account,
      change: changed(state, change),
      base: partChange(change.kind, change.id, change.base),
      issues: change.issues === true,
      asker: kind === "member" ? "person" : "key",
      ...defined({ actual: await actually(state), approved: change.approved }),
      by,
      at: envelope.at,
    });
    const commandId = `${envelope.commandId}/controls`;
    const record = (id: string) =>
      aggregates.handleDerived(controlsDecider, controlsStream(account), commandOf, { ...envelope, commandId: id });
    const first = await record(commandId);
    if (first.outcome === "accepted") return null;
    // A repeat after a crash finds its own record. If later changes have replaced it, it is decided anew.
    const isRepeat = first.outcome === "unchanged" && !isNothing(await commandOf(first.state), first.state);
    if (first.outcome === "unchanged" && !isRepeat) return null;
    const done = isRepeat ? await record(`${commandId}/${first.position}`) : first;
    if (done.outcome === "accepted") return null;
    if (done.outcome === "unchanged") return changedMeanwhile();
    const { rejection } = done;
    const command = await commandOf(done.state);
    if (rejection === "person-required") return personRequired(command, done.state);
    if (deferred === undefined) return NOT_LATER;
    return holdChange(deps, call, { change, deferred, weakened: weakenedBy(command, done.state), state: done.state });
  },

  async liftsAt(account, policyId) {
    const { state } = await deps.aggregates.load(controlsDecider, controlsStream(account), 0);
    return state.lifts.get(policyId)?.effectiveAt ?? null;
  },

  async cancelLift({ principal: { account, id: by }, envelope }, policyId) {
    const command = { type: "CancelLift", account, policyId, by, at: envelope.at } as const;
    const done = await deps.aggregates.handle(controlsDecider, controlsStream(account), command, envelope);
    return done.outcome === "rejected" ? null : positionOf(done);
  },

  async withdraw({ principal: { account, id: by }, envelope }, kind, id) {
    // Looked up at every try: a part that another request has created meanwhile is not withdrawn.
    const look = async () => {
      const { part } = await PART_STREAMS[kind].find(deps.aggregates, account, id);
      return { type: "WithdrawPart", account, kind, id, isMade: part !== null, by, at: envelope.at } as const;
    };
    const own = { ...envelope, commandId: `${envelope.commandId}/withdrawn` };
    await deps.aggregates.handleDerived(controlsDecider, controlsStream(account), look, own);
  },
});

export const controls = (deps: HoldingDeps, inForce = partsInForce(deps)): Controls => {
  // Changes of one account take turns; at the same time they would conflict and be decided again.
  const inTurn = turnsByKey();
  const decided = decidedChanges(deps, inForce);
  return {
    ...decided,
    authorize: (call, change, deferred) =>
      inTurn(call.principal.account, () => decided.authorize(call, change, deferred)),
  };
};
