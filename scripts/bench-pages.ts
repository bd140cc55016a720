/**
 * Measures how long the console's pages take until they can be used, on a processor that is four times slower than this
 * one and a network with 150 ms and 1.6 Mbit/s, and how much of the screen moves meanwhile: cold with an empty cache, and
 * warm with what the browser keeps. Needs a browser (BROWSER_BINARY, or one that is found).
 *
 *     npm run bench:pages                  five rounds, of which the medians count
 *     npm run bench:pages -- --rounds 1
 *
 * A page can be used when it is drawn with its answers and its thread is free. The exit code is 1 if a bar is missed.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { type BrowserPage, browserHere } from "../test/support/browser.ts";
import { until } from "../test/support/program.ts";
import { sceneInBrowser, WHO } from "../test/support/scene-in-browser.ts";
import { openSignedIn } from "../test/support/signed-in.ts";
import { medianOf } from "./bench/spread.ts";
import { amount, table } from "./bench/table.ts";

const SLOW = { processor: 4, latencyMs: 150, bytesPerS: 200_000 };
const COLD_MS_MAX = 2_500;
const WARM_MS_MAX = 800;
const SHIFT_MAX = 0.02;

const { values: flags } = parseArgs({ options: { rounds: { type: "string", default: "5" } } });

/** In the page, before its own scripts: the time from the start of the navigation until it can be used. */
const WATCH = `(() => {
  const seen = { shift: 0, usable: null, open: 0 };
  globalThis.seen = seen;
  new PerformanceObserver((list) => {
    for (const it of list.getEntries()) if (!it.hadRecentInput) seen.shift += it.value;
  }).observe({ type: "layout-shift", buffered: true });
  const ask = globalThis.fetch.bind(globalThis);
  globalThis.fetch = async (...given) => {
    const isStream = String(given[0].url ?? given[0]).includes("/stream");
    seen.open += isStream ? 0 : 1;
    try { return await ask(...given); } finally { seen.open -= isStream ? 0 : 1; }
  };
  const isDrawn = () => seen.open === 0 && document.querySelector("main h1, main .deed, main form") !== null
    && document.querySelector("main .loading") === null;
  let last = 0;
  let drawnAt = null;
  const look = () => {
    const now = performance.now();
    if (!isDrawn()) drawnAt = null;
    else if (drawnAt === null || now - last > 50) drawnAt = now;
    else if (now - drawnAt > 200) { seen.usable = drawnAt; return; }
    last = now;
    setTimeout(look, 5);
  };
  document.addEventListener("readystatechange", look, { once: true });
})()`;

type Seen = { readonly shift: number; readonly usable: number | null };

const opened = async (page: BrowserPage, url: string): Promise<{ readonly ms: number; readonly shift: number }> => {
  await page.open(url);
  return until("the page can be used", async () => {
    const { usable, shift } = await page.evaluate<Seen>("({ shift: seen.shift, usable: seen.usable })");
    return usable === null ? null : { ms: usable, shift };
  });
};

type Measured = { readonly cold: number; readonly warm: number; readonly shift: number };

const measured = async (page: BrowserPage, url: string): Promise<Measured> => {
  const [cold, warm]: [number[], number[]] = [[], []];
  let shift = 0;
  for (let round = 0; round < Number(flags.rounds); round += 1) {
    await page.forgets();
    for (const times of [cold, warm]) {
      await page.open("about:blank");
      const it = await opened(page, url);
      times.push(it.ms);
      shift = Math.max(shift, it.shift);
    }
  }
  return { cold: medianOf(cold), warm: medianOf(warm), shift };
};

const binary = browserHere();
if (binary === null) throw new Error("no browser is found: BROWSER_BINARY names one");
const { program, page, scene, close } = await sceneInBrowser(binary);
let isMissed = false;
try {
  const { events, bundles, endpointId, policyId } = scene;
  const pages = {
    overview: "/overview",
    events: "/events",
    "an event": `/events/${events.delivered}`,
    approvals: "/approvals",
    "a bundle": `/bundles/${bundles.committed}`,
    "an endpoint": `/endpoints/${endpointId}`,
    "a policy": `/policies/${policyId}`,
    audit: "/audit",
    usage: "/usage",
    members: "/settings/members",
  };
  await page.shaped({ width: 1_440, height: 900 });
  await page.early(WATCH);
  await page.slowed(SLOW);
  const signIn = await measured(page, `${program.url}/sign-in`);
  await openSignedIn(page, program.url, { who: WHO, path: "/overview" });
  const rows: [string, Measured][] = [["sign-in", signIn]];
  for (const [name, path] of Object.entries(pages)) rows.push([name, await measured(page, program.url + path)]);
  const lines = rows.map(([name, { cold, warm, shift }]) => {
    const isMet = cold <= COLD_MS_MAX && warm <= WARM_MS_MAX && shift <= SHIFT_MAX;
    isMissed ||= !isMet;
    return [name, `${amount(cold)} ms`, `${amount(warm)} ms`, shift.toFixed(3), isMet ? "MET" : "MISSED"];
  });
  console.log(`load ${(loadavg()[0] ?? 0).toFixed(1)}, ${cpus().length} cores, ${binary}`);
  const head = [
    "page",
    `cold, at most ${COLD_MS_MAX} ms`,
    `warm, at most ${WARM_MS_MAX} ms`,
    `shift, at most ${SHIFT_MAX}`,
    "",
  ];
  console.log(table(head, lines));
} finally {
  await close();
}
process.exitCode = isMissed ? 1 : 0;
