import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { eventLogCases } from "./event-log.ts";
import { brokenLogs } from "./event-log-broken-logs.ts";

/** The contract is only worth what it notices: each of these logs is wrong in one way, and some case must fail on it. */

type Verdicts = ReadonlyMap<string, readonly string[]>;

const failuresOn = async (open: () => EventLog): Promise<readonly string[]> => {
  const results = await Promise.allSettled(eventLogCases.map(({ run }) => run(open())));
  return eventLogCases.filter((_, index) => results[index]?.status === "rejected").map(({ name }) => name);
};

/** All at once: some cases wait long before they fail. */
const verdicts = async (): Promise<Verdicts> =>
  new Map(
    await Promise.all(
      Object.entries(brokenLogs).map(
        async ([name, breakIt]) => [name, await failuresOn(() => breakIt(memoryEventLog()))] as const,
      ),
    ),
  );

const test = suite("event log contract: broken logs");
const found = await verdicts();

test("every case passes on the log that the broken ones are made of", async () => {
  assert.equal(await failuresOn(memoryEventLog), []);
});

for (const [name, failed] of found) {
  test(`noticed: ${name}`, () => assert.ok(failed.length > 0));
}

test("every case has been seen to fail", () => {
  const seen = new Set([...found.values()].flat());
  assert.equal(
    eventLogCases.map(({ name }) => name).filter((name) => !seen.has(name)),
    [],
  );
});

test.run();
