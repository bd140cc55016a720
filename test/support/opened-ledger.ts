import type { Answer } from "../../domain/ledger/batch.ts";
import { restoring } from "../../domain/ledger/checkpoint.ts";
import type { LedgerCommand } from "../../domain/ledger/commands.ts";
import { decideLedger } from "../../domain/ledger/decider.ts";
import type { LedgerCheckpoint, LedgerEvent } from "../../domain/ledger/events.ts";
import { emptyLedger, evolveLedger, type Ledger } from "../../domain/ledger/state.ts";

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

/** The ledger as another process reads it: from the checkpoint, its window's records, and all records after it. */
export const reread = (stream: readonly LedgerEvent[], written: LedgerCheckpoint, windowMs?: number): Ledger => {
  const checkpoint: LedgerCheckpoint = JSON.parse(JSON.stringify(written));
  const restored = restoring(checkpoint, windowMs);
  for (const [revision, record] of stream.entries()) {
    if (revision >= checkpoint.window_from && revision <= checkpoint.revision) restored.refill(record, revision);
  }
  const ledger = restored.ledger();
  for (const [revision, record] of stream.entries()) {
    if (revision > checkpoint.revision) evolveLedger(ledger, record, revision);
  }
  return ledger;
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
