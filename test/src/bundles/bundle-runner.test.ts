import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Bundle, refusalOf } from "../../../domain/bundle/state.ts";
import { bundleStatus, stepStatuses } from "../../../domain/bundle/status.ts";
import type { SendOutcome } from "../../../domain/ports/sender.ts";
import { type BundlesWorld, bundlesWorld, type StepInput, startBundleNode } from "../../support/bundles-world.ts";
import { damagedLog } from "../../support/damaged-log.ts";
import { AGENT_ID, answered, TRACE } from "../../support/execute-world.ts";
import { failingLog } from "../../support/failing-log.ts";
import { losingLog } from "../../support/losing-log.ts";
import { words } from "../../support/personal-words.ts";
import { until } from "../../support/until.ts";

const test = suite("bundles run");
const BUNDLE = `bun_${"a".repeat(32)}`;
/** More appends than a bundle of these tests takes. */
const APPENDS_MAX = 60;

const hasEnded = (state: Bundle): boolean =>
  state.phase === "stopped" || (state.phase === "running" && state.end !== null);

const ended = async (world: BundlesWorld, bundleId = BUNDLE): Promise<Bundle> => {
  let state = await world.stateOf(bundleId);
  await until(`${bundleId} ends`, async () => {
    state = await world.stateOf(bundleId);
    return hasEnded(state);
  });
  return state;
};

/** `do`: what the target makes of a step. Its undo always succeeds. */
const order = (n: number, what: "ok" | "refused" | "timeout" = "ok"): StepInput => ({
  payload: { order: n, do: what },
});

const TIMEOUT: SendOutcome = {
  outcome: "failed",
  kind: "timeout",
  detail: "No answer",
  timings: { dns: 0, connect: 0, tls: 0, first_byte: null, total: 1 },
};

const target = (text: string): SendOutcome => {
  const { order: n, do: what } = JSON.parse(text) as { order?: number; do?: string };
  if (what === "refused") return answered(422);
  return what === "timeout" ? TIMEOUT : answered(200, JSON.stringify({ id: `o-${n}` }));
};

const arrivedAs = ({ target: { arrivals } }: BundlesWorld): readonly string[] =>
  arrivals.map(({ headers, body }) => {
    const { order: n, payload } = JSON.parse(body) as { order?: number; payload?: { order: number } };
    return `${headers["countersign-action"]} ${n ?? payload?.order}`;
  });

test("steps run one after another, with the results of earlier steps, and each target receives the bundle's id", async () => {
  const world = await bundlesWorld();
  world.target.answer = target;
  const node = await startBundleNode(world);
  const uses = { payload: { order: 3, was: { $result: { step: 0, pointer: "/id" } } }, uses_results: true };
  await world.admit(BUNDLE, [order(1), order(2), uses]);
  const state = await ended(world);
  await node.stop();
  assert.is(bundleStatus(state), "committed");
  assert.equal(stepStatuses(state), ["succeeded", "succeeded", "succeeded"]);
  assert.equal(arrivedAs(world), ["order.create 1", "order.create 2", "order.create 3"]);
  const { arrivals } = world.target;
  assert.equal(JSON.parse(arrivals[2]?.body ?? ""), { order: 3, was: "o-1" });
  for (const { headers } of arrivals) {
    assert.is(headers["countersign-bundle"], BUNDLE);
    assert.is(headers["countersign-agent"], AGENT_ID);
    assert.ok(headers.traceparent?.startsWith(`00-${TRACE.trace_id}-`));
  }
});

test("after a failure the completed steps are undone in reverse order; each undo has payload, result and webhook-id", async () => {
  const world = await bundlesWorld();
  world.target.answer = target;
  const node = await startBundleNode(world);
  await world.admit(BUNDLE, [order(1), order(2), order(3, "refused"), order(4)]);
  const state = await ended(world);
  await node.stop();
  assert.is(bundleStatus(state), "rolled_back");
  assert.equal(stepStatuses(state), ["compensated", "compensated", "failed", "skipped"]);
  const creates = [1, 2, 3].map((n) => `order.create ${n}`);
  assert.equal(arrivedAs(world), [...creates, "order.cancel 2", "order.cancel 1"]);
  const [first, , , , undo] = world.target.arrivals;
  assert.equal(JSON.parse(undo?.body ?? ""), {
    payload: { order: 1, do: "ok" },
    result: { id: "o-1" },
    forward_webhook_id: first?.id,
  });
  assert.is.not(undo?.id, first?.id);
});

test("a step with an unknown outcome is undone as well, without a result", async () => {
  const world = await bundlesWorld();
  world.target.answer = target;
  const node = await startBundleNode(world);
  await world.admit(BUNDLE, [order(1, "timeout")]);
  const state = await ended(world);
  await node.stop();
  assert.equal([bundleStatus(state), stepStatuses(state)], ["rolled_back", ["compensated"]]);
  assert.is(JSON.parse(world.target.arrivals[1]?.body ?? "").result, null);
});

test("a step that was sent twice is undone even if the second attempt reached no target, as the first may have succeeded", async () => {
  const world = await bundlesWorld();
  const dead: SendOutcome = { ...TIMEOUT, kind: "connect", detail: "ECONNREFUSED", resent: true };
  world.target.answer = (text) => (text.includes('"payload"') ? answered(200) : dead);
  const node = await startBundleNode(world);
  await world.admit(BUNDLE, [order(1)]);
  const state = await ended(world);
  await node.stop();
  assert.equal([bundleStatus(state), stepStatuses(state)], ["rolled_back", ["compensated"]]);
});

test("a step that never reached its target has failed, and no undo is sent", async () => {
  const world = await bundlesWorld();
  world.target.answer = (text) => (text.includes('"order":2') ? { ...TIMEOUT, unsent: true } : target(text));
  const node = await startBundleNode(world);
  await world.admit(BUNDLE, [order(1), order(2)]);
  const state = await ended(world);
  await node.stop();
  assert.equal([bundleStatus(state), stepStatuses(state)], ["rolled_back", ["compensated", "failed"]]);
  assert.equal(arrivedAs(world), ["order.create 1", "order.create 2", "order.cancel 1"]);
});

test("a step that needs a result which is not there, or that a gate refuses, is never sent", async () => {
  for (const [pointer, refused, code] of [
    ["/nothing", false, "unresolved-result"],
    ["/id", true, "gate-schema"],
  ] as const) {
    const world = await bundlesWorld();
    world.target.answer = target;
    const gates = async () => (refused ? { code: "gate-schema", detail: "No." } : null);
    const node = await startBundleNode(world, { gates });
    const uses = { payload: { order: 2, was: { $result: { step: 0, pointer } } }, uses_results: true };
    await world.admit(BUNDLE, [order(1), uses]);
    const state = await ended(world);
    await node.stop();
    assert.equal([bundleStatus(state), stepStatuses(state)], ["rolled_back", ["compensated", "skipped"]]);
    assert.is(state.phase === "running" ? refusalOf(state.steps[1])?.code : null, code);
    assert.equal(arrivedAs(world), ["order.create 1", "order.cancel 1"]);
  }
});

const damageIn = async ({ log }: BundlesWorld, stream: string): Promise<number> =>
  (await log.read(stream, null, 100)).filter(({ type }) => type.endsWith("PayloadDamageFound")).length;

test("a bundle whose payload has changed on disk starts no further step, and its completed steps are undone", async () => {
  const world = await bundlesWorld();
  const damaged = new Set<string>();
  world.target.answer = (text) => {
    damaged.add(`payload-${BUNDLE}`);
    return target(text);
  };
  const node = await startBundleNode(world, { log: damagedLog(world.log, damaged) });
  await world.admit(BUNDLE, [order(1), order(2)]);
  const state = await ended(world);
  await node.stop();
  assert.equal([bundleStatus(state), stepStatuses(state)], ["rolled_back", ["compensated", "skipped"]]);
  assert.equal(arrivedAs(world), ["order.create 1", "order.cancel 1"]);
  const refusal = (await world.log.read(`bundle-${BUNDLE}`, null, 100)).find(({ type }) => type === "StepRefused");
  assert.is(refusal?.data.code, "payload-damaged");
  assert.is(await damageIn(world, `bundle-${BUNDLE}`), 1);
});

/** One node ends before it has admitted this delivery; the payload changes on disk, and another node goes on. */
const takenOver = async (world: BundlesWorld, steps: readonly StepInput[], stream: (bundle: Bundle) => string) => {
  let isOver = false;
  const dying = failingLog(world.log, (it) => it === `delivery-${stream(admitted)}`);
  await world.admit(BUNDLE, steps);
  const admitted = await world.stateOf(BUNDLE);
  const first = await startBundleNode(world, {
    log: dying,
    onError() {
      isOver = true;
    },
  });
  await until("the first node cannot go on", () => isOver);
  await first.stop();
  const damaged = new Set([`payload-${stream(admitted)}`]);
  const second = await startBundleNode(world, { log: damagedLog(world.log, damaged) });
  const state = await ended(world);
  await second.stop();
  assert.is(await damageIn(world, `delivery-${stream(admitted)}`), 1);
  return state;
};

const stepIn = (state: Bundle, index: number) => ("request" in state ? state.request.steps[index] : undefined);

test("a step whose payload has changed on disk is never sent, and has failed", async () => {
  const world = await bundlesWorld();
  world.target.answer = target;
  const state = await takenOver(world, [order(1), order(2)], (it) => stepIn(it, 1)?.event_id ?? "");
  assert.equal([bundleStatus(state), stepStatuses(state)], ["rolled_back", ["compensated", "failed"]]);
  assert.equal(arrivedAs(world), ["order.create 1", "order.cancel 1"]);
});

test("an undo whose payload has changed on disk is never sent, and its step is left to people", async () => {
  const world = await bundlesWorld();
  world.target.answer = target;
  const steps = [order(1), order(2), order(3, "refused")];
  const state = await takenOver(world, steps, (it) => stepIn(it, 1)?.undo_event_id ?? "");
  const statuses = ["compensated", "compensation_failed", "failed"];
  assert.equal([bundleStatus(state), stepStatuses(state)], ["rollback_incomplete", statuses]);
  assert.equal(arrivedAs(world), ["order.create 1", "order.create 2", "order.create 3", "order.cancel 1"]);
});

test("an undo of a step whose own payload has changed on disk knows the step by its webhook-id", async () => {
  const world = await bundlesWorld();
  const damaged = new Set<string>();
  world.target.answer = (text) => {
    for (const { headers } of world.target.arrivals) damaged.add(`payload-${headers["webhook-id"]}`);
    return target(text);
  };
  const node = await startBundleNode(world, { log: damagedLog(world.log, damaged) });
  await world.admit(BUNDLE, [order(1), order(2, "refused")]);
  const state = await ended(world);
  await node.stop();
  assert.equal([bundleStatus(state), stepStatuses(state)], ["rolled_back", ["compensated", "failed"]]);
  const [first, , undo] = world.target.arrivals;
  const body = { payload: null, result: { id: "o-1" }, forward_webhook_id: first?.id };
  assert.equal(JSON.parse(undo?.body ?? ""), body);
});

test("a very long path in a payload is cut in the refusal, and its bundle ends", async () => {
  const world = await bundlesWorld();
  world.target.answer = target;
  const node = await startBundleNode(world);
  // Twice as long as a pointer (RFC 6901, section 3), and said twice in one append: more than that may carry.
  const payload = { ["~".repeat(255_000)]: { $result: { step: 0, pointer: "/nothing" } } };
  await world.admit(BUNDLE, [order(1), { payload, uses_results: true }]);
  const state = await ended(world);
  await node.stop();
  assert.equal([bundleStatus(state), stepStatuses(state)], ["rolled_back", ["compensated", "skipped"]]);
  const detail = state.phase === "running" ? (refusalOf(state.steps[1])?.detail ?? "") : "";
  assert.match(detail, /^\/~0~0.*…: step 0 has answered nothing at "\/nothing"$/);
  assert.ok(detail.length < 400, String(detail.length));
});

test("results that make of a payload more than could have been asked for are refused", async () => {
  const most = 262_144 - Buffer.byteLength('{"order":2,"was":["","","",""]}');
  for (const [length, code] of [
    [most, undefined],
    [most + 1, "payload-too-large"],
  ] as const) {
    const world = await bundlesWorld();
    // So many together.
    const parts = Array.from({ length: 4 }, (_, n) => Math.floor((length + n) / 4));
    const answer = JSON.stringify(parts.map((bytes) => "x".repeat(bytes)));
    world.target.answer = (body) => (body.includes("payload") ? target(body) : answered(200, answer));
    const node = await startBundleNode(world);
    const was = parts.map((_, n) => ({ $result: { step: 0, pointer: `/${n}` } }));
    await world.admit(BUNDLE, [order(1), { payload: { order: 2, was }, uses_results: true }]);
    const state = await ended(world);
    await node.stop();
    assert.is(state.phase === "running" ? refusalOf(state.steps[1])?.code : null, code, `${length}`);
    const skipped = ["rolled_back", ["compensated", "skipped"]];
    assert.equal(
      [bundleStatus(state), stepStatuses(state)],
      code === undefined ? ["committed", ["succeeded", "succeeded"]] : skipped,
    );
  }
});

test("an answer that was cut off, or is no text, gives no result: neither to a later step nor to its undo", async () => {
  const whole = answered(200, '{"id":"o-1"}');
  if (whole.outcome !== "answered") throw new Error("it is answered");
  for (const [first, why] of [
    [{ ...whole, truncated: true }, /cut off/],
    [{ ...whole, body: Buffer.from([0xff, 0x00]) }, /no text/],
  ] as const) {
    const world = await bundlesWorld();
    world.target.answer = () => first;
    const node = await startBundleNode(world);
    const uses = { payload: { order: 2, was: { $result: { step: 0, pointer: "" } } }, uses_results: true };
    await world.admit(BUNDLE, [order(1), uses]);
    const state = await ended(world);
    await node.stop();
    const refusal = state.phase === "running" ? refusalOf(state.steps[1]) : null;
    assert.is(refusal?.code, "unresolved-result");
    assert.match(refusal?.detail ?? "", why);
    assert.is(JSON.parse(world.target.arrivals[1]?.body ?? "").result, null);
  }
});

test("a refused step reports its own cost, and an undo reports its refund", async () => {
  const world = await bundlesWorld();
  const cost = (eur: string) => ({ "countersign-cost-eur": eur });
  world.target.answer = (body) => {
    if (body.includes("forward_webhook_id")) return answered(200, "{}", cost("-1.5"));
    return body.includes("refused") ? answered(422, "{}", cost("0.25")) : answered(200, "{}", cost("2"));
  };
  const node = await startBundleNode(world);
  await world.admit(BUNDLE, [order(1), order(2, "refused")]);
  const state = await ended(world);
  await node.stop();
  assert.is(state.phase === "running" ? state.spent : null, 750_000);
});

for (const [what, byMs] of [
  ["", 0],
  [" also when the clock was set an hour ahead meanwhile,", 3_600_000],
] as const) {
  test(`a bundle that is cancelled while a step runs waits for the step's end,${what} and then undoes all steps`, async () => {
    const world = await bundlesWorld();
    let aheadMs = 0;
    let answer: (sent: SendOutcome) => void = () => undefined;
    world.target.answer = (body) =>
      body.startsWith('{"order":2')
        ? new Promise((resolve) => {
            answer = resolve;
          })
        : target(body);
    const node = await startBundleNode(world, { isAlone: true, clock: { now: () => Date.now() + aheadMs } });
    await world.admit(BUNDLE, [order(1), order(2), order(3)]);
    await until("the second runs", () => world.target.arrivals.length === 2);
    aheadMs = byMs;
    await world.cancel(BUNDLE, "changed my mind");
    await until("its delivery is told", async () => (await world.ofType("CancellationRequested")).length === 1);
    assert.is(world.target.arrivals.length, 2);
    answer(answered(200, '{"id":"o-2"}'));
    const state = await ended(world);
    await node.stop();
    assert.equal(
      [bundleStatus(state), stepStatuses(state)],
      ["rolled_back", ["compensated", "compensated", "skipped"]],
    );
    assert.equal(arrivedAs(world).slice(2), ["order.cancel 2", "order.cancel 1"]);
  });
}

for (const [what, close] of [
  ["is enabled", (world: BundlesWorld) => world.disable()],
  ["is well", (world: BundlesWorld) => world.open()],
] as const) {
  /** The first process is gone, the endpoint takes nothing, and its target answers again. */
  const endedByAnother = async (world: BundlesWorld, first: { stop(): Promise<void> }) => {
    await first.stop();
    await close(world);
    world.target.answer = target;
    const second = await startBundleNode(world, { isAlone: true });
    const state = await ended(world);
    await second.stop();
    return state;
  };

  test(`a bundle that is cancelled while a step's process dies does not wait until the endpoint ${what}`, async () => {
    const world = await bundlesWorld();
    world.target.answer = (body) => (body.startsWith('{"order":2') ? new Promise(() => undefined) : target(body));
    const first = await startBundleNode(world, { isAlone: true });
    await world.admit(BUNDLE, [order(1), order(2)]);
    await until("the second runs", () => world.target.arrivals.length === 2);
    await world.cancel(BUNDLE, "changed my mind");
    await until("its delivery is told", async () => (await world.ofType("CancellationRequested")).length === 1);
    const state = await endedByAnother(world, first);
    assert.equal([bundleStatus(state), stepStatuses(state)], ["rolled_back", ["compensated", "compensated"]]);
    assert.equal(arrivedAs(world).slice(2), ["order.cancel 2", "order.cancel 1"]);
  });

  test(`an undo whose process is gone does not wait until its endpoint ${what}`, async () => {
    const world = await bundlesWorld();
    world.target.answer = (body) => (body.includes('"payload"') ? new Promise(() => undefined) : target(body));
    const first = await startBundleNode(world, { isAlone: true });
    await world.admit(BUNDLE, [order(1), order(2, "refused")]);
    await until("the first is taken back", () => world.target.arrivals.length === 3);
    const state = await endedByAnother(world, first);
    assert.equal([bundleStatus(state), stepStatuses(state)], ["rolled_back", ["compensated", "failed"]]);
    assert.equal(arrivedAs(world).slice(2), ["order.cancel 1", "order.cancel 1"]);
  });
}

test("a suspended agent's bundle starts no further step, and its completed steps are undone", async () => {
  const world = await bundlesWorld();
  world.target.answer = async (body) => {
    if (body.startsWith('{"order":1')) {
      const data = { agent_id: AGENT_ID, reason: words("stop"), by: "mem_1", at: new Date().toISOString() };
      await world.tell({ type: "AgentSuspended", data });
      await until("the bundle is told", async () => (await world.ofType("RollbackStarted")).length === 1);
    }
    return target(body);
  };
  const node = await startBundleNode(world);
  await world.admit(BUNDLE, [order(1), order(2)]);
  const state = await ended(world);
  await node.stop();
  assert.equal([bundleStatus(state), stepStatuses(state)], ["rolled_back", ["compensated", "skipped"]]);
  assert.equal(state.phase === "running" && state.rollback?.reason, {
    sentence: "The agent was suspended",
    words: words("stop"),
  });
});

test("two nodes on one log send each step once", async () => {
  const world = await bundlesWorld();
  world.target.answer = target;
  const both = [await startBundleNode(world), await startBundleNode(world)];
  const ids = Array.from({ length: 20 }, (_, n) => `bun_${String(n).padStart(32, "a")}`);
  // So few that the endpoint is not taken for one that fails.
  const isRefused = (nth: number): boolean => nth % 4 === 0;
  await Promise.all(
    ids.map((id, nth) => world.admit(id, [order(1), order(2), order(3, isRefused(nth) ? "refused" : "ok")])),
  );
  const states = await Promise.all(ids.map((id) => ended(world, id)));
  for (const node of both) await node.stop();
  for (const [nth, state] of states.entries())
    assert.is(bundleStatus(state), isRefused(nth) ? "rolled_back" : "committed");
  const sent = world.target.arrivals.map(({ id }) => id);
  const wanted = 20 * 3 + 5 * 2;
  assert.equal([sent.length, new Set(sent).size], [wanted, wanted]);
});

/** Each webhook-id carries one thing, and each thing is carried by one. */
const onceIsOnce = ({ target: { arrivals } }: BundlesWorld, at: string): void => {
  const ids = new Map<string, Set<string>>();
  for (const { id, body, headers } of arrivals) {
    const what = `${headers["countersign-action"]} ${body}`;
    ids.set(what, (ids.get(what) ?? new Set()).add(id));
  }
  for (const [what, its] of ids) assert.is(its.size, 1, `${what}: ${at}`);
  assert.is(new Set(arrivals.map(({ id }) => id)).size, ids.size, at);
};

for (const side of ["before", "behind"] as const) {
  for (const [name, last, status] of [
    ["commits", "ok", "committed"],
    ["is rolled back", "refused", "rolled_back"],
  ] as const) {
    test(`a process that dies ${side} each append of a bundle that ${name}: another one brings it to the same end`, async () => {
      const lost: string[] = [];
      for (let nth = 1; nth <= APPENDS_MAX; nth += 1) {
        const world = await bundlesWorld();
        world.target.answer = target;
        const mortal = losingLog(world.log, nth, side);
        const first = await startBundleNode(world, { log: mortal.log, isAlone: true, onError: () => undefined });
        await world.admit(BUNDLE, [order(1), order(2, last)]);
        await until("it has ended, or the process is gone", async () => {
          if (mortal.died() !== null) return true;
          return hasEnded(await world.stateOf(BUNDLE)) && (await world.ofType("ReactorCheckpointed")).length > 1;
        });
        const at = `${nth} ${mortal.died() ?? "done"}`;
        lost.push(mortal.died() ?? "done");
        await first.stop();
        const second = await startBundleNode(world, { isAlone: true });
        const state = await ended(world);
        await second.stop();
        // A step whose end died with the process may have been done: sent again, it says so.
        assert.is(bundleStatus(state), status, at);
        onceIsOnce(world, at);
        assert.is((await world.ofType("BundleCostDetermined")).length, 1, at);
        if (mortal.died() === null) break;
      }
      assert.is(lost.at(-1), "done");
      const wanted = ["StepStarted", "EventAdmitted", "AttemptStarted", "PayloadKept"];
      for (const step of last === "ok" ? wanted : [...wanted, "UndoStarted"])
        assert.ok(
          lost.some((it) => it.includes(step)),
          `${step} is among ${lost.join(", ")}`,
        );
    });
  }
}

for (const side of ["before", "behind"] as const) {
  test(`a process that dies ${side} each append of a bundle whose target is gone: another process undoes the completed steps`, async () => {
    for (let nth = 1; nth <= APPENDS_MAX; nth += 1) {
      const world = await bundlesWorld();
      world.target.answer = async (text) => {
        if (!text.startsWith('{"order":2')) return target(text);
        await world.disable();
        return answered(410);
      };
      const mortal = losingLog(world.log, nth, side);
      const first = await startBundleNode(world, { log: mortal.log, isAlone: true, onError: () => undefined });
      await world.admit(BUNDLE, [order(1), order(2)]);
      await until("it has ended, or the process is gone", async () => {
        if (mortal.died() !== null) return true;
        return hasEnded(await world.stateOf(BUNDLE)) && (await world.ofType("ReactorCheckpointed")).length > 1;
      });
      await first.stop();
      // Before that its steps wait for somebody to enable the endpoint.
      if ((await world.ofType("RollbackStarted")).length > 0) {
        const second = await startBundleNode(world, { isAlone: true });
        const at = `${nth} ${mortal.died() ?? "done"}`;
        assert.is(bundleStatus(await ended(world)), "rolled_back", at);
        await second.stop();
        onceIsOnce(world, at);
      }
      if (mortal.died() === null) return;
    }
    assert.unreachable("its appends are more than so many");
  });
}

test("the payload stored for a step is erased if another node ended the bundle before the step started", async () => {
  const world = await bundlesWorld();
  const { log } = world;
  let isEnded = false;
  const node = await startBundleNode(world, {
    log: {
      ...log,
      async append(stream, expected, events) {
        const appended = await log.append(stream, expected, events);
        if (stream.startsWith("payload-evt_") && !isEnded) {
          isEnded = true;
          await world.cancel(BUNDLE, "asked for");
          await world.end(BUNDLE);
        }
        return appended;
      },
    },
  });
  await world.admit(BUNDLE, [order(1)]);
  await ended(world);
  const stored = async () => (await log.readAll(null, 1_000)).filter(({ stream }) => stream.startsWith("payload-evt_"));
  await node.stop();
  assert.equal(await stored(), []);
  assert.equal(world.target.arrivals, []);
});

test.run();
