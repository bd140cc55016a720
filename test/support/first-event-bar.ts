import { availableParallelism, loadavg } from "node:os";
import * as assert from "uvu/assert";

/** What a stranger may need from an installed package to a delivered event that they have seen. */
const BAR_S = 60;

/** Where other programs want the processor as well, each second counts for less. */
export const busyness = (): number =>
  Math.max(
    1,
    ...loadavg()
      .slice(0, 2)
      .map((load) => load / availableParallelism()),
  );

export const checkFirstEventBar = (what: string, ms: number): void => {
  const allowed = BAR_S * busyness();
  const seconds = ms / 1_000;
  console.log(
    `       ${what}: the first event was seen after ${seconds.toFixed(1)} s (at most ${allowed.toFixed(0)} s)`,
  );
  assert.ok(seconds <= allowed, `${what}: ${seconds.toFixed(1)} s`);
};
