import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { RUNNING_MAX } from "../../../domain/replay/places.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { testClock } from "../../support/http-app.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import { mortalLog, nap, ROUNDS, SEED, sumOfRounds } from "../../support/simulation.ts";
import { startingNode } from "../../support/starting-node.ts";

/**
 * Three nodes start and end replays of one account, repeat commands at other nodes, lose replies and die, while the clock
 * jumps forward and back. `FUZZ_ROUNDS` says how many rounds; `FUZZ_SEED` repeats those of a failed run.
 */
const test = suite(`places of replays that start on three nodes, seed ${SEED}`);
const CALLS = 180;
const NUMBERS = 60;
/** Longer than a request that has taken a place may need to start its replay. */
const JUMP_MS = 31_000;
/** Longer than all jumps of a round together. */
const LATER_MS = 60 * 60 * 1_000;

type Clock = ReturnType<typeof testClock>;

const mortalNode = (whole: EventLog, clock: Clock, random: SeededRandom) => {
  const mortal = mortalLog(whole, random);
  return { ...startingNode(mortal.log, clock), kill: mortal.kill, unlessDead: mortal.unlessDead };
};

/** How many replays run, how many ran at most, and how many requests were kept from starting theirs. */
const factsOf = async (log: EventLog) => {
  const running = new Set<string>();
  let [most, fences] = [0, 0];
  for (const { type, stream } of await log.readAll(null, 100_000)) {
    if (type === "ReplayStarted") {
      assert.not(running.has(stream), "a replay is started twice");
      running.add(stream);
      most = Math.max(most, running.size);
    }
    if (type === "ReplayFinished" || type === "ReplayCancelled") running.delete(stream);
    if (type === "ReplayAbandoned") fences += 1;
  }
  return { running: running.size, most, fences };
};

const round = async (random: SeededRandom): Promise<number> => {
  const [log, clock] = [memoryEventLog(), testClock()];
  const nodes = [mortalNode(log, clock, random), mortalNode(log, clock, random), mortalNode(log, clock, random)];
  const under: Promise<unknown>[] = [];
  for (let n = 0; n < CALLS; n += 1) {
    const index = random.below(nodes.length);
    const node = nodes[index] as (typeof nodes)[number];
    const number = random.below(NUMBERS);
    const how = random.next() < 0.5 ? "FinishReplay" : "CancelReplay";
    under.push(node.unlessDead(random.next() < 0.2 ? node.end(number, how) : node.start(number)));
    if (random.next() < 0.08) clock.advance(random.next() < 0.2 ? -JUMP_MS : JUMP_MS);
    if (random.next() < 0.05) {
      node.kill();
      nodes[index] = mortalNode(log, clock, random);
    }
    await nap(random);
  }
  await Promise.all(under);
  const { most, fences } = await factsOf(log);
  assert.ok(most <= RUNNING_MAX, `${most} replays ran at once`);
  clock.advance(LATER_MS);
  const last = startingNode(log, clock);
  for (let number = NUMBERS; (await last.start(number)) === "started"; ) number += 1;
  assert.is((await factsOf(log)).running, RUNNING_MAX, "no place is lost");
  return fences;
};

test(`${ROUNDS} rounds: no more replays run than may, and no place is lost`, async () => {
  const fences = await sumOfRounds(round);
  assert.ok(fences > 0);
});

test.run();
