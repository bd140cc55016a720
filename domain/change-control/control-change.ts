import type { PartKind, Parts } from "./configuration.ts";
import type { ChangeApproval } from "./decider.ts";

/**
 * `base` is the part in its own stream, null for a new part; `changes` is null if the part is deleted. With `replaces`,
 * members that `changes` omits are dropped; else they stay.
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
