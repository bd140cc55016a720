import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { DeliveryCommand } from "../../../domain/delivery/commands.ts";
import { delivery } from "../../../domain/delivery/decider.ts";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { approvalIdOf } from "../../../src/approvals/approvals.ts";
import { expirePayload } from "../../../src/erasure/erasures.ts";
import { executionAnswer } from "../../../src/execute/answer.ts";
import { costReactions } from "../../../src/execute/reactions.ts";
import { placeStatus } from "../../../src/ledgers/place-status.ts";
import { dayLedger } from "../../../src/ledgers/policy-days.ts";
import type { Replayed } from "../../../src/replays/event-replayer.ts";
import { NO_TRACE } from "../../../src/streams/envelope.ts";
import { damagedLog } from "../../support/damaged-log.ts";
import { NOON_DAY } from "../../support/noon-clock.ts";
import { pausedLog } from "../../support/paused-log.ts";
import { words } from "../../support/personal-words.ts";
import {
  ACCOUNT,
  AGENT_ID,
  BY,
  ENDPOINT_ID,
  eventIdOf,
  POLICY_ID,
  type ReplayWorld,
  replayIdOf,
  replayNode,
  replayWorld,
  SOURCE_ID,
} from "../../support/replay-world.ts";

const test = suite("replay of one event");

const outcomeOf = (done: Replayed): string => (done.outcome === "replayed" ? done.outcome : done.problem.problem);
/** Of the day of the world's clock. */
const LEDGER = dayLedger(POLICY_ID, NOON_DAY);
const now = ({ clock }: ReplayWorld): string => new Date(clock.now()).toISOString();
const last = (records: readonly RecordedEvent[]): RecordedEvent => {
  const it = records.at(-1);
  if (it === undefined) throw new Error("nothing is recorded");
  return it;
};

type Node = Awaited<ReturnType<typeof replayNode>>;

/** What a node does where it comes by a record of what something has cost. */
const settling = ({ ledgers }: Node) => {
  const reactions = costReactions({ ledgers, timeZoneOf: async () => "UTC" });
  return async (determined: RecordedEvent): Promise<void> => {
    await reactions.find(({ on }) => on === "CostDetermined")?.run(determined);
  };
};

const withNode = async (world: ReplayWorld, work: (node: Node) => Promise<void>): Promise<void> => {
  const node = await replayNode(world);
  try {
    await work(node);
  } finally {
    await node.stop();
  }
};

test("a failed event is sent again at once, and the record names the person and the reason", async () => {
  const world = await replayWorld();
  const id = await world.failed(1);
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(id, 1)), "replayed");
    const { type, data, meta } = last(await world.recordsOf(id));
    assert.equal(
      [type, data.replay_id, data.by, data.reason],
      ["EventReplayed", replayIdOf(1), { kind: "member", id: "mem_1" }, words("mended")],
    );
    assert.equal(meta.actor, { kind: "member", id: "mem_1" });
    assert.equal(
      node.offered.map(({ eventId, endpointId, kind }) => [eventId, endpointId, kind]),
      [[id, ENDPOINT_ID, "replay"]],
    );
    // Asked for again it is the same, and another one finds it on its way.
    assert.is(outcomeOf(await node.replay(id, 1)), "replayed");
    assert.is(outcomeOf(await node.replay(id, 2)), "in-progress");
    assert.is((await world.ofType("EventReplayed")).length, 1);
  });
});

test("many replays of one event at once are one", async () => {
  const world = await replayWorld();
  const id = await world.failed(1);
  await withNode(world, async (node) => {
    const done = await Promise.all(Array.from({ length: 10 }, (_, n) => node.replay(id, n)));
    assert.equal(done.map(outcomeOf).sort(), [...Array(9).fill("in-progress"), "replayed"]);
    assert.is((await world.ofType("EventReplayed")).length, 1);
  });
});

test("a replay of an event that is delivered, in progress, unknown, of another account or without an endpoint is refused with a reason", async () => {
  const world = await replayWorld();
  const [waiting, erased, failed] = [await world.admitted(1), await world.failed(2), await world.failed(3)];
  await world.append(erased, [
    { type: "PayloadErased", data: { event_id: erased, reason: "asked", up_to: 0, at: "2026-03-02T12:00:00.000Z" } },
  ]);
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(waiting, 1)), "in-progress");
    assert.is(outcomeOf(await node.replay(erased, 1)), "conflict");
    assert.is(outcomeOf(await node.replay(eventIdOf(77), 1)), "not-found");
    const about = { endpoint_id: ENDPOINT_ID, at: now(world) };
    await world.add(`endpoint-${ENDPOINT_ID}`, "EndpointDisabled", { ...about, reason: "It answered 410." });
  });
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(failed, 1)), "endpoint-disabled");
    await world.add(`endpoint-${ENDPOINT_ID}`, "EndpointDeleted", {
      endpoint_id: ENDPOINT_ID,
      at: now(world),
    });
  });
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(failed, 1)), "conflict");
    assert.equal(await world.ofType("EventReplayed"), []);
    assert.equal(node.offered, []);
  });
});

test("a blocked event is decided by the current gates on its stored payload", async () => {
  const world = await replayWorld({ require_fields: ["missing"] });
  const id = await world.blocked(1);
  await withNode(world, async (node) => {
    const still = await node.replay(id, 1);
    assert.equal([still.outcome, outcomeOf(still)], ["blocked", "gate-require-fields"]);
    const blocked = last(await world.recordsOf(id));
    assert.equal([blocked.type, blocked.meta.actor.id], ["EventBlocked", "mem_1"]);
    // The same replay asks nobody a second time.
    assert.is(outcomeOf(await node.replay(id, 1)), "gate-require-fields");
    assert.is((await world.recordsOf(id)).length, 2);
    // Nor when another one has asked them meanwhile.
    assert.is(outcomeOf(await node.replay(id, 3)), "gate-require-fields");
    assert.is(outcomeOf(await node.replay(id, 1)), "gate-require-fields");
    assert.is((await world.recordsOf(id)).length, 3);
  });
  await world.publish({ require_fields: ["order"] }, 2);
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(id, 2)), "replayed");
    const admitted = last(await world.recordsOf(id));
    assert.is(admitted.type, "EventAdmitted");
    assert.equal(admitted.data.replay, {
      id: replayIdOf(2),
      by: { kind: "member", id: "mem_1" },
      reason: words("mended"),
    });
    assert.equal(admitted.data.verdict, {
      decision: "allow",
      policy: { id: POLICY_ID, version: 2 },
      gates: [
        {
          gate: "require_fields",
          outcome: "allow",
          code: "ok",
          detail: (admitted.data.verdict as never as { gates: { detail: string }[] }).gates[0]?.detail,
        },
      ],
    });
    assert.equal(
      node.offered.map(({ kind }) => kind),
      ["replay"],
    );
    const state = await world.deliveryOf(id);
    assert.is(state.phase, "waiting");
  });
});

test("a replay continues the event's trace: its decision is a new span under the same caller", async () => {
  const world = await replayWorld({ require_fields: ["missing"] });
  const [blocked, failed] = [await world.blocked(1), await world.failed(2)];
  const first = last(await world.recordsOf(blocked)).meta;
  await withNode(world, async (node) => {
    for (const [id, number] of [
      [blocked, 1],
      [blocked, 2],
      [failed, 3],
    ] as const) {
      await node.replay(id, number);
    }
    const [, second, third] = (await world.recordsOf(blocked)).map(({ meta }) => meta);
    for (const again of [second, third]) {
      assert.equal([again?.trace_id, again?.parent_span_id], [first.trace_id, first.parent_span_id]);
    }
    assert.is(new Set([first.span_id, second?.span_id, third?.span_id]).size, 3);
    const records = await world.recordsOf(failed);
    const replayed = records.find(({ type }) => type === "EventReplayed")?.meta;
    assert.is(replayed?.trace_id, records[0]?.meta.trace_id, "of many nobody's request is meant");
    assert.is(node.offered.at(-1)?.trace?.trace_id, first.trace_id);
  });
});

test("one replay at two nodes at once has a blocked event decided once", async () => {
  const world = await replayWorld({ require_fields: ["missing"] });
  const id = await world.blocked(1);
  const both = [await replayNode(world), await replayNode(world)];
  const done = await Promise.all(both.map((node) => node.replay(id, 1)));
  assert.equal(done.map(outcomeOf), ["gate-require-fields", "gate-require-fields"]);
  assert.equal(await world.typesOf(id), ["EventBlocked", "EventBlocked"]);
  for (const node of both) await node.stop();
});

test("the reported duration is that of the new decision, although the event was received months before", async () => {
  const world = await replayWorld();
  const id = await world.blocked(1);
  await withNode(world, async (node) => {
    const from = world.clock.now();
    assert.is(outcomeOf(await node.replay(id, 1)), "replayed");
    const [decision, ...others] = node.told;
    assert.equal([decision?.id, decision?.outcome, others], [id, "admitted", []]);
    assert.ok((decision?.ms ?? Infinity) <= world.clock.now() - from);
  });
});

test("a replay of a blocked event is refused if its source is paused or deleted, or its payload was erased", async () => {
  const world = await replayWorld();
  const [first, second] = [await world.blocked(1), await world.blocked(2)];
  const about = { source_id: SOURCE_ID, at: now(world) };
  await world.log.erase(`payload-${second}`);
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(second, 1)), "conflict");
  });
  await world.add(`source-${SOURCE_ID}`, "SourceChanged", { ...about, changes: { status: "paused" } });
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(first, 1)), "source-paused");
  });
  await world.add(`source-${SOURCE_ID}`, "SourceDeleted", about);
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(first, 1)), "conflict");
    assert.is((await world.recordsOf(first)).length, 1);
  });
});

test("a damaged payload is not replayed; once it is restored, the replay sends the bytes that were checked", async () => {
  const world = await replayWorld();
  const failed = await world.failed(1);
  const blocked = await world.blocked(2);
  const both = [failed, blocked];
  const damaged = new Set(both.map((id) => `payload-${id}`));
  const node = await replayNode(world, { log: damagedLog(world.log, damaged) });
  for (const id of both) {
    const before = await world.typesOf(id);
    assert.is(outcomeOf(await node.replay(id, 1)), "payload-damaged");
    assert.equal(await world.typesOf(id), before);
  }
  damaged.clear();
  for (const id of both) assert.is(outcomeOf(await node.replay(id, 1)), "replayed");
  await node.stop();
  const [job] = node.offered;
  assert.equal([job?.eventId, String(job?.body)], [failed, '{"order":1}'], "it is not read and hashed once more");
});

test("a payload that is erased during its event's replay stays erased and is not stored again", async () => {
  for (const isRecordedFirst of [true, false]) {
    const world = await replayWorld({ budget_eur_day: 3, cost: { fixed_eur: 2 } });
    const id = await world.blocked(1);
    const at = now(world);
    const envelope = { commandId: "erase", account: ACCOUNT, actor: BY, trace: NO_TRACE, at } as const;
    const expire = () => expirePayload(world.log, id, { reason: "asked for", endedUpTo: at }, envelope);
    let isErased = false;
    const slow = {
      ...world.log,
      async append(...[name, expected, events]: Parameters<typeof world.log.append>) {
        if (name === `delivery-${id}` && !isErased) isErased = await expire();
        return world.log.append(name, expected, events);
      },
    };
    // What is recorded and not done yet can be read still.
    if (isRecordedFirst) {
      await world.append(id, [{ type: "PayloadErased", data: { event_id: id, reason: "asked", up_to: 0, at } }]);
      isErased = true;
    }
    const node = await replayNode(world, { log: slow });
    assert.is(outcomeOf(await node.replay(id, 1)), "conflict");
    assert.ok(isErased);
    assert.equal(await world.typesOf(id), ["EventBlocked", "PayloadErased"]);
    const { reserved, open } = await node.ledgers.figures(LEDGER, ACCOUNT);
    assert.equal([reserved, open], [0, 0], "its places are given back");
    const left = await world.log.read(`payload-${id}`, null, 10);
    assert.is(left.length, isRecordedFirst ? 1 : 0);
    await node.stop();
  }
});

test("a replay is decided on the payload that the log has", async () => {
  const world = await replayWorld({ require_fields: ["missing"] });
  const id = await world.blocked(1);
  await withNode(world, async (node) => {
    await node.replay(id, 1);
    const [before, after] = await world.recordsOf(id);
    assert.equal(after?.data.payload, before?.data.payload);
    assert.is((await world.log.read(`payload-${id}`, null, 10)).length, 1);
  });
});

test("a held replay waits for another approval, by a person other than the replayer if the policy requires it", async () => {
  const world = await replayWorld({ approval: { expires_after_s: 60, exclude_requester: true } });
  const id = await world.blocked(1);
  await withNode(world, async (node) => {
    const done = await node.replay(id, 1);
    assert.is(done.outcome === "replayed" && done.state.phase, "held");
    const held = last(await world.recordsOf(id));
    const approval = held.data.approval as Record<string, unknown>;
    assert.equal([held.type, approval.member, approval.exclude_requester], ["EventHeld", "mem_1", true]);
    assert.is(approval.approval_id, approvalIdOf(ACCOUNT, id, replayIdOf(1)));
    assert.is.not(approval.approval_id, approvalIdOf(ACCOUNT, id));
    assert.equal(node.offered, []);
    assert.is(outcomeOf(await node.replay(id, 2)), "in-progress");
  });
});

test("an agent's request that never reached its target takes its places again, or is refused by the gates", async () => {
  const world = await replayWorld({ budget_eur_day: 3 });
  const [first, second] = [await world.askedFor(1, false), await world.askedFor(2, false)];
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(first, 1)), "replayed");
    const { data } = last(await world.recordsOf(first));
    assert.equal([data.cost, data.ledgers, data.counted], [2_000_000, [LEDGER], undefined]);
    assert.is((await node.ledgers.figures(LEDGER, ACCOUNT)).reserved, 2_000_000);
    // The other 2 euros are too much for the day.
    assert.is(outcomeOf(await node.replay(second, 2)), "gate-budget");
    assert.is((await node.ledgers.figures(LEDGER, ACCOUNT)).reserved, 2_000_000);
    assert.not((await world.typesOf(second)).includes("EventReplayed"));
  });
});

test("an agent's request that was counted is replayed without being counted again", async () => {
  const world = await replayWorld({ budget_eur_day: 1 });
  const id = await world.askedFor(1, true);
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(id, 1)), "replayed");
    const { data } = last(await world.recordsOf(id));
    assert.equal([data.cost, data.ledgers, data.counted], [0, [], 2_000_000]);
  });
});

test("an agent's request that is cancelled in a replay costs the amount counted before and the amount added since", async () => {
  const world = await replayWorld({ budget_eur_day: 1 });
  const id = await world.askedFor(1, true);
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(id, 1)), "replayed");
    const at = now(world);
    const about = { trigger: "replay", node: "node_1", at, leaseUntil: at, othersAreGone: false } as const;
    const ids = { event_id: id, endpoint_id: ENDPOINT_ID, number: 2, at, duration_ms: 1, status_code: 500 };
    const end = { ...ids, timings_ms: { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 } };
    const failure = { kind: "http-5xx", detail: "The receiver answered 500" } as const;
    const attempted: readonly DeliveryCommand[] = [
      { type: "StartAttempt", endpointId: ENDPOINT_ID, ...about },
      { type: "Fail", end: { ...end, cost_reported: 5_000_000 }, failure, retryable: true, nextAttemptAt: at },
    ];
    const cancel: DeliveryCommand = { type: "Cancel", reason: "The agent was suspended", at };
    for (const [commands, eur] of [
      [[cancel], 2],
      [[...attempted, cancel], 5],
    ] as const) {
      const ended = commands.reduce(
        (state, command) => {
          const decision = delivery.decide(command, state);
          if (!decision.ok) throw new Error(decision.rejection);
          return decision.events.reduce(delivery.evolve, state);
        },
        await world.deliveryOf(id),
      );
      const { body } = await executionAnswer({ log: world.log, account: ACCOUNT }, id, ended);
      assert.equal([body.status, body.cost_eur], ["cancelled", eur]);
    }
  });
});

test("a replay's reported cost above the counted cost is taken from the day's budget, once", async () => {
  const world = await replayWorld({ budget_eur_day: 1 });
  const id = await world.askedFor(1, true);
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(id, 1)), "replayed");
    await world.attempt(id, { kind: "http-5xx", detail: "The receiver answered 500" }, 5_000_000);
    const determined = last(await world.recordsOf(id));
    assert.equal(
      [determined.type, determined.data.cost, determined.data.counted],
      ["CostDetermined", 3_000_000, 2_000_000],
    );
    const settle = settling(node);
    for (let times = 0; times < 2; times += 1) await settle(determined);
    // Another node, that comes by much later.
    world.clock.advance(25 * 60 * 60 * 1_000);
    await settle(determined);
    const { settled, open } = await node.ledgers.figures(LEDGER, ACCOUNT);
    assert.equal([settled, open], [3_000_000, 0]);
  });
});

test("places that a replay has taken again are not given back by the end before it, whenever a node comes by there", async () => {
  const limits = { budget: 3_000_000 };
  const world = await replayWorld({ budget_eur_day: 3 });
  const id = await world.askedFor(1, false, LEDGER);
  const unreached = last(await world.recordsOf(id));
  assert.equal([unreached.type, unreached.data.cost], ["CostDetermined", null]);
  const open = async (node: Node) => {
    const { reserved, settled, open } = await node.ledgers.figures(LEDGER, ACCOUNT);
    return [reserved, settled, open];
  };
  await withNode(world, async (node) => {
    const settle = settling(node);
    await node.ledgers.reserve({ stream: LEDGER, account: ACCOUNT, event: id, limits, trace: NO_TRACE });
    // Before anybody has come by the end of the first time.
    assert.is(outcomeOf(await node.replay(id, 1)), "replayed");
    await settle(unreached);
    assert.equal(await open(node), [2_000_000, 0, 1]);
    await withNode(world, async (other) => settling(other)(unreached));
    assert.equal(await open(node), [2_000_000, 0, 1]);
    await world.attempt(id, { kind: "http-5xx", detail: "The receiver answered 500" });
    await settle(last(await world.recordsOf(id)));
    assert.equal(await open(node), [0, 2_000_000, 0]);
  });
});

test("a replay keeps its place while a slower node still releases the reservation of the earlier end", async () => {
  const world = await replayWorld({ budget_eur_day: 2 });
  const slowToRelease = pausedLog(world.log, "Released");
  const slowToReplay = pausedLog(world.log, "EventReplayed");
  const slow = await replayNode(world, { log: slowToRelease.log });
  const quick = await replayNode(world, { log: slowToReplay.log });
  const id = await world.askedFor(1, false, LEDGER);
  const policy = { account: ACCOUNT, id: POLICY_ID, timeZone: "UTC" };
  await quick.ledgers.reserveDay({
    policy,
    event: id,
    cost: 2_000_000,
    limits: { budget: 2_000_000 },
    trace: NO_TRACE,
  });
  const unreached = last(await world.recordsOf(id));

  const settled = settling(slow)(unreached);
  await slowToRelease.reached;
  await settling(quick)(unreached);
  const replayed = quick.replay(id, 1);
  await slowToReplay.reached;
  slowToRelease.goOn();
  await settled;
  slowToReplay.goOn();
  assert.is(outcomeOf(await replayed), "replayed");
  assert.is((await quick.ledgers.figures(LEDGER, ACCOUNT)).reserved, 2_000_000);
  for (const node of [slow, quick]) await node.stop();
});

test("the cost of the first delivery stays spent if the event is replayed before the ledger is settled", async () => {
  for (const isCancelled of [false, true]) {
    const world = await replayWorld({ budget_eur_day: 2 });
    const id = await world.askedFor(1, true, LEDGER);
    await withNode(world, async (node) => {
      const policy = { account: ACCOUNT, id: POLICY_ID, timeZone: "UTC" };
      await node.ledgers.reserveDay({
        policy,
        event: id,
        cost: 2_000_000,
        limits: { budget: 2_000_000 },
        trace: NO_TRACE,
      });
      const determined = last(await world.recordsOf(id));
      assert.is(determined.data.cost, 2_000_000);
      assert.is(outcomeOf(await node.replay(id, 1)), "replayed");
      if (isCancelled) {
        const cancelled = delivery.decide(
          { type: "Cancel", reason: "stopped", at: now(world) },
          await world.deliveryOf(id),
        );
        if (!cancelled.ok) throw new Error(cancelled.rejection);
        await world.append(id, cancelled.events);
      }
      world.clock.advance(31_000);
      await node.ledgers.sweep();
      await settling(node)(determined);
      const { reserved, settled } = await node.ledgers.figures(LEDGER, ACCOUNT);
      assert.equal([reserved, settled], [0, 2_000_000]);
    });
  }
});

test("requests from before a suspension are not replayed, and a request that now needs approval has to be made again", async () => {
  const world = await replayWorld();
  const id = await world.askedFor(1, false);
  await world.publish({ approval: { expires_after_s: 60 } }, 2);
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(id, 1)), "conflict");
  });
  const at = now(world);
  await world.add(`agent-${AGENT_ID}`, "AgentSuspended", { agent_id: AGENT_ID, reason: words("stop"), at });
  await world.add(`agent-${AGENT_ID}`, "AgentResumed", { agent_id: AGENT_ID, at });
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(id, 2)), "conflict");
  });
});

test("a replayer that died between its reservation and its record is fenced before the places are released", async () => {
  const world = await replayWorld({ budget_eur_day: 3 });
  const id = await world.askedFor(1, false);
  assert.is(await placeStatus(world.log, world.clock, randomness)(ACCOUNT, id, LEDGER), "free");
  assert.is(last(await world.recordsOf(id)).type, "AdmissionAbandoned");
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(id, 1)), "replayed");
    assert.is(await placeStatus(world.log, world.clock, randomness)(ACCOUNT, id, LEDGER), "kept");
  });
});

test("places that a fence has freed meanwhile are not relied on: they are taken anew", async () => {
  const world = await replayWorld({ budget_eur_day: 3 });
  const id = await world.askedFor(1, false);
  const stream = `delivery-${id}`;
  let isFenced = false;
  const slow = {
    ...world.log,
    async append(...[name, expected, events]: Parameters<typeof world.log.append>) {
      if (name === stream && !isFenced) {
        isFenced = true;
        await placeStatus(world.log, world.clock, randomness)(ACCOUNT, id, LEDGER);
      }
      return world.log.append(name, expected, events);
    },
  };
  const node = await replayNode(world, { log: slow });
  assert.is(outcomeOf(await node.replay(id, 1)), "replayed");
  assert.equal((await world.typesOf(id)).slice(-2), ["AdmissionAbandoned", "EventReplayed"]);
  assert.is((await node.ledgers.figures(LEDGER, ACCOUNT)).reserved, 2_000_000);
  await node.stop();
});

test("a slow replayer whose places were released does not release the places of the next replayer", async () => {
  const world = await replayWorld({ budget_eur_day: 3 });
  const id = await world.askedFor(1, false);
  const quick = await replayNode(world);
  let isOvertaken = false;
  const slow = {
    ...world.log,
    async append(...[name, expected, events]: Parameters<typeof world.log.append>) {
      if (name === `delivery-${id}` && !isOvertaken) {
        isOvertaken = true;
        await quick.ledgers.resolve(LEDGER, ACCOUNT, id);
        assert.is((await quick.ledgers.figures(LEDGER, ACCOUNT)).open, 0);
        assert.is(outcomeOf(await quick.replay(id, 2)), "replayed");
      }
      return world.log.append(name, expected, events);
    },
  };
  const node = await replayNode(world, { log: slow });
  assert.is(outcomeOf(await node.replay(id, 1)), "in-progress");
  assert.is((await node.ledgers.figures(LEDGER, ACCOUNT)).reserved, 2_000_000);
  for (const it of [quick, node]) await it.stop();
});

test("one of many replayed at once waits as all that is queued: it is no probe", async () => {
  const world = await replayWorld({ require_fields: ["missing"] });
  const [failed, blocked] = [await world.failed(1), await world.blocked(2)];
  await world.publish({}, 2);
  const upTo = (await world.log.head()) ?? "";
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(failed, 1, { upTo })), "replayed");
    assert.is(outcomeOf(await node.replay(blocked, 1, { upTo })), "replayed");
    assert.equal(
      node.offered.map(({ eventId, kind }) => [eventId, kind]),
      [
        [failed, "due"],
        [blocked, "due"],
      ],
    );
  });
});

test("an event that failed after a replay's snapshot is not replayed", async () => {
  const world = await replayWorld();
  const id = await world.failed(1);
  const upTo = (await world.log.head()) ?? "";
  await withNode(world, async (node) => {
    assert.is(outcomeOf(await node.replay(id, 1, { upTo })), "replayed");
    await world.attempt(id, { kind: "timeout", detail: "late" });
    assert.is(outcomeOf(await node.replay(id, 1, { upTo })), "replayed");
    assert.is(outcomeOf(await node.replay(id, 2, { upTo })), "conflict");
    assert.is((await world.ofType("EventReplayed")).length, 1);
    assert.is(outcomeOf(await node.replay(id, 2)), "replayed");
  });
});

test.run();
