import * as fc from "fast-check";
import type { Origin } from "../../domain/delivery/events.ts";
import type { Verdict } from "../../domain/gate/verdict.ts";
import { at, deliveryFacts, type Fact, type History, history } from "./history.ts";

/** A path that the decider allows, by the names of the facts. */
const LIVES = [
  ["blocked"],
  ["blocked", "duplicates", "blocked"],
  ["blocked", "admitted", "started", "delivered"],
  ["blocked", "erased", "blocked"],
  ["admitted"],
  ["admitted", "started", "delivered", "erased"],
  ["admitted", "started", "attemptFailed", "started", "delivered"],
  ["admitted", "started", "lastFailed", "failed", "replayed", "started", "delivered"],
  ["admitted", "started", "lastFailed", "failed", "replayed", "started", "lastFailed", "failed", "erased"],
  ["admitted", "started", "lastFailed", "cancelled"],
  ["held"],
  ["held", "released", "started", "delivered"],
  ["held", "holdEnded"],
  ["held", "released", "heldAgain", "releasedAgain", "started", "delivered"],
] as const satisfies readonly (readonly string[])[];

type FactName = (typeof LIVES)[number][number];

const LIVES_MINUTES = 60 * 24 * 5;

const lifeWithin = (minutes: number) =>
  fc.record({
    path: fc.constantFrom<readonly FactName[]>(...LIVES),
    account: fc.constantFrom("acc_1", "acc_2"),
    endpoint: fc.integer({ min: 1, max: 2 }),
    from: fc.constantFrom<Origin>(
      { kind: "source", id: "src_1", name: "shop", type: "stripe" },
      { kind: "source", id: "src_2", name: "shop", type: "stripe" },
      { kind: "agent", id: "agt_1", name: "bot", type: "agent" },
      { kind: "system", id: "endpoint.disabled", name: "endpoint.disabled", type: "notification" },
    ),
    type: fc.constantFrom("refund.create", "refund.list"),
    policy: fc.constantFrom(null, "pol_1", "pol_2"),
    gate: fc.constantFrom("budget" as const, "rate" as const),
    cost: fc.constantFrom(null, 20_000, 1_250_000),
    minute: fc.integer({ min: 0, max: minutes }),
    isRecorded: fc.boolean(),
  });

type Life = ReturnType<typeof lifeWithin> extends fc.Arbitrary<infer L> ? L : never;

const verdictOf = ({ policy, gate }: Life, decision: Verdict["decision"]): Verdict => ({
  decision,
  policy: policy === null ? null : { id: policy, version: 1 },
  gates: decision === "deny" ? [{ gate, outcome: "deny", code: "over", detail: "" }] : [],
});

const factsOf = (one: Life, number: number): readonly Fact[] => {
  const facts = deliveryFacts(`evt_${number}`, `end_${one.endpoint}`);
  const { from: origin, type, cost, minute, path } = one;
  const second = minute * 60 + number;
  // An event that is only recorded is never sent.
  const to = one.isRecorded && path.length === 1 ? { endpoint_id: null } : {};
  const about = { origin, type, cost, received_at: at(second), at: at(second), ...to };
  const made = {
    admitted: () => facts.admitted({ ...about, verdict: verdictOf(one, "allow") }),
    blocked: () => facts.blocked({ ...about, verdict: verdictOf(one, "deny") }),
    held: () => facts.held({}, { ...about, verdict: verdictOf(one, "hold") }),
    heldAgain: () => facts.heldAgain(second + 3, true, about),
    released: () => facts.released(second + 2),
    releasedAgain: () => facts.releasedAgain(second + 4, 0),
    holdEnded: () => facts.holdEnded(second + 5, "rejected"),
    cancelled: () => facts.cancelled(second + 6),
    started: () => facts.started(1, second + 6),
    attemptFailed: () => facts.attemptFailed(1, second + 7, at(second + 9)),
    lastFailed: () => facts.attemptFailed(1, second + 7, null),
    failed: () => facts.failed(second + 8),
    replayed: () => facts.replayed(second + 9),
    delivered: () => facts.delivered(second + 10 + (number % 7), at(second)),
    duplicates: () => facts.duplicates(1, second + 11),
    erased: () => facts.erased(second + 12),
  } satisfies Record<FactName, () => Fact | ReturnType<typeof facts.admitted>>;
  return path.map((name) => made[name]() as Fact);
};

/** A record that changes nothing about an event. */
const UNNAMED: Fact = { type: "PlacesReleased", data: {} };

const mixed = (lives: readonly Life[], choices: Iterator<number>, hasOthers: boolean): History => {
  const log = history();
  for (const [account, time_zone] of [
    ["acc_1", "Asia/Kathmandu"],
    ["acc_2", "UTC"],
  ] as const)
    log.add(
      `account-${account}`,
      { type: "AccountOpened", data: { account, name: account, plan: "free", time_zone, at: at(0) } },
      { account },
    );
  const open = lives.map((one, number) => ({ one, number, left: [...factsOf(one, number)] }));
  while (open.length > 0) {
    const choice = choices.next().value ?? 0;
    if (hasOthers && choice % 2 === 0) log.add("ledger-pol_1", UNNAMED);
    const index = Math.floor(choice / 2) % open.length;
    const next = open[index];
    const fact = next?.left.shift();
    if (next === undefined || fact === undefined) open.splice(index, 1);
    else log.add(`delivery-evt_${next.number}`, fact, { account: next.one.account });
  }
  return log;
};

/** Lives of events of two accounts, one in Kathmandu, mixed at random. */
export const eventLives: fc.Arbitrary<History> = fc
  .tuple(fc.array(lifeWithin(LIVES_MINUTES), { maxLength: 40 }), fc.infiniteStream(fc.nat()))
  .map(([lives, choices]) => mixed(lives, choices, false));

/** Lives within two minutes, so that most totals count several events, between records that change none. */
export const crowdedLives: fc.Arbitrary<History> = fc
  .tuple(fc.array(lifeWithin(1), { maxLength: 40 }), fc.infiniteStream(fc.nat()))
  .map(([lives, choices]) => mixed(lives, choices, true));
