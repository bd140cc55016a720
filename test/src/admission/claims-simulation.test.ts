import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import type { LedgerEvent } from "../../../domain/ledger/events.ts";
import { emptyLedger, evolveLedger, WINDOW_MS } from "../../../domain/ledger/state.ts";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import type { LedgerMemory } from "../../../src/ledgers/ledgers-in-memory.ts";
import { fieldOf, fullestWindow } from "../../support/log-facts.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import { type MortalLog, mortalLog, nap, ROUNDS, SEED, sumOfRounds } from "../../support/simulation.ts";
import {
  ACCOUNT,
  type ClaimNode,
  type ClaimsWorld,
  claimNode,
  claimsWorld,
  POLICY_ID,
} from "../../support/webhook-claims.ts";

/**
 * Three nodes over one log that is slow at random, refuses appends and loses replies. Senders repeat their webhooks to other
 * nodes with other bodies, the clock jumps beyond the age at which places are asked after, and nodes die. `FUZZ_ROUNDS` says
 * how many rounds; `FUZZ_SEED` repeats those of a failed run.
 */
const test = suite(`claims on three nodes, seed ${SEED}`);

const BUDGET_EUR = 10;
const RATE = 12;
const QUOTA = 9;
const PHASES = 7;
const REQUESTS = 12;
const KEYS = 22;
const COSTS_EUR = [0.5, 1, 2.5, 0.07];
/** A month ends in some of the rounds, and with it the day and the quota. */
const STARTS = ["2026-05-05T12:00:00.000Z", "2026-05-31T23:59:58.500Z"];
const ORPHAN_AGE_MS = 30_000;
/** Some nodes keep one ledger in memory, so they forget the others whenever nothing is under way there. */
const MEMORIES: readonly LedgerMemory[] = [
  { ledgersMax: 5_000, entriesMax: 250_000 },
  { ledgersMax: 1, entriesMax: 250_000 },
  { ledgersMax: 5_000, entriesMax: 3 },
];

type SimulatedNode = ClaimNode & Omit<MortalLog, "log">;

const simulatedNode = (world: ClaimsWorld, random: SeededRandom): SimulatedNode => {
  const { log, kill, unlessDead } = mortalLog(world.log, random);
  const memory = MEMORIES[random.below(MEMORIES.length)];
  return { ...claimNode(world, { log, onError: () => undefined, memory }), kill, unlessDead };
};

/** No request lives longer than 40 s of the clock, as a ledger remembers a settled place for a minute (`WINDOW_MS`). */
const phase = async (world: ClaimsWorld, nodes: SimulatedNode[], random: SeededRandom): Promise<void> => {
  const under: Promise<unknown>[] = [];
  let hasJumped = false;
  for (let n = 0; n < REQUESTS; n += 1) {
    const index = random.below(nodes.length);
    const node = nodes[index] as SimulatedNode;
    const payload = {
      cost: COSTS_EUR[random.below(COSTS_EUR.length)] ?? 1,
      ...(random.next() < 0.85 ? { ok: 1 } : {}),
    };
    const sent = node.send(`key_${random.below(KEYS)}`, payload, random.next() < 0.5);
    under.push(node.unlessDead(sent));
    if (!hasJumped && random.next() < 0.12) {
      world.clock.ms += ORPHAN_AGE_MS + 1_000;
      hasJumped = true;
    }
    if (random.next() < 0.2) {
      for (const each of nodes) under.push(each.unlessDead(each.ledgers.sweep()));
    }
    if (random.next() < 0.03) {
      node.kill();
      nodes[index] = simulatedNode(world, random);
    }
    await nap(random);
  }
  await Promise.all(under);
  world.clock.ms += [500, 5_000, 20_000][random.below(3)] ?? 0;
};

type Facts = { readonly all: readonly RecordedEvent[]; readonly names: readonly string[] };

const facts = async ({ log }: ClaimsWorld): Promise<Facts> => {
  const all = await log.readAll(null, 100_000);
  return { all, names: [...new Set(all.map(({ stream }) => stream))].filter((name) => name.startsWith("ledger-")) };
};

/** Each ledger by the records' own account: never above its limits, and in the end without an open place. */
const checkLedger = (
  name: string,
  { all }: Facts,
  paid: Map<string, Map<string, number>>,
  problems: string[],
): void => {
  const ledger = emptyLedger();
  const isOfPolicy = name.startsWith(`ledger-${POLICY_ID}`);
  for (const event of all.filter(({ stream }) => stream === name)) {
    const before = new Map([...ledger.open].map(([id, { cost }]) => [id, cost]));
    // A ledger's stream holds ledger events alone.
    const fact = event as unknown as LedgerEvent;
    evolveLedger(ledger, fact, event.revision);
    const money = ledger.reserved + ledger.settled;
    if (isOfPolicy && money > BUDGET_EUR * 1_000_000) problems.push(`${name} is above its budget: ${money}`);
    const places = ledger.openCount + ledger.settledCount;
    if (!isOfPolicy && places > QUOTA) problems.push(`${name} is above its quota: ${places}`);
    if (fact.type !== "Settled") continue;
    for (const { event: id, cost } of fact.data.entries) {
      if (!before.has(id) || ledger.open.has(id)) continue;
      const of = paid.get(id) ?? new Map<string, number>();
      paid.set(id, of.set(name, (of.get(name) ?? 0) + cost));
    }
  }
  if (ledger.open.size > 0) problems.push(`${name} has open places: ${[...ledger.open.keys()].join(" ")}`);
};

/** Every admitted event has paid what it cost in a ledger of its policy, and has a place in the quota of its month. */
const checkAdmitted = (event: RecordedEvent, paid: ReadonlyMap<string, ReadonlyMap<string, number>>): string | null => {
  const id = String(fieldOf(event, "event_id"));
  const cost = Number(fieldOf(event, "cost"));
  const of = paid.get(id) ?? new Map<string, number>();
  const inPolicy = [...of].filter(([name]) => name.startsWith(`ledger-${POLICY_ID}`)).map(([, spent]) => spent);
  if (!inPolicy.some((spent) => spent >= cost)) return `${id} costs ${cost} and has paid ${inPolicy.join(", ")}`;
  const month = `ledger-${ACCOUNT}-${String(fieldOf(event, "at")).slice(0, 7)}`;
  return of.has(month) ? null : `${id} has no place in ${month}`;
};

const problemsOf = ({ all, names }: Facts): readonly string[] => {
  const problems: string[] = [];
  const paid = new Map<string, Map<string, number>>();
  for (const name of names) checkLedger(name, { all, names }, paid, problems);
  const admitted = all.filter(({ type }) => type === "EventAdmitted");
  if (new Set(admitted.map(({ stream }) => stream)).size !== admitted.length)
    problems.push("an event is admitted twice");
  for (const event of admitted) {
    const problem = checkAdmitted(event, paid);
    if (problem !== null) problems.push(problem);
  }
  // An event has the place of the last reservation before its admission: a repeat that comes later takes another and gives it back.
  const reservedAt = new Map<string, number>();
  const times: number[] = [];
  for (const event of all) {
    if (event.type === "EventAdmitted") times.push(reservedAt.get(String(fieldOf(event, "event_id"))) ?? 0);
    if (event.type !== "Reserved" || !event.stream.startsWith(`ledger-${POLICY_ID}`)) continue;
    const entries = event.data.entries as unknown as readonly { event: string; at: number }[];
    for (const entry of entries) reservedAt.set(entry.event, entry.at);
  }
  const fullest = fullestWindow(times, WINDOW_MS);
  if (fullest > RATE) problems.push(`${fullest} events were admitted in a minute`);
  return problems;
};

const round = async (random: SeededRandom): Promise<Facts> => {
  const limits = { budget_eur_day: BUDGET_EUR, rate_per_minute: RATE, require_fields: ["ok"] };
  const plan = { ...PLANS.free, eventsPerMonth: QUOTA };
  const world = await claimsWorld(STARTS[random.below(STARTS.length)] ?? "", limits, plan);
  const nodes = [simulatedNode(world, random), simulatedNode(world, random), simulatedNode(world, random)];
  for (let n = 0; n < PHASES; n += 1) await phase(world, nodes, random);
  // A last node asks after everything that is open.
  world.clock.ms += ORPHAN_AGE_MS + 10_000;
  const last = claimNode(world);
  for (const name of (await facts(world)).names) await last.ledgers.figures(name, ACCOUNT);
  return facts(world);
};

test(`in ${ROUNDS} random rounds each event is admitted once and paid for, and no ledger exceeds its limits`, async () => {
  let fences = 0;
  const admitted = await sumOfRounds(async (random) => {
    const found = await round(random);
    assert.equal(problemsOf(found), []);
    fences += found.all.filter(({ type }) => type === "AdmissionAbandoned").length;
    return found.all.filter(({ type }) => type === "EventAdmitted").length;
  });
  assert.ok(admitted > ROUNDS && fences > 0, `${admitted} were admitted, ${fences} fenced`);
});

test.run();
