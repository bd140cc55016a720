import type { PartKind, Parts } from "../../domain/controls/configuration.ts";
import type { Approved } from "../../domain/controls/decider.ts";
import type { Json } from "../../domain/json.ts";
import type { Answer } from "../http/route.ts";
import type { Envelope } from "../streams/envelope.ts";
import type { Problem } from "../streams/problems.ts";

/** A change as its route would make it: the command for the target's own stream, and what people are shown of it. */
export type Deferred = { readonly command: object; readonly after: Json };

/**
 * A change that a route is about to make. `base`: the part as its own stream has it; null for a new one. `changes`: the
 * members that are to be others; null where the part is deleted. `issues`: its credential is made anew.
 * `replaces`: members that `changes` leaves out are gone.
 */
export type ControlChange = {
  readonly [Kind in PartKind]: {
    readonly kind: Kind;
    readonly id: string;
    readonly base: Parts[Kind] | null;
    readonly changes: Partial<Parts[Kind]> | null;
    readonly issues?: true;
    readonly replaces?: true;
    readonly approved?: Approved;
  };
}[PartKind];

/** Who asks for the change. */
export type ControlCaller = {
  readonly principal: { readonly kind: "member" | "key" | "agent"; readonly account: string; readonly id: string };
  readonly envelope: Envelope;
};

export type Controls = {
  /**
   * Decides whether the caller may make a change and records it, before it is made. Null: it may be made. What weakens a
   * control takes a person with a session. What weakens a protected policy is held, and the answer says so; without
   * `deferred` it is refused, as it cannot be made later.
   */
  authorize(call: ControlCaller, change: ControlChange, deferred?: Deferred): Promise<Answer | Problem | null>;
  /** When the protection of a policy ends, as was asked for on the machine; null if it was not. ISO-8601 UTC. */
  liftsAt(account: string, policyId: string): Promise<string | null>;
  /** Null where nobody has asked for the end of the policy's protection. */
  cancelLift(call: ControlCaller, policyId: string): Promise<Pick<Answer, "position"> | null>;
  /** For something new that was authorized and is not made after all, as the account has no room for it. */
  withdraw(call: ControlCaller, kind: PartKind, id: string): Promise<void>;
};
