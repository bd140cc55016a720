import { accept, type Decider } from "../../domain/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { personalData } from "../erasure/personal-data.ts";
import type { Envelope, Fact } from "../streams/envelope.ts";
import { runCommand, type StreamState } from "../streams/run-command.ts";
import type { Draft, Tally } from "./tally.ts";

/** A record has up to three kilobytes, so a batch of this many is far below the size limit of an append. */
const BATCH_MAX = 100;
const WRITES_AT_ONCE = 64;

export const recording: Decider<null, readonly Fact[], Fact, never> = {
  initial: null,
  evolve: () => null,
  decide: (facts) => accept(...facts),
};

type Batch = {
  readonly stream: string;
  readonly drafts: Draft[];
  readonly envelope: Envelope;
  facts: readonly Fact[] | null;
  /** The stream's end before the first try, from where a repeated try is recognised; null until the first try. */
  from: StreamState<null> | null;
};

const keyOf = ({ stream, actor }: Tally): string => `${stream} ${actor.kind} ${actor.id}`;

/** Counts that wait for the log: one batch, which becomes one append, for each stream and actor. */
export class TallyBatches {
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #personal: ReturnType<typeof personalData>;
  readonly #batches = new Map<string, Batch>();

  constructor(log: EventLog, clock: Clock, randomness: Randomness) {
    this.#log = log;
    this.#clock = clock;
    this.#randomness = randomness;
    this.#personal = personalData(log, randomness);
  }

  get size(): number {
    return this.#batches.size;
  }

  has(tally: Tally): boolean {
    return this.#batches.has(keyOf(tally));
  }

  /**
   * Returns whether a tally may add to its batch. A batch whose append failed takes no more: it is sent again as it
   * was.
   */
  openings(): (tally: Tally) => boolean {
    const unwritten = new Set(this.#batches.keys());
    return (tally) => {
      const key = keyOf(tally);
      return !unwritten.has(key) && (this.#batches.get(key)?.drafts.length ?? 0) < BATCH_MAX;
    };
  }

  put(tally: Tally, draft: Draft): void {
    const key = keyOf(tally);
    const batch = this.#batches.get(key);
    if (batch !== undefined) {
      batch.drafts.push(draft);
      return;
    }
    const { account, actor, trace, stream } = tally;
    const at = new Date(this.#clock.now()).toISOString();
    const envelope = { commandId: randomId("cmd_", this.#randomness), account, actor, trace, at };
    this.#batches.set(key, { stream, drafts: [draft], envelope, facts: null, from: null });
  }

  /** Rejects with the log's first error. The batches that were not written stay for the next call. */
  async write(): Promise<void> {
    const waiting = [...this.#batches];
    for (let from = 0; from < waiting.length; from += WRITES_AT_ONCE) {
      const some = waiting.slice(from, from + WRITES_AT_ONCE);
      const written = await Promise.allSettled(some.map(([key, batch]) => this.#append(key, batch)));
      const failed = written.find((it) => it.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    }
  }

  async #append(key: string, batch: Batch): Promise<void> {
    // The batch moves to the end, so that next time a stream that cannot be written delays no other stream.
    this.#batches.delete(key);
    this.#batches.set(key, batch);
    const { stream, envelope } = batch;
    batch.facts ??= await this.#factsOf(batch);
    batch.from ??= { state: null, revision: (await this.#log.last(stream))?.revision ?? null };
    await runCommand(this.#log, { decider: recording, stream, from: batch.from, command: batch.facts, envelope });
    this.#batches.delete(key);
  }

  async #factsOf({ stream, drafts, envelope }: Batch): Promise<readonly Fact[]> {
    for (const sample of drafts.flatMap(({ samples }) => samples))
      sample.commitment ??= await this.#personal.keep(stream, sample.client, envelope);
    return drafts.flatMap(({ facts }) => facts());
  }
}
