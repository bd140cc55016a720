import { wakeablePause } from "./wakeable-pause.ts";

export type PollLoop = {
  start(): void;
  stop(): Promise<void>;
  isStopping(): boolean;
  pause(ms: number): Promise<void>;
};

/** Calls `look` until stopped, with pauses of `everyMs`; a rejection is reported, and the loop goes on. */
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
