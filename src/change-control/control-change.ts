import type { PartKind } from "../../domain/change-control/configuration.ts";
import type { ControlChange } from "../../domain/change-control/control-change.ts";
import type { Json } from "../../domain/json.ts";
import type { Answer } from "../http/route.ts";
import type { Envelope } from "../streams/envelope.ts";
import type { Problem } from "../streams/problems.ts";

/**
 * `command` is kept for the target's stream. The record of the hold, in the stream that it is given, is the first to
 * name what a person wrote in it. `after` is what the approvers see of its result.
 */
export type Deferred = { readonly command: (holding: string) => object | Promise<object>; readonly after: Json };

export type ControlCaller = {
  readonly principal: { readonly kind: "member" | "key" | "agent"; readonly account: string; readonly id: string };
  readonly envelope: Envelope;
};

export type Controls = {
  /**
   * Null if the caller may make the change, which is recorded before it is made. Weakening a protected policy is held
   * for the policy's quorum, or refused without `deferred`.
   */
  authorize(call: ControlCaller, change: ControlChange, deferred?: Deferred): Promise<Answer | Problem | null>;
  /** When the policy's protection ends (ISO-8601 UTC); null unless an operator has requested its end. */
  liftsAt(account: string, policyId: string): Promise<string | null>;
  cancelLift(call: ControlCaller, policyId: string): Promise<Pick<Answer, "position"> | null>;
  /** Takes back an authorized creation that did not happen, because the account was full. */
  withdraw(call: ControlCaller, kind: PartKind, id: string): Promise<void>;
};
