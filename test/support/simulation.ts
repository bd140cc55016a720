import type { EventLog } from "../../domain/ports/event-log.ts";
import { LogUnavailable, OutcomeUnknown } from "../../infra/log-errors.ts";
import { appendingLog } from "./appending-log.ts";
import { type SeededRandom, seededRandom } from "./seeded-random.ts";

/** How many rounds a simulation has. */
export const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 5);
/** The seed of the first round; each further round has the next one. */
export const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);

/** Turns of the event loop instead of time: so the seed alone decides what comes first. */
export const nap = async (random: SeededRandom): Promise<void> => {
  for (let turns = random.next() < 0.6 ? 1 : random.below(24); turns > 0; turns -= 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
};

export type MortalLog = {
  readonly log: EventLog;
  /** From here on the node's reads and appends never end. */
  kill(): void;
  /** Ends with the work, or with the node. The log's own failures reach the caller, who may come again. */
  readonly unlessDead: (work: Promise<unknown>) => Promise<unknown>;
};

/** The log as a node sees it: slow at random, it refuses appends and loses replies, and the node can die. */
export const mortalLog = (whole: EventLog, random: SeededRandom): MortalLog => {
  let isDead = false;
  let die = (): void => undefined;
  const death = new Promise<void>((resolve) => {
    die = resolve;
  });
  const alive = async (): Promise<void> => {
    await nap(random);
    if (isDead) await new Promise<never>(() => undefined);
  };
  const appending = appendingLog(whole, async (...args) => {
    await alive();
    if (random.next() < 0.02) throw new LogUnavailable("away");
    const appended = await whole.append(...args);
    await alive();
    if (random.next() < 0.04) throw new OutcomeUnknown("lost");
    return appended;
  });
  const log: EventLog = {
    ...appending,
    read: async (...args) => alive().then(() => whole.read(...args)),
    last: async (...args) => alive().then(() => whole.last(...args)),
  };
  return {
    log,
    kill() {
      isDead = true;
      die();
    },
    unlessDead: (work) =>
      Promise.race([
        death,
        work.catch((error) => {
          if (!(error instanceof LogUnavailable) && !(error instanceof OutcomeUnknown)) throw error;
        }),
      ]),
  };
};

/** A sum that is still 0 after its rounds gets so many times more, because a test that found nothing to count shows nothing. */
const MORE_ROUNDS = 20;

/** The sum of the rounds' results. Prints the seed of a round that fails. */
export const sumOfRounds = async (round: (random: SeededRandom) => Promise<number>): Promise<number> => {
  let sum = 0;
  for (let n = 0; n < ROUNDS || (sum === 0 && n < ROUNDS * MORE_ROUNDS); n += 1) {
    try {
      sum += await round(seededRandom(SEED + n));
    } catch (error) {
      console.log(`FUZZ_SEED=${SEED + n} FUZZ_ROUNDS=1`);
      throw error;
    }
  }
  return sum;
};
