import type { BrowserPage } from "./browser.ts";
import { until } from "./program.ts";

/** What a page took, at the pace of a machine that has nothing else to do. */
export type Taken = {
  /** From the first act until what was waited for was drawn. */
  readonly ms: number;
  /** The longest task of the page's thread meanwhile; 0 if none took 50 ms, which is where Chromium begins to tell of them. */
  readonly longestMs: number;
};

/** A fixed piece of work, as long as a task may be, took this long on an idle machine like those of CI. */
const IDLE_MS = 100;
const WORK = `(() => {
  const began = performance.now();
  let text = "";
  for (let nth = 0; nth < 240_000; nth += 1) text += JSON.stringify({ nth, name: "row " + nth });
  globalThis.worked = text.length;
  return performance.now() - began;
})()`;

/**
 * How much slower than an idle machine this one is at the moment, at least 1: other tests share its processors, and a
 * task is interrupted by them as this work is.
 */
const slowness = async (page: BrowserPage): Promise<number> => {
  const times: number[] = [];
  for (let nth = 0; nth < 3; nth += 1) times.push(await page.evaluate<number>(WORK));
  return Math.max(1, times.reduce((sum, it) => sum + it, 0) / times.length / IDLE_MS);
};

const OBSERVE = `(() => {
  globalThis.longTasks ??= new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map((it) => it.duration)));
  globalThis.longTasks.observe({ type: "longtask" });
  globalThis.longTasks.takeRecords();
  globalThis.tasks = [];
  globalThis.taken = null;
})()`;

/**
 * Does `act` in the page and measures until `isDone` holds, both JavaScript expressions. What the page does within the two
 * frames after that counts, too.
 */
export const taken = async (page: BrowserPage, act: string, isDone: string): Promise<Taken> => {
  const before = await slowness(page);
  await page.evaluate(OBSERVE);
  await page.evaluate(`(() => {
    const began = performance.now();
    const look = () => {
      if (!(${isDone})) return requestAnimationFrame(look);
      const ms = performance.now() - began;
      requestAnimationFrame(() => setTimeout(() => { globalThis.taken = ms; }, 50));
    };
    ${act};
    requestAnimationFrame(look);
  })()`);
  const ms = await until(`${isDone} holds`, () => page.evaluate<number | null>("globalThis.taken"));
  const tasks = await page.evaluate<readonly number[]>("globalThis.tasks");
  const factor = Math.max(before, await slowness(page));
  return { ms: ms / factor, longestMs: Math.max(0, ...tasks) / factor };
};
