import { wakeablePause } from "./wakeable-pause.ts";

export type PollLoop = {
  start(): void;
  stop(): Promise<void>;
  isStopping(): boolean;
  pause(ms: number): Promise<void>;
};

/** Calls `look` until stopped, each time `everyMs` after the last call has ended. A rejection is only reported. */
export const pollLoop = (
  look: () => Promise<unknown>,
  everyMs: number,
  onError: (error: unknown) => void,
): PollLoop => {
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
