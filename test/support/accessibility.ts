import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { BrowserPage } from "./browser.ts";
import { until } from "./program.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The widths at which the console is checked. */
export const WIDTHS = [360, 390, 768, 1_024, 1_440, 1_920];

/** What axe-core finds on the page as it stands: one line for each violation, with its first element. */
export const violations = async (page: BrowserPage): Promise<readonly string[]> => {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(`${AXE}; undefined`);
  // A colour that is still changing has no contrast of its own; what moves for ever cannot be finished.
  await page.evaluate(
    `void document.getAnimations().filter((it) => it.effect.getComputedTiming().endTime < Infinity).forEach((it) => it.finish())`,
  );
  await page.evaluate(`void axe.run().then(({ violations }) => {
    globalThis.found = violations.map((it) => it.id + ": " + it.nodes[0].html.slice(0, 200) + " " + (it.nodes[0].any[0]?.message ?? ""));
  }); globalThis.found = null`);
  return until("axe has run", () => page.evaluate<readonly string[] | null>("globalThis.found"));
};

/** How many pixels the page is wider than the window. */
export const overflow = (page: BrowserPage): Promise<number> =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
