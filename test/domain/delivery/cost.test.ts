import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AttemptEnd, FailureKind } from "../../../domain/delivery/attempt-end.ts";
import type { DeliveryCommand } from "../../../domain/delivery/commands.ts";
import { delivery } from "../../../domain/delivery/decider.ts";
import type { DeliveryEvent, Request } from "../../../domain/delivery/events.ts";
import type { Delivery } from "../../../domain/delivery/state.ts";
import { at, heldFor, request } from "../../support/history.ts";

const test = suite("what a delivery costs");

const LEDGERS = ["ledger-pol_1-2026-03-01"];
const AGENTS: Partial<Request> = {
  origin: { kind: "agent", id: "agt_1", name: "helper", type: "agent" },
  action: { name: "refund.create", version: 1, digest: "d1" },
  run: { id: null, depth: 0 },
  ledgers: LEDGERS,
};

/** An event that is decided on with these commands, a second apart; refusals fail. */
const given = (request: Request, ...commands: readonly DeliveryCommand[]) => {
  const events: DeliveryEvent[] = [];
  let state: Delivery = delivery.initial;
  for (const command of [{ type: "Admit", request } as const, ...commands]) {
    const decision = delivery.decide(command, state);
    if (!decision.ok) throw new Error(`${command.type}: ${decision.rejection}`);
    events.push(...decision.events);
    state = decision.events.reduce(delivery.evolve, state);
  }
  const determined = events.flatMap((event) => (event.type === "CostDetermined" ? [event.data] : []));
  return { state, determined, last: events.at(-1)?.type };
};

const start = (number: number, over: Partial<Extract<DeliveryCommand, { type: "StartAttempt" }>> = {}) =>
  ({
    type: "StartAttempt",
    endpointId: "end_1",
    trigger: "auto",
    node: "node_1",
    at: at(number * 100),
    leaseUntil: at(number * 100 + 20),
    othersAreGone: false,
    ...over,
  }) as const;
const end = (number: number, cost?: number | null): AttemptEnd & { readonly status_code: number } => ({
  event_id: "evt_1",
  endpoint_id: "end_1",
  number,
  at: at(number * 100 + 1),
  duration_ms: 1,
  status_code: 200,
  timings_ms: { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 },
  ...(cost === undefined ? {} : { cost_reported: cost }),
});
const succeed = (number: number, cost?: number | null) => ({ type: "Succeed", end: end(number, cost) }) as const;
const failing = (number: number, kind: FailureKind, next: string | null, cost?: number) =>
  ({
    type: "Fail",
    end: end(number, cost),
    failure: { kind, detail: "" },
    retryable: true,
    nextAttemptAt: next,
  }) as const;
const cancel = (second: number) => ({ type: "Cancel", reason: "suspended", at: at(second) }) as const;

const agents = request(AGENTS);
const of = (...commands: readonly DeliveryCommand[]) => {
  const { determined, state } = given(agents, ...commands);
  assert.is(determined.length, 1);
  const [it] = determined;
  assert.equal([it?.ledgers, it?.estimate], [LEDGERS, 20_000]);
  assert.is("spent" in state ? state.spent : undefined, it?.cost);
  return [it?.cost, it?.basis];
};

test("the cost is the receiver's report in micro-euros, or the estimate without a valid report", () => {
  assert.equal(of(start(1), succeed(1, 7)), [7, "reported"]);
  assert.equal(of(start(1), succeed(1, 0)), [0, "reported"]);
  assert.equal(of(start(1), succeed(1)), [20_000, "estimate"]);
  assert.equal(of(start(1), succeed(1, null)), [20_000, "estimate"]);
});

test("the last reported cost counts, even if later attempts report none", () => {
  const first = [start(1), failing(1, "http-5xx", at(200), 9)] as const;
  assert.equal(of(...first, start(2), succeed(2)), [9, "reported"]);
  assert.equal(of(...first, start(2), succeed(2, null)), [9, "reported"]);
  assert.equal(of(...first, start(2), failing(2, "timeout", null)), [9, "reported"]);
  assert.equal(of(...first, start(2), succeed(2, 4)), [4, "reported"]);
  // A crash during the second one.
  assert.equal(of(...first, start(2), start(3), succeed(3)), [9, "reported"]);
});

test("a failed delivery costs nothing if no attempt reached the receiver, else the last report or the estimate", () => {
  for (const kind of ["dns", "connect", "tls", "blocked-address"] as const)
    assert.equal(of(start(1), failing(1, kind, null)), [null, "not-reached"], kind);
  for (const kind of ["timeout", "reset", "http-5xx", "http-4xx", "redirect", "invalid-response"] as const)
    assert.equal(of(start(1), failing(1, kind, null)), [20_000, "estimate"], kind);
  assert.equal(of(start(1), failing(1, "http-4xx", null, 5)), [5, "reported"]);
  assert.equal(of(start(1), failing(1, "timeout", at(200)), start(2), failing(2, "connect", null)), [
    20_000,
    "estimate",
  ]);
  assert.equal(of(start(1), failing(1, "http-5xx", at(200), 5), start(2), failing(2, "dns", null)), [5, "reported"]);
  const giveUp = {
    type: "GiveUp",
    failure: { kind: "endpoint-deleted", detail: "" },
    node: "node_1",
    othersAreGone: false,
    at: at(150),
  } as const;
  assert.equal(of(giveUp), [null, "not-reached"]);
  assert.equal(of(start(1), giveUp), [20_000, "estimate"]);
});

test("of a request sent twice, the first may have reached the receiver even if the second did not", () => {
  const twice = { ...failing(1, "connect", null), end: { ...end(1), resent: true as const } };
  assert.equal(of(start(1), twice), [20_000, "estimate"]);
});

test("a cancelled delivery costs nothing before the first attempt, and afterwards as much as a failed one", () => {
  assert.equal(of(cancel(50)), [null, "not-reached"]);
  assert.equal(of(start(1), failing(1, "connect", at(200)), cancel(150)), [null, "not-reached"]);
  assert.equal(of(start(1), failing(1, "reset", at(200)), cancel(150)), [20_000, "estimate"]);
  // The lease is over.
  assert.equal(of(start(1), cancel(130)), [20_000, "estimate"]);
  // During the attempt: its end says it.
  assert.equal(of(start(1), cancel(110), failing(1, "connect", at(200))), [null, "not-reached"]);
  assert.equal(of(start(1), cancel(110), succeed(1, 3)), [3, "reported"]);
  assert.equal(of(start(1), cancel(110), start(2)), [20_000, "estimate"]);
  // A crash, and a second attempt that did not get through.
  assert.equal(of(start(1), start(2), failing(2, "dns", null)), [20_000, "estimate"]);
});

test("a source's event has paid at its admission, so its end records no cost", () => {
  assert.equal(given(request(), start(1), succeed(1)).determined, []);
  assert.equal(given(request(), start(1), failing(1, "http-5xx", null)).determined, []);
});

test("a released agent's request costs at its end, a source's event at once, and both nothing without a release", () => {
  const held = (over: Partial<Request>, ...commands: readonly DeliveryCommand[]) => {
    const [hold, ...rest] = [{ type: "Hold", request: request(over), approval: heldFor() } as const, ...commands];
    let state = delivery.initial;
    const costs: unknown[] = [];
    for (const command of [hold, ...rest]) {
      const decision = delivery.decide(command, state);
      if (!decision.ok) throw new Error(`${command.type}: ${decision.rejection}`);
      for (const { type, data } of decision.events)
        if (type === "CostDetermined") costs.push([command.type, data.cost]);
      state = decision.events.reduce(delivery.evolve, state);
    }
    return costs;
  };
  const release = { type: "Release", approvalId: "apr_1", digest: "d1", at: at(90) } as const;
  const expired = { type: "EndHold", outcome: "expired", reason: "late", at: at(90) } as const;
  const source = { ledgers: LEDGERS };
  assert.equal(held(source, release, start(1), succeed(1)), [["Release", 20_000]]);
  assert.equal(held(AGENTS, release, start(1), succeed(1, 4)), [["Succeed", 4]]);
  assert.equal(held(source, expired), [["EndHold", null]]);
  const sample = { sample: { by: { kind: "member", id: "mem_1" } } } as const;
  assert.equal(held(sample, release, start(1), succeed(1)), [], "the estimate is its cost");
  assert.equal(held(sample, cancel(90)), [["Cancel", null]]);
  assert.equal(held({ ...sample, cost: null }, cancel(90)), [], "it had no cost");
  assert.equal(held(AGENTS, cancel(90)), [["Cancel", null]]);
});

test("without an estimate and a ledger no cost is recorded unless the receiver reports one", () => {
  const { ledgers: _, ...free } = request({ ...AGENTS, cost: null });
  assert.equal(given(free, start(1), succeed(1)).determined, []);
  const [said] = given(free, start(1), succeed(1, 8)).determined;
  assert.equal([said?.cost, said?.ledgers, said?.estimate], [8, [], null]);
});

test.run();
