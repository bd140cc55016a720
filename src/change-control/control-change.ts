import type { PartKind } from "../../domain/change-control/configuration.ts";
import type { ControlChange } from "../../domain/change-control/control-change.ts";
import type { Json } from "../../domain/json.ts";
import type { Answer } from "../http/route.ts";
import type { Envelope } from "../streams/envelope.ts";
import type { Problem } from "../streams/problems.ts";

/** `command` is for the target's stream; `after` is what the approvers see of its result. */
export type Deferred = { readonly command: object; readonly after: Json };

export type ControlCaller = {
  readonly principal: { readonly kind: "member" | "key" | "agent"; readonly account: string; readonly id: string };
  readonly envelope: Envelope;
};

export type Controls = {
  /**
   * The decision is recorded before the change is made; null if the caller may make it. Weakening a protected policy is
   * held for its quorum, or refused without `deferred`.
   */
  authorize(call: ControlCaller, change: ControlChange, deferred?: Deferred): Promise<Answer | Problem | null>;
  /** ISO-8601 UTC; null unless an operator has requested the end of the policy's protection. */
  liftsAt(account: string, policyId: string): Promise<string | null>;
  cancelLift(call: ControlCaller, policyId: string): Promise<Pick<Answer, "position"> | null>;
  /** An authorized creation is taken back if it did not happen because the account was full. */
  withdraw(call: ControlCaller, kind: PartKind, id: string): Promise<void>;
};
