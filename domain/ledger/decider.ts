import { type Answer, LedgerBatch } from "./batch.ts";
import type { LedgerCommand } from "./commands.ts";
import type { LedgerEvent } from "./events.ts";
import type { Ledger } from "./state.ts";

export type LedgerDecision = {
  readonly events: readonly LedgerEvent[];
  readonly answers: readonly Answer[];
};

/** Each reservation is decided on those before it in the batch; places given back in it still count until its end. */
export const decideLedger = (ledger: Ledger, commands: readonly LedgerCommand[], now: number): LedgerDecision => {
  const batch = new LedgerBatch(ledger, now);
  const answers = commands.map((command) => batch.decide(command));
  return { events: batch.events(), answers };
};
