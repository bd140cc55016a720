import type { Clock, EventLog, Position, RecordedEvent } from "../../domain/ports.ts";
import { NO_TRACE, toEvents } from "../envelope.ts";
import { placeOf, positionOf } from "./place.ts";

/** What follows from an event: a command, idempotent, as it is given again after a crash. */
export type Reaction = { readonly on: string; run(event: RecordedEvent): Promise<void> };

export type Reactor = {
  start(): void;
  /** Finishes the event in hand. */
  stop(): Promise<void>;
  /** False when one event, or the log, has failed again and again for some time: what follows from others then waits. */
  healthy(): boolean;
};

const PAGE = 500;
const POLL_MS = 1_000;
/** Under load there is always something new: one look for what came in this time, as a look costs more than an event. */
const GATHER_MS = 25;
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
};

const PROCESS_MANAGER: ReactorOptions = { name: "reactor", gatherMs: GATHER_MS };

/**
 * Follows the log from its own checkpoint and turns events into commands. The process manager is one (`checkpoint-reactor`);
 * whatever may have to wait for long is another, as an event that fails holds up all behind it.
 */
export const reactor = (
  log: EventLog,
  reactions: readonly Reaction[],
  clock: Clock,
  onError: (error: unknown) => void,
  { name, gatherMs, failingMs = FAILING_MS }: ReactorOptions = PROCESS_MANAGER,
): Reactor => {
  const stream = `checkpoint-${name}`;
  const byType = new Map<string, Reaction[]>();
  for (const reaction of reactions) byType.set(reaction.on, [...(byType.get(reaction.on) ?? []), reaction]);
  const types = [...byType.keys()];
  let after: Position | null = null;
  /** Dealt with, and not yet written down. */
  let unsaved: RecordedEvent | null = null;
  let stopping = false;
  /** Monotonic; null while nothing fails. */
  let failingSince: number | null = null;
  let wake: () => void = () => undefined;
  let woken = false;
  let running: Promise<void> = Promise.resolve();

  const checkpoint = async (event: RecordedEvent): Promise<void> => {
    const envelope = {
      commandId: `${name}/${event.id}`,
      account: "",
      actor: { kind: "system", id: name },
      trace: NO_TRACE,
      at: new Date(clock.now()).toISOString(),
    } as const;
    const events = toEvents([{ type: "ReactorCheckpointed", data: placeOf(event) }], envelope);
    await log.append(stream, "any", events);
  };

  const page = async (): Promise<boolean> => {
    const { events, upTo } = await log.readTypes(types, after, PAGE);
    for (const event of events) {
      for (const reaction of byType.get(event.type) ?? []) await reaction.run(event);
      after = event.position;
      unsaved = event;
      if (stopping) return false;
    }
    if (upTo === null) return false;
    after = upTo;
    // Looking alone is not written down: after a restart it is looked again for the few types that there is a reaction to.
    if (unsaved !== null) await checkpoint(unsaved);
    unsaved = null;
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
        after ??= await positionOf(log, await log.last(stream));
        woken = false;
        const goesOn = await page();
        failingSince = null;
        if (goesOn) continue;
        await pause(POLL_MS);
        if (!stopping) await new Promise((resolve) => setTimeout(resolve, gatherMs));
      } catch (error) {
        onError(error);
        failingSince ??= performance.now();
        woken = false;
        await pause(BACKOFF_MS);
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
      await running;
    },
    healthy: () => failingSince === null || performance.now() - failingSince < failingMs,
  };
};
