import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { suspensionReason } from "../../../src/accounts/agent-suspension.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { appendTo, at, type Fact, history, START } from "../../support/history.ts";
import { words } from "../../support/personal-words.ts";

const test = suite("requests from before a suspension");

const origin = { kind: "agent", id: "agt_1", name: "refunds", type: "agent" } as const;
const about = (type: string, second: number, data: Fact["data"] = {}): Fact => ({
  type,
  data: { agent_id: "agt_1", ...data, at: at(second) },
});
const settings = { account: "acc_1", name: "refunds", policy_id: null, scope: { actions: ["*"] } };
const REGISTERED = about("AgentRegistered", 0, { ...settings, key_id: "agk_1", digest: "00", last4: "wxyz" });
const SUSPENDED = about("AgentSuspended", 10, { reason: words("it asked for too much") });

/** Of what was asked for at this second. */
const stopped = async (facts: readonly Fact[], second: number, bundle?: { readonly undo: boolean }) => {
  const [log, past] = [memoryEventLog(), history()];
  for (const fact of facts) past.add("agent-agt_1", fact);
  await appendTo(log, past.events);
  const asked = {
    origin,
    at: at(second),
    ...(bundle === undefined ? {} : { bundle: { id: "bun_1", index: 0, ...bundle } }),
  };
  const reason = await suspensionReason(aggregates(log, { now: () => START }), asked);
  await log.close();
  return reason;
};

const BECAUSE = { sentence: "The agent was suspended", words: words("it asked for too much") };
const ALL = [REGISTERED, SUSPENDED, about("AgentResumed", 20)];

test("requests from before a suspension stay unsent after it was lifted", async () => {
  assert.is(await stopped([REGISTERED], 5), null);
  assert.equal(await stopped([REGISTERED, SUSPENDED], 5), BECAUSE);
  assert.equal(await stopped(ALL, 5), BECAUSE);
  assert.is(await stopped(ALL, 25), null);
  assert.is(await stopped([REGISTERED, about("AgentDeleted", 10)], 5), "The agent was deleted");
});

test("a suspension stops a bundle's steps but not their undos", async () => {
  for (const facts of [[REGISTERED, SUSPENDED], ALL, [REGISTERED, about("AgentDeleted", 10)]]) {
    assert.ok(await stopped(facts, 5, { undo: false }));
    assert.is(await stopped(facts, 5, { undo: true }), null);
  }
});

test.run();
