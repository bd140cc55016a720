import { suite } from "uvu";
import * as assert from "uvu/assert";
import { action } from "../../../domain/action/decider.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { slotReactions } from "../../../src/ledgers/slots.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import type { Envelope } from "../../../src/streams/envelope.ts";
import { pausedLog } from "../../support/paused-log.ts";
import { planSlots, slotsTaken } from "../../support/plan-slots.ts";

const test = suite("slots");

const ACCOUNT = "acc_1";
const ID = "act_1";
const AT = "2026-05-05T12:00:00.000Z";
const clock = { now: () => Date.parse(AT) };
const definition = { endpoint_id: "end_1", reversibility: "reversible" } as const;
const about = { actionId: ID, account: ACCOUNT, name: "refund", definition, by: "key_1", at: AT };
const define = { type: "DefineAction", ...about } as const;

let commands = 0;
const envelope = (): Envelope => {
  commands += 1;
  const trace = { trace_id: "1".repeat(32), span_id: "1".repeat(16) };
  return { commandId: `cmd_${commands}`, account: ACCOUNT, actor: { kind: "key", id: "key_1" }, trace, at: AT };
};

const world = (log = memoryEventLog()) => {
  const streams = aggregates(log, clock);
  const slots = planSlots(log, clock, streams);
  return {
    log,
    slots,
    define: async () =>
      (await slots.register({ kind: "actions", id: ID, decider: action, command: define, envelope: envelope() }))
        .outcome,
    /** As a node does it that dies before it gives the slot back. */
    remove: () => streams.handle(action, `action-${ID}`, { type: "DeleteAction", at: AT }, envelope()),
    taken: () => slotsTaken(log, clock, ACCOUNT, "actions"),
  };
};

test("the reactor gives the slot of a deleted thing back once, however often it reacts", async () => {
  const { log, slots, define, remove } = world();
  assert.is(await define(), "accepted");
  await remove();
  const released = async () => (await log.readAll(null, 100)).filter(({ type }) => type === "Released").length;
  for (let times = 0; times < 2; times += 1) {
    for (const event of await log.readAll(null, 100))
      for (const reaction of slotReactions(slots)) if (reaction.on === event.type) await reaction.run(event);
    assert.is(await released(), 1);
  }
});

test("an action that is defined again while the slot of the deleted one is given back has a slot of its own", async () => {
  const log = memoryEventLog();
  const here = world(log);
  assert.is(await here.define(), "accepted");
  await here.remove();
  const paused = pausedLog(log, "ActionDefined");
  const late = world(paused.log).define();
  await paused.reached;
  await here.slots.free("actions", ACCOUNT, ID);
  paused.goOn();
  assert.is(await late, "accepted");
  assert.is(await here.taken(), 1);
  assert.ok((await log.readAll(null, 100)).some(({ type }) => type === "SlotFreed"));
});

test.run();
