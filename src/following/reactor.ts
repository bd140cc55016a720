import { setTimeout as sleep, setImmediate as yieldToOthers } from "node:timers/promises";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Expected, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";
import { cursorOf, type LogCursor, positionAfter } from "./log-cursor.ts";
import type { NotYet, Reaction } from "./reaction.ts";
import { silentWaits, type Waits } from "./waits.ts";
import { wakeablePause } from "./wakeable-pause.ts";

const PAGE = 500;
const POLL_MS = 1_000;
const GATHER_MS = 25;
/** After so many looks that found nothing, a checkpoint bounds the records that a restart reads again. */
const EMPTY_LOOKS_MAX = 100;
const BACKOFF_MS = 1_000;
const FAILING_MS = 30_000;

export type ReactorDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
};

export type ReactorOptions = {
  readonly name: string;
  /** Events gather for this time before a look, because a look costs more than an event. */
  readonly gatherMs: number;
  readonly failingMs?: number;
  readonly waits?: Waits;
  /** Without a checkpoint the reactor then starts at the log's end, not at its beginning. */
  readonly beginsAtEnd?: boolean;
  readonly atOnce?: AtOnce;
};

/** Events with one key are handled in order, those with different keys in parallel. */
type AtOnce = { readonly keyOf: (event: RecordedEvent) => string; readonly keysMax: number };

const MAIN_REACTOR: ReactorOptions = { name: "reactor", gatherMs: GATHER_MS };
const DEFAULTS = {
  failingMs: FAILING_MS,
  waits: silentWaits,
  beginsAtEnd: false,
  atOnce: { keyOf: () => "", keysMax: 1 },
};

const grouped = <T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
};

/** An event that fails holds up all later ones, so reactions that may wait long have a reactor for themselves. */
export class Reactor {
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #options: Required<ReactorOptions>;
  readonly #stream: string;
  readonly #reactions: ReadonlyMap<string, readonly Reaction[]>;
  /** Ids of the handled events of a page: after a failure, only the others are tried again. */
  readonly #handled = new Set<string>();
  // An append ends a pause, but not the pause after a failure.
  readonly #backoff = wakeablePause();
  #after: Position | null = null;
  #emptyLooks = 0;
  #isStopping = false;
  #failingSince: number | null = null;
  #isWoken = false;
  #endPause: () => void = () => undefined;
  #unsubscribe: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(
    { log, clock, onError }: ReactorDeps,
    reactions: readonly Reaction[],
    options: ReactorOptions = MAIN_REACTOR,
  ) {
    this.#log = log;
    this.#clock = clock;
    this.#onError = onError;
    this.#options = { ...DEFAULTS, ...options };
    this.#stream = `checkpoint-${options.name}`;
    this.#reactions = grouped(reactions, ({ on }) => on);
  }

  start(): void {
    this.#unsubscribe = this.#log.onAppended(() => this.#wake());
    this.#running = this.#follow();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe();
    this.#wake();
    this.#backoff.wake();
    await this.#running;
  }

  /** False if the log, or one event, has failed or waited for `failingMs`: all later events then wait as well. */
  healthy(): boolean {
    return this.#failingSince === null || performance.now() - this.#failingSince < this.#options.failingMs;
  }

  async #follow(): Promise<void> {
    while (!this.#isStopping) {
      try {
        this.#after ??= await this.#begin();
        this.#isWoken = false;
        const outcome = await this.#page();
        if (typeof outcome === "object") {
          this.#options.waits.waiting(outcome.waitsFor);
          await this.#pauseBeforeRetry();
          continue;
        }
        this.#succeed();
        // An embedded log answers without a pause, so other work gets its turn here.
        if (outcome === "more") await yieldToOthers();
        else await this.#rest();
      } catch (error) {
        this.#onError(error);
        await this.#pauseBeforeRetry();
      }
    }
  }

  async #begin(): Promise<Position | null> {
    const last = await this.#log.last(this.#stream);
    if (last !== null || !this.#options.beginsAtEnd) return positionAfter(this.#log, last);
    // The first record names itself. It is written before any reaction, so that a crash leaves no gap.
    await this.#checkpoint("begin", { stream: this.#stream, revision: 0 }, "absent");
    return positionAfter(this.#log, await this.#log.last(this.#stream));
  }

  async #page(): Promise<"more" | "end" | NotYet> {
    const from = this.#after;
    const { events, upTo } = await this.#log.readTypes([...this.#reactions.keys()], from, PAGE);
    const before = this.#handled.size;
    const waiting = await this.#reactToAll(events);
    if (waiting !== null) {
      if (this.#handled.size > before) this.#succeed();
      return waiting;
    }
    if (this.#isStopping || upTo === null) return "end";
    this.#after = upTo;
    this.#handled.clear();
    const last = events.at(-1) ?? (await this.#recordWithoutReaction(from, upTo));
    if (last === undefined) return "more";
    this.#emptyLooks = 0;
    await this.#checkpoint(last.id, cursorOf(last));
    return "more";
  }

  /** Handles all events that can be handled, then rejects with the first failure or resolves with the first wait. */
  async #reactToAll(events: readonly RecordedEvent[]): Promise<NotYet | null> {
    const { keyOf, keysMax } = this.#options.atOnce;
    const unhandled = events.filter(({ id }) => !this.#handled.has(id));
    const lanes = [...grouped(unhandled, keyOf).values()];
    const failures: unknown[] = [];
    const waiting: NotYet[] = [];
    const worker = async (): Promise<void> => {
      for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift()) {
        try {
          const reacted = await this.#react(lane);
          if (reacted !== null) waiting.push(reacted);
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(keysMax, lanes.length) }, worker));
    if (failures.length > 0) throw failures[0];
    return waiting[0] ?? null;
  }

  async #react(events: readonly RecordedEvent[]): Promise<NotYet | null> {
    for (const event of events) {
      if (this.#isStopping) return null;
      // A waiting reaction does not hold up the event's other reactions, and each of them may run again.
      let waiting: NotYet | null = null;
      for (const reaction of this.#reactions.get(event.type) ?? []) {
        waiting = (await reaction.run(event, () => this.#isStopping)) ?? waiting;
      }
      if (waiting !== null) return waiting;
      this.#handled.add(event.id);
    }
    return null;
  }

  async #recordWithoutReaction(from: Position | null, upTo: Position): Promise<RecordedEvent | undefined> {
    this.#emptyLooks += 1;
    if (this.#emptyLooks < EMPTY_LOOKS_MAX) return undefined;
    const [first] = await this.#log.readAll(from, 1, "records");
    return first !== undefined && first.position <= upTo ? first : undefined;
  }

  async #checkpoint(done: string, at: Omit<LogCursor, "position">, expected: Expected = "any"): Promise<void> {
    const { name } = this.#options;
    const envelope = systemEnvelope({
      actor: name,
      commandId: `${name}/${done}`,
      at: new Date(this.#clock.now()).toISOString(),
    });
    await this.#log.append(this.#stream, expected, toEvents([{ type: "ReactorCheckpointed", data: at }], envelope));
  }

  #succeed(): void {
    this.#failingSince = null;
    this.#options.waits.over();
  }

  async #pauseBeforeRetry(): Promise<void> {
    this.#failingSince ??= performance.now();
    if (!this.#isStopping) await this.#backoff.pause(BACKOFF_MS);
  }

  async #rest(): Promise<void> {
    await this.#pause(POLL_MS);
    if (!this.#isStopping) await sleep(this.#options.gatherMs);
  }

  #wake(): void {
    this.#isWoken = true;
    this.#endPause();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isWoken) return resolve();
      const timer = setTimeout(resolve, ms).unref();
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
