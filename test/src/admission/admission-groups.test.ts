import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import type { EventLog, GroupedAppend } from "../../../domain/ports/event-log.ts";
import { LogUnavailable, OutcomeUnknown } from "../../../infra/log-errors.ts";
import type { EventClaimResult } from "../../../src/admission/claim-event.ts";
import type { AdmissionLease } from "../../../src/delivery/admission-lease.ts";
import { enoughBytes } from "../../support/enough-bytes.ts";
import {
  ACCOUNT,
  type ClaimNode,
  type ClaimsWorld,
  claimNode,
  claimsWorld,
  POLICY_ID,
  webhookId,
} from "../../support/webhook-claims.ts";

const test = suite("admissions in groups");

const START = "2026-05-05T12:00:00.000Z";
const DAY = `ledger-${POLICY_ID}-2026-05-05`;
const BUDGET = { budget_eur_day: 10, rate_per_minute: 1_000 };

type Groups = { readonly sent: (readonly GroupedAppend[])[]; readonly log: EventLog };

const watched = (whole: EventLog, fail: () => Promise<void> = async () => undefined): Groups => {
  const sent: (readonly GroupedAppend[])[] = [];
  const log: EventLog = {
    ...whole,
    async appendGroup(appends) {
      sent.push(appends);
      const outcomes = await whole.appendGroup(appends);
      await fail();
      return outcomes;
    },
  };
  return { sent, log };
};

const worldOf = (limits: Omit<PolicyDefinition, "name"> = BUDGET): Promise<ClaimsWorld> =>
  claimsWorld(START, limits, PLANS.scale);

const PAYLOAD = { cost: 1 };

/** The first request of a day begins the ledger's day, which a group leaves to the general path. */
const begun = async (node: ClaimNode): Promise<void> => {
  assert.is((await node.send("first", PAYLOAD)).outcome, "claimed");
};

const outcomesOf = (results: readonly EventClaimResult[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
};

const typesIn = async ({ log }: ClaimsWorld, category: string): Promise<readonly string[]> =>
  (await log.readAll(null, 10_000)).filter(({ stream }) => stream.startsWith(category)).map(({ type }) => type);

const sendAll = (node: ClaimNode, keys: readonly string[], payload = PAYLOAD): Promise<EventClaimResult[]> =>
  Promise.all(keys.map((key) => node.send(key, payload)));

const keys = (count: number, name = "key"): readonly string[] =>
  Array.from({ length: count }, (_, n) => `${name}_${n}`);

test("requests that come together are appended as one group, with one record of their places", async () => {
  const world = await worldOf({ budget_eur_day: 1_000 });
  const { log, sent } = watched(world.log);
  const node = claimNode(world, { log });
  await begun(node);
  await node.ledgers.idle();
  sent.length = 0;
  const before = (await typesIn(world, DAY)).length;
  assert.equal(outcomesOf(await sendAll(node, keys(8))), { claimed: 8 });
  assert.equal(
    sent.map((appends) => appends.length),
    [1 + 8 * 2],
  );
  assert.equal((await typesIn(world, DAY)).slice(before), ["Reserved"]);
});

test("a group admits exactly as many requests as the budget has room for", async () => {
  const world = await worldOf();
  const node = claimNode(world);
  await begun(node);
  assert.equal(outcomesOf(await sendAll(node, keys(40))), { claimed: 9, denied: 31 });
  const { open, spent, settled } = await node.ledgers.figures(DAY, ACCOUNT);
  assert.equal([open, spent, settled], [0, 10, 10_000_000]);
});

test("a group that loses its ledger to another node is decided again, and stores each payload once", async () => {
  const world = await worldOf();
  const { log, sent } = watched(world.log);
  const [node, other] = [claimNode(world, { log }), claimNode(world)];
  await begun(node);
  await node.ledgers.idle();
  assert.is((await other.send("theirs", PAYLOAD)).outcome, "claimed");
  await other.ledgers.idle();
  sent.length = 0;
  assert.equal(outcomesOf(await sendAll(node, keys(5))), { claimed: 5 });
  assert.equal(
    sent.map((appends) => appends.length),
    [1 + 5 * 2, 1 + 5],
  );
  assert.equal((await typesIn(world, "payload-")).length, 7);
  assert.is((await node.ledgers.figures(DAY, ACCOUNT)).spent, 7);
});

test("two nodes that compete for the last places never admit more than the budget has", async () => {
  const world = await worldOf();
  const nodes = [claimNode(world), claimNode(world)] as const;
  await begun(nodes[0]);
  const results = await Promise.all([sendAll(nodes[0], keys(20, "a")), sendAll(nodes[1], keys(20, "b"))]);
  assert.equal(outcomesOf(results.flat()), { claimed: 9, denied: 31 });
});

test("a claim that another node has made gives its place back, and the others of the group stay admitted", async () => {
  const world = await worldOf();
  const [node, other] = [claimNode(world), claimNode(world)];
  await begun(node);
  await other.send("key_1", PAYLOAD);
  await other.ledgers.idle();
  const results = await sendAll(node, keys(3));
  assert.equal(outcomesOf(results), { claimed: 2, taken: 1 });
  assert.equal((await typesIn(world, "delivery-")).length, 4);
  const { open, spent } = await node.ledgers.figures(DAY, ACCOUNT);
  assert.equal([open, spent], [0, 4]);
});

test("a group whose reply was lost is sent again and takes effect once", async () => {
  const world = await worldOf();
  let lost = false;
  const { log } = watched(world.log, async () => {
    if (lost) return;
    lost = true;
    throw new OutcomeUnknown("the reply was lost");
  });
  const node = claimNode(world, { log });
  await begun(claimNode(world));
  await node.ledgers.turns.whenFree(DAY, ACCOUNT);
  await node.ledgers.reserveDay({
    ...{ policy: { account: ACCOUNT, id: POLICY_ID, timeZone: "UTC" }, event: "lease_1", cost: 0, limits: {} },
    trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) },
  });
  assert.equal(outcomesOf(await sendAll(node, keys(4))), { claimed: 4 });
  assert.ok(lost);
  assert.equal((await typesIn(world, "delivery-")).length, 5);
});

test("when the log is away all of a group are refused, and a later group decides on what the log has", async () => {
  const world = await worldOf();
  let isAway = false;
  const log: EventLog = {
    ...world.log,
    appendGroup: (appends) => (isAway ? Promise.reject(new LogUnavailable("away")) : world.log.appendGroup(appends)),
  };
  const node = claimNode(world, { log });
  await begun(node);
  isAway = true;
  const refused = await Promise.allSettled(keys(4).map((key) => node.send(key, PAYLOAD)));
  assert.equal(
    refused.map((it) => it.status === "rejected" && it.reason instanceof LogUnavailable),
    [true, true, true, true],
  );
  isAway = false;
  assert.equal(outcomesOf(await sendAll(node, keys(20))), { claimed: 9, denied: 11 });
});

test("while another part of the program uses the ledger a group waits for it", async () => {
  const world = await worldOf();
  const { log, sent } = watched(world.log);
  const node = claimNode(world, { log });
  await begun(node);
  await node.ledgers.turns.whenFree(DAY, ACCOUNT);
  const turn = node.ledgers.turns.take(DAY, ACCOUNT);
  sent.length = 0;
  const asked = sendAll(node, keys(3));
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.is(sent.length, 0);
  turn?.end("cancelled");
  assert.equal(outcomesOf(await asked), { claimed: 3 });
  assert.is(sent.length, 1);
});

test("a lease is in the append of its admission, begins after it, and ends if the claim is lost", async () => {
  const world = await worldOf();
  const told: string[] = [];
  const leaseOf = (eventId: string): AdmissionLease => ({
    records: [],
    state: { phase: "absent" },
    begin: ({ revision }) => void told.push(`${eventId} begins after ${revision}`),
    cancel: () => void told.push(`${eventId} is cancelled`),
  });
  const deliver = {
    lease: ({ eventId }: { eventId: string }) => leaseOf(eventId),
    offer: () => void told.push("offered"),
  };
  const node = claimNode(world, { deliver, endpointId: "end_1" });
  await begun(claimNode(world));
  await claimNode(world).send("key_0", PAYLOAD);
  await node.send("opens the day", PAYLOAD);
  told.length = 0;
  const [taken, claimed] = await sendAll(node, keys(2));
  assert.equal([taken?.outcome, claimed?.outcome], ["taken", "claimed"]);
  assert.equal(told.map((it) => it.replace(/evt_\w+ /, "")).toSorted(), ["begins after 0", "is cancelled"]);
});

test("a request whose decision throws fails alone, and leaves its place and the ledger's turn to the others", async () => {
  const world = await worldOf();
  const broken = webhookId("key_1");
  const deliver = {
    lease: ({ eventId }: { eventId: string }) => {
      if (eventId === broken) throw new Error("a bug");
      return null;
    },
    offer: () => undefined,
  };
  const node = claimNode(world, { deliver, endpointId: "end_1" });
  await begun(node);
  const [first, second, third] = await Promise.allSettled(keys(3).map((key) => node.send(key, PAYLOAD)));
  assert.equal([first?.status, second?.status, third?.status], ["fulfilled", "rejected", "fulfilled"]);
  assert.is((await node.ledgers.figures(DAY, ACCOUNT)).spent, 3);
  assert.equal(outcomesOf(await sendAll(node, keys(20, "later"))), { claimed: 7, denied: 13 });
});

test("a body is counted once, although its first group lost the ledger to another node", async () => {
  const world = await worldOf();
  let taken = 0;
  const take = (bytes: number) => {
    taken += bytes;
    return {
      giveBack: (some = bytes) => {
        taken -= some;
      },
    };
  };
  const allowances: NonNullable<Parameters<typeof claimNode>[1]>["allowances"] = {
    take: async (_account, kind, bytes) => (kind === "stored" ? take(bytes) : enoughBytes.take(_account, kind, bytes)),
    takeAtHand: (_account, kind, bytes) =>
      kind === "stored" ? take(bytes) : enoughBytes.takeAtHand(_account, kind, bytes),
    hasRoom: async () => true,
  };
  const [node, other] = [claimNode(world, { allowances }), claimNode(world)];
  await begun(node);
  await node.ledgers.idle();
  taken = 0;
  assert.is((await node.send("alone", PAYLOAD)).outcome, "claimed");
  const once = taken;
  await node.ledgers.idle();
  await other.send("theirs", PAYLOAD);
  await other.ledgers.idle();
  taken = 0;
  assert.is((await node.send("contested", PAYLOAD)).outcome, "claimed");
  assert.is(taken, once);
});

test.run();
