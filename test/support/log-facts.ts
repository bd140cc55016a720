import type { LedgerEvent } from "../../domain/ledger/events.ts";
import { emptyLedger, evolveLedger, type Ledger } from "../../domain/ledger/state.ts";
import type { Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { type LogLocation, openLog, sqliteLogIn } from "../../src/engine/open-engines.ts";

/** Everything in a log that nobody is writing to. */
export const readLogAt = async (place: LogLocation): Promise<RecordedEvent[]> => {
  const log = await openLog(place, { readOnly: true });
  const events: RecordedEvent[] = [];
  let after: Position | null = null;
  for (;;) {
    const page: readonly RecordedEvent[] = await log.readAll(after, 1_000);
    events.push(...page);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.position;
  }
  await log.close();
  return events;
};

/** Everything in the log of a data directory whose program has ended. */
export const readWholeLog = (dir: string): Promise<RecordedEvent[]> => readLogAt(sqliteLogIn(dir));

/** What an event of the log says, by a path into its data; tests look into events of every type. */
export const fieldOf = ({ data }: RecordedEvent, ...path: readonly string[]): unknown => {
  let value: unknown = data;
  // Each step is checked by what the test expects to find at its end.
  for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name];
  return value;
};

export type LedgerFacts = {
  readonly ledger: Ledger;
  /** The events that hold a place, with the time it was taken; ms since 1970. */
  readonly places: ReadonlyMap<string, number>;
};

/** The day ledgers of a policy folded into one account of who holds a place. */
export const ledgerOf = (events: readonly RecordedEvent[], policyId: string): LedgerFacts => {
  const ledger = emptyLedger();
  const places = new Map<string, number>();
  for (const event of events) {
    if (!event.stream.startsWith(`ledger-${policyId}-`)) continue;
    // A ledger's stream holds ledger events alone.
    const fact = event as unknown as LedgerEvent;
    evolveLedger(ledger, fact, event.revision);
    if (fact.type === "Reserved")
      for (const { event: id, at } of fact.data.entries) if (!places.has(id)) places.set(id, at);
    if (fact.type === "Released")
      for (const { event: id } of fact.data.entries)
        if (!ledger.open.has(id) && !ledger.recent.has(id)) places.delete(id);
  }
  return { ledger, places };
};

/** The most that any window of `ms` contains. */
export const fullestWindow = (times: Iterable<number>, ms: number): number => {
  const sorted = [...times].sort((a, b) => a - b);
  let from = 0;
  let most = 0;
  for (const [index, at] of sorted.entries()) {
    while ((sorted[from] ?? at) <= at - ms) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
};
