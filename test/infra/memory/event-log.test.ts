import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { eventLogContract } from "../../contract/event-log.ts";

eventLogContract("memory", async () => memoryEventLog());

const test = suite("memory event log");

test("an empty log has no head and an empty first page", async () => {
  const log = memoryEventLog();
  assert.is(await log.head(), null);
  assert.equal(await log.readAll(null, 10), []);
});

test("two logs have two names", async () => {
  assert.is.not(await memoryEventLog().identity(), await memoryEventLog().identity());
});

test.run();
