import type { Plan } from "../../domain/account/plans.ts";
import type { Decider } from "../../domain/decider.ts";
import { SLOT_KINDS, type SlotKind, type WithSlot, withSlot } from "../../domain/slot.ts";
import { subjectOf } from "../../projections/streams.ts";
import type { Reaction } from "../following/reaction.ts";
import type { Aggregates, Handled } from "../streams/aggregates.ts";
import type { Envelope, Fact } from "../streams/envelope.ts";
import type { Ledgers, Reservation } from "./ledgers.ts";
import { SLOT_HOLDERS } from "./slot-holders.ts";

export type Registered<S, R> = Handled<S, R> | { readonly outcome: "full"; readonly limit: number };

export type Registration<S, C, E extends Fact, R> = {
  readonly kind: SlotKind;
  readonly id: string;
  readonly decider: Decider<S, C, E, R>;
  readonly command: C;
  readonly envelope: Envelope;
};

export type Slots = {
  /** Runs a command that may create something, if the account has a slot for it. Rejects with the log's errors. */
  register<S, C, E extends Fact, R>(registration: Registration<S, C, E, R>): Promise<Registered<S, R>>;
  free(kind: SlotKind, account: string, id: string): Promise<void>;
  holders(kind: SlotKind, account: string): Promise<readonly string[]>;
};

export type SlotsDeps = {
  readonly ledgers: Pick<Ledgers, "reserve" | "release" | "resolve" | "holders">;
  readonly aggregates: Pick<Aggregates, "handleDerived">;
  readonly planOf: (account: string) => Promise<Plan>;
};

const limitOf = (kind: SlotKind, plan: Plan): number => (kind === "sources" ? plan.endpoints : plan.counts[kind]);

const ledgerOf = (account: string, kind: SlotKind): string => `ledger-${account}-${kind}`;

export const slots = ({ ledgers, aggregates, planOf }: SlotsDeps): Slots => ({
  async register<S, C, E extends Fact, R>(registration: Registration<S, C, E, R>): Promise<Registered<S, R>> {
    const { kind, id, decider, command, envelope } = registration;
    const { account, trace } = envelope;
    const { streamOf, exists } = SLOT_HOLDERS[kind];
    const limit = limitOf(kind, await planOf(account));
    let reserved: Reservation | null = null;
    const giveBack = async (): Promise<void> => {
      if (reserved !== null) await ledgers.release(reserved, trace);
      reserved = null;
    };
    // The slot is reserved after the stream is read, so that a fence makes a slow registration conflict.
    const look = async (state: S): Promise<WithSlot<C>> => {
      await giveBack();
      if (exists(state)) return { command, hasSlot: true };
      reserved = await ledgers.reserve({
        stream: ledgerOf(account, kind),
        account,
        event: id,
        limits: { count: limit },
        trace,
      });
      return { command, hasSlot: reserved.answer.granted };
    };
    const handled = await aggregates.handleDerived(withSlot(decider, exists), streamOf(id), look, envelope);
    if (handled.outcome === "accepted") return handled;
    // The command was refused, or an equal request has succeeded with its own reservation.
    await giveBack();
    if (handled.outcome === "unchanged") return handled;
    const { rejection, state } = handled;
    return rejection === "no-slot" ? { outcome: "full", limit } : { outcome: "rejected", rejection, state };
  },

  holders: (kind, account) => ledgers.holders(ledgerOf(account, kind), account),

  free: (kind, account, id) => ledgers.resolve(ledgerOf(account, kind), account, id),
});

const DELETED: Readonly<Partial<Record<SlotKind, string>>> = {
  sources: "SourceDeleted",
  delivery_endpoints: "EndpointDeleted",
  agents: "AgentDeleted",
  actions: "ActionDeleted",
  sessions: "SessionClosed",
};

/** Frees the slot after a deletion, because a crash may come between the deletion and the release of its slot. */
export const slotReactions = ({ free }: Pick<Slots, "free">): readonly Reaction[] =>
  SLOT_KINDS.flatMap((kind) => {
    const on = DELETED[kind];
    if (on === undefined) return [];
    return [{ on, run: ({ stream, meta }) => free(kind, meta.account, subjectOf(stream)) }];
  });
