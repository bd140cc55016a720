import type { EventLog } from "../../domain/ports/event-log.ts";
import { QuietPoll } from "./quiet-poll.ts";
import { wakeablePause } from "./wakeable-pause.ts";

export type PollLoop = {
  start(): void;
  stop(): Promise<void>;
  isStopping(): boolean;
  pause(ms: number): Promise<void>;
};

export type PollLoopOptions = {
  /** Milliseconds from the end of one look to the next. */
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
  /** Given if only records make work for this loop. */
  readonly log?: Pick<EventLog, "onAppended">;
};

/**
 * Calls `look` until stopped. A rejection is only reported. With a `log`, looks are rarer once many have returned false,
 * because they found nothing to do; the next append ends that.
 */
export const pollLoop = (look: () => Promise<unknown>, { everyMs, onError, log }: PollLoopOptions): PollLoop => {
  const rest = wakeablePause();
  const poll = new QuietPoll(everyMs);
  let isStopping = false;
  let running: Promise<void> = Promise.resolve();
  let stopHearing: () => void = () => undefined;

  const loop = async (): Promise<void> => {
    while (!isStopping) {
      const found = await look().catch(onError);
      if (log !== undefined && found === false) poll.foundNothing();
      else poll.isBusy();
      if (!isStopping) await rest.pause(poll.ms);
    }
  };

  const appended = (): void => {
    if (poll.ms > everyMs) rest.wake();
    poll.isBusy();
  };

  return {
    start() {
      stopHearing = log?.onAppended(appended) ?? stopHearing;
      running = loop();
    },
    async stop() {
      isStopping = true;
      stopHearing();
      rest.wake();
      await running;
    },
    isStopping: () => isStopping,
    async pause(ms) {
      await rest.pause(ms);
    },
  };
};
