import { suite } from "uvu";
import * as assert from "uvu/assert";
import { delivery } from "../../../../domain/delivery/decider.ts";
import type { RecordedEvent } from "../../../../domain/ports/event-log.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { outcomes } from "../../../../src/execute/outcome-waits.ts";
import { type Call, isProblem } from "../../../../src/http/route.ts";
import { executeRoutes } from "../../../../src/routes/agents/execute.ts";
import { foldStream } from "../../../../src/streams/run-command.ts";
import { appendTo, approvalFacts, deliveryFacts, type History, history } from "../../../support/history.ts";

const test = suite("execute, again, of what was held");
const fail = (error: unknown): never => {
  throw error;
};

const facts = deliveryFacts();
const people = approvalFacts();

/** The call of an agent whose request is recorded so far; `later` is written while it waits. */
const asked = async (
  recorded: (it: History) => void,
  waitMs: number,
  later: (it: History) => void = () => undefined,
) => {
  const log = memoryEventLog();
  const it = history();
  recorded(it);
  await appendTo(log, it.events);
  const known = await foldStream(log, delivery, "delivery-evt_1");
  const [route] = executeRoutes({
    log,
    execute: async () => ({ eventId: "evt_1", known, replayed: true, position: known.position }),
    outcomes: outcomes({ log, decider: delivery, category: "delivery", onError: fail }),
  });
  const call = {
    principal: { kind: "agent", account: "acc_1", id: "agt_1" },
    body: { action: "refund.create", payload: {}, wait_ms: waitMs },
    headers: {},
    envelope: { trace: {} },
    key: "key",
    userAgent: "test",
    closing: new AbortController().signal,
  };
  // What the route reads of a call.
  const answering = route?.handle(call as unknown as Call) ?? fail(new Error("no route"));
  const before: readonly RecordedEvent[] = [...it.events];
  later(it);
  await appendTo(log, it.events.slice(before.length));
  const answer = await answering;
  if (isProblem(answer)) throw new Error(answer.problem);
  const last = await log.last("delivery-evt_1");
  assert.is(answer.position, last?.position, "a read at the answer's position shows what it says");
  // An execution, as `answer.ts` writes it.
  return [answer.status, (answer.body as { status: string }).status];
};

const held = (it: History): void => {
  it.add("delivery-evt_1", facts.held());
  it.add("approval-apr_1", people.requested());
};
const granted = (it: History): void => {
  held(it);
  it.add("approval-apr_1", people.voted("mem_1", "approve", 1));
  it.add("approval-apr_1", people.granted(1));
};

test("undecided it is held at once, however long the agent would wait, and also before people were asked", async () => {
  assert.equal(await asked(held, 30_000), [202, "held"]);
  assert.equal(await asked((it) => it.add("delivery-evt_1", facts.held()), 30_000), [202, "held"]);
});

test("approved and not yet released it is waited for to its end", async () => {
  const done = await asked(granted, 30_000, (it) => {
    it.add("delivery-evt_1", facts.released(2));
    it.add("delivery-evt_1", facts.started(1, 3));
    it.add("delivery-evt_1", facts.succeeded(1, 4));
    it.add("delivery-evt_1", facts.delivered(4));
  });
  assert.equal(done, [200, "delivered"]);
});

test("rejected, expired or cancelled it is waited for until its own record says so", async () => {
  for (const [fact, outcome] of [
    [people.rejected(1), "rejected"],
    [people.expired(1), "expired"],
    [people.cancelled(1), "cancelled"],
  ] as const) {
    const ended = (it: History): void => {
      held(it);
      it.add("approval-apr_1", fact);
    };
    const end = (it: History): void => void it.add("delivery-evt_1", facts.holdEnded(2, outcome));
    assert.equal(await asked(ended, 30_000, end), [409, outcome]);
  }
});

test("an approval that is not carried out in the time that the agent waits is still held", async () => {
  assert.equal(await asked(granted, 0), [202, "held"]);
  assert.equal(await asked(granted, 120), [202, "held"]);
});

test.run();
