import type { Clock, EventLog, Expected, Position, RecordedEvent } from "../../domain/ports.ts";
import { NO_TRACE, toEvents } from "../envelope.ts";
import { type Place, placeOf, positionOf } from "./place.ts";
import { wakeablePause } from "./wakeable-pause.ts";

/** What follows from an event: a command, idempotent, as it is given again after a crash. */
export type Reaction = {
  readonly on: string;
  /** `isStopping`: what takes long may leave off then, as the event comes again. */
  run(event: RecordedEvent, isStopping?: () => boolean): Promise<void>;
};

export type Reactor = {
  start(): void;
  /** Finishes the events in hand. */
  stop(): Promise<void>;
  /** False when one event, or the log, has failed again and again for some time: what follows from others then waits. */
  healthy(): boolean;
};

const PAGE = 500;
const POLL_MS = 1_000;
/** Under load there is always something new: one look for what came in this time, as a look costs more than an event. */
const GATHER_MS = 25;
/** A look that finds nothing is written down only after so many: what is looked through again after a restart is bounded. */
const LOOKS_MAX = 100;
/** After an error the same event is tried again: nothing is passed over. */
const BACKOFF_MS = 1_000;
/** A log that restarts is back within this. */
const FAILING_MS = 30_000;

export type ReactorOptions = {
  /** Of the stream that its checkpoint is kept in, `checkpoint-<name>`: one for each reactor there is. */
  readonly name: string;
  /** Who can wait looks less often: each look reads all that was appended meanwhile. */
  readonly gatherMs: number;
  readonly failingMs?: number;
  /** Where the log has no checkpoint of its name it begins with what is appended from then on. Left out: at the log's beginning. */
  readonly beginsAtEnd?: boolean;
  /** Left out: all events one behind the other. */
  readonly atOnce?: AtOnce;
};

/** Events of one key are reacted to in their order, those of several keys at once. */
export type AtOnce = { readonly keyOf: (event: RecordedEvent) => string; readonly keysMax: number };

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
  log: EventLog,
  reactions: readonly Reaction[],
  clock: Clock,
  onError: (error: unknown) => void,
  { name, gatherMs, failingMs = FAILING_MS, beginsAtEnd = false, atOnce = IN_ORDER }: ReactorOptions = PROCESS_MANAGER,
): Reactor => {
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
  /** Monotonic; null while nothing fails. */
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
    const envelope = {
      commandId: `${name}/${done}`,
      account: "",
      actor: { kind: "system", id: name },
      trace: NO_TRACE,
      at: new Date(clock.now()).toISOString(),
    } as const;
    await log.append(stream, expected, toEvents([{ type: "ReactorCheckpointed", data: place }], envelope));
  };

  const begin = async (): Promise<Position | null> => {
    const last = await log.last(stream);
    if (last !== null || !beginsAtEnd) return positionOf(log, last);
    // The first record of its stream names itself: written before anything is reacted to, so that a crash leaves no gap.
    await checkpoint("begin", { stream, revision: 0 }, "absent");
    return positionOf(log, await log.last(stream));
  };

  const react = async (events: readonly RecordedEvent[]): Promise<void> => {
    for (const event of events) {
      if (stopping) return;
      for (const reaction of byType.get(event.type) ?? []) await reaction.run(event, () => stopping);
      done.add(event.id);
    }
  };

  /** All of a page, or rejects with the first failure once all that can be done is done. */
  const reactToAll = async (events: readonly RecordedEvent[]): Promise<void> => {
    const keys = byKey(
      events.filter(({ id }) => !done.has(id)),
      atOnce.keyOf,
    );
    const failures: unknown[] = [];
    const worker = async (): Promise<void> => {
      for (let next = keys.shift(); next !== undefined; next = keys.shift()) {
        await react(next).catch((error: unknown) => failures.push(error));
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce.keysMax, keys.length) }, worker));
    if (failures.length > 0) throw failures[0];
  };

  /** A record among those that a look has passed over, when it is time to write down how far was looked. */
  const passedOver = async (from: Position | null, upTo: Position): Promise<RecordedEvent | undefined> => {
    looks += 1;
    if (looks < LOOKS_MAX) return undefined;
    const [first] = await log.readAll(from, 1, "records");
    return first !== undefined && first.position <= upTo ? first : undefined;
  };

  const page = async (): Promise<boolean> => {
    const from = after;
    const { events, upTo } = await log.readTypes(types, from, PAGE);
    await reactToAll(events);
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

  const loop = async (): Promise<void> => {
    while (!stopping) {
      try {
        after ??= await begin();
        woken = false;
        const goesOn = await page();
        failingSince = null;
        if (goesOn) {
          // A log in this process answers without a pause, however much there is to look through.
          await new Promise((resolve) => setImmediate(resolve));
          continue;
        }
        await pause(POLL_MS);
        if (!stopping) await new Promise((resolve) => setTimeout(resolve, gatherMs));
      } catch (error) {
        onError(error);
        failingSince ??= performance.now();
        if (!stopping) await backoff.pause(BACKOFF_MS);
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
