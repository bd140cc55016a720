import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { BundleRequest, StepRefusal } from "../../../domain/bundle/events.ts";
import type { Json } from "../../../domain/json.ts";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { type ClaimsWorld, claimNode, claimsWorld } from "../../support/bundle-claims.ts";
import { TRACE } from "../../support/execute-world.ts";

const test = suite("the gates of a step whose payload was not known");

const FROM_RESULT = { $result: { step: 0, pointer: "/amount" } };
const STEPS = [
  { action: "order.create", payload: { order: 1, amount: 1 } },
  { action: "order.pay", payload: { amount: FROM_RESULT } },
];

const decided = async (policy: Partial<PolicyDefinition>): Promise<{ world: ClaimsWorld; request: BundleRequest }> => {
  const world = await claimsWorld(policy);
  const begun = await claimNode(world).ask("key", STEPS);
  if ("problem" in begun || !("request" in begun.known.state)) throw new Error(JSON.stringify(begun));
  return { world, request: begun.known.state.request };
};

const asking = async (policy: Partial<PolicyDefinition>) => {
  const { world, request } = await decided(policy);
  return {
    world,
    request,
    ask: (payload: Json, isApproved = false): Promise<StepRefusal | null> =>
      claimNode(world).gates({
        request,
        index: 1,
        payload,
        headers: { "user-agent": "test" },
        isApproved,
        trace: TRACE,
      }),
  };
};

test("its action's schema is asked once it is known, by the version that was decided by", async () => {
  const { world, request, ask } = await asking({});
  assert.equal(
    request.verdict.gates.map(({ gate, detail }) => `${gate}: ${detail}`),
    [
      "scope: step 0: the agent's scope includes order.create; step 1: the agent's scope includes order.pay",
      "schema: asked once the payload is known",
    ],
  );
  assert.is(await ask({ amount: 100 }), null);
  const refusal = { code: "schema-mismatch", detail: "/amount must be <= 100" };
  assert.equal(await ask({ amount: 101 }), refusal);
  await world.define("order.pay", { reversibility: "reversible" });
  await world.remove("order.pay");
  assert.equal([await ask({ amount: 100 }), await ask({ amount: 101 })], [null, refusal]);
});

test("of a policy's gates those that read the payload are asked then, and the others were asked before", async () => {
  const { ask, request } = await asking({
    require_fields: ["amount"],
    deny: [
      { name: "robots", when: `headers["user-agent"] == "robot"` },
      { name: "unlucky", when: "action == 'order.pay' && payload.amount == 13" },
    ],
  });
  assert.equal(
    request.verdict.gates.slice(2).map(({ gate, code }) => `${gate} ${code}`),
    ["require_fields ok", "content ok"],
  );
  assert.is(await ask({ amount: 12 }), null);
  assert.equal(await ask({ amount: 13 }), { code: "denied-by-rule", detail: `refused by "unlucky"` });
  assert.is((await ask({ amount: null }))?.code, "schema-mismatch");
  assert.is((await ask({}))?.code, "missing-fields");
});

test("a hold ends an unapproved bundle; an approved bundle continues", async () => {
  const { ask } = await asking({ approval: { when: "payload.amount > 50", expires_after_s: 60 } });
  const first = await ask({ amount: 51 });
  assert.equal(
    [first?.code, await ask({ amount: 51 }, true), await ask({ amount: 50 })],
    ["needs-approval", null, null],
  );
});

test("a condition that does not read the payload holds the bundle before anything runs", async () => {
  const { ask, request } = await asking({ approval: { when: "action == 'order.pay'", expires_after_s: 60 } });
  assert.is(request.verdict.decision, "hold");
  assert.is(await ask({ amount: 1 }, true), null);
});

test("a repetition is counted once its payload is known, once for each step, under the policy of the bundle's verdict", async () => {
  const { world, request } = await decided({ loop: { max_identical: 2, window_s: 60 } });
  const pay = (amount: number, over: Partial<BundleRequest> = {}, node = claimNode(world)) =>
    node.gates({
      ...{ request: { ...request, ...over }, index: 1, payload: { amount } },
      ...{ headers: {}, isApproved: false, trace: TRACE },
    });
  const other = (letter: string) => ({ bundle_id: `bun_${letter.repeat(32)}` });
  // As another process behind a crash.
  assert.equal([await pay(7), await pay(7)], [null, null]);
  assert.is(await pay(7, other("b")), null);
  const refusal = { code: "identical-reached", detail: "2 of 2 identical in 60 s" };
  assert.equal(await pay(7, other("c")), refusal);
  assert.is(await pay(8, other("c")), null);
  assert.is(await pay(7), null);
  // The same as one that is asked for by itself.
  const alone = await claimNode(world).execute("key", "order.pay", { amount: 7 });
  assert.is("problem" in alone ? alone.problem : alone.eventId, "gate-loop");
});

test("a step's repetition stays counted if its process dies before the answer, and its place has no stream", async () => {
  const { world, request } = await decided({ loop: { max_identical: 1, window_s: 60 } });
  const about = { index: 1, payload: { amount: 7 }, headers: {}, isApproved: false, trace: TRACE };
  const { append } = world.log;
  const dying: EventLog = {
    ...world.log,
    append: async (stream, expected, events) => {
      if (events.some(({ type }) => type === "Settled")) throw new LogUnavailable("the process is gone");
      return append(stream, expected, events);
    },
  };
  const first = claimNode(world, { log: dying, onError: () => undefined });
  assert.is(await first.gates({ ...about, request }), null);
  await first.ledgers.idle();
  const again = claimNode(world, { orphanAgeMs: 0 });
  const other = { ...request, bundle_id: `bun_${"b".repeat(32)}` };
  assert.is((await again.gates({ ...about, request: other }))?.code, "identical-reached");
  assert.equal(await world.log.read(`bundle-${request.bundle_id}/1`, null, 1), []);
});

test("where a policy only observes, repetitions are counted and refuse nothing", async () => {
  const { world, request } = await decided({ loop: { max_identical: 1, window_s: 60 }, block_on_violation: false });
  const about = { index: 1, payload: { amount: 7 }, headers: {}, isApproved: false, trace: TRACE };
  for (const letter of ["a", "b"]) {
    const of = { ...request, bundle_id: `bun_${letter.repeat(32)}` };
    assert.is(await claimNode(world).gates({ ...about, request: of }), null);
  }
});

test("a policy that only observes refuses no step, an action's schema does", async () => {
  const { ask } = await asking({ block_on_violation: false, deny: [{ name: "all", when: "payload.amount > 0" }] });
  assert.equal([await ask({ amount: 1 }), (await ask({ amount: 101 }))?.code], [null, "schema-mismatch"]);
});

test.run();
