import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { OutcomeUnknown } from "../../../infra/log-errors.ts";
import { costReactions } from "../../../src/execute/reactions.ts";
import { dayLedger } from "../../../src/ledgers/policy-days.ts";
import { NO_TRACE } from "../../../src/streams/envelope.ts";
import { NOON_DAY } from "../../support/noon-clock.ts";
import { ACCOUNT, POLICY_ID, replayNode, replayWorld } from "../../support/replay-world.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import { ROUNDS, SEED, sumOfRounds } from "../../support/simulation.ts";

/**
 * An attempt has reached nobody. Two nodes give back what an agent's request had reserved, while both replay it and sweep.
 * The event of a source was approved before the attempt, which has spent its cost: nobody gives that back.
 * `FUZZ_ROUNDS` says how many rounds; `FUZZ_SEED` repeats those of a failed run.
 */
const test = suite(`places of replays on two nodes, seed ${SEED}`);
const LEDGER = dayLedger(POLICY_ID, NOON_DAY);
const COST = 2_000_000;
const CYCLES = 3;
const UNREACHED = { kind: "connect", detail: "Nobody listens there" } as const;

const nap = async (random: SeededRandom): Promise<void> => {
  for (let turns = random.below(12); turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
};

const slowLog = (log: EventLog, random: SeededRandom): EventLog => ({
  ...log,
  async append(...args) {
    await nap(random);
    const appended = await log.append(...args);
    await nap(random);
    if (random.next() < 0.03) throw new OutcomeUnknown("lost");
    return appended;
  },
  async read(...args) {
    await nap(random);
    return log.read(...args);
  },
});

const round = async (random: SeededRandom, kind: "agent" | "source"): Promise<number> => {
  const world = await replayWorld({ budget_eur_day: 2 });
  const node = () => replayNode(world, { log: slowLog(world.log, random) });
  const nodes = [await node(), await node()] as const;
  const id = kind === "agent" ? await world.askedFor(1, false, LEDGER) : await world.approved(1, LEDGER);
  const policy = { account: ACCOUNT, id: POLICY_ID, timeZone: "UTC" };
  await nodes[0].ledgers.reserveDay({ policy, event: id, cost: COST, limits: { budget: COST }, trace: NO_TRACE });
  let replays = 0;
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const ended = (await world.ofType("CostDetermined")).at(-1);
    if (ended === undefined) throw new Error("the request has not ended");
    const react = async (by: (typeof nodes)[number]): Promise<void> => {
      await nap(random);
      const [reaction] = costReactions({ ledgers: by.ledgers, timeZoneOf: async () => "UTC" });
      await reaction?.run(ended);
    };
    const under: Promise<unknown>[] = [];
    for (const by of nodes) {
      under.push(react(by));
      if (random.next() < 0.7) under.push(nap(random).then(() => by.replay(id, cycle * 2 + under.length)));
      if (random.next() < 0.3) under.push(nap(random).then(() => by.ledgers.sweep()));
      if (random.next() < 0.2) world.clock.advance(31_000);
    }
    await Promise.all(under);
    world.clock.advance(31_000);
    const { reserved, settled } = await nodes[random.below(2) as 0 | 1].ledgers.figures(LEDGER, ACCOUNT);
    const { length } = await world.ofType("EventReplayed");
    const isReplayed = length > replays;
    replays = length;
    const expected = kind === "source" ? [0, COST] : [isReplayed ? COST : 0, 0];
    assert.equal([reserved, settled], expected, `${kind}, cycle ${cycle}, replayed: ${isReplayed}`);
    if (isReplayed) await world.attempt(id, UNREACHED);
  }
  for (const by of nodes) await by.stop();
  return replays;
};

test(`${ROUNDS} rounds: a replay holds the place of an agent's request again, and an approved event stays paid for`, async () => {
  const replays = await sumOfRounds(async (random) => (await round(random, "agent")) + (await round(random, "source")));
  assert.ok(replays > 0);
});

test.run();
