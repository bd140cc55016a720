import { signal } from "@preact/signals";

/** The present, for countdowns and for what "today" is. A hidden tab does not count. */
export const now = signal(Date.now());

const TICK_MS = 1_000;

export const startClock = (): void => {
  setInterval(() => {
    if (document.visibilityState === "visible") now.value = Date.now();
  }, TICK_MS);
};
