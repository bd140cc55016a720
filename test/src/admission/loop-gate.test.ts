import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Run } from "../../../domain/delivery/events.ts";
import type { GateResult } from "../../../domain/gate/verdict.ts";
import type { LoopRule } from "../../../domain/ledger/loop.ts";
import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { askLedgers } from "../../../src/admission/ask-ledgers.ts";
import { type LedgerVerdict, ledgerGates } from "../../../src/admission/ledger-gates.ts";
import { mayPassLater } from "../../../src/admission/limit-results.ts";
import { type Ledgers, ledgers } from "../../../src/ledgers/ledgers.ts";

const test = suite("the loop gate");
const TRACE = { trace_id: "1".repeat(32), span_id: "1".repeat(16) };

const world = (startMs = Date.parse("2026-05-05T23:59:00Z")) => {
  const log = memoryEventLog();
  const clock = { ms: startMs };
  let asked = 0;
  const node = (): Ledgers =>
    ledgers({
      log,
      clock: { now: () => clock.ms },
      randomness,
      placeStatus: async () => "open",
      orphanAgeMs: 30_000,
      onError: (error) => {
        throw error;
      },
    });
  const ask = (
    places: Ledgers,
    loop: LoopRule,
    {
      digest = "d",
      run = null,
      more = {},
    }: { digest?: string; run?: Run | null; more?: Partial<PolicyDefinition> } = {},
  ): Promise<LedgerVerdict> => {
    asked += 1;
    return askLedgers(
      ledgerGates(
        {
          account: "acc_1",
          plan: null,
          timeZone: "UTC",
          eventId: `evt_${asked}`,
          policies: [
            { id: "pol_1", definition: { name: "p", loop, ...more }, cost: 1, identical: () => new Map([[digest, 1]]) },
          ],
          run,
          trace: TRACE,
        },
        clock.ms,
      ),
      places,
    );
  };
  return { log, clock, node, ask };
};

const gatesOf = ({ gates, quota }: LedgerVerdict): readonly GateResult[] => [...gates.flat(), ...quota];
const passed = (it: LedgerVerdict): boolean => gatesOf(it).every(({ outcome }) => outcome === "allow");
const said = (it: LedgerVerdict): string[] => gatesOf(it).map(({ gate, code, detail }) => `${gate} ${code}: ${detail}`);

test("of 100 identical requests at two nodes as many are granted as the window takes, also across midnight", async () => {
  const { clock, node, ask } = world();
  const nodes = [node(), node()] as const;
  const loop = { max_identical: 7, window_s: 600 };
  const many = async (count: number) => {
    const all = Array.from({ length: count }, (_, n) => ask(nodes[n % 2] === nodes[0] ? nodes[0] : nodes[1], loop));
    return (await Promise.all(all)).filter(passed).length;
  };
  assert.is(await many(4), 4);
  clock.ms += 120_000;
  assert.is(await many(100), 3);
  // The first four leave the window, to the millisecond.
  clock.ms += 480_000 - 1;
  assert.is(await many(10), 0);
  clock.ms += 1;
  assert.is(await many(100), 4);
});

test("each digest and each window is counted separately", async () => {
  const { node, ask } = world();
  const places = node();
  const loop = { max_identical: 1, window_s: 60 };
  assert.ok(passed(await ask(places, loop)));
  assert.ok(passed(await ask(places, loop, { digest: "other" })));
  const refused = await ask(places, loop);
  assert.equal(said(refused), ["loop identical-reached: 1 of 1 identical in 60 s"]);
  assert.is(refused.retryAfterS, 60);
  assert.ok(passed(await ask(places, { max_identical: 1, window_s: 61 })));
});

test("a run's requests count as long as it lasts, and no other run's do", async () => {
  const { clock, node, ask } = world();
  const places = node();
  const loop = { max_per_run: 2 };
  const run = { id: "a run / with any name", depth: 0 };
  assert.ok(passed(await ask(places, loop, { run })));
  clock.ms += 86_400_000;
  assert.ok(passed(await ask(places, loop, { run })));
  const refused = await ask(node(), loop, { run });
  assert.equal(said(refused), ["loop run-used-up: 2 of 2 in this run"]);
  assert.is(refused.retryAfterS, null);
  assert.ok(gatesOf(refused).every((gate) => !mayPassLater(gate)));
  assert.ok(passed(await ask(places, loop, { run: { id: "another", depth: 0 } })));
  assert.ok(passed(await ask(places, loop, { run: { id: null, depth: 0 } })));
});

test("depth is compared without a ledger", async () => {
  const { log, node, ask } = world();
  const places = node();
  const deep = (depth: number) => ask(places, { max_depth: 2 }, { run: { id: null, depth } });
  assert.equal(said(await deep(1)), ["loop ok: depth 2 of 2"]);
  assert.equal(said(await deep(2)), ["loop too-deep: depth 3 of 2"]);
  assert.equal(await log.readAll(null, 10), []);
  // A source's event is at no depth.
  assert.equal(said(await ask(places, { max_depth: 1 })), ["loop ok: nothing to count"]);
});

test("a request denied by one limit holds no place in the others, nor in the day's ledger", async () => {
  const { node, ask } = world();
  const places = node();
  const loop = { max_identical: 2, window_s: 60, max_per_run: 1 };
  const more = { rate_per_minute: 10, budget_eur_day: 1 };
  const run = { id: "r", depth: 0 };
  const first = await ask(places, loop, { run, more });
  assert.equal(
    first.reservations.map(({ lasts }) => lasts),
    [true, false, false],
  );
  const refused = await ask(places, loop, { run, more });
  assert.equal([gatesOf(refused).map(({ gate }) => gate), refused.reservations], [["rate", "loop", "budget"], []]);
  const second = await ask(places, loop, { run: { id: "s", depth: 0 }, more });
  assert.equal(said(second), [
    "rate ok: 1 of 10 in the last minute",
    "loop ok: 1 of 2 identical in 60 s, 0 of 1 in this run",
    "budget ok: 0.00 of 1.00 EUR used today, this one costs 0.00 EUR",
  ]);
});

test("a request that an observing policy would stop goes on and takes no place in its loop", async () => {
  const { node, ask } = world();
  const places = node();
  const watched = { max_identical: 1, window_s: 60, max_per_run: 1 };
  const more = { block_on_violation: false, rate_per_minute: 10 };
  const run = (id: string) => ({ run: { id, depth: 0 }, more });
  assert.is((await ask(places, watched, run("a"))).reservations.length, 3);
  const seen = await ask(places, watched, run("b"));
  assert.equal(
    gatesOf(seen).map(({ code }) => code),
    ["ok", "identical-reached"],
  );
  assert.is(seen.reservations.length, 1);
  assert.ok(passed(await ask(places, watched, { ...run("b"), digest: "other" })));
});

test.run();
