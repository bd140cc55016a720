import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { PayloadName } from "../../../domain/delivery/damage.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { erasureReactions, expirePayload } from "../../../src/erasure/erasures.ts";
import { type Envelope, NO_TRACE } from "../../../src/streams/envelope.ts";
import { payloadStream, payloads } from "../../../src/streams/payloads.ts";
import { ACCOUNT, admissionNode } from "../../support/admission-world.ts";
import { testClock } from "../../support/http-app.ts";

const test = suite("an erasure while its event comes again");

/** The log calls `at` before its n-th call. */
const stepped = (log: EventLog, at: (call: number) => Promise<void>): EventLog => {
  let calls = 0;
  const before = async (): Promise<void> => {
    calls += 1;
    await at(calls);
  };
  return {
    ...log,
    append: async (...of) => before().then(() => log.append(...of)),
    read: async (...of) => before().then(() => log.read(...of)),
    last: async (...of) => before().then(() => log.last(...of)),
  };
};

const erasingAt = (at: string): Envelope => ({
  commandId: "erase",
  account: ACCOUNT,
  actor: { kind: "system", id: "t" },
  trace: NO_TRACE,
  at,
});

/** What the policy of that world asks for. */
const FINE = { never: false, large: false };

/** A log in which the event `d` was refused by the rate, which takes it a minute later. */
const refusedOnce = async () => {
  const log = memoryEventLog();
  const clock = testClock(Date.parse("2026-05-05T12:00:00Z"));
  const node = admissionNode(log, clock);
  for (const id of ["a", "b", "c"]) assert.is((await node.send(id, FINE)).outcome, 202);
  assert.is((await node.send("d", FINE)).outcome, "gate-rate");
  await node.rest();
  return { log, clock };
};

type Story = { readonly erasesAt: number; readonly done: "at once" | "behind the answer" | "by another start" };

/** A blocked event comes again, and is erased before one of the calls that this makes; how many calls it made. */
const told = async ({ erasesAt, done }: Story): Promise<number> => {
  const { log, clock } = await refusedOnce();
  const refused = (await log.readAll(null, 100)).find(({ type }) => type === "EventBlocked");
  const id = String(refused?.data.event_id);
  const old = await log.last(payloadStream(id));
  clock.advance(61_000);

  const late: (() => Promise<void>)[] = [];
  const eraser: EventLog = {
    ...log,
    async erase(stream, upTo) {
      if (done === "at once") return log.erase(stream, upTo);
      if (done === "behind the answer") late.push(() => log.erase(stream, upTo));
    },
  };
  const at = new Date(clock.now()).toISOString();
  const envelope = erasingAt(at);
  let calls = 0;
  let wasErased = false;
  const second = admissionNode(
    stepped(log, async (call) => {
      calls = call;
      if (call === erasesAt)
        wasErased = await expirePayload(eraser, id, { reason: "asked for", endedUpTo: at }, envelope);
    }),
    clock,
  );
  const answer = await second.send("d", FINE);
  await second.rest();
  for (const erase of late) await erase();
  for (const event of await log.read(`delivery-${id}`, null, 100))
    for (const reaction of erasureReactions(log)) if (reaction.on === event.type) await reaction.run(event);

  const where = `${JSON.stringify(answer)} erased before call ${erasesAt}, ${done}`;
  assert.is(answer.outcome, 202, where);
  const records = await log.read(`delivery-${id}`, null, 100);
  const admitted = records.findIndex(({ type }) => type === "EventAdmitted");
  assert.ok(admitted > 0, where);
  const name = records[admitted]?.data.payload as PayloadName;
  // It has nowhere to go: behind its admission it has ended, and is erased as any other.
  const isErasedSince = records.slice(admitted).some(({ type }) => type === "PayloadErased");
  const read = await payloads(log, randomness).read(id, name);
  assert.equal([read === "damaged", read !== null], [false, !isErasedSince], where);
  const isThere = (await log.read(payloadStream(id), null, 10)).some((event) => event.id === old?.id);
  assert.is(isThere, !wasErased, where);
  return calls;
};

test("an admitted request keeps its payload and an erased one loses it, wherever the two meet", async () => {
  for (const done of ["at once", "behind the answer", "by another start"] as const) {
    let calls = 1;
    for (let erasesAt = 1; erasesAt <= calls; erasesAt += 1) calls = await told({ erasesAt, done });
    assert.ok(calls > 4, `${calls}`);
  }
});

/** A blocked event comes twice again. The first is admitted and erased before one of the calls that the second makes. */
const toldTwice = async (erasesAt: number): Promise<number> => {
  const { log, clock } = await refusedOnce();
  clock.advance(61_000);
  const at = new Date(clock.now()).toISOString();
  const envelope = erasingAt(at);
  let [calls, id] = [0, ""];
  const second = admissionNode(
    stepped(log, async (call) => {
      calls = call;
      if (call !== erasesAt) return;
      const other = admissionNode(log, clock);
      const { eventId } = await other.send("d", FINE);
      await other.rest();
      // The second has been admitted before this call.
      if (eventId === null) return;
      id = eventId;
      assert.ok(await expirePayload(log, id, { reason: "asked for", endedUpTo: at }, envelope));
    }),
    clock,
  );
  // Another body under the same name: it would be stored beside the one that was admitted.
  await second.send("d", { ...FINE, note: "other" });
  await second.rest();
  if (id !== "") assert.equal(await log.read(payloadStream(id), null, 10), [], `erased before call ${erasesAt}`);
  return calls;
};

test("a request that lost its claim leaves no payload after the winner's erasure", async () => {
  let calls = 1;
  for (let erasesAt = 1; erasesAt <= calls; erasesAt += 1) calls = await toldTwice(erasesAt);
  assert.ok(calls > 4, `${calls}`);
});

test.run();
