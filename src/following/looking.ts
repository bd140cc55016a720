import { wakeablePause } from "./wakeable-pause.ts";

export type Looking = {
  start(): void;
  /** Wakes the pause, and is done when the look under way is. */
  stop(): Promise<void>;
  /** A look under way stops at its next step. */
  isStopping(): boolean;
  /** Ends early when stopped. */
  pause(ms: number): Promise<void>;
};

/** Looks again and again until stopped, `everyMs` milliseconds after the last look; one that fails is reported, and looks again. */
export const looking = (look: () => Promise<unknown>, everyMs: number, onError: (error: unknown) => void): Looking => {
  const rest = wakeablePause();
  let isStopping = false;
  let running: Promise<void> = Promise.resolve();

  const loop = async (): Promise<void> => {
    while (!isStopping) {
      await look().catch(onError);
      if (!isStopping) await rest.pause(everyMs);
    }
  };

  return {
    start() {
      running = loop();
    },
    async stop() {
      isStopping = true;
      rest.wake();
      await running;
    },
    isStopping: () => isStopping,
    async pause(ms) {
      await rest.pause(ms);
    },
  };
};
