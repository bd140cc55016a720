import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as assert from "uvu/assert";
import type { BrowserTab } from "./browser.ts";
import { until } from "./program.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The widths at which the console is checked. */
export const WIDTHS = [360, 390, 768, 1_024, 1_440, 1_920];

/**
 * What axe-core finds on the page as it stands: one line for each violation, with its first element. `within` is a CSS selector;
 * what lies below an open layer cannot be used.
 */
export const violations = async (page: BrowserTab, within = "html"): Promise<readonly string[]> => {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(`${AXE}; undefined`);
  // A colour that is still changing has no contrast of its own; what moves for ever cannot be finished.
  await page.evaluate(
    `void document.getAnimations().filter((it) => it.effect.getComputedTiming().endTime < Infinity).forEach((it) => it.finish())`,
  );
  await page.evaluate(`void axe.run(${JSON.stringify(within)}).then(({ violations }) => {
    globalThis.found = violations.map((it) => it.id + ": " + it.nodes[0].html.slice(0, 200) + " " + (it.nodes[0].any[0]?.message ?? ""));
  }); globalThis.found = null`);
  return until("axe has run", () => page.evaluate<readonly string[] | null>("globalThis.found"));
};

/** How many pixels what is drawn is wider than the page, which leaves the place of a scroll bar free. */
export const overflow = (page: BrowserTab): Promise<number> =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.offsetWidth");

/** Opens each path, waits for its text, and looks at it in six widths and two schemes: axe finds nothing, nothing is cut. */
export const fitEverywhere = async (
  page: BrowserTab,
  origin: string,
  places: readonly (readonly [path: string, shows: string])[],
): Promise<void> => {
  for (const [path, shows] of places) {
    await page.shaped({});
    await page.open(origin + path);
    await page.shows(shows);
    // A short page gets a scroll bar, too: with one the place is narrowest.
    await page.evaluate("void (document.documentElement.style.overflowY = 'scroll')");
    for (const width of WIDTHS)
      for (const dark of [false, true]) {
        await page.shaped({ width, dark });
        assert.equal(await violations(page), [], `${path} ${width} ${dark ? "dark" : "light"}`);
        assert.ok((await overflow(page)) <= 0, `${path} at ${width} px`);
      }
  }
  await page.shaped({});
};

/** In the page: what of the open layer reaches beyond the screen at its sides. */
const CUT = `[...document.querySelectorAll("dialog[open], dialog[open] :is(button, input, select, textarea, p, h3)")]
  .filter((it) => it.checkVisibility() && it.getClientRects().length > 0)
  .filter((it) => it.getBoundingClientRect().left < -1 || it.getBoundingClientRect().right > innerWidth + 1)
  .map((it) => it.outerHTML.slice(0, 80))`;

/** Looks at the layer that is open in six widths and two schemes: it stays open, axe finds nothing, nothing of it is cut. */
export const layerFitsEverywhere = async (page: BrowserTab, name: string): Promise<void> => {
  for (const width of WIDTHS)
    for (const dark of [false, true]) {
      const where = `${name} ${width} ${dark ? "dark" : "light"}`;
      await page.shaped({ width, dark });
      const isSeen = "document.querySelector('dialog[open]')?.checkVisibility() === true";
      assert.ok(await page.evaluate<boolean>(isSeen), where);
      assert.equal(await violations(page, "dialog[open]"), [], where);
      assert.ok((await overflow(page)) <= 0, where);
      assert.equal(await page.evaluate(CUT), [], where);
    }
};
