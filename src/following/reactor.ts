import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Expected, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";
import { cursorOf, type LogCursor, positionAfter } from "./log-cursor.ts";
import type { NotYet, Reaction } from "./reaction.ts";
import { silentWaits, type Waits } from "./waits.ts";
import { wakeablePause } from "./wakeable-pause.ts";

export type Reactor = {
  start(): void;
  stop(): Promise<void>;
  /** False if the log, or one event, has failed or waited for `failingMs`: all later events then wait as well. */
  healthy(): boolean;
};

const PAGE = 500;
const POLL_MS = 1_000;
/** Milliseconds between looks. A look costs more than an event, so events are gathered. */
const GATHER_MS = 25;
/** A look that finds nothing is checkpointed only this often. It bounds what a restart reads again. */
const LOOKS_MAX = 100;
const BACKOFF_MS = 1_000;
const FAILING_MS = 30_000;

export type ReactorDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
};

export type ReactorOptions = {
  readonly name: string;
  /** Milliseconds between looks. A reactor that can wait should: each look reads everything appended since. */
  readonly gatherMs: number;
  readonly failingMs?: number;
  readonly waits?: Waits;
  /** Without a checkpoint, starts at the log's end. Left out: at its beginning. */
  readonly beginsAtEnd?: boolean;
  /** Left out: one event after another. */
  readonly atOnce?: AtOnce;
};

/** Events with one key are handled in order, those with different keys in parallel. */
type AtOnce = { readonly keyOf: (event: RecordedEvent) => string; readonly keysMax: number };

const MAIN_REACTOR: ReactorOptions = { name: "reactor", gatherMs: GATHER_MS };
const IN_ORDER: AtOnce = { keyOf: () => "", keysMax: 1 };

const byKey = (events: readonly RecordedEvent[], keyOf: AtOnce["keyOf"]): RecordedEvent[][] => {
  const keys = new Map<string, RecordedEvent[]>();
  for (const event of events) {
    const key = keyOf(event);
    const others = keys.get(key);
    if (others === undefined) keys.set(key, [event]);
    else others.push(event);
  }
  return [...keys.values()];
};

/**
 * Follows the log from a checkpoint and turns events into commands. An event that fails holds up all later ones, so
 * reactions that may wait long have a reactor for themselves.
 */
export const reactor = (
  { log, clock, onError }: ReactorDeps,
  reactions: readonly Reaction[],
  options: ReactorOptions = MAIN_REACTOR,
): Reactor => {
  const {
    name,
    gatherMs,
    failingMs = FAILING_MS,
    beginsAtEnd = false,
    atOnce = IN_ORDER,
    waits = silentWaits,
  } = options;
  const stream = `checkpoint-${name}`;
  const byType = new Map<string, Reaction[]>();
  for (const reaction of reactions) byType.set(reaction.on, [...(byType.get(reaction.on) ?? []), reaction]);
  const types = [...byType.keys()];
  let after: Position | null = null;
  /** Ids of the handled events of this page: after a failure, only the others are tried again. */
  const done = new Set<string>();
  let looks = 0;
  let stopping = false;
  let failingSince: number | null = null;
  let wake: () => void = () => undefined;
  let woken = false;
  let running: Promise<void> = Promise.resolve();
  // Appends end the other pause; after a failure they must not.
  const backoff = wakeablePause();

  const checkpoint = async (
    done: string,
    place: Omit<LogCursor, "position">,
    expected: Expected = "any",
  ): Promise<void> => {
    const envelope = systemEnvelope({
      actor: name,
      commandId: `${name}/${done}`,
      at: new Date(clock.now()).toISOString(),
    });
    await log.append(stream, expected, toEvents([{ type: "ReactorCheckpointed", data: place }], envelope));
  };

  const begin = async (): Promise<Position | null> => {
    const last = await log.last(stream);
    if (last !== null || !beginsAtEnd) return positionAfter(log, last);
    // The first record names itself. It is written before any reaction, so that a crash leaves no gap.
    await checkpoint("begin", { stream, revision: 0 }, "absent");
    return positionAfter(log, await log.last(stream));
  };

  const react = async (events: readonly RecordedEvent[]): Promise<NotYet | null> => {
    for (const event of events) {
      if (stopping) return null;
      // A reaction that waits does not hold up the event's other reactions. Each of them may run again.
      let waiting: NotYet | null = null;
      for (const reaction of byType.get(event.type) ?? []) {
        waiting = (await reaction.run(event, () => stopping)) ?? waiting;
      }
      if (waiting !== null) return waiting;
      done.add(event.id);
    }
    return null;
  };

  /** Handles all events that can be handled, then rejects with the first failure or resolves with the first wait. */
  const reactToAll = async (events: readonly RecordedEvent[]): Promise<NotYet | null> => {
    const keys = byKey(
      events.filter(({ id }) => !done.has(id)),
      atOnce.keyOf,
    );
    const failures: unknown[] = [];
    const waiting: NotYet[] = [];
    const worker = async (): Promise<void> => {
      for (let next = keys.shift(); next !== undefined; next = keys.shift()) {
        try {
          const reacted = await react(next);
          if (reacted !== null) waiting.push(reacted);
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce.keysMax, keys.length) }, worker));
    if (failures.length > 0) throw failures[0];
    return waiting[0] ?? null;
  };

  const passedOver = async (from: Position | null, upTo: Position): Promise<RecordedEvent | undefined> => {
    looks += 1;
    if (looks < LOOKS_MAX) return undefined;
    const [first] = await log.readAll(from, 1, "records");
    return first !== undefined && first.position <= upTo ? first : undefined;
  };

  const goesOn = (): void => {
    failingSince = null;
    waits.over();
  };

  const page = async (): Promise<boolean | NotYet> => {
    const from = after;
    const { events, upTo } = await log.readTypes(types, from, PAGE);
    const dealtWith = done.size;
    const waiting = await reactToAll(events);
    if (waiting !== null) {
      // Progress ends the wait of an earlier event.
      if (done.size > dealtWith) goesOn();
      return waiting;
    }
    if (stopping || upTo === null) return false;
    after = upTo;
    done.clear();
    const last = events.at(-1) ?? (await passedOver(from, upTo));
    if (last === undefined) return true;
    looks = 0;
    await checkpoint(last.id, cursorOf(last));
    return true;
  };

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (woken) return resolve();
      const timer = setTimeout(resolve, ms);
      timer.unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const tryAgain = async (): Promise<void> => {
    failingSince ??= performance.now();
    if (!stopping) await backoff.pause(BACKOFF_MS);
  };

  const loop = async (): Promise<void> => {
    while (!stopping) {
      try {
        after ??= await begin();
        woken = false;
        const isMore = await page();
        if (typeof isMore === "object") {
          waits.waiting(isMore.waitsFor);
          await tryAgain();
          continue;
        }
        goesOn();
        if (isMore) {
          // An embedded log answers without a pause: let other work have its turn.
          await new Promise((resolve) => setImmediate(resolve));
          continue;
        }
        await pause(POLL_MS);
        if (!stopping) await new Promise((resolve) => setTimeout(resolve, gatherMs));
      } catch (error) {
        onError(error);
        await tryAgain();
      }
    }
  };

  let silence: () => void = () => undefined;
  return {
    start() {
      silence = log.onAppended(() => {
        woken = true;
        wake();
      });
      running = loop();
    },
    async stop() {
      stopping = true;
      silence();
      woken = true;
      wake();
      backoff.wake();
      await running;
    },
    healthy: () => failingSince === null || performance.now() - failingSince < failingMs,
  };
};
