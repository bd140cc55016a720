import { suite } from "uvu";
import * as assert from "uvu/assert";
import { endpoint } from "../../../domain/endpoint/decider.ts";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { endpointReactions } from "../../../src/delivery/endpoint-reactions.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { type Fact, NO_TRACE, toEvents } from "../../../src/streams/envelope.ts";
import { at, deliveryFacts, endpointRegistered, START } from "../../support/history.ts";

const test = suite("reactions to what endpoints answer");

const world = async () => {
  const log = memoryEventLog();
  const clock = { now: () => START + 60_000 };
  const streams = aggregates(log, clock);
  let commands = 0;
  const add = async (stream: string, fact: Fact): Promise<RecordedEvent> => {
    commands += 1;
    const actor = { kind: "system", id: "test" } as const;
    const envelope = { commandId: `cmd_${commands}`, account: "acc_1", actor, trace: NO_TRACE, at: at(0) };
    await log.append(stream, "any", toEvents([fact], envelope));
    const recorded = (await log.read(stream, null, 100)).at(-1);
    if (recorded === undefined) throw new Error("what was appended is there");
    return recorded;
  };
  await add("endpoint-end_1", endpointRegistered());
  const [onFailed] = endpointReactions(streams, clock, () => undefined);
  /** The receiver answers so at that second, after an attempt of three. */
  const answered = async (second: number, status_code: number): Promise<void> => {
    const { type, data } = deliveryFacts().attemptFailed(1, second, null);
    const fact = { type, data: { ...data, status_code, duration_ms: 3_000 } };
    await onFailed?.run(await add("delivery-evt_1", fact));
  };
  const disabled = async () => {
    const { state } = await streams.load(endpoint, "endpoint-end_1", 0);
    return state.phase === "present" && state.disabled !== null;
  };
  return { add, answered, disabled };
};

test("410 disables its endpoint, any other answer does not", async () => {
  const it = await world();
  await it.answered(5, 404);
  assert.is(await it.disabled(), false);
  await it.answered(6, 410);
  assert.is(await it.disabled(), true);
});

test("a late 410 from a former target disables nothing", async () => {
  const it = await world();
  const data = { endpoint_id: "end_1", changes: { url: "https://b.example/" }, at: at(10) };
  await it.add("endpoint-end_1", { type: "EndpointChanged", data });
  await it.answered(12, 410);
  assert.is(await it.disabled(), false);
  await it.answered(13, 410);
  assert.is(await it.disabled(), true);
});

test.run();
