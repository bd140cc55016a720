import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { agedRecords } from "../../../src/retention/aged-records.ts";
import { appendTo, history, START } from "../../support/history.ts";
import { testClock } from "../../support/http-app.ts";

const test = suite("aged records");

const DAY_MS = 24 * 60 * 60 * 1_000;
const AGE_MS = 7 * DAY_MS;
const go = () => false;

/** A log with one record for each of these days since the start, and a sweep over it that reads one record at a time. */
const swept = async (days: readonly number[]) => {
  const log = memoryEventLog();
  const { add, events } = history();
  for (const [n, day] of days.entries()) {
    add(`delivery-${n}`, { type: "Noted", data: {} }, { at: new Date(START + day * DAY_MS).toISOString() });
  }
  await appendTo(log, events);
  let reads = 0;
  const counting: typeof log = {
    ...log,
    readTypes(...of) {
      reads += 1;
      return log.readTypes(...of);
    },
  };
  const clock = testClock(START);
  const records = agedRecords(counting, clock, {
    ...{ stream: "checkpoint-noted", type: "NotedSwept", types: ["Noted"], ageMs: AGE_MS, page: 1 },
    onError: (error) => assert.unreachable(String(error)),
  });
  const sweep = async () => {
    const shown: string[] = [];
    reads = 0;
    await records.sweep(go, async ({ stream }) => {
      shown.push(stream);
      return true;
    });
    return { shown, reads };
  };
  return { clock, sweep };
};

test("a record stamped years ahead waits for the next credible stamp and delays no other record", async () => {
  const { clock, sweep } = await swept([0, 3_650, 1, 2]);
  clock.advance(AGE_MS);
  assert.equal((await sweep()).shown, ["delivery-0"]);
  clock.advance(DAY_MS - 1);
  assert.equal((await sweep()).shown, []);
  clock.advance(1);
  assert.equal((await sweep()).shown, ["delivery-1", "delivery-2"]);
  clock.advance(DAY_MS);
  assert.equal((await sweep()).shown, ["delivery-3"]);
});

test("a sweep looks ahead a bounded distance, and the next sweep continues there", async () => {
  const future = Array.from({ length: 60 }, () => 3_650);
  const { clock, sweep } = await swept([...future, 0]);
  clock.advance(AGE_MS);
  const first = await sweep();
  assert.equal(first.shown, []);
  assert.ok(first.reads < 60, `${first.reads} reads`);
  assert.is((await sweep()).shown.length, 61);
});

test("a sweep that finds nothing saves its place, so that a restart does not read the log from its beginning", async () => {
  const PAGES = 350;
  const log = memoryEventLog();
  let reads = 0;
  const empty: typeof log = {
    ...log,
    async readTypes(_types, after) {
      reads += 1;
      const page = after === null ? 0 : Number(after);
      return { events: [], upTo: page === PAGES ? null : String(page + 1).padStart(16, "0") };
    },
  };
  const readsOfAStart = async (): Promise<number> => {
    reads = 0;
    const aging = { stream: "checkpoint-noted", type: "NotedSwept", types: ["Noted"], ageMs: AGE_MS, page: 1 };
    const onError = (error: unknown) => assert.unreachable(String(error));
    await agedRecords(empty, testClock(START), { ...aging, onError }).sweep(go, async () => true);
    return reads;
  };
  assert.is(await readsOfAStart(), PAGES + 1);
  const again = await readsOfAStart();
  assert.ok(again <= 100, `${again} reads`);
});

test.run();
