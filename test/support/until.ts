/** Only a failure waits for so long; a machine that does other things takes many times what it takes alone. */
const LIMIT_MS = 120_000;
const POLL_MS = 5;

/** Waits for a condition; fails, naming it, when it does not come about within the limit. */
export const until = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = LIMIT_MS,
): Promise<void> => {
  const end = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};
