import { setTimeout as sleep, setImmediate as yieldToOthers } from "node:timers/promises";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Expected, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";
import { cursorOf, type LogCursor, positionAfter } from "./log-cursor.ts";
import { QuietPoll } from "./quiet-poll.ts";
import type { NotYet, Reaction } from "./reaction.ts";
import type { RecentRecords } from "./recent-records.ts";
import { silentWaits, type Waits } from "./waits.ts";
import { wakeablePause } from "./wakeable-pause.ts";

const PAGE = 500;
const POLL_MS = 1_000;
const GATHER_MS = 25;
/** After so many looks without an event, a checkpoint is written, which limits how much a restart has to read again. */
const EMPTY_LOOKS_MAX = 25;
const BACKOFF_MS = 1_000;
const FAILING_MS = 30_000;

export type ReactorDeps = {
  readonly log: EventLog;
  /** Absent: the reactor looks at the log after each append. */
  readonly recent?: Pick<RecentRecords, "follow" | "readTypes"> | null;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
};

export type ReactorOptions = {
  readonly name: string;
  /** After an append the reactor waits this long for more events, because a look costs more than an event. */
  readonly gatherMs: number;
  readonly failingMs?: number;
  readonly waits?: Waits;
  /** If true, a reactor that has no checkpoint yet starts at the log's end instead of its beginning. */
  readonly beginsAtEnd?: boolean;
  readonly atOnce?: AtOnce;
};

/** Events with the same key are handled in order, up to `keysMax` keys in parallel. */
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

/** An event that fails holds up the next page, so reactions that may wait long have a reactor for themselves. */
export class Reactor {
  readonly #log: EventLog;
  readonly #recent: Pick<RecentRecords, "follow" | "readTypes">;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #options: Required<ReactorOptions>;
  readonly #stream: string;
  readonly #reactions: ReadonlyMap<string, readonly Reaction[]>;
  /** Ids of the events of a page that were handled: after a failure only the others of the page are tried again. */
  readonly #handled = new Set<string>();
  // An append to the log ends the pause between looks, but not this pause after a failure.
  readonly #backoff = wakeablePause();
  readonly #poll = new QuietPoll(POLL_MS);
  #after: Position | null = null;
  #emptyLooks = 0;
  #isStopping = false;
  #failingSince: number | null = null;
  #isWoken = false;
  #endPause: () => void = () => undefined;
  #unsubscribe: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(
    { log, recent, clock, onError }: ReactorDeps,
    reactions: readonly Reaction[],
    options: ReactorOptions = MAIN_REACTOR,
  ) {
    this.#log = log;
    this.#recent = recent ?? {
      follow: (_types, wake) => log.onAppended(wake),
      readTypes: (types, after, limit) => log.readTypes(types, after, limit),
    };
    this.#clock = clock;
    this.#onError = onError;
    this.#options = { ...DEFAULTS, ...options };
    this.#stream = `checkpoint-${options.name}`;
    this.#reactions = grouped(reactions, ({ on }) => on);
  }

  start(): void {
    this.#unsubscribe = this.#recent.follow([...this.#reactions.keys()], () => this.#wake());
    this.#running = this.#follow();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe();
    this.#wake();
    this.#backoff.wake();
    await this.#running;
  }

  /** False once the log or an event has failed or waited for `failingMs`, because all later events wait with it. */
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
        // The embedded log answers at once, so between two pages the thread is left to other work.
        if (outcome === "more") {
          this.#poll.isBusy();
          await yieldToOthers();
        } else await this.#rest();
      } catch (error) {
        this.#onError(error);
        await this.#pauseBeforeRetry();
      }
    }
  }

  async #begin(): Promise<Position | null> {
    const last = await this.#log.last(this.#stream);
    if (last !== null || !this.#options.beginsAtEnd) return positionAfter(this.#log, last);
    // The first checkpoint names its own place in the log. It is written before any reaction: a crash skips no event.
    await this.#checkpoint("begin", { stream: this.#stream, revision: 0 }, "absent");
    return positionAfter(this.#log, await this.#log.last(this.#stream));
  }

  async #page(): Promise<"more" | "end" | NotYet> {
    const from = this.#after;
    const { events, upTo } = await this.#recent.readTypes([...this.#reactions.keys()], from, PAGE);
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

  /** Handles every event that can be handled. Then it rejects with the first failure or returns the first `NotYet`. */
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
      // All reactions to an event run even if one of them has to wait, and then all of them run again.
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
    await this.#pause(this.#poll.ms);
    if (this.#isStopping) return;
    if (!this.#isWoken) return this.#poll.foundNothing();
    this.#poll.isBusy();
    await sleep(this.#options.gatherMs);
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
