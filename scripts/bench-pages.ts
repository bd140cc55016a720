/**
 * Measures how long the console's pages take until they can be used, on a processor that is four times slower than a fast
 * desktop's and a network with 150 ms and 1.6 Mbit/s, and how much of the screen moves meanwhile: cold with an empty cache,
 * and warm with what the browser keeps. Needs a browser (BROWSER_BINARY, or one that is found).
 *
 * Four times slower than this machine would be another device on each machine, and on a shared one from minute to minute.
 * So the machine's speed is measured before each round of a page, and the browser is slowed down to that of the same phone.
 *
 *     npm run bench:pages                  five rounds, of which the medians count
 *     npm run bench:pages -- --rounds 1
 *     npm run bench:pages -- --slower 4    so many times slower than this machine
 *     npm run bench:pages -- --only "audit,an event"
 *
 * A page can be used once its head is drawn and its thread is free; these two times have a bar. Beside them stand the times
 * until all its answers are drawn as well, when it is loaded cold and warm, and when a link of the console leads to it. The
 * exit code is 1 if a bar is missed.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { type BrowserPage, browserHere } from "../test/support/browser.ts";
import { until } from "../test/support/program.ts";
import { sceneInBrowser, WHO } from "../test/support/scene-in-browser.ts";
import { openSignedIn } from "../test/support/signed-in.ts";
import { benchmarkIndexOf, MIDDLE_PHONE } from "./bench/speed-of-browser.ts";
import { medianOf } from "./bench/spread.ts";
import { amount, table } from "./bench/table.ts";

const NETWORK = { latencyMs: 150, bytesPerS: 200_000 };
const COLD_MS_MAX = 2_500;
const WARM_MS_MAX = 800;
const SHIFT_MAX = 0.02;

const { values: flags } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, slower: { type: "string" }, only: { type: "string" } },
});
const ONLY = (flags.only ?? "").split(",").filter((it) => it !== "");

/**
 * In the page, before its own scripts: the times from the start of the navigation, or from a click, until it can be used
 * and until it is complete.
 */
const WATCH = `(() => {
  const seen = { shift: 0, usable: null, complete: null, open: 0, from: 0 };
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
  const isThere = () => location.pathname + location.search === (seen.path ?? location.pathname + location.search);
  const isUsable = () => isThere() && document.querySelector("main h1, main .deed, main form") !== null
    && document.querySelector("main h1")?.textContent !== seen.before;
  const isComplete = () => isUsable() && seen.open === 0 && document.querySelector("main .loading, main .turns, main tbody .gap") === null;
  const since = { usable: null, complete: null };
  let last = 0;
  const look = () => {
    const now = performance.now();
    const isFree = now - last <= 50;
    for (const [name, holds] of [["usable", isUsable], ["complete", isComplete]]) {
      if (seen[name] !== null) continue;
      if (!holds()) since[name] = null;
      else if (since[name] === null || !isFree) since[name] = now;
      else if (now - since[name] > 200) seen[name] = since[name] - seen.from;
    }
    last = now;
    setTimeout(look, 5);
  };
  document.addEventListener("readystatechange", look, { once: true });
  globalThis.goTo = (path) => {
    Object.assign(since, { usable: null, complete: null });
    const before = document.querySelector("main h1")?.textContent;
    Object.assign(seen, { usable: null, complete: null, from: performance.now(), path, before });
    const link = document.createElement("a");
    link.href = path;
    document.body.append(link);
    link.click();
    link.remove();
  };
})()`;

type Seen = { readonly shift: number; readonly usable: number | null; readonly complete: number | null };
type Times = { readonly usable: number; readonly complete: number; readonly shift: number };

const timesOf = (page: BrowserPage): Promise<Times> =>
  until("the page is complete", async () => {
    const { usable, complete, shift } = await page.evaluate<Seen>(
      "({ shift: seen.shift, usable: seen.usable, complete: seen.complete })",
    );
    return usable === null || complete === null ? null : { usable, complete, shift };
  });

const opened = async (page: BrowserPage, url: string): Promise<Times> => {
  await page.open("about:blank");
  await page.open(url);
  return timesOf(page);
};

type Measured = { readonly cold: Times; readonly warm: Times; readonly byLink: Times | null };

const middle = (all: readonly Times[]): Times => ({
  usable: medianOf(all.map((it) => it.usable)),
  complete: medianOf(all.map((it) => it.complete)),
  shift: Math.max(...all.map((it) => it.shift)),
});

/** Null for a page to which no link leads from another one. */
type From = { readonly url: string; readonly path: string } | null;

/** What the benchmark indexes of this machine were, and how many times the browser was slowed down. */
const speeds: { readonly index: number; readonly slower: number }[] = [];

/** Makes the browser as slow as the phone. */
const slowDown = async (page: BrowserPage): Promise<void> => {
  await page.slowed({ processor: 1, ...NETWORK });
  const index = await benchmarkIndexOf(page);
  const slower = Math.max(1, Number(flags.slower ?? index / MIDDLE_PHONE));
  speeds.push({ index, slower });
  await page.slowed({ processor: slower, ...NETWORK });
};

const measured = async (page: BrowserPage, url: string, from: From): Promise<Measured> => {
  const [cold, warm, byLink]: [Times[], Times[], Times[]] = [[], [], []];
  for (let round = 0; round < Number(flags.rounds); round += 1) {
    await slowDown(page);
    await page.forgets();
    cold.push(await opened(page, url));
    // At the second load a browser keeps the code that it has compiled.
    await opened(page, url);
    warm.push(await opened(page, url));
    if (from === null) continue;
    await opened(page, from.url);
    await page.evaluate(`goTo(${JSON.stringify(from.path)})`);
    byLink.push(await timesOf(page));
  }
  return { cold: middle(cold), warm: middle(warm), byLink: from === null ? null : middle(byLink) };
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
  await page.unread();
  const signIn = await measured(page, `${program.url}/sign-in`, null);
  await openSignedIn(page, program.url, { who: WHO, path: "/overview" });
  const rows: [string, Measured][] = [["sign-in", signIn]];
  for (const [name, path] of Object.entries(pages)) {
    if (ONLY.length > 0 && !ONLY.includes(name)) continue;
    const from = path === "/overview" ? "/usage" : "/overview";
    rows.push([name, await measured(page, program.url + path, { url: program.url + from, path })]);
  }
  const lines = rows.map(([name, { cold, warm, byLink }]) => {
    const shift = Math.max(cold.shift, warm.shift);
    const isMet = cold.usable <= COLD_MS_MAX && warm.usable <= WARM_MS_MAX && shift <= SHIFT_MAX;
    isMissed ||= !isMet;
    const times = [cold.usable, warm.usable, cold.complete, warm.complete, byLink?.complete ?? null];
    return [
      name,
      ...times.map((ms) => (ms === null ? "" : `${amount(ms)} ms`)),
      shift.toFixed(3),
      isMet ? "MET" : "MISSED",
    ];
  });
  console.log(`load ${(loadavg()[0] ?? 0).toFixed(1)}, ${cpus().length} cores, ${binary}`);
  const [indexes, slower] = [speeds.map((it) => it.index), speeds.map((it) => it.slower)];
  const span = (all: readonly number[], decimals = 0): string =>
    [Math.min(...all), medianOf(all), Math.max(...all)].map((it) => it.toFixed(decimals)).join(" / ");
  console.log(`benchmark index ${span(indexes)} (least / median / most), slowed down ${span(slower, 1)} times`);
  console.log(
    `to ${amount(medianOf(indexes) / medianOf(slower))} (a phone of the middle class: ${amount(MIDDLE_PHONE)})`,
  );
  const head = [
    "page",
    `cold, at most ${COLD_MS_MAX} ms`,
    `warm, at most ${WARM_MS_MAX} ms`,
    "complete, cold",
    "complete, warm",
    "complete, by a link",
    `shift, at most ${SHIFT_MAX}`,
    "",
  ];
  console.log(table(head, lines));
} finally {
  await close();
}
process.exitCode = isMissed ? 1 : 0;
