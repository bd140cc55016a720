import { accept, type Decider, reject } from "./decider.ts";

/** Each of these things holds a slot in a ledger of the account as long as it exists. */
export const SLOT_KINDS = ["sources", "delivery_endpoints", "policies", "agents", "actions", "sessions"] as const;
export type SlotKind = (typeof SLOT_KINDS)[number];

/** Recorded when the slot of a thing that does not exist is given back: a registration under way then conflicts. */
export type SlotFreed = { readonly type: "SlotFreed"; readonly data: { readonly id: string; readonly at: string } };

export type FreeSlot = { readonly type: "FreeSlot"; readonly id: string; readonly at: string };

/** `hasSlot`: a slot was reserved for this command after the state was read. */
export type WithSlot<C> = { readonly command: C; readonly hasSlot: boolean };

type Foldable<S, E> = Pick<Decider<S, never, E, unknown>, "initial" | "evolve">;

export const slotFence = <S, E>(
  { initial, evolve }: Foldable<S, E>,
  exists: (state: S) => boolean,
): Decider<S, FreeSlot, E | SlotFreed, "exists"> => ({
  initial,
  // Deciders of things with slots ignore records of unknown types, such as `SlotFreed`.
  evolve: (state, event) => evolve(state, event as E),
  decide: ({ id, at }, state) =>
    exists(state) ? reject("exists") : accept({ type: "SlotFreed", data: { id, at } } as const),
});

export const withSlot = <S, C, E, R>(
  { initial, evolve, decide }: Decider<S, C, E, R>,
  exists: (state: S) => boolean,
): Decider<S, WithSlot<C>, E, R | "no-slot"> => ({
  initial,
  evolve,
  decide({ command, hasSlot }, state) {
    const decision = decide(command, state);
    const isNew = decision.ok && decision.events.length > 0 && !exists(state);
    return isNew && !hasSlot ? reject("no-slot") : decision;
  },
});
