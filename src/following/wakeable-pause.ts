/** A `wake` while nobody pauses is kept: the next `pause` returns at once. */
export type WakeablePause = {
  wake(): void;
  pause(ms: number): Promise<boolean>;
};

export const wakeablePause = (): WakeablePause => {
  let isWoken = false;
  let endPause: () => void = () => undefined;
  return {
    wake() {
      isWoken = true;
      endPause();
    },
    async pause(ms) {
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          endPause = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const wasWoken = isWoken;
      isWoken = false;
      return wasWoken;
    },
  };
};
