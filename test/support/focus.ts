import type { BrowserPage } from "./browser.ts";
import { until } from "./program.ts";

/**
 * In the page: what is wrong with how the focus is seen (WCAG 2.2, success criteria 2.4.7 and 2.4.11); null if nothing is, or if
 * nothing has the focus. A thing is looked at where it is on the screen, as a browser may scroll to a part of it.
 */
const FAULT = `(() => {
let it = document.activeElement;
while (it?.shadowRoot?.activeElement) it = it.shadowRoot.activeElement;
if (it === null || it === document.body || it === document.documentElement) return null;
const name = it.tagName + " " + (it.getAttribute("aria-label") ?? it.labels?.[0]?.innerText ?? it.innerText ?? "").trim().slice(0, 60);
const isOutlined = (shown) => {
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(shown);
  return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && !/, 0\\)$/.test(outlineColor);
};
const editor = it.closest(".cm-editor"); // Its text has the focus, and the whole editor shows it.
const frames = [it, ...(it.labels ?? []), it.parentElement, editor, it.getRootNode().host].filter((frame) => frame instanceof Element);
const shown = frames.find(isOutlined);
if (shown === undefined) return name + " has the focus and does not show it";
const barOver = (top) => {
  for (let bar = top; bar !== null && !bar.contains(it); bar = bar.parentElement)
    if (["sticky", "fixed"].includes(getComputedStyle(bar).position)) return bar;
  return null;
};
for (const box of shown.getClientRects()) {
  const [left, right] = [Math.max(box.left, 0) + 3, Math.min(box.right, innerWidth) - 3];
  const [top, bottom] = [Math.max(box.top, 0) + 3, Math.min(box.bottom, innerHeight) - 3];
  if (left > right || top > bottom) return name + " has the focus and is not on the screen";
  const middle = [(left + right) / 2, (top + bottom) / 2];
  for (const [x, y] of [middle, [left, top], [right, top], [left, bottom], [right, bottom]]) {
    const bar = barOver(document.elementFromPoint(x, y));
    if (bar !== null) return name + " has the focus and is behind " + bar.outerHTML.slice(0, 120);
  }
}
return null; })()`;

/** What has the focus may be scrolled to a little after the key. */
const SEEN_MS = 30_000;

/** What is wrong with how the focus is seen; null as soon as nothing is. */
export const focusFault = async (page: BrowserPage): Promise<string | null> => {
  let fault: string | null = null;
  const isSeen = async (): Promise<boolean> => {
    fault = await page.evaluate<string | null>(FAULT);
    return fault === null;
  };
  await until("the focus is seen", isSeen, SEEN_MS).catch(() => undefined);
  return fault;
};
