import type { Plan } from "../../domain/account/plans.ts";
import type { Run } from "../../domain/delivery/events.ts";
import { COST_UNKNOWN } from "../../domain/gate/cost.ts";
import { denied, type GateResult } from "../../domain/gate/verdict.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Reservation } from "../ledgers/ledgers.ts";
import { ORPHAN_AGE_MS } from "../ledgers/orphaned-places.ts";
import type { Trace } from "../streams/envelope.ts";

export type LimitedPolicy = {
  readonly id: string;
  readonly definition: PolicyDefinition;
  /** Micro-euros to reserve; null if the cost could not be determined, for the reason in `costMissing`. */
  readonly cost: number | null;
  readonly costMissing?: string | undefined;
  /** The number of a bundle's steps that the policy applies to; 1 by default. */
  readonly places?: number;
  /** Maps the digest of a request to the number of equal requests in it. Called only if a policy limits repetitions. */
  readonly identical: () => ReadonlyMap<string, number>;
};

export type LedgerInput = {
  readonly account: string;
  /** Null if the plan's quota does not count the request. */
  readonly plan: Plan | null;
  readonly timeZone: string;
  readonly eventId: string;
  readonly policies: readonly LimitedPolicy[];
  readonly run: Run | null;
  readonly trace: Trace;
};

/** `lasts` is true if the place can wait for the event's end, which determines the cost; else it is spent at once. */
export type TakenPlace = Reservation & { readonly lasts: boolean };

export const RUN_USED_UP = "run-used-up";

export const TOO_DEEP = "too-deep";

export const TOO_MANY_STEPS = "too-many-steps";

const FOR_GOOD: ReadonlySet<string> = new Set([COST_UNKNOWN, RUN_USED_UP, TOO_DEEP, TOO_MANY_STEPS]);

export const mayPassLater = ({ code }: GateResult): boolean => !FOR_GOOD.has(code);

/** Whole seconds, rounded up, so that a caller that waits for them is not refused again. */
export const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

/** The result of limits that are asked together: if one of them denies, none takes a place. */
export type LimitResult = {
  readonly gates: readonly GateResult[];
  readonly taken: readonly TakenPlace[];
  readonly denied: boolean;
  readonly retryAfterS: number | null;
};

export const NO_LIMITS: LimitResult = { gates: [], taken: [], denied: false, retryAfterS: null };

export const overLimit = (gates: readonly GateResult[], retryAfterMs: number | null): LimitResult => ({
  gates,
  taken: [],
  denied: true,
  retryAfterS: retryAfterMs === null ? null : seconds(retryAfterMs),
});

export const asksFor = (places: number): string => (places === 1 ? "" : `, this bundle asks for ${places}`);

/** True for a bundle that asks for more places than the limit has: it never fits, however long it waits. */
export const exceeds = (places: number, limit: number): boolean => places > 1 && places > limit;

/**
 * Denies a bundle while a request with the same Idempotency-Key and fewer steps is being decided, so that the bundle
 * does not take the places of that request.
 */
export const contested = (gate: "rate" | "loop"): LimitResult =>
  overLimit(
    [denied(gate, "contested", "another request with this key, and fewer steps, is being decided")],
    ORPHAN_AGE_MS,
  );
