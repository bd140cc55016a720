import type { Plan } from "../../domain/account/plans.ts";
import type { Run } from "../../domain/delivery/events.ts";
import { COST_UNKNOWN } from "../../domain/gate/cost.ts";
import { denied, type GateResult } from "../../domain/gate/verdict.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Reservation } from "../ledgers/ledgers.ts";
import { ORPHAN_AGE_MS } from "../ledgers/orphaned-places.ts";
import type { Trace } from "../streams/envelope.ts";

/** A policy whose limits a request has to keep, each in ledgers of that policy alone. */
export type CountedPolicy = {
  readonly id: string;
  readonly definition: PolicyDefinition;
  /** Micro-euros to reserve; null when the cost could not be determined. */
  readonly cost: number | null;
  /** Why `cost` is null. */
  readonly costMissing?: string;
  /** Of a bundle's steps; left out: one. */
  readonly places?: number;
  /** What makes requests the same, and how many of each are asked for; called only where a policy counts them. */
  readonly identical: () => ReadonlyMap<string, number>;
};

export type LedgerInput = {
  readonly account: string;
  /** Null: not counted for the plan's quota. */
  readonly plan: Plan | null;
  readonly timeZone: string;
  readonly eventId: string;
  readonly policies: readonly CountedPolicy[];
  /** Null for what belongs to no run. */
  readonly run: Run | null;
  readonly nowMs: number;
  readonly trace: Trace;
};

/**
 * `lasts`: held until the event ends, which says what it has cost, where the event is one that ends so. Else it is spent by
 * having been asked for, as the place of a repetition.
 */
export type TakenPlace = Reservation & { readonly lasts: boolean };

/** Codes of gates that deny for good: what has passed one day passes no other day either. */
export const RUN_USED_UP = "run-used-up";

export const TOO_DEEP = "too-deep";

export const TOO_MANY_STEPS = "too-many-steps";

const FOR_GOOD: ReadonlySet<string> = new Set([COST_UNKNOWN, RUN_USED_UP, TOO_DEEP, TOO_MANY_STEPS]);

/** Whether the same request may pass this gate later. */
export const mayPassLater = ({ code }: GateResult): boolean => !FOR_GOOD.has(code);

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

/** The answer of one or several gates that count together: refused by one, they take no place at all. */
export type Counted = {
  readonly gates: readonly GateResult[];
  readonly taken: readonly TakenPlace[];
  readonly refused: boolean;
  readonly retryAfterS: number | null;
};

export const NOTHING_COUNTED: Counted = { gates: [], taken: [], refused: false, retryAfterS: null };

export const refused = (gates: readonly GateResult[], retryAfterMs: number | null): Counted => ({
  gates,
  taken: [],
  refused: true,
  retryAfterS: retryAfterMs === null ? null : seconds(retryAfterMs),
});

/** What a single request does not say: that it asks for one. */
export const asksFor = (places: number): string => (places === 1 ? "" : `, this bundle asks for ${places}`);

/** So many steps never find room together, however long they wait. */
export const exceeds = (places: number, limit: number): boolean => places > 1 && places > limit;

/** Two requests with one key and other steps: neither may take the other's places, which one of them gives back soon. */
export const contested = (gate: "rate" | "loop"): Counted =>
  refused(
    [denied(gate, "contested", "another request with this key, and fewer steps, is being decided")],
    ORPHAN_AGE_MS,
  );

export type PolicyInput = LedgerInput & { readonly policy: CountedPolicy };
