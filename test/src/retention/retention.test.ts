import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS, type Plan } from "../../../domain/account/plans.ts";
import type { RetentionTerm } from "../../../domain/account/retention.ts";
import type { BundleEvent } from "../../../domain/bundle/events.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { EventLog, Position } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { retention as retained } from "../../../projections/retention.ts";
import { openLog, openViews } from "../../../src/engine/open-engines.ts";
import { erasureReactions } from "../../../src/erasure/erasures.ts";
import { Reactor } from "../../../src/following/reactor.ts";
import { orphanedPayloads } from "../../../src/retention/orphaned-payloads.ts";
import { retention } from "../../../src/retention/retention.ts";
import { NO_TRACE, toEvents } from "../../../src/streams/envelope.ts";
import { payloadStream, payloads } from "../../../src/streams/payloads.ts";
import { type EngineSet, type Engines, engineSets, locationsIn } from "../../support/engine-sets.ts";
import { foldInto } from "../../support/fold-into.ts";
import { at, bundleFacts, bundleStep, deliveryFacts, type Fact, START } from "../../support/history.ts";
import { testClock } from "../../support/http-app.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { until } from "../../support/until.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
type Is = ReturnType<typeof deliveryFacts>;

/** Under one plan, at all times. */
const under = (plan: Plan): readonly RetentionTerm[] => [{ plan, after: null, upTo: null }];

/** What retention does to a log and its views, with the time in the test's hand. */
const retentionOf = ({ name, open }: EngineSet): void => {
  const test = suite(`retention: ${name}`);
  let engines: Engines;
  test.before(async () => {
    engines = await open();
  });
  test.after(() => engines.close());

  const world = async (terms: (account: string) => readonly RetentionTerm[] = () => under(PLANS.free)) => {
    const dir = temporaryFolder();
    const locations = locationsIn(engines, dir);
    const log = await openLog(locations.log);
    const views = await openViews(locations.views, [retained.schema]);
    const clock = testClock(START);
    // The engines of a set are shared by its tests: accounts and events are named anew.
    const run = Buffer.from(randomness.bytes(5)).toString("hex");
    const account = (n: number): string => `acc_${run}${n}`;
    const id = (n: number | string): string => `evt_${run}${n}`;
    const envelope = (owner = account(1)) => ({
      commandId: Buffer.from(randomness.bytes(8)).toString("hex"),
      account: owner,
      actor: { kind: "source", id: "src_1" } as const,
      trace: NO_TRACE,
      at: new Date(clock.now()).toISOString(),
    });
    const keeper = payloads(log, randomness);
    const write = async (stream: string, facts: readonly (Fact | ReturnType<Is["admitted"]>)[], owner?: string) => {
      // Plain JSON, as every event type is.
      await log.append(stream, "any", toEvents(facts as readonly Fact[], envelope(owner)));
    };
    const keep = (event: string, owner?: string, erasedUpTo?: number) =>
      keeper.keepAgain(
        event,
        { body: Buffer.from(`of ${event}`), contentType: "text/plain", contentEncoding: "", headers: {} },
        envelope(owner),
        erasedUpTo,
      );
    const told = async (
      n: number | string,
      tell: (is: Is) => readonly ReturnType<Is["admitted"]>[],
      owner?: string,
    ) => {
      await keep(id(n), owner);
      await write(`delivery-${id(n)}`, tell(deliveryFacts(id(n))), owner);
    };
    const fail = (error: unknown): void => assert.unreachable(String(error));
    const loop = (over: Partial<EventLog> = {}, onError: (error: unknown) => void = fail) =>
      retention({
        log: { ...log, ...over },
        views,
        sweeps: [],
        termsOf: async (of) => terms(of),
        clock,
        randomness,
        onError,
      });
    const isKept = async (event: string): Promise<boolean> => (await log.last(payloadStream(event))) !== null;
    return {
      log,
      views,
      clock,
      account,
      id,
      write,
      keep,
      told,
      loop,
      isKept,
      fold: () => foldInto(log, views, [retained]),
      /** What the reactor does for the records of the log that are there. */
      async react(): Promise<void> {
        const reactions = erasureReactions(log);
        const types = reactions.map(({ on }) => on);
        for (let after: Position | null = null; ; ) {
          const { events, upTo } = await log.readTypes(types, after, 100);
          for (const event of events)
            for (const reaction of reactions) if (reaction.on === event.type) await reaction.run(event);
          if (upTo === null) return;
          after = upTo;
        }
      },
      async erasures(n: number | string): Promise<readonly JsonObject[]> {
        const events = await log.read(`delivery-${id(n)}`, null, 100);
        return events.filter(({ type }) => type === "PayloadErased").map(({ data }) => data);
      },
      async close() {
        await views.close();
        await log.close();
        removeFolder(dir);
      },
    };
  };

  const delivered = (is: Is) => [is.admitted(), is.started(1, 1), is.succeeded(1, 2), is.delivered(2)];

  test("the payload of an ended event is erased after the plan's days, to the second, and its record stays", async () => {
    const it = await world();
    const ended: Readonly<Record<string, (is: Is) => readonly ReturnType<Is["admitted"]>[]>> = {
      delivered,
      failed: (is) => [is.admitted(), is.started(1, 1), is.attemptFailed(1, 2, null), is.failed(2)],
      blocked: (is) => [is.blocked({ at: at(2) })],
      recorded: (is) => [is.admitted({ endpoint_id: null, at: at(2) })],
      rejected: (is) => [is.held(), is.holdEnded(2, "rejected")],
      cancelled: (is) => [is.admitted(), is.cancelled(2)],
      expired: (is) => [is.held(), is.holdEnded(2, "expired")],
    };
    for (const [name, tell] of Object.entries(ended)) await it.told(name, tell);
    await it.fold();
    it.clock.advance(3 * DAY_MS + 1_999);
    assert.is(await it.loop().look(), 0);
    it.clock.advance(1);
    assert.is(await it.loop().look(), Object.keys(ended).length);
    for (const name of Object.keys(ended)) {
      assert.not(await it.isKept(it.id(name)), name);
      const [erased] = await it.erasures(name);
      assert.is(erased?.reason, "retention: 3 days of the free plan", name);
      const [first] = await it.log.read(`delivery-${it.id(name)}`, null, 1);
      const payload = first?.data.payload as JsonObject | undefined;
      assert.is(payload?.commitment, "00", name);
    }
    const last = await it.log.last(`delivery-${it.id("delivered")}`);
    assert.equal([last?.meta.account, last?.meta.actor], [it.account(1), { kind: "system", id: "retention" }]);
    await it.fold();
    assert.is(await it.loop().look(), 0);
    assert.is((await it.erasures("delivered")).length, 1);
    await it.close();
  });

  test("payloads that are still to be sent, approved or undone with their bundle are never erased", async () => {
    const it = await world();
    const goesOn: Readonly<Record<string, (is: Is) => readonly ReturnType<Is["admitted"]>[]>> = {
      queued: (is) => [is.admitted()],
      delivering: (is) => [is.admitted(), is.started(1, 1)],
      retrying: (is) => [is.admitted(), is.started(1, 1), is.attemptFailed(1, 2, at(9_000_000))],
      held: (is) => [is.held()],
      released: (is) => [is.held(), is.released(2)],
      resent: (is) => [is.blocked(), is.admitted()],
      step: (is) => [
        ...delivered(is),
        {
          type: "BundleStepEnded",
          data: {
            event_id: "",
            bundle: { id: "bun_1", index: 0, undo: false },
            outcome: "succeeded",
            cost: null,
            at: at(2),
          },
        },
      ],
    };
    for (const [name, tell] of Object.entries(goesOn)) await it.told(name, tell);
    await it.fold();
    it.clock.advance(400 * DAY_MS);
    assert.is(await it.loop().look(), 0);
    for (const name of Object.keys(goesOn)) assert.ok(await it.isKept(it.id(name)), name);
    await it.close();
  });

  test("a lagging view erases no payload that came again", async () => {
    const it = await world();
    await it.told("again", (is) => [is.blocked()]);
    await it.fold();
    it.clock.advance(3 * DAY_MS);
    await it.told("again", (is) => [is.admitted()]);
    assert.is(await it.loop().look(), 0);
    assert.ok(await it.isKept(it.id("again")));
    await it.close();
  });

  test("each account has the days of its plan, and events that ended under a larger plan keep its days", async () => {
    const terms = new Map<string, readonly RetentionTerm[]>();
    const it = await world((account) => terms.get(account) ?? []);
    for (const [n, plan] of Object.values(PLANS).entries()) {
      terms.set(it.account(n), under(plan));
      await it.told(n, delivered, it.account(n));
    }
    await it.fold();
    const kept = () => Promise.all([0, 1, 2, 3].map((n) => it.isKept(it.id(n))));
    it.clock.advance(3 * DAY_MS + 2_000);
    await it.loop().look();
    assert.equal(await kept(), [false, true, true, true]);
    it.clock.advance(27 * DAY_MS);
    await it.loop().look();
    assert.equal(await kept(), [false, false, false, true]);
    const change = new Date(it.clock.now()).toISOString();
    const [before, since] = [
      { plan: PLANS.scale, after: null, upTo: change },
      { plan: PLANS.free, after: change, upTo: null },
    ];
    terms.set(it.account(3), [before, since]);
    const second = Math.round((it.clock.now() - START) / 1_000) + 1;
    await it.told("since", (is) => [is.blocked({ at: at(second) })], it.account(3));
    await it.fold();
    await it.loop().look();
    it.clock.advance(3 * DAY_MS + 2_000);
    await it.loop().look();
    assert.equal([await it.isKept(it.id(3)), await it.isKept(it.id("since"))], [true, false]);
    assert.is((await it.erasures("since"))[0]?.reason, "retention: 3 days of the free plan");
    it.clock.advance(57 * DAY_MS);
    await it.loop().look();
    assert.equal(await kept(), [false, false, false, false]);
    assert.is((await it.erasures(3))[0]?.reason, "retention: 90 days of the scale plan");
    await it.close();
  });

  test("with two nodes at once and a crash in the middle, each payload is erased and recorded once", async () => {
    const it = await world();
    const COUNT = 130;
    for (let n = 0; n < COUNT; n += 1) await it.told(n, (is) => [is.blocked()]);
    await it.fold();
    it.clock.advance(3 * DAY_MS);
    let left = 60;
    const dying = it.loop({
      erase: async (stream, upTo) => {
        left -= 1;
        if (left < 0) throw new LogUnavailable("the process has ended");
        await it.log.erase(stream, upTo);
      },
    });
    assert.ok(await dying.look().catch((error: unknown) => error instanceof LogUnavailable));
    // The one in hand is recorded and not erased; the view has forgotten it by the time of the next start.
    await it.fold();
    await Promise.all([it.loop().look(), it.loop().look()]);
    const standing = async (): Promise<number> => {
      let count = 0;
      for (let n = 0; n < COUNT; n += 1) if (await it.isKept(it.id(n))) count += 1;
      return count;
    };
    assert.is(await standing(), 1);
    for (let n = 0; n < COUNT; n += 1) assert.is((await it.erasures(n)).length, 1, `${n}`);

    const errors: unknown[] = [];
    const reacting = new Reactor(
      { log: it.log, clock: it.clock, onError: (error) => errors.push(error) },
      erasureReactions(it.log),
    );
    reacting.start();
    await until("what was recorded is done", async () => (await standing()) === 0);
    await reacting.stop();
    assert.equal(errors, []);
    await it.close();
  });

  test("a late node erases no payload that came again after another node's erasure", async () => {
    const it = await world();
    await it.told("again", (is) => [is.blocked()]);
    await it.fold();
    it.clock.advance(3 * DAY_MS);
    let isFirst = true;
    const late = it.loop({
      async last(stream) {
        if (isFirst && stream === payloadStream(it.id("again"))) {
          isFirst = false;
          assert.is(await it.loop().look(), 1);
          await it.told("again", (is) => [is.admitted()]);
        }
        return it.log.last(stream);
      },
    });
    await late.look();
    assert.not(isFirst);
    assert.ok(await it.isKept(it.id("again")));
    assert.is((await it.erasures("again")).length, 1);
    // Of the engines that tests share: what is not old there yet stops the sweeps of those behind this one.
    await it.log.erase(payloadStream(it.id("again")));
    await it.close();
  });

  test("an erasure that is finished late leaves the payload that came again", async () => {
    const it = await world();
    await it.told("late", (is) => [is.blocked(), is.erased(5, 0)]);
    await it.keep(it.id("late"), undefined, 0);
    await it.told("late", (is) => [is.admitted()]);
    const [reaction] = erasureReactions(it.log);
    for (const event of await it.log.read(`delivery-${it.id("late")}`, null, 10))
      if (event.type === "PayloadErased") await reaction?.run(event);
    assert.ok(await it.isKept(it.id("late")));
    await it.close();
  });

  test("a bundle's payloads go together, once it has ended, whatever a crash leaves", async () => {
    const it = await world();
    const bundle = it.id("x").replace("evt_", "bun_");
    const about = { bundle_id: bundle, at: at(5) };
    const [step, undo] = [it.id("step"), it.id("undo")];
    const steps = [bundleStep(0, { event_id: step, undo_event_id: undo }, bundle)];
    const ended = (event_id: string): Fact => ({
      type: "BundleStepEnded",
      data: { event_id, bundle: { id: bundle, index: 0, undo: false }, outcome: "succeeded", cost: null, at: at(5) },
    });
    for (const n of ["step", "undo"]) {
      await it.told(n, delivered);
      await it.write(`delivery-${it.id(n)}`, [ended(it.id(n))]);
    }
    await it.keep(bundle);
    const started = (type: string, event_id: string): Fact => ({
      type,
      data: { ...about, index: 0, event_id, payload: {} },
    });
    await it.write(`bundle-${bundle}`, [
      // Plain JSON, as every event type is.
      bundleFacts(bundle).admitted({ steps }) as unknown as Fact,
      started("StepStarted", step),
      { type: "RollbackStarted", data: { ...about, reason: "asked for", index: null } },
      started("UndoStarted", undo),
    ]);
    await it.fold();
    it.clock.advance(30 * DAY_MS);
    assert.is(await it.loop().look(), 0);
    await it.write(`bundle-${bundle}`, [{ type: "BundleRolledBack", data: { ...about, at: at(30 * 86_400) } }]);
    await it.fold();
    it.clock.advance(3 * DAY_MS - 1);
    assert.is(await it.loop().look(), 0);
    it.clock.advance(1);
    const dying = it.loop({ erase: () => Promise.reject(new LogUnavailable("the process has ended")) });
    assert.ok(await dying.look().catch((error: unknown) => error instanceof LogUnavailable));
    await it.fold();
    // It is recorded, so the view has forgotten it.
    assert.is(await it.loop().look(), 0);
    await it.react();
    for (const kept of [step, undo, bundle]) assert.not(await it.isKept(kept), kept);
    for (const stream of [`delivery-${step}`, `delivery-${undo}`])
      assert.is((await it.log.last(stream))?.type, "PayloadErased", stream);
    assert.is((await it.log.last(`bundle-${bundle}`))?.type, "BundlePayloadErased");
    await it.fold();
    assert.is(await it.loop().look(), 0);
    await it.close();
  });

  test("a step that ended after its bundle, by the clock of another node, goes with its bundle", async () => {
    const it = await world();
    const bundle = it.id("x").replace("evt_", "bun_");
    const is = bundleFacts(bundle);
    const step = bundleStep(0, { event_id: it.id("step"), undo_event_id: it.id("undo") }, bundle);
    const started = { bundle_id: bundle, index: 0, event_id: step.event_id, payload: {}, at: at(1) };
    await it.keep(bundle);
    await it.write(`bundle-${bundle}`, [
      is.admitted({ steps: [step] }) as unknown as Fact,
      { type: "StepStarted", data: started },
      is.committed(5) as unknown as Fact,
    ]);
    await it.told("step", (of) => [of.admitted(), of.started(1, 1), of.succeeded(1, 8), of.delivered(8)]);
    await it.fold();
    it.clock.advance(3 * DAY_MS + 6_000);
    assert.is(await it.loop().look(), 1);
    for (const kept of [bundle, step.event_id]) assert.not(await it.isKept(kept), kept);
    await it.fold();
    assert.is(await it.loop().look(), 0);
    await it.close();
  });

  test("a bundle whose last step is resolved after its erasure is recorded once more, and then left alone", async () => {
    const it = await world();
    const bundle = it.id("x").replace("evt_", "bun_");
    const is = bundleFacts(bundle);
    const write = (...facts: readonly BundleEvent[]) =>
      it.write(`bundle-${bundle}`, facts as unknown as readonly Fact[]);
    await it.keep(bundle);
    await write(is.admitted({ steps: [] }), is.incomplete(5, 0));
    await it.fold();
    it.clock.advance(3 * DAY_MS + 5_000);
    assert.is(await it.loop().look(), 1);
    await write(is.resolved(0, 4 * 86_400));
    await it.fold();
    it.clock.advance(5 * DAY_MS);
    for (const erased of [1, 0]) {
      assert.is(await it.loop().look(), erased);
      await it.fold();
    }
    await it.close();
  });

  const go = () => false;
  const orphans = ({ log, clock }: Pick<Awaited<ReturnType<typeof world>>, "log" | "clock">) =>
    orphanedPayloads(log, clock, randomness, (error) => assert.unreachable(String(error)));

  test("an event that cannot be erased, or whose account has no known plan, delays no other erasure", async () => {
    const unknown = new Set<string>();
    const it = await world((account) => {
      if (account.endsWith("2")) throw new TypeError("an account that cannot be read");
      return unknown.has(account) ? [] : under(PLANS.free);
    });
    for (const n of [1, 2, 3, 4]) await it.told(n, (is) => [is.blocked()], it.account(n));
    await it.told("bad", (is) => [is.blocked()], it.account(4));
    unknown.add(it.account(3));
    await it.fold();
    it.clock.advance(3 * DAY_MS);
    const errors: unknown[] = [];
    const reading: EventLog["read"] = async (stream, ...of) => {
      if (stream === `delivery-${it.id("bad")}`) throw new TypeError("a record that cannot be read");
      return it.log.read(stream, ...of);
    };
    await it.loop({ read: reading }, (error) => errors.push(error)).look();
    const kept = await Promise.all([1, 2, 3, 4, "bad"].map((n) => it.isKept(it.id(n))));
    assert.equal(kept, [false, true, true, false, true]);
    assert.is(errors.length, 2);
    await it.close();
  });

  test("the payload of a request that died before its verdict has ended a day later, and goes with the others", async () => {
    const it = await world();
    const [died, bundle] = [it.id("died"), it.id("x").replace("evt_", "bun_")];
    await it.keep(died);
    await it.keep(bundle);
    await it.told("held", (is) => [is.held()]);
    await orphans(it).sweep(go);
    assert.is(await it.log.last(`delivery-${died}`), null, "it may be under way");
    it.clock.advance(DAY_MS);
    await orphans(it).sweep(go);
    assert.is((await it.log.last(`delivery-${died}`))?.type, "AdmissionAbandoned");
    assert.is((await it.log.last(`bundle-${bundle}`))?.type, "BundleAbandoned");
    assert.is((await it.log.last(`delivery-${it.id("held")}`))?.type, "EventHeld");
    const head = await it.log.head();
    await orphans(it).sweep(go);
    assert.is(await it.log.head(), head, "once");
    await it.fold();
    it.clock.advance(3 * DAY_MS);
    await it.loop().look();
    for (const id of [died, bundle]) assert.not(await it.isKept(id), id);
    await it.close();
  });

  test("a payload stored after an erasure by a request that then died is found as well", async () => {
    const it = await world();
    await it.told("late", (is) => [is.blocked()]);
    await it.fold();
    it.clock.advance(3 * DAY_MS);
    assert.is(await it.loop().look(), 1);
    await it.keep(it.id("late"));
    it.clock.advance(DAY_MS);
    await orphans(it).sweep(go);
    assert.is((await it.log.last(`delivery-${it.id("late")}`))?.type, "AdmissionAbandoned");
    await it.fold();
    it.clock.advance(3 * DAY_MS);
    assert.is(await it.loop().look(), 1);
    assert.not(await it.isKept(it.id("late")));
    await it.close();
  });

  test("a payload stored for an admitted event after its erasure is erased a day later, also after counted repeats", async () => {
    for (const isRepeated of [false, true]) {
      const it = await world();
      await it.told("late", (is) => [is.admitted(), is.started(1, 1), is.succeeded(1, 2), is.delivered(2)]);
      await it.fold();
      it.clock.advance(3 * DAY_MS + 2_000);
      assert.is(await it.loop().look(), 1);
      // By a request that had not seen the admission, and died.
      await it.keep(it.id("late"));
      if (isRepeated) await it.write(`delivery-${it.id("late")}`, [deliveryFacts(it.id("late")).duplicates(1, 9)]);
      it.clock.advance(DAY_MS);
      await orphans(it).sweep(go);
      assert.not(await it.isKept(it.id("late")), `${isRepeated}`);
      await it.close();
    }
  });

  test("retention runs by itself and stops", async () => {
    const it = await world();
    const errors: unknown[] = [];
    await it.told("one", (is) => [is.blocked()]);
    await it.keep(it.id("died"));
    await it.fold();
    it.clock.advance(3 * DAY_MS);
    const loop = retention({
      log: it.log,
      views: it.views,
      sweeps: [{ sweep: () => Promise.reject(new Error("a sweep that fails")) }, orphans(it)],
      termsOf: async () => under(PLANS.free),
      clock: it.clock,
      randomness,
      onError: (error) => errors.push(error),
    });
    loop.start();
    await until("it has looked", async () => !(await it.isKept(it.id("one"))));
    await until("and swept", async () => (await it.log.last(`delivery-${it.id("died")}`)) !== null);
    await loop.stop();
    assert.equal(errors.map(String), ["Error: a sweep that fails"]);
    await it.close();
  });

  test.run();
};

for (const set of engineSets()) retentionOf(set);
