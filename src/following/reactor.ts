import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Expected, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";
import { type Place, placeOf, positionOf } from "./place.ts";
import type { NotYet, Reaction } from "./reaction.ts";
import { untold, type Waits } from "./waits.ts";
import { wakeablePause } from "./wakeable-pause.ts";

export type Reactor = {
  start(): void;
  /** Finishes the events in hand. */
  stop(): Promise<void>;
  /** False when one event, or the log, has failed or waited for some time: what follows from others then waits. */
  healthy(): boolean;
};

const PAGE = 500;
const POLL_MS = 1_000;
/** Under load there is always something new: one look for what came in this time, as a look costs more than an event. */
const GATHER_MS = 25;
/** A look that finds nothing is written down only after so many: what is looked through again after a restart is bounded. */
const LOOKS_MAX = 100;
/** After an error, or a wait, the same event is tried again: nothing is passed over. */
const BACKOFF_MS = 1_000;
/** A log that restarts is back within this. */
const FAILING_MS = 30_000;

export type ReactorDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
};

export type ReactorOptions = {
  /** Of the stream that its checkpoint is kept in, `checkpoint-<name>`: one for each reactor there is. */
  readonly name: string;
  /** Who can wait looks less often: each look reads all that was appended meanwhile. */
  readonly gatherMs: number;
  readonly failingMs?: number;
  /** Told while an event cannot be reacted to yet. */
  readonly waits?: Waits;
  /** Where the log has no checkpoint of its name it begins with what is appended from then on. Left out: at the log's beginning. */
  readonly beginsAtEnd?: boolean;
  /** Left out: all events one behind the other. */
  readonly atOnce?: AtOnce;
};

/** Events of one key are reacted to in their order, those of several keys at once. */
type AtOnce = { readonly keyOf: (event: RecordedEvent) => string; readonly keysMax: number };

const PROCESS_MANAGER: ReactorOptions = { name: "reactor", gatherMs: GATHER_MS };
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
 * Follows the log from its own checkpoint and turns events into commands. The process manager is one (`checkpoint-reactor`);
 * whatever may have to wait for long is another, as an event that fails holds up all behind it.
 */
export const reactor = (
  { log, clock, onError }: ReactorDeps,
  reactions: readonly Reaction[],
  options: ReactorOptions = PROCESS_MANAGER,
): Reactor => {
  const { name, gatherMs, failingMs = FAILING_MS, beginsAtEnd = false, atOnce = IN_ORDER, waits = untold } = options;
  const stream = `checkpoint-${name}`;
  const byType = new Map<string, Reaction[]>();
  for (const reaction of reactions) byType.set(reaction.on, [...(byType.get(reaction.on) ?? []), reaction]);
  const types = [...byType.keys()];
  let after: Position | null = null;
  /** The ids of the events of the page in hand that are dealt with: after a failure, what is left of it is tried again. */
  const done = new Set<string>();
  /** Since the last checkpoint. */
  let looks = 0;
  let stopping = false;
  /** Monotonic; null while nothing fails or waits. */
  let failingSince: number | null = null;
  let wake: () => void = () => undefined;
  let woken = false;
  let running: Promise<void> = Promise.resolve();
  // Of its own: appends wake the other one, and under load what fails would be tried again without a pause.
  const backoff = wakeablePause();

  const checkpoint = async (
    done: string,
    place: Omit<Place, "position">,
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
    if (last !== null || !beginsAtEnd) return positionOf(log, last);
    // The first record of its stream names itself: written before anything is reacted to, so that a crash leaves no gap.
    await checkpoint("begin", { stream, revision: 0 }, "absent");
    return positionOf(log, await log.last(stream));
  };

  const react = async (events: readonly RecordedEvent[]): Promise<NotYet | null> => {
    for (const event of events) {
      if (stopping) return null;
      // One that waits keeps none of the event's others from being done; each may be done again.
      let waiting: NotYet | null = null;
      for (const reaction of byType.get(event.type) ?? []) {
        waiting = (await reaction.run(event, () => stopping)) ?? waiting;
      }
      if (waiting !== null) return waiting;
      done.add(event.id);
    }
    return null;
  };

  /** All of a page that can be done; then rejects with the first failure, or resolves with what the first of the rest waits for. */
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

  /** A record among those that a look has passed over, when it is time to write down how far was looked. */
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

  /** Whether there may be more to read, or what the rest of this page waits for. */
  const page = async (): Promise<boolean | NotYet> => {
    const from = after;
    const { events, upTo } = await log.readTypes(types, from, PAGE);
    const dealtWith = done.size;
    const waiting = await reactToAll(events);
    if (waiting !== null) {
      // Each of several events that wait one after the other has a wait of its own.
      if (done.size > dealtWith) goesOn();
      return waiting;
    }
    if (stopping || upTo === null) return false;
    after = upTo;
    done.clear();
    const last = events.at(-1) ?? (await passedOver(from, upTo));
    if (last === undefined) return true;
    looks = 0;
    await checkpoint(last.id, placeOf(last));
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
          // A log in this process answers without a pause, however much there is to look through.
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
