import type { PartKind, Parts } from "../../domain/controls/configuration.ts";
import type { ChangeApproval } from "../../domain/controls/decider.ts";
import type { Json } from "../../domain/json.ts";
import type { Answer } from "../http/route.ts";
import type { Envelope } from "../streams/envelope.ts";
import type { Problem } from "../streams/problems.ts";

/** A change to apply later: the command for the target's stream, and the result as people see it. */
export type Deferred = { readonly command: object; readonly after: Json };

/**
 * A change that a route is about to make. `base` is the part in its own stream, null if new; `changes` are the new
 * values, null to delete the part. `issues` renews its credential; `replaces` drops members that `changes` omits.
 */
export type ControlChange = {
  readonly [Kind in PartKind]: {
    readonly kind: Kind;
    readonly id: string;
    readonly base: Parts[Kind] | null;
    readonly changes: Partial<Parts[Kind]> | null;
    readonly issues?: true;
    readonly replaces?: true;
    readonly approved?: ChangeApproval;
  };
}[PartKind];

export type ControlCaller = {
  readonly principal: { readonly kind: "member" | "key" | "agent"; readonly account: string; readonly id: string };
  readonly envelope: Envelope;
};

export type Controls = {
  /**
   * Decides and records, before a change is made, whether the caller may make it; null if so. Weakening a control takes
   * a person with a session. Weakening a protected policy is held, or refused without `deferred`.
   */
  authorize(call: ControlCaller, change: ControlChange, deferred?: Deferred): Promise<Answer | Problem | null>;
  /** ISO-8601 UTC; null unless an operator has requested the end of the policy's protection. */
  liftsAt(account: string, policyId: string): Promise<string | null>;
  /** Null if no end of the protection was requested. */
  cancelLift(call: ControlCaller, policyId: string): Promise<Pick<Answer, "position"> | null>;
  /** Takes back an authorized creation that did not happen, as the account had no room. */
  withdraw(call: ControlCaller, kind: PartKind, id: string): Promise<void>;
};
