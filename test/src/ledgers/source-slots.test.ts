import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS, type Plan } from "../../../domain/account/plans.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { sources } from "../../../projections/sources.ts";
import type { Principal } from "../../../src/http/route.ts";
import { ledgers } from "../../../src/ledgers/ledgers.ts";
import { placeStatus } from "../../../src/ledgers/place-status.ts";
import { slots } from "../../../src/ledgers/slots.ts";
import { sourceRoutes } from "../../../src/routes/sources/sources.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import type { Envelope } from "../../../src/streams/envelope.ts";
import { caller, callOf } from "../../support/call.ts";
import { failingLog } from "../../support/failing-log.ts";
import { foldInto } from "../../support/fold-into.ts";
import { noControls } from "../../support/no-controls.ts";
import { pausedLog } from "../../support/paused-log.ts";
import { addressed } from "../../support/personal-words.ts";

const test = suite("the plan's limit on sources");
const ACCOUNT = "acc_1";
const LEDGER = `ledger-${ACCOUNT}-sources`;
const ADMIN: Principal = {
  kind: "member",
  account: ACCOUNT,
  id: "mem_1",
  ...addressed(""),
  role: "admin",
  session: "s",
};

const fail = (error: unknown): never => {
  throw error;
};

const world = () => {
  const log = memoryEventLog();
  const clock = { ms: Date.parse("2026-05-05T12:00:00Z"), now: () => clock.ms };
  const views = memoryViewStore([sources.schema]);
  return {
    log,
    clock,
    /** One node, with what it sees of the log. `orphanAgeMs`: 0 for a node that is alone. */
    node({
      seen = log,
      plan = PLANS.free,
      orphanAgeMs = 30_000,
    }: {
      seen?: EventLog;
      plan?: Plan;
      orphanAgeMs?: number;
    } = {}) {
      const places = ledgers({
        ...{ log: seen, clock, randomness, orphanAgeMs, onError: fail },
        placeStatus: placeStatus(seen, clock, randomness),
      });
      const streams = aggregates(seen, clock);
      const routes = sourceRoutes({
        aggregates: streams,
        views,
        box: { seal: (secret) => secret },
        publicUrl: () => "http://localhost",
        slots: slots({ ledgers: places, aggregates: streams, planOf: async () => plan }),
        endpointExists: async () => true,
        controls: noControls,
        policyExists: async () => true,
      });
      const call = caller(routes);
      return {
        ledgers: places,
        register: async (name: string, envelope: Envelope = callOf({ principal: ADMIN }).envelope) =>
          (await call("POST", "/v1/sources", { principal: ADMIN, body: { name, type: "github" }, envelope })).outcome,
        remove: async (id: string) =>
          (await call("DELETE", "/v1/sources/{id}", { principal: ADMIN, params: { id } })).outcome,
        get: async (id: string) =>
          (await call("GET", "/v1/sources/{id}", { principal: ADMIN, params: { id } })).outcome,
      };
    },
    idsOf: async (type: string): Promise<readonly string[]> =>
      (await log.readAll(null, 1_000))
        .filter((event) => event.type === type)
        .map(({ data }) => String(data.source_id ?? data.id)),
    async listed(): Promise<number> {
      await foldInto(log, views, [sources]);
      return (
        await views.page(sources.schema.name, { where: [], sort: { field: "created_at", order: "asc" }, limit: 100 })
      ).length;
    },
  };
};

test("a registration that is slower than the question after it reserves again, and is refused if its slot is taken", async () => {
  const it = world();
  const paused = pausedLog(it.log, "SourceRegistered");
  const [slow, quick] = [it.node({ seen: paused.log }), it.node()];
  const late = slow.register("late");
  await paused.reached;
  assert.is(await quick.register("too early"), "plan-limit");
  it.clock.ms += 31_000;
  assert.is(await quick.register("quick"), 201);
  paused.goOn();
  assert.is(await late, "plan-limit");
  assert.is((await it.idsOf("SourceRegistered")).length, 1);
  assert.is((await quick.ledgers.figures(LEDGER, ACCOUNT)).open, 1);
});

test("a registration that is slower than the question after it is made with a new slot if there is one", async () => {
  const it = world();
  const paused = pausedLog(it.log, "SourceRegistered");
  const late = it.node({ seen: paused.log }).register("late");
  await paused.reached;
  it.clock.ms += 31_000;
  const other = it.node();
  assert.is((await other.ledgers.figures(LEDGER, ACCOUNT)).open, 0);
  paused.goOn();
  assert.is(await late, 201);
  assert.is(await other.register("one too many"), "plan-limit");
  assert.is((await it.idsOf("SourceRegistered")).length, 1);
});

test("a node that is alone asks nothing about its own registrations when it reads the ledger again", async () => {
  for (const passes of [1, 0]) {
    const it = world();
    let isBroken = false;
    const broken = failingLog(it.log, (stream) => isBroken && stream === LEDGER);
    const paused = pausedLog(broken, "SourceRegistered");
    let isFirst = true;
    const seen: EventLog = {
      ...paused.log,
      append: (stream, expected, events) => {
        const isSlow = isFirst && stream.startsWith("source-");
        if (isSlow) isFirst = false;
        return (isSlow ? paused.log : broken).append(stream, expected, events);
      },
    };
    const node = it.node({ seen, plan: PLANS.starter, orphanAgeMs: 0 });
    // On a clock that stands still the registration is as old as the process.
    it.clock.ms += passes;
    const first = node.register("first");
    await paused.reached;
    isBroken = true;
    assert.instance(await node.register("refused").catch((error: unknown) => error), LogUnavailable);
    isBroken = false;
    const limit = PLANS.starter.endpoints;
    const others: (number | string)[] = [];
    for (let n = 0; n <= limit; n += 1) others.push(await node.register(`source ${n}`));
    paused.goOn();
    const outcomes = [...others, await first];
    assert.is(outcomes.filter((outcome) => outcome === 201).length, limit);
    assert.is((await it.idsOf("SourceRegistered")).length, limit);
    assert.is((await it.idsOf("SlotFreed")).length, 1 - passes);
    await node.ledgers.idle();
  }
});

test("the slot of a registration that died is free again, and its id is unknown to every caller", async () => {
  const it = world();
  const paused = pausedLog(it.log, "SourceRegistered");
  void it.node({ seen: paused.log }).register("dead");
  await paused.reached;
  it.clock.ms += 31_000;
  const node = it.node();
  assert.is((await node.ledgers.figures(LEDGER, ACCOUNT)).open, 0);
  const [abandoned = ""] = await it.idsOf("SlotFreed");
  assert.equal([await node.get(abandoned), await node.remove(abandoned)], ["not-found", "not-found"]);
  assert.is(await it.listed(), 0);
  assert.is(await node.register("next"), 201);
  assert.is(await it.listed(), 1);
});

test("a node that dies between the deletion of a source and its slot leaves a slot that is free again", async () => {
  const it = world();
  const paused = pausedLog(it.log, "Released");
  const dying = it.node({ seen: paused.log });
  assert.is(await dying.register("first"), 201);
  const [id = ""] = await it.idsOf("SourceRegistered");
  void dying.remove(id);
  await paused.reached;
  const node = it.node();
  assert.is(await node.register("too early"), "plan-limit");
  it.clock.ms += 31_000;
  assert.is(await node.register("second"), 201);
  assert.is(await node.register("one too many"), "plan-limit");
});

test("a deletion that is not recorded keeps the slot", async () => {
  const it = world();
  const paused = pausedLog(it.log, "SourceDeleted");
  const dying = it.node({ seen: paused.log });
  assert.is(await dying.register("first"), 201);
  const [id = ""] = await it.idsOf("SourceRegistered");
  void dying.remove(id);
  await paused.reached;
  it.clock.ms += 31_000;
  const node = it.node();
  assert.is(await node.register("second"), "plan-limit");
  assert.is(await node.remove(id), 204);
  assert.is(await node.register("third"), 201);
});

test("the same command at two nodes at once makes one source with one slot", async () => {
  const it = world();
  const paused = pausedLog(it.log, "SourceRegistered");
  const [slow, quick] = [it.node({ seen: paused.log }), it.node()];
  const { envelope } = callOf({ principal: ADMIN });
  const late = slow.register("shop", envelope);
  await paused.reached;
  assert.is(await quick.register("shop", envelope), 201);
  paused.goOn();
  assert.is(await late, 201);
  const [id = "", ...others] = await it.idsOf("SourceRegistered");
  assert.equal(others, []);
  assert.is(await quick.register("one too many"), "plan-limit");
  assert.is(await quick.remove(id), 204);
  assert.is(await quick.register("next"), 201);
});

test.run();
