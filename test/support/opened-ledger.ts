import type { LedgerEvent } from "../../domain/ledger/events.ts";
import {
  type Answer,
  decideLedger,
  emptyLedger,
  evolveLedger,
  type Ledger,
  type LedgerCommand,
} from "../../domain/ledger/ledger.ts";

/** Releases that a test leaves unnamed give back the reservations of the event's place, the oldest first. */
export type SentCommand = LedgerCommand | { readonly type: "Release"; readonly event: string };

const named = (ledger: Ledger, commands: readonly SentCommand[]): readonly LedgerCommand[] => {
  const left = new Map<string, readonly number[]>();
  return commands.map((command) => {
    if (command.type !== "Release" || "reservation" in command || "upTo" in command) return command;
    const { event } = command;
    const [reservation = 0, ...others] = left.get(event) ?? ledger.open.get(event)?.reservations ?? [];
    left.set(event, others);
    return { ...command, reservation };
  });
};

export type OpenedLedger = {
  readonly stream: LedgerEvent[];
  readonly ledger: Ledger;
  /** Decides, appends and folds, as the writer of a ledger's stream does. */
  send(commands: readonly SentCommand[], now: number): readonly Answer[];
};

/** A ledger with its stream. */
export const openedLedger = (ledger: Ledger = emptyLedger()): OpenedLedger => {
  const stream: LedgerEvent[] = [];
  return {
    stream,
    ledger,
    send(commands, now) {
      const decision = decideLedger(ledger, named(ledger, commands), now);
      for (const event of decision.events) {
        evolveLedger(ledger, event, stream.length);
        stream.push(event);
      }
      return decision.answers;
    },
  };
};
