import type { Plan } from "../../domain/account/plans.ts";
import type { Envelope } from "../envelope.ts";
import type { Ledgers } from "./ledgers.ts";

export type SourceSlots = {
  take(envelope: Envelope, account: string, sourceId: string): Promise<{ ok: true } | { ok: false; limit: number }>;
  giveBack(envelope: Envelope, account: string, sourceId: string): Promise<void>;
};

/** The plan's limit on ingest sources, through a ledger of the account: a place that is held as long as the source lives. */
export const sourceSlots = (ledgers: Ledgers, planOf: (account: string) => Promise<Plan>): SourceSlots => {
  const streamOf = (account: string): string => `ledger-${account}-sources`;
  return {
    async take(envelope, account, sourceId) {
      const limit = (await planOf(account)).endpoints;
      const { answer } = await ledgers.reserve(streamOf(account), account, sourceId, { count: limit }, envelope.trace);
      return answer.granted ? { ok: true } : { ok: false, limit };
    },
    async giveBack(_envelope, account, sourceId) {
      await ledgers.resolve(streamOf(account), account, sourceId);
    },
  };
};
