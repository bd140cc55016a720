import { suite } from "uvu";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { ContractCase } from "./contract-case.ts";
import { appendCases } from "./event-log-append-cases.ts";
import { eraseCases } from "./event-log-erase-cases.ts";
import { groupCases } from "./event-log-group-cases.ts";
import { readCases } from "./event-log-read-cases.ts";
import { repeatCases } from "./event-log-repeat-cases.ts";
import { sizeCases } from "./event-log-size-cases.ts";

/** What every adapter of the event log does, as values: the suites register them, `event-log-broken.test.ts` runs them
 * over adapters that are wrong. */
export const eventLogCases: readonly ContractCase[] = [
  ...appendCases,
  ...repeatCases,
  ...groupCases,
  ...readCases,
  ...sizeCases,
  ...eraseCases,
];

/**
 * Registers the suite. `open` gives a log that the suite may write to and closes; several may be open at once. `after` is
 * called when all has run.
 */
export const eventLogContract = (
  name: string,
  open: () => Promise<EventLog>,
  after: () => Promise<void> = async () => undefined,
): void => {
  const test = suite(`event log contract: ${name}`);
  test.after(after);
  for (const { name: sentence, run } of eventLogCases) {
    test(sentence, async () => {
      const log = await open();
      try {
        await run(log);
      } finally {
        await log.close();
      }
    });
  }
  test.run();
};
