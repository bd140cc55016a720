import type { Plan } from "../../domain/account/plans.ts";
import type { Trace } from "../envelope.ts";
import type { Ledgers } from "./ledgers.ts";

/** `giveBack` gives back what this call has reserved, and nothing else. */
export type SourceSlot =
  | { readonly ok: true; giveBack(): Promise<void> }
  | { readonly ok: false; readonly limit: number };

export type SourceSlots = {
  take(trace: Trace, account: string, sourceId: string): Promise<SourceSlot>;
  /** Gives back the slot of a source that is deleted. */
  free(account: string, sourceId: string): Promise<void>;
};

/** The plan's limit on ingest sources, through a ledger of the account: a place that is held as long as the source lives. */
export const sourceSlots = (ledgers: Ledgers, planOf: (account: string) => Promise<Plan>): SourceSlots => {
  const streamOf = (account: string): string => `ledger-${account}-sources`;
  return {
    async take(trace, account, sourceId) {
      const limit = (await planOf(account)).endpoints;
      const reservation = await ledgers.reserve(streamOf(account), account, sourceId, { count: limit }, trace);
      if (!reservation.answer.granted) return { ok: false, limit };
      return { ok: true, giveBack: () => ledgers.release(reservation, trace) };
    },
    free: (account, sourceId) => ledgers.resolve(streamOf(account), account, sourceId),
  };
};
