/**
 * How fast a browser's scripts run here, in the field's measure: the benchmark index of Lighthouse, which is half strings
 * that are built and thrown away, half numbers that are copied.
 *
 * Source: computeBenchmarkIndex in Lighthouse, core/lib/page-functions.js, and the classes of devices in
 * docs/throttling.md there: 1,500 and more is a fast desktop, 800 to 1,200 a fast phone, 125 to 800 one of the middle.
 */
import type { BrowserPage } from "../../test/support/browser.ts";

/** A device four times slower than the slowest of the fast desktops: what Lighthouse's factor of four stands for. */
export const MIDDLE_PHONE = 1_500 / 4;

const PART_MS = 500;
const LETTERS = 10_000;
const NUMBERS = 100_000;
/** The clock is asked after so many copies, since asking it takes time as well. */
const COPIES = 10;
/** Both halves are divided by ten, to be of the size of an earlier definition. */
const SCALE = 10;

const INDEX = `(() => {
  const perSecond = (turn, step) => {
    const start = performance.now();
    let turns = 0;
    while (performance.now() - start < ${PART_MS}) for (let i = 0; i < step; i += 1) turn(turns++);
    return turns / ((performance.now() - start) / 1000) / ${SCALE};
  };
  const numbers = [0, 1].map(() => Array.from({ length: ${NUMBERS} }, (_, i) => i));
  const strings = perSecond(() => {
    let text = "";
    for (let j = 0; j < ${LETTERS}; j += 1) text += "a";
    if (text.length !== ${LETTERS}) throw new Error("a string was built wrongly");
  }, 1);
  const copies = perSecond((turn) => {
    const [from, to] = [numbers[turn % 2], numbers[(turn + 1) % 2]];
    for (let j = 0; j < from.length; j += 1) to[j] = from[j];
  }, ${COPIES});
  return (strings + copies) / 2;
})()`;

/** Takes a second; the page must not be slowed down. */
export const benchmarkIndexOf = (page: BrowserPage): Promise<number> => page.evaluate<number>(INDEX);
