import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type BrowserPage, browserHere } from "../support/browser.ts";
import type { ConsoleScene } from "../support/console-scene.ts";
import { type Program, until } from "../support/program.ts";
import { type SceneInBrowser, sceneInBrowser, WHO } from "../support/scene-in-browser.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("what the console shows while answers arrive, or do not");

/** The share of the screen that may move while a page is drawn (Cumulative Layout Shift). */
const SHIFT_MAX = 0.02;

const PAGES: Readonly<Record<string, (scene: ConsoleScene, held: string) => string>> = {
  overview: () => "/overview",
  events: () => "/events",
  "a delivered event": ({ events }) => `/events/${events.delivered}`,
  "a failed event": ({ events }) => `/events/${events.failed}`,
  "a held event": ({ events }) => `/events/${events.held}`,
  approvals: () => "/approvals",
  "an approval": (_, held) => `/approvals/${held}`,
  bundles: () => "/bundles",
  "a bundle": ({ bundles }) => `/bundles/${bundles.committed}`,
  "a bundle that is half undone": ({ bundles }) => `/bundles/${bundles.incomplete}`,
  replays: () => "/replays",
  "the plan of a replay": () => "/replays?new=status%3Dfailed",
  sources: () => "/sources",
  "a source": ({ source }) => `/sources/${source.id}`,
  "a new source": () => "/sources/new",
  "the set-up of a source": ({ source }) => `/sources/new?source=${source.id}`,
  endpoints: () => "/endpoints",
  "an endpoint": ({ endpointId }) => `/endpoints/${endpointId}`,
  agents: () => "/agents",
  actions: () => "/agents?tab=actions",
  "an agent": ({ agent }) => `/agents/${agent.id}`,
  "an action": () => "/agents/actions/order.create",
  policies: () => "/policies",
  "a policy": ({ policyId }) => `/policies/${policyId}`,
  "a policy today": ({ policyId }) => `/policies/${policyId}?tab=today`,
  "the versions of a policy": ({ policyId }) => `/policies/${policyId}?tab=versions`,
  "the decisions of a policy": ({ policyId }) => `/policies/${policyId}?tab=decisions`,
  audit: () => "/audit",
  "a record": () => "/audit/3",
  usage: () => "/usage",
  members: () => "/settings/members",
  keys: () => "/settings/keys",
  sessions: () => "/settings/sessions",
  preferences: () => "/settings/preferences",
  account: () => "/settings/account",
  privacy: () => "/settings/privacy",
};

/**
 * In the page: adds up what moves without a reason, and gives the answers to the page one after another, the one that was
 * asked for last first.
 */
const WATCH = `(() => {
  const watched = { shift: 0, what: [], open: 0, held: [] };
  globalThis.watched = watched;
  new PerformanceObserver((list) => {
    for (const it of list.getEntries()) if (!it.hadRecentInput) {
      watched.shift += it.value;
      const names = it.sources.map(({ node }) => node?.className || node?.parentElement?.className || node?.nodeName);
      watched.what.push(it.value.toFixed(3) + " " + names.join(", "));
    }
  }).observe({ type: "layout-shift", buffered: true });
  const ask = globalThis.fetch.bind(globalThis);
  globalThis.fetch = async (...given) => {
    watched.open += 1;
    try {
      const answer = await ask(...given);
      await new Promise((resolve) => watched.held.push(resolve));
      return answer;
    } finally {
      watched.open -= 1;
    }
  };
  setInterval(() => watched.held.pop()?.(), 50);
})()`;

/** In the page: notes what is asked for, whether its answer was used, and what was asked for twice at a time. */
const LISTEN = `(() => {
  const heard = { unused: new Set(), open: new Set(), twice: [] };
  globalThis.heard = heard;
  // After news, the same read is another question. So there is none: no stream is opened, and no other tab tells of its own.
  const silent = class extends EventTarget { close() {} postMessage() {} };
  globalThis.EventSource = silent;
  globalThis.BroadcastChannel = silent;
  const ask = globalThis.fetch.bind(globalThis);
  globalThis.fetch = async (...given) => {
    const address = String(given[0].url ?? given[0]);
    if (heard.open.has(address)) heard.twice.push(address);
    heard.open.add(address);
    heard.unused.add(address);
    try {
      const answer = await ask(...given);
      const text = answer.text.bind(answer);
      answer.text = () => { heard.unused.delete(address); return text(); };
      return answer;
    } finally {
      heard.open.delete(address);
    }
  };
})()`;

/** In the page: counts what is asked for, and how often the page has looked for news since the stream began. */
const COUNT = `(() => {
  const counted = { asked: {}, streams: [], looks: 0 };
  globalThis.counted = counted;
  const every = globalThis.setInterval.bind(globalThis);
  globalThis.setInterval = (run, ms, ...given) => every(() => {
    if (ms === 1_000 && counted.streams.some(({ isOpen }) => isOpen)) counted.looks += 1;
    run();
  }, ms, ...given);
  const Stream = globalThis.EventSource;
  globalThis.EventSource = class extends Stream {
    constructor(address) {
      super(address);
      const stream = { address, isOpen: false };
      counted.streams.push(stream);
      this.addEventListener("open", () => { stream.isOpen = true; });
    }
  };
  const ask = globalThis.fetch.bind(globalThis);
  globalThis.fetch = (...given) => {
    const address = String(given[0].url ?? given[0]);
    counted.asked[address] = (counted.asked[address] ?? 0) + 1;
    return ask(...given);
  };
})()`;
/** More than all that looks once a second on a page, so that each has looked. */
const LOOKS_OF_ALL = 40;

/** In the page: everything fails but what the frame needs. */
const FAILING = `(() => {
  const ask = globalThis.fetch.bind(globalThis);
  const problem = { type: "/problems/internal", title: "Internal error", status: 500, detail: "The service could not answer." };
  globalThis.fetch = async (...given) => {
    const path = new URL(given[0].url ?? given[0], location.href).pathname;
    if (["/v1/auth/me", "/v1/members/me/preferences"].includes(path)) return ask(...given);
    const body = JSON.stringify({ ...problem, code: "internal", retryable: true, trace_id: "0".repeat(32) });
    return new Response(body, { status: 500, headers: { "content-type": "application/problem+json" } });
  };
})()`;

/** In the page: nothing is asked for, nothing waits, and all parts and rows have had their turn. */
const IS_DRAWN = `watched.open === 0 && document.querySelector("main h1, main .deed") !== null
  && document.querySelector("main .loading, main .turns, main tbody .gap") === null`;
/** An answer may lead to the next question, so that one look says little. */
const LOOKS = 10;

const inBrowser = (binary: string): void => {
  let world: SceneInBrowser;
  let program: Program;
  let page: BrowserPage;
  let scene: ConsoleScene;
  let held: string;

  test.before(async () => {
    world = await sceneInBrowser(binary);
    ({ program, page, scene, held } = world);
    await openSignedIn(page, program.url, { who: WHO, path: "/overview" });
    await page.shows("Needs a person");
    await page.early(WATCH);
  });
  test.after(() => world?.close());
  test.after.each(() => assert.equal(page.faults(), []));

  for (const [name, path] of Object.entries(PAGES))
    test(`${name}: nothing moves while its answers arrive late and in the wrong order`, async () => {
      const wrong: string[] = [];
      for (const width of [390, 1_024, 1_440]) {
        await page.shaped({ width, height: 900 });
        await page.open(program.url + path(scene, held));
        let drawn = 0;
        await until(`${name} is drawn`, async () => {
          drawn = (await page.evaluate<boolean>(IS_DRAWN)) ? drawn + 1 : 0;
          return drawn === LOOKS;
        });
        const { shift, what } = await page.evaluate<{ shift: number; what: readonly string[] }>("globalThis.watched");
        if (shift > SHIFT_MAX) wrong.push(`${width} px: ${shift.toFixed(3)} by ${what.join("; ")}`);
      }
      assert.equal(wrong, []);
    });

  test("what is asked for before a page's scripts are there is used by the page, and nothing is asked for twice at a time", async () => {
    const tab = await page.tab();
    await tab.shaped({});
    await tab.early(LISTEN);
    for (const [name, path] of Object.entries(PAGES)) {
      await tab.open(program.url + path(scene, held));
      await until(`${name} has used all that it asked for`, () =>
        tab.evaluate<boolean>(
          "heard.open.size + heard.unused.size === 0 && document.querySelector('main h1, main .deed') !== null",
        ),
      ).catch(async () => assert.equal([name, await tab.evaluate("[...heard.unused]")], [name, []]));
      assert.equal(await tab.evaluate("heard.twice"), [], name);
    }
    await tab.close();
  });

  test("what was read as the page was opened is not read again when the stream begins: it tells what came since", async () => {
    // The stream is held by one tab, and shall be by the new one.
    await page.open("about:blank");
    const tab = await page.tab();
    await tab.shaped({});
    await tab.early(COUNT);
    for (const path of [
      "/overview",
      "/events",
      "/approvals",
      `/endpoints/${scene.endpointId}`,
      "/usage",
      "/policies",
    ]) {
      await tab.open(program.url + path);
      await until(`${path} has looked for news`, () => tab.evaluate<boolean>(`counted.looks >= ${LOOKS_OF_ALL}`));
      const { asked, streams } = await tab.evaluate<{
        readonly asked: Readonly<Record<string, number>>;
        readonly streams: readonly { readonly address: string }[];
      }>("counted");
      assert.match(streams[0]?.address ?? "", /^\/v1\/stream\?after=.+/, path);
      assert.equal(
        Object.entries(asked).filter(([, count]) => count > 1),
        [],
        path,
      );
    }
    await tab.close();
  });

  test("what cannot be read is told: nothing goes on loading, and nothing is said to be empty", async () => {
    const tab = await page.tab();
    await tab.shaped({});
    await tab.early(FAILING);
    for (const path of ["/overview", "/approvals", "/events", "/usage", "/audit", "/sources", "/settings/members"]) {
      await tab.open(program.url + path);
      await tab.shows("could not be loaded");
      await until(`${path} loads no more`, () => tab.evaluate<boolean>("document.querySelector('.loading') === null"));
      const text = await tab.text();
      assert.not.match(text, /Nothing waits|No .* yet|No record matches|No events match/, path);
    }
    await tab.close();
  });
};

const binary = browserHere();
if (binary === null) skipped("what moves in the console", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
