/**
 * Measures what a tab keeps that shows a live list for a working day. The tab's clock runs faster: its timers and its
 * present follow it, so that in minutes it reads, hears and draws as often as in hours. The stream and the list are made
 * in the tab, because the service would refuse so many reads a minute; the rows are copies of a real one.
 *
 *     npm run bench:tab                    eight hours, in some minutes
 *     npm run bench:tab -- --hours 1
 *
 * Needs a browser (BROWSER_BINARY, or one that is found). The exit code is 1 if the tab has more than 150 MB, or has grown
 * since the first eighth.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { type BrowserPage, browserHere } from "../test/support/browser.ts";
import { until } from "../test/support/program.ts";
import { sceneInBrowser, WHO } from "../test/support/scene-in-browser.ts";
import { openSignedIn } from "../test/support/signed-in.ts";
import { amount, table } from "./bench/table.ts";

const BYTES_MAX = 150_000_000;
/** What a collection of garbage leaves differs by as much. */
const NOISE_BYTES = 3_000_000;
const PARTS = 8;
const SPEED = 100;
/** Two events a second, each of which is admitted, sent and delivered. */
const FRAMES_A_SECOND = 6;
/** The rows that a tab keeps at most. */
const ROWS_MAX = 2_000;
/** A slow machine draws less often than the clock asks for, so a part takes longer than its time. */
const PART_LIMIT_MS = 1_800_000;

const { values: flags } = parseArgs({ options: { hours: { type: "string", default: "8" } } });
const hours = Number(flags.hours);

/** In the page, before its own scripts. */
const FAST = `(() => {
  const began = Date.now();
  const told = globalThis.told = { frames: 0, reads: 0 };
  const RealDate = Date;
  const now = () => began + (RealDate.now() - began) * ${SPEED};
  globalThis.Date = class extends RealDate {
    constructor(...given) { if (given.length === 0) super(now()); else super(...given); }
    static now() { return now(); }
  };
  const [later, again] = [globalThis.setTimeout, globalThis.setInterval];
  globalThis.setTimeout = (what, ms = 0, ...given) => later(what, ms / ${SPEED}, ...given);
  globalThis.setInterval = (what, ms = 0, ...given) => again(what, ms / ${SPEED}, ...given);
  let source = null;
  globalThis.EventSource = class {
    constructor() { source = this; later(() => this.onopen?.()); }
    close() {}
  };
  let newest = 100_000;
  let row = null;
  const made = (n) => ({
    ...structuredClone(row), id: "evt_" + String(n).padStart(32, "a"), received_at: new Date(now()).toISOString(),
    status: n % 50 === 0 ? "failed" : n > newest - 4 ? "queued" : "delivered",
  });
  const answer = (body) => new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
  const kept = new Map();
  const ask = globalThis.fetch.bind(globalThis);
  globalThis.fetch = async (...given) => {
    const url = new URL(given[0].url ?? given[0], location.href);
    const { searchParams: query } = url;
    if (row !== null && url.pathname === "/v1/events") {
      const ids = query.get("ids");
      if (ids !== null) return answer({ data: ids.split(",").map((id) => made(Number(id.slice(4).replaceAll("a", "")))), next_cursor: null });
      const limit = Number(query.get("limit") ?? 50);
      const from = Number(query.get("cursor") ?? newest);
      if (limit > 1 && !query.has("cursor")) told.reads += 1;
      const data = Array.from({ length: limit }, (_, at) => made(from - at));
      return answer({ data, next_cursor: String(from - limit), total: 10_000, total_is_more: true });
    }
    const key = url.pathname + url.search;
    if (row !== null && kept.has(key)) return new Response(kept.get(key));
    const real = await ask(...given);
    if (real.ok) kept.set(key, await real.clone().text());
    return real;
  };
  globalThis.flood = (first) => {
    row = first;
    again(() => {
      for (let part = 0; part < ${FRAMES_A_SECOND / 2}; part += 1) {
        if (part === 0) newest += 1;
        const id = "evt_" + String(newest - part).padStart(32, "a");
        source?.onmessage?.({ data: JSON.stringify({ topic: "events", id, status: "delivered", position: String(newest) }) });
        told.frames += 1;
      }
    }, 500 / ${SPEED});
  };
})()`;

type Line = Told & {
  readonly hour: number;
  readonly nodes: number;
  readonly heap: number;
  readonly process: number | null;
};

type Told = { readonly frames: number; readonly reads: number };

const MB = 1_000_000;
const told = (page: BrowserPage): Promise<Told> => page.evaluate<Told>("told");
const rowsOf = (page: BrowserPage): Promise<number> =>
  page.evaluate("document.querySelectorAll('main tbody tr').length");

/** As much of the list as a tab keeps. */
const loadAll = async (page: BrowserPage): Promise<void> => {
  // The scene has a few events: what came since is shown first, and has further pages.
  const press = `(() => {
    const more = [...document.querySelectorAll("main button")].find((it) => it.textContent.startsWith("Load "));
    (more ?? document.querySelector("button.fresh"))?.click();
    return document.querySelector(".pager")?.innerText ?? "";
  })()`;
  await until("the tab keeps all that it may", async () =>
    (await page.evaluate<string>(press)).startsWith(`${ROWS_MAX} of`),
  );
};

const binary = browserHere();
if (binary === null) throw new Error("no browser is found: BROWSER_BINARY names one");
const { program, page, close } = await sceneInBrowser(binary);
try {
  await page.shaped({ width: 1_440, height: 900 });
  await page.early(FAST);
  await openSignedIn(page, program.url, { who: WHO, path: "/events" });
  await until("the list is drawn", async () => (await rowsOf(page)) > 0);
  await page.evaluate("void fetch('/v1/events?limit=1').then((it) => it.json()).then((it) => flood(it.data[0]))");
  await until("the list is live", async () => (await told(page)).frames > 0);
  await loadAll(page);
  await page.unobserved();
  const lines: Line[] = [];
  for (let part = 0; part <= PARTS; part += 1) {
    const seconds = (part / PARTS) * hours * 3_600;
    await until(
      `${seconds} s are over`,
      async () => {
        const { frames, reads } = await told(page);
        return frames >= seconds * FRAMES_A_SECOND && reads >= seconds;
      },
      PART_LIMIT_MS,
    );
    // A reader looks at what is new now and then.
    await page.evaluate("document.querySelector('button.fresh')?.click()");
    const nodes = await page.evaluate<number>("document.querySelectorAll('*').length");
    const [heap, whole] = [await page.heapBytes(), await page.processBytes()];
    lines.push({ hour: seconds / 3_600, ...(await told(page)), nodes, heap, process: whole });
    console.error(`bench: ${JSON.stringify(lines.at(-1))}`);
  }
  console.log(`load ${(loadavg()[0] ?? 0).toFixed(1)}, ${cpus().length} cores, ${binary}`);
  const head = ["hours", "frames", "reads of the list", "elements", "heap after collection", "process"];
  const mb = (bytes: number | null): string => (bytes === null ? "not told" : `${(bytes / MB).toFixed(1)} MB`);
  console.log(
    table(
      head,
      lines.map(({ hour, frames, reads, nodes, heap, process: whole }) => [
        ...[hour.toFixed(2), amount(frames), amount(reads), amount(nodes)],
        ...[mb(heap), mb(whole)],
      ]),
    ),
  );
  const [settled, last] = [lines[1], lines.at(-1)];
  const isMet =
    settled !== undefined &&
    last !== undefined &&
    Math.max(last.heap, last.process ?? 0) < BYTES_MAX &&
    last.heap - settled.heap < NOISE_BYTES;
  console.log(isMet ? "MET" : "MISSED");
  process.exitCode = isMet ? 0 : 1;
} finally {
  await close();
}
