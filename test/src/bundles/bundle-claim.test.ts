import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { bundleApprovalDigest } from "../../../src/approvals/approvals.ts";
import type { BundleOrder, BundleStart } from "../../../src/bundles/bundle-claim.ts";
import type { Problem } from "../../../src/streams/problems.ts";
import { type ClaimNode, claimNode, claimsWorld } from "../../support/bundle-claims.ts";
import { ACCOUNT, LEDGER } from "../../support/execute-world.ts";
import { losingLog } from "../../support/losing-log.ts";
import { until } from "../../support/until.ts";

const test = suite("bundles are claimed");
const COST = 2_000_000;
/** More appends than a claim takes. */
const APPENDS_MAX = 20;

type Steps = BundleOrder["steps"];

const orders = (count: number, from = 0): Steps =>
  Array.from({ length: count }, (_, n) => ({ action: "order.create", payload: { order: from + n } }));

const codeOf = (answer: BundleStart | Problem | null): string =>
  answer === null ? "lost" : "problem" in answer ? answer.problem : answer.known.state.phase;

const gatesOf = (answer: BundleStart | Problem): readonly { gate: string; code: string; detail: string }[] => {
  const { verdict } = ("problem" in answer ? answer.extra : null) ?? {};
  // A verdict, as the answer has it.
  return (verdict as unknown as { gates: { gate: string; code: string; detail: string }[] }).gates;
};

const said = (answer: BundleStart | Problem): readonly string[] =>
  gatesOf(answer).map(({ gate, code, detail }) => `${gate} ${code}: ${detail}`);

const running = (answers: readonly (BundleStart | Problem | undefined)[]): number =>
  answers.filter((answer) => answer !== undefined && codeOf(answer) === "running").length;

/** All at once, at two nodes in turn. */
const atOnce = (
  nodes: readonly ClaimNode[],
  count: number,
  steps: (n: number) => Steps,
  over: Partial<BundleOrder> = {},
) => Promise.all(Array.from({ length: count }, (_, n) => nodes[n % nodes.length]?.ask(`key-${n}`, steps(n), over)));

test("60 bundles of three at two nodes against a budget for ten: exactly ten, each with all its places", async () => {
  const world = await claimsWorld({ budget_eur_day: 61 });
  const nodes = [claimNode(world), claimNode(world)];
  assert.is(running(await atOnce(nodes, 60, (n) => orders(3, n * 10))), 10);
  const { reserved, open } = (await nodes[0]?.figures()) ?? {};
  assert.equal([reserved, open], [10 * 3 * COST, 30]);
  // What is left is for less.
  assert.is(codeOf((await nodes[1]?.ask("small", orders(1, 1_000))) ?? null), "gate-budget");
  assert.is(codeOf((await nodes[1]?.ask("free", [{ action: "free.list", payload: {} }])) ?? null), "running");
});

test("a rate counts the steps of bundles and single requests together; a bundle takes places for all steps or for no step", async () => {
  const world = await claimsWorld({ rate_per_minute: 20 });
  const nodes = [claimNode(world), claimNode(world)];
  assert.is(running(await atOnce(nodes, 50, (n) => orders(3, n * 10))), 6);
  assert.is((await nodes[0]?.figures())?.open, 18);
  const [node] = nodes;
  const singles = await Promise.all([1, 2, 3].map((n) => node?.execute(`single-${n}`, "order.create", { n })));
  assert.is(singles.filter((it) => it !== undefined && "eventId" in it).length, 2);
  const refused = await (node as ClaimNode).ask("more", orders(2));
  assert.match(
    said(refused).at(-1) ?? "",
    /^rate rate-reached: 20 of 20 in the last minute, this bundle asks for 2; the next is possible in \d+ s$/,
  );
});

test("more steps than a limit has places never pass, and the answer says that waiting is no use", async () => {
  for (const [policy, gate, over] of [
    [{ rate_per_minute: 3 }, "gate-rate", {}],
    [{ loop: { max_identical: 3, window_s: 60 } }, "gate-loop", {}],
    [{ loop: { max_per_run: 3 } }, "gate-loop", { runId: "r" }],
  ] as const) {
    const node = claimNode(await claimsWorld(policy));
    const same = orders(4).map(({ action }) => ({ action, payload: {} }));
    const refused = await node.ask("key", same, over);
    assert.equal([codeOf(refused), "retryable" in refused && refused.retryable], [gate, false]);
    assert.is("retryAfterS" in refused, false);
  }
});

test("a run's limit and that of repetitions count steps, and an action is the same in a bundle and by itself", async () => {
  const loop = { max_per_run: 7, max_identical: 3, window_s: 60 };
  const world = await claimsWorld({ loop });
  const nodes = [claimNode(world), claimNode(world)];
  assert.is(running(await atOnce(nodes, 20, (n) => orders(3, n * 10), { runId: "run" })), 2);
  const [node] = nodes as [ClaimNode];
  const pair = [0, 1].map(() => ({ action: "order.create", payload: { same: true } }));
  assert.is(codeOf(await node.ask("pair", pair)), "running");
  assert.ok("eventId" in (await node.execute("single", "order.create", { same: true })));
  assert.is(codeOf(await node.ask("again", pair.slice(1))), "gate-loop");
  const mixed = await node.ask("mixed", [...orders(1, 500), ...pair]);
  assert.equal(said(mixed).at(-1), "loop identical-reached: 3 of 3 identical in 60 s, this bundle asks for 2");
  // It gave back what it had taken before.
  assert.is(
    codeOf(
      await node.ask(
        "alone",
        orders(3, 500).map(() => orders(1, 500)[0] as Steps[0]),
      ),
    ),
    "running",
  );
});

test("a step that uses a result is the same as another that uses the same of the same, wherever they stand", async () => {
  const node = claimNode(await claimsWorld({ loop: { max_identical: 1, window_s: 60 } }));
  const pay = (step: number) => ({ action: "free.list", payload: { of: { $result: { step, pointer: "/id" } } } });
  assert.is(codeOf(await node.ask("a", [...orders(1), pay(0)])), "running");
  assert.is(codeOf(await node.ask("b", [...orders(1, 5), pay(0)])), "running");
  const shifted = await node.ask("c", [...orders(1, 6), ...orders(1, 5), pay(1)]);
  assert.is(codeOf(shifted), "gate-loop");
});

test("a bundle with an impossible step is refused with the step's path, and nothing is recorded", async () => {
  const world = await claimsWorld();
  const node = claimNode(world);
  await world.define("odd.create", { reversibility: "compensable", compensation: "gone.cancel" });
  await world.define("seat.reserve", { reversibility: "reversible", compensation: "gone.cancel" });
  const result = (step: unknown) => ({ deep: [{ $result: { step, pointer: "/id" } }] }) as JsonObject;
  const before = (await world.everything()).length;
  for (const [steps, code, path] of [
    [[{ action: "mail.send", payload: {} }, ...orders(1)], "irreversible-not-last", "/steps/0/action"],
    [[...orders(1), { action: "odd.create", payload: {} }], "no-compensation", "/steps/1/action"],
    [[...orders(1), { action: "seat.reserve", payload: {} }], "no-compensation", "/steps/1/action"],
    [[...orders(1), { action: "no.such", payload: {} }], "unknown-action", "/steps/1/action"],
    [[{ action: "order.create", payload: result(0) }], "invalid-bundle", "/steps/0/payload/deep/0"],
    [
      [...orders(1), { action: "order.create", payload: result(2) }, ...orders(1)],
      "invalid-bundle",
      "/steps/1/payload/deep/0",
    ],
    [[...orders(1), { action: "order.create", payload: result("0") }], "invalid-bundle", "/steps/1/payload/deep/0"],
    [
      [...orders(1), { action: "order.create", payload: { $result: { step: 0, pointer: "/id" }, more: 1 } }],
      "invalid-bundle",
      "/steps/1/payload",
    ],
  ] as const) {
    const refused = await node.ask("key", steps);
    assert.equal([codeOf(refused), "errors" in refused && refused.errors?.[0]?.path], [code, path]);
  }
  await world.remove("order.cancel");
  const late = claimNode(world);
  assert.is(codeOf(await late.ask("key", orders(1))), "no-compensation");
  assert.is((await world.everything()).length, before + 1);
  assert.is(codeOf(await late.ask("key", [{ action: "mail.send", payload: {} }])), "running");
});

test("a reversible action is undone by its compensation, and by nothing if it has no compensation", async () => {
  const world = await claimsWorld();
  await world.define("seat.reserve", { reversibility: "reversible", compensation: "order.cancel" });
  const steps = ["seat.reserve", "free.list"].map((action) => ({ action, payload: {} }));
  const begun = await claimNode(world).ask("key", steps);
  const request = "problem" in begun || !("request" in begun.known.state) ? null : begun.known.state.request;
  assert.equal(
    request?.steps.map(({ compensation }) => compensation?.name ?? null),
    ["order.cancel", null],
  );
});

test("an approval that depends on an unknown cost says why the cost is unknown", async () => {
  const approval = { when: "cost_eur >= 100.0", expires_after_s: 60 };
  const node = claimNode(await claimsWorld({ approval }));
  const pay = { action: "order.pay", payload: { amount: { $result: { step: 0, pointer: "/amount" } } } };
  const bundled = said(await node.ask("key", [...orders(1), pay])).at(-1) ?? "";
  assert.match(
    bundled,
    "approval evaluation-error: step 0: approval: the cost is not known: step 1: its amount comes from the result of an earlier step",
  );
  const executed = await node.execute("key", "order.pay", { amountt: 1 });
  const alone = "problem" in executed ? executed.detail : "";
  assert.match(
    alone,
    "the cost is not known: the payload has no amount at /amount, and the action's cost rule has no default_eur",
  );
});

test("outside of its scope an agent learns neither which actions exist nor how they are defined", async () => {
  const world = await claimsWorld();
  await world.scope(["order.*"]);
  const node = claimNode(world);
  const [order] = orders(1) as [Steps[0]];
  for (const action of ["no.such", "mail.send"]) {
    const refused = await node.ask(action, [{ action, payload: {} }, order]);
    assert.is(codeOf(refused), "out-of-scope");
  }
  assert.is(
    codeOf(
      await node.ask("both", [
        { action: "order.no", payload: {} },
        { action: "no.such", payload: {} },
      ]),
    ),
    "out-of-scope",
  );
  const [blocked, ...others] = await world.ofType("BundleBlocked");
  assert.equal([others.length, blocked?.data.key], [0, "mail.send"]);
});

test("one verdict has each gate once, with the worst of all steps; a refused bundle is asked again with its key", async () => {
  const world = await claimsWorld({ require_fields: ["order"], rate_per_minute: 5 });
  const node = claimNode(world);
  const steps = [...orders(2), { action: "order.pay", payload: { order: 1, amount: 101 } }];
  const refused = await node.ask("key", steps);
  assert.equal(
    [codeOf(refused), said(refused).at(-1)],
    ["gate-schema", "schema schema-mismatch: step 2: /amount must be <= 100"],
  );
  const missing = await node.ask("missing", [...orders(1), { action: "free.list", payload: {} }]);
  assert.equal(
    gatesOf(missing).map(({ gate, code }) => `${gate} ${code}`),
    ["scope ok", "require_fields missing-fields"],
  );
  assert.is(gatesOf(missing).at(-1)?.detail, "step 1: missing: order");
  const both = await node.ask("both", [
    ...orders(1),
    ...["free.list", "free.list"].map((action) => ({ action, payload: {} })),
  ]);
  assert.is(
    gatesOf(both).at(-1)?.detail,
    "step 1: missing: order; step 2: missing: order",
    "each refused step is named",
  );
  const again = await node.ask("missing", [...orders(1), { action: "free.list", payload: {} }]);
  assert.is(codeOf(again), "gate-require-fields");
  assert.is((await world.ofType("BundleBlocked")).length, 4);
  assert.is(codeOf(await node.ask("missing", orders(1))), "idempotency-key-reused");
});

test("conditions see the cost of the whole bundle, so splitting does not get below a threshold", async () => {
  const node = claimNode(await claimsWorld({ deny: [{ name: "dear", when: "cost_eur > 5.0" }] }));
  assert.is(codeOf(await node.ask("two", orders(2))), "running");
  assert.is(codeOf(await node.ask("three", orders(3))), "gate-content");
});

test("under a budget the cost of every step has to be known; one that comes from a result is not", async () => {
  const node = claimNode(await claimsWorld({ budget_eur_day: 100 }));
  const pay = (payload: JsonObject): Steps => [...orders(1), { action: "order.pay", payload }];
  assert.is(codeOf(await node.ask("known", pay({ amount: 1.5 }))), "running");
  const refused = await node.ask("unknown", pay({ amount: { $result: { step: 0, pointer: "/amount" } } }));
  assert.is(codeOf(refused), "gate-budget");
  assert.match(gatesOf(refused).at(-1)?.detail ?? "", /step 1: its amount comes from the result of an earlier step/);
  assert.is((await node.figures()).reserved, COST + 1_500_000);
});

test("held it keeps its places and is one approval, of every step in its place", async () => {
  const world = await claimsWorld({ budget_eur_day: 100, approval: { when: "cost_eur > 5.0", expires_after_s: 60 } });
  const node = claimNode(world);
  assert.is(codeOf(await node.ask("small", orders(2))), "running");
  const begun = await node.ask("large", orders(3));
  if ("problem" in begun || begun.known.state.phase !== "held") throw new Error(JSON.stringify(begun));
  const { request, approval } = begun.known.state;
  assert.equal([request.cost, request.ledgers], [3 * COST, [LEDGER]]);
  assert.is(approval.digest, bundleApprovalDigest(ACCOUNT, request));
  const [first, ...rest] = request.steps;
  assert.is.not(approval.digest, bundleApprovalDigest(ACCOUNT, { ...request, steps: first ? [...rest, first] : [] }));
  assert.equal(
    request.steps.map(({ cost, compensation }) => [cost, compensation?.name]),
    Array.from({ length: 3 }, () => [COST, "order.cancel"]),
  );
  const digests = new Set(request.steps.map(({ action }) => action.digest));
  assert.is(digests.size, 3);
  assert.equal([(await node.figures()).open, request.verdict.gates.at(-1)?.detail], [5, "step 0: needs an approval"]);
});

test("sent again it is the same bundle though its actions have changed; with other steps its key is refused", async () => {
  const world = await claimsWorld({ budget_eur_day: 100 });
  const node = claimNode(world);
  const first = await node.ask("key", orders(2));
  await world.define("order.create", { reversibility: "irreversible" });
  const again = await claimNode(world).ask("key", orders(2));
  if ("problem" in first || "problem" in again) return assert.unreachable();
  assert.equal([again.bundleId, first.replayed, again.replayed], [first.bundleId, false, true]);
  for (const others of [orders(1), orders(3), orders(2).toReversed()])
    assert.is(codeOf(await node.ask("key", others)), "idempotency-key-reused");
  assert.is((await node.figures()).open, 2);
});

test("one key at two nodes at once: one bundle, one reservation, and one of all answers is the first", async () => {
  const world = await claimsWorld({ budget_eur_day: 4, rate_per_minute: 2, loop: { max_identical: 2, window_s: 60 } });
  const nodes = [claimNode(world), claimNode(world)];
  const asked = Array.from({ length: 20 }, (_, n) => nodes[n % 2]?.ask("same", [...orders(1), ...orders(1)]));
  const answers = await Promise.all(asked);
  assert.is(running(answers), 20);
  assert.is(answers.filter((it) => it !== undefined && "replayed" in it && !it.replayed).length, 1);
  assert.is((await world.ofType("BundleAdmitted")).length, 1);
  const { open, reserved } = (await nodes[0]?.figures()) ?? {};
  assert.equal([open, reserved], [2, 2 * COST]);
});

test("with one key and other steps at two nodes at once, at most one bundle is admitted, with its own places", async () => {
  const world = await claimsWorld({ rate_per_minute: 10 });
  const nodes = [claimNode(world), claimNode(world)];
  const answers = await Promise.all([1, 3, 2, 3, 1, 2].map((count, n) => nodes[n % 2]?.ask("same", orders(count))));
  const [admitted, ...others] = await world.ofType("BundleAdmitted");
  assert.is(others.length, 0);
  const steps = (admitted?.data.steps as unknown[] | undefined)?.length;
  assert.is((await nodes[0]?.figures())?.open, steps);
  for (const answer of answers)
    assert.ok(
      ["running", "idempotency-key-reused", "gate-rate"].includes(codeOf(answer ?? null)),
      codeOf(answer ?? null),
    );
});

for (const side of ["before", "behind"] as const) {
  test(`its process dies ${side} each append in turn: another one answers the repeat, and the places are those of one`, async () => {
    const steps: string[] = [];
    for (let nth = 1; nth <= APPENDS_MAX; nth += 1) {
      const world = await claimsWorld({
        ...{ budget_eur_day: 5, rate_per_minute: 2 },
        loop: { max_identical: 2, window_s: 60, max_per_run: 2 },
      });
      const mortal = losingLog(world.log, nth, side);
      const run = { runId: "run" };
      await claimNode(world, { log: mortal.log, onError: () => undefined })
        .ask("key", orders(2), run)
        .catch(() => null);
      steps.push(mortal.died() ?? "done");
      const second = claimNode(world, { orphanAgeMs: 0 });
      const step = `${nth} ${steps.at(-1)}`;
      assert.is(codeOf(await second.ask("key", orders(2), run)), "running", step);
      const { open, reserved } = await second.figures();
      assert.equal([open, reserved], [2, 2 * COST], step);
      assert.is((await world.ofType("BundleAdmitted")).length, 1, step);
      assert.is(codeOf(await second.ask("other", orders(1, 9), run)), "gate-rate", step);
      if (mortal.died() === null) break;
    }
    assert.is(steps.at(-1), "done");
    for (const type of ["PayloadKept", "Reserved", "BundleAdmitted"])
      assert.ok(
        steps.some((it) => it.includes(type)),
        steps.join(", "),
      );
  });
}

test("a claim that is slower than the question after it is fenced: it asks the gates again, and nothing is taken twice", async () => {
  const world = await claimsWorld({ budget_eur_day: 4 });
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let isWaiting = false;
  const slow: EventLog = {
    ...world.log,
    async append(stream, expected, events) {
      if (stream.startsWith("bundle-") && !isWaiting) {
        isWaiting = true;
        await gate;
      }
      return world.log.append(stream, expected, events);
    },
  };
  const asked = claimNode(world, { log: slow }).ask("slow", orders(2));
  await until("it is about to claim", () => isWaiting);
  const other = claimNode(world, { orphanAgeMs: 0 });
  assert.is((await other.figures()).open, 0);
  assert.is((await world.ofType("BundleAbandoned")).length, 1);
  // Its money is another's meanwhile.
  assert.is(codeOf(await other.ask("quick", orders(2, 5))), "running");
  goOn();
  assert.is(codeOf(await asked), "gate-budget");
  assert.is((await other.ledgers.figures(LEDGER, ACCOUNT)).reserved, 2 * COST);
});

test.run();
