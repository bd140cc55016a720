import type { Ledgers } from "../../src/ledgers/ledgers.ts";

/** Nothing is reserved or spent, for tests that are about something else. */
export const noLedgers: Pick<Ledgers, "figures"> = {
  figures: async () => ({ reserved: 0, settled: 0, overrun: 0, open: 0, spent: 0 }),
};
