import { accept, type Decider, type Decision, reject } from "../decider.ts";
import { sameJson } from "../same-json.ts";
import {
  type Configuration,
  EMPTY,
  type PartChange,
  type PartKind,
  type Parts,
  partChange,
  partKey,
  withPart,
} from "./configuration.ts";
import type { ControlsEvent } from "./events.ts";
import { type Weakening, weakenings } from "./weakening.ts";

/** The quorum by which a change was approved for `policies`; it does not meet a quorum made stricter since. */
export type ChangeApproval = {
  readonly policies: readonly string[];
  readonly approvals: number;
  readonly excludesRequester: boolean;
};

export type ChangeControls = {
  readonly type: "ChangeControls";
  readonly account: string;
  /** The changed part, derived from the state of this stream, so that two changes of one part both count. */
  readonly change: PartChange;
  /** The state in the part's own stream, used while the stream of controls has no record of the part. */
  readonly base: PartChange;
  /**
   * The parts whose own streams differ from this stream, as a recorded change was refused there, is under way or was
   * cut off by a crash. A change must not weaken either state.
   */
  readonly actual?: { readonly parts: readonly PartChange[]; readonly change: PartChange };
  readonly issues: boolean;
  /** A key may belong to a program, and only a person may weaken a policy. */
  readonly asker: "person" | "key";
  readonly approved?: ChangeApproval;
  readonly by: string;
  readonly at: string;
};

export type ControlsCommand =
  | ChangeControls
  /**
   * A new part was recorded in the stream of controls but not created. `isMade`: another request has created it since.
   */
  | {
      readonly type: "WithdrawPart";
      readonly account: string;
      readonly kind: PartKind;
      readonly id: string;
      readonly isMade: boolean;
      readonly by: string;
      readonly at: string;
    }
  | {
      readonly type: "CorrectParts";
      readonly account: string;
      readonly parts: readonly PartChange[];
      readonly at: string;
    }
  | {
      readonly type: "PlaceHeldChange";
      readonly account: string;
      readonly changeId: string;
      readonly over: readonly string[];
      readonly max: number;
      readonly at: string;
    }
  | { readonly type: "LiftProtection"; readonly account: string; readonly policyId: string; readonly at: string }
  | {
      readonly type: "CancelLift";
      readonly account: string;
      readonly policyId: string;
      readonly by: string;
      readonly at: string;
    };

export type ControlsRejection = "person-required" | "approval-required" | "not-found" | "no-place";

const partIn = (state: Configuration, kind: PartKind, id: string): Parts[PartKind] | null =>
  state[kind].get(id) ?? null;

export const weakenedBy = (
  { change, base, issues, actual }: Pick<ChangeControls, "change" | "base" | "issues" | "actual">,
  known: Configuration,
): readonly Weakening[] => {
  const { kind, id } = change;
  const issued = issues && (kind === "agent" || kind === "source") ? { kind, id } : null;
  const weakenedIn = (state: Configuration, made: PartChange): readonly Weakening[] => {
    const from = state[kind].has(id) ? state : withPart(state, base);
    return weakenings(from, withPart(from, made), issued);
  };
  const recorded = weakenedIn(known, change);
  if (actual === undefined) return recorded;
  const others = weakenedIn(actual.parts.reduce(withPart, known), actual.change);
  return [...new Map([...recorded, ...others].map((it) => [it.why, it])).values()];
};

/** Ids of the weakened policies that are protected at the time `at`: the change takes the approvals of each. */
export const protectedOf = (
  weakened: readonly Weakening[],
  { policy, lifts }: Configuration,
  at: string,
): readonly string[] => {
  const isLifted = (id: string): boolean => (lifts.get(id)?.effectiveAt ?? "9999") <= at;
  const ids = new Set(weakened.map(({ policyId }) => policyId));
  return [...ids].filter((id) => policy.get(id)?.protected === true && !isLifted(id));
};

/** The lift of a protection is recorded together with the first change that it permits. */
const liftedBy = (
  weakened: readonly Weakening[],
  state: Configuration,
  { account, at }: Pick<ChangeControls, "account" | "at">,
): readonly ControlsEvent[] =>
  [...new Set(weakened.map(({ policyId }) => policyId))].flatMap((policy_id) => {
    const lift = state.lifts.get(policy_id);
    if (lift === undefined || lift.isRecorded || lift.effectiveAt > at) return [];
    if (state.policy.get(policy_id)?.protected !== true) return [];
    return [{ type: "ProtectionLifted", data: { account, policy_id, effective_at: lift.effectiveAt, at } } as const];
  });

/** From the request of a lift, the account's people have this time to notice the lift and cancel it. */
const LIFT_AFTER_MS = 24 * 60 * 60 * 1_000;

const REASONS_MAX = 20;

/**
 * A recorded change reaches the part's own stream within the same request. If it is not there after this time, it was
 * refused or cut off.
 */
const UNDER_WAY_MS = 60 * 60 * 1_000;

const CORRECTED_MAX = 100;

const isUnderWay = (recordedAt: string | undefined, at: string): boolean =>
  recordedAt !== undefined && Date.parse(recordedAt) + UNDER_WAY_MS > Date.parse(at);

/** Each record copies this map, so entries older than `UNDER_WAY_MS` are dropped. The oldest entries come first. */
const recordedNow = (
  before: Configuration["recordedAt"],
  change: PartChange,
  at: string,
): Configuration["recordedAt"] => {
  const recordedAt = new Map(before);
  recordedAt.delete(partKey(change));
  for (const [key, since] of recordedAt) {
    if (isUnderWay(since, at)) break;
    recordedAt.delete(key);
  }
  return change.part === null ? recordedAt : recordedAt.set(partKey(change), at);
};

type Decided = Decision<ControlsEvent, ControlsRejection>;

export const controls: Decider<Configuration, ControlsCommand, ControlsEvent, ControlsRejection> = {
  initial: EMPTY,

  evolve(state, event) {
    switch (event.type) {
      case "ProtectionLiftRequested": {
        const { policy_id, effective_at: effectiveAt } = event.data;
        return { ...state, lifts: new Map(state.lifts).set(policy_id, { effectiveAt, isRecorded: false }) };
      }
      case "ProtectionLifted": {
        const { policy_id, effective_at: effectiveAt } = event.data;
        return { ...state, lifts: new Map(state.lifts).set(policy_id, { effectiveAt, isRecorded: true }) };
      }
      case "ProtectionLiftCancelled": {
        const { policy_id } = event.data;
        return { ...state, lifts: new Map([...state.lifts].filter(([id]) => id !== policy_id)) };
      }
      case "ControlsCorrected":
        return event.data.parts.reduce(withPart, state);
      case "HeldChangePlaced": {
        const { change_id, freed } = event.data;
        const left = [...state.heldChanges].filter((id) => !freed.includes(id));
        return { ...state, heldChanges: new Set([...left, change_id]) };
      }
      case "ControlsChanged":
      case "ControlsWeakened": {
        const { change, at } = event.data;
        // A lift ends when an unprotected policy is protected again, but not with a new version of a protected one.
        const isAnew = change.kind === "policy" && state.policy.get(change.id)?.protected !== true;
        const isOver = isAnew && change.part?.protected === true;
        const lifts = isOver ? new Map([...state.lifts].filter(([id]) => id !== change.id)) : state.lifts;
        const recordedAt = recordedNow(state.recordedAt, change, at);
        return { ...withPart(state, change), lifts, recordedAt };
      }
    }
  },

  decide(command, state): Decided {
    if (command.type === "WithdrawPart") {
      const { account, kind, id, isMade, by, at } = command;
      const before = isMade ? null : partIn(state, kind, id);
      const change = partChange(kind, id, null);
      return before === null
        ? accept()
        : accept({ type: "ControlsChanged", data: { account, change, before, by, at } });
    }
    if (command.type === "CorrectParts") {
      const { account, at } = command;
      const parts = command.parts
        .filter((it) => !isUnderWay(state.recordedAt.get(partKey(it)), at))
        .slice(0, CORRECTED_MAX);
      return parts.length === 0 ? accept() : accept({ type: "ControlsCorrected", data: { account, parts, at } });
    }
    if (command.type === "PlaceHeldChange") {
      const { account, changeId: change_id, over, max, at } = command;
      if (state.heldChanges.has(change_id)) return accept();
      const freed = over.filter((id) => state.heldChanges.has(id));
      if (state.heldChanges.size - freed.length >= max) return reject("no-place");
      return accept({ type: "HeldChangePlaced", data: { account, change_id, freed, at } });
    }
    if (command.type === "LiftProtection") {
      const { account, policyId: policy_id, at } = command;
      if (state.policy.get(policy_id)?.protected !== true) return reject("not-found");
      if (state.lifts.has(policy_id)) return accept();
      const effective_at = new Date(Date.parse(at) + LIFT_AFTER_MS).toISOString();
      return accept({ type: "ProtectionLiftRequested", data: { account, policy_id, effective_at, at } });
    }
    if (command.type === "CancelLift") {
      const { account, policyId: policy_id, by, at } = command;
      if (!state.lifts.has(policy_id)) return reject("not-found");
      return accept({ type: "ProtectionLiftCancelled", data: { account, policy_id, by, at } });
    }
    const { account, change, base, by, at, asker } = command;
    const before = partIn(state, change.kind, change.id) ?? base.part;
    const weakened = weakenedBy(command, state);
    const data = { account, change, before, by, at };
    if (weakened.length > 0) {
      if (asker === "key") return reject("person-required");
      const { approved } = command;
      const isApproved = (id: string): boolean => {
        const { min_approvals = 1, exclude_requester = false } = state.policy.get(id)?.approval ?? {};
        return (
          approved?.policies.includes(id) === true &&
          min_approvals <= approved.approvals &&
          (approved.excludesRequester || !exclude_requester)
        );
      };
      const unapproved = protectedOf(weakened, state, at).filter((id) => !isApproved(id));
      if (unapproved.length > 0) return reject("approval-required");
      const reasons = weakened.slice(0, REASONS_MAX).map(({ why }) => why);
      return accept<ControlsEvent>(...liftedBy(weakened, state, command), {
        type: "ControlsWeakened",
        data: { ...data, reasons },
      });
    }
    return sameJson(before, change.part) ? accept() : accept({ type: "ControlsChanged", data });
  },
};
