import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { cursorOf, positionAfter } from "../../../src/following/log-cursor.ts";
import { appendTo, history } from "../../support/history.ts";

const test = suite("cursor in the log");

/** A log of four records and a checkpoint with these data. */
const world = async (data: JsonObject) => {
  const log = memoryEventLog();
  const { add, events } = history();
  for (let i = 0; i < 4; i += 1) add(`delivery-evt_${i % 2}`, { type: "Happened", data: { i } });
  const checkpoint = add("checkpoint-x", { type: "Checkpointed", data });
  await appendTo(log, events);
  return {
    log,
    events,
    checkpoint,
    position: await positionAfter(log, checkpoint).catch((error: Error) => error.message),
  };
};

test("a cursor is found by stream and revision, not by the checkpoint's position", async () => {
  const { events } = await world({});
  const third = events[2];
  assert.ok(third);
  const { position } = await world({ ...cursorOf(third), position: "0".repeat(40) });
  assert.is(position, third.position);
});

test("without a checkpoint, or with one that names nothing, it is the beginning", async () => {
  assert.is(await positionAfter(memoryEventLog(), null), null);
  assert.is((await world({ position: null, stream: null, revision: null })).position, null);
});

test("a checkpoint that names an event which this log lacks is an error", async () => {
  for (const named of [
    { stream: "delivery-evt_1", revision: 9 },
    { stream: "delivery-evt_9", revision: 0 },
  ])
    assert.match(String((await world({ position: "x", ...named })).position), "which this log does not have");
});

test.run();
