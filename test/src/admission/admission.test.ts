import { createHmac } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import type { PublishedPolicy } from "../../../domain/policy/decider.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { PresentSource } from "../../../domain/source/decider.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { activeSource } from "../../../src/admission/active-source.ts";
import { admission } from "../../../src/admission/admission.ts";
import { type BodyReader, directBodyReader } from "../../../src/bodies/body-reader.ts";
import { compiledPolicies } from "../../../src/gates/compiled-policy.ts";
import { ledgers } from "../../../src/ledgers/ledgers.ts";
import { placeStatus } from "../../../src/ledgers/place-status.ts";
import type { Aggregates } from "../../../src/streams/aggregates.ts";
import { payloads } from "../../../src/streams/payloads.ts";
import { admissionNode } from "../../support/admission-world.ts";
import { damagedLog } from "../../support/damaged-log.ts";
import { enoughBytes } from "../../support/enough-bytes.ts";

const test = suite("admission");
const SOURCE_ID = `src_${"a".repeat(32)}`;
const clock = { now: () => Date.parse("2026-05-05T12:00:00Z") };
const trace = { trace_id: "1".repeat(32), span_id: "2".repeat(16) };
const fail = (error: unknown): never => {
  throw error;
};

const source: PresentSource = {
  phase: "present",
  sourceId: SOURCE_ID,
  account: "acc_1",
  type: "hmac",
  auth: null,
  dedupe: { header: "X-Delivery-Id" },
  settings: { name: "s", policy_id: "pol_1", endpoint_id: null, status: "active" },
  secrets: [{ sealed: "secret", madeBy: "mem_1", until: null }],
  createdAt: "2026-05-05T00:00:00.000Z",
};
const policy: PublishedPolicy = {
  phase: "published",
  policyId: "pol_1",
  account: "acc_1",
  version: 1,
  definition: { name: "one", rate_per_minute: 1 },
  createdBy: "key_1",
  createdAt: "2026-05-05T00:00:00.000Z",
};
/** The two aggregates that an admission loads, by the category of their stream. */
const those = (policy: PublishedPolicy): Aggregates =>
  ({
    load: async (_decider: unknown, stream: string) => {
      const settings = { ...source.settings, policy_id: policy.policyId };
      return { state: stream.startsWith("source-") ? { ...source, settings } : policy, revision: 0 };
    },
  }) as unknown as Aggregates;

const admitting = (
  log: EventLog,
  aggregates: Aggregates = those(policy),
  webhookParser: Pick<BodyReader, "run"> = directBodyReader,
) => {
  const places = ledgers({
    log,
    clock,
    randomness,
    placeStatus: placeStatus(log, clock, randomness),
    orphanAgeMs: 0,
    onError: fail,
  });
  const admit = admission({
    activeSource: activeSource(aggregates),
    log,
    aggregates,
    clock,
    randomness,
    box: { open: (sealed) => sealed },
    payloads: payloads(log, randomness),
    ledgers: places,
    counts: { signatureFailed: () => {}, duplicate: () => {}, reused: () => {} },
    policies: compiledPolicies(),
    publicUrl: () => "http://localhost",
    accountOf: async () => ({ plan: PLANS.scale, timeZone: "UTC" }),
    digestKey: Buffer.alloc(32),
    allowances: enoughBytes,
    deliver: { lease: () => null, offer: () => {} },
    webhookParser,
  });
  return async (id: string, more: object = {}) => {
    const body = Buffer.from(JSON.stringify({ id, ...more }));
    const signature = createHmac("sha256", "secret").update(body).digest("hex");
    const headers = { "x-signature": signature, "x-delivery-id": id, "content-type": "application/json" };
    const rawHeaders = Object.entries(headers).flat();
    const answer = await admit({
      provider: "hmac",
      sourceId: SOURCE_ID,
      headers,
      rawHeaders,
      body,
      ip: "127.0.0.1",
      trace,
      receivedAt: clock.now(),
    });
    await places.idle();
    return "problem" in answer ? answer.problem : answer.status;
  };
};

test("P6: an admission that is fenced while its gates are asked asks them again, and takes no place that was given to another", async () => {
  const log = memoryEventLog();
  // It was here before, and died behind its payload.
  const once = admitting({
    ...log,
    append: async (stream, ...rest) =>
      stream.startsWith("delivery-") ? fail(new Error("died")) : log.append(stream, ...rest),
  });
  await once("slow").catch(() => undefined);
  let others = 0;
  const slow: EventLog = {
    ...log,
    async append(stream, expected, events) {
      const outcome = await log.append(stream, expected, events);
      // Behind its reservation another node finds it dead, fences it, and takes its place for another event.
      if (events[0]?.type === "Reserved" && others === 0) {
        others += 1;
        assert.is(await admitting(log)("other"), 202);
      }
      return outcome;
    },
  };
  assert.is(await admitting(slow)("slow"), "gate-rate");
  const admitted = (await log.readAll(null, 1_000)).filter(({ type }) => type === "EventAdmitted");
  assert.is(admitted.length, 1);
});

test("a repeat of an event whose stored payload is damaged is no reuse of its id", async () => {
  const log = memoryEventLog();
  assert.is(await admitting(log)("again"), 202);
  const [admitted] = (await log.readAll(null, 100)).filter(({ type }) => type === "EventAdmitted");
  const stream = `payload-${admitted?.data.event_id}`;
  assert.is(await admitting(damagedLog(log, new Set([stream])))("again"), 200);
});

test("a blocked event that is sent again when there is room is admitted under the same id", async () => {
  const log = memoryEventLog();
  const admit = admitting(log);
  assert.is(await admit("first"), 202);
  assert.is(await admit("second"), "gate-rate");
  clock.now = () => Date.parse("2026-05-05T12:02:00Z");
  assert.is(await admit("second"), 202);
  assert.is(await admit("second"), 200);
});

test("a request that loses the race to a node where another policy held gives back what it took from its own", async () => {
  const log = memoryEventLog();
  let others = 0;
  const slow: EventLog = {
    ...log,
    async append(stream, expected, events) {
      if (stream.startsWith("delivery-") && others === 0) {
        others += 1;
        assert.is(await admitting(log)("same"), 202);
      }
      return log.append(stream, expected, events);
    },
  };
  assert.is(await admitting(slow, those({ ...policy, policyId: "pol_2" }))("same"), 200);
  const places = (await log.readAll(null, 1_000)).filter(({ stream }) => stream === "ledger-pol_2-2026-05-05");
  assert.equal(
    places.map(({ type }) => type),
    ["LedgerOpened", "Reserved", "Released"],
  );
});

const REFUSED = { never: true };
const ALLOWED = { never: false, large: false };

test("a second body under a delivery id is a reuse only if the first one is claimed", async () => {
  const node = admissionNode(memoryEventLog(), clock);
  const pair = async (id: string, first: object, second: object) =>
    (await Promise.all([node.send(id, first), node.send(id, second)])).map(({ outcome }) => outcome);
  assert.equal(await pair("a", REFUSED, ALLOWED), ["gate-content", 202]);
  assert.equal(await pair("a", { ...ALLOWED, more: 1 }, ALLOWED), ["delivery-id-reused", 200]);
  assert.equal(await pair("b", ALLOWED, REFUSED), [202, "delivery-id-reused"]);
  assert.equal(await pair("c", { never: false, large: true }, ALLOWED), [202, "delivery-id-reused"]);
});

test("one of many simultaneous bodies with one delivery id is claimed, and all get true answers", async () => {
  const log = memoryEventLog();
  const nodes = [admissionNode(log, clock), admissionNode(log, clock)];
  const bodies = Array.from({ length: 24 }, (_, n) => (n % 3 === 0 ? REFUSED : { ...ALLOWED, of: n % 4 }));
  const answers = await Promise.all(bodies.map((body, n) => nodes[n % 2]?.send("same", body)));
  const claimed = (await log.readAll(null, 10_000)).filter(({ type }) => type === "EventAdmitted");
  assert.is(claimed.length, 1);
  const winner = bodies[answers.findIndex((it) => it?.outcome === 202)];
  for (const [n, answer] of answers.entries()) {
    const isSame = JSON.stringify(bodies[n]) === JSON.stringify(winner);
    const expected = isSame ? [202, 200] : ["gate-content", "delivery-id-reused"];
    assert.ok(expected.includes(answer?.outcome as never), `${n}: ${answer?.outcome}`);
  }
});

test("each of several simultaneous requests with a reused delivery id is counted", async () => {
  const log = memoryEventLog();
  const node = admissionNode(log, clock);
  assert.is((await node.send("same", ALLOWED)).outcome, 202);
  const other = { ...ALLOWED, more: 1 };
  const answers = await Promise.all([1, 2, 3].map(() => node.send("same", other)));
  assert.equal(new Set(answers.map(({ outcome }) => outcome)), new Set(["delivery-id-reused"]));
  await node.rest();
  const counted = (await log.readAll(null, 1_000)).filter(({ type }) => type === "DeliveryIdReused");
  assert.is(
    counted.reduce((sum, { data }) => sum + Number(data.count), 0),
    3,
  );
});

test("a body is claimed if another node claims it while the first body under its id is being denied", async () => {
  const log = memoryEventLog();
  const other = admissionNode(log, clock);
  const claimedMeanwhile: unknown[] = [];
  const first = admissionNode(
    {
      ...log,
      async append(stream, expected, events) {
        if (events[0]?.type === "EventBlocked" && claimedMeanwhile.length === 0) {
          claimedMeanwhile.push((await other.send("same", ALLOWED)).outcome);
        }
        return log.append(stream, expected, events);
      },
    },
    clock,
  );
  assert.is((await first.send("same", REFUSED)).outcome, "delivery-id-reused");
  assert.equal(claimedMeanwhile, [202]);
});

test("a request does not fail with the one that is decided before it under the same delivery id", async () => {
  const log = memoryEventLog();
  let isFirst = true;
  const node = admissionNode(
    {
      ...log,
      async append(stream, expected, events) {
        if (isFirst && stream.startsWith("delivery-")) {
          isFirst = false;
          return fail(new LogUnavailable("away"));
        }
        return log.append(stream, expected, events);
      },
    },
    clock,
  );
  const [first, second] = await Promise.allSettled([
    node.send("same", ALLOWED),
    node.send("same", { ...ALLOWED, b: 1 }),
  ]);
  assert.is(first.status, "rejected");
  assert.is(second.status === "fulfilled" && second.value.outcome, 202);
});

test("a large body is parsed by another thread, a small one by this one, and both are admitted alike", async () => {
  const names: string[] = [];
  const webhookParser: Pick<BodyReader, "run"> = {
    run(account, name, order) {
      names.push(name);
      return directBodyReader.run(account, name, order);
    },
  };
  const log = memoryEventLog();
  const open = { ...policy, definition: { name: "open" } };
  const admit = admitting(log, those(open), webhookParser);
  assert.is(await admit("small", { type: "order.paid" }), 202);
  assert.equal(names, []);
  assert.is(await admit("large", { type: "order.paid", t: "a".repeat(100_000) }), 202);
  assert.equal(names, ["identity"]);
  const admitted = (await log.readAll(null, 1_000)).filter(({ type }) => type === "EventAdmitted");
  const seen = admitted.map(({ data }) => data as { readonly type: string });
  assert.equal(
    seen.map(({ type }) => type),
    ["order.paid", "order.paid"],
  );
});

test.run();
