import { suite } from "uvu";
import * as assert from "uvu/assert";
import { layerFitsEverywhere } from "../support/accessibility.ts";
import { type BrowserPage, browserHere } from "../support/browser.ts";
import type { ConsoleScene } from "../support/console-scene.ts";
import { focusFault } from "../support/focus.ts";
import { addMember } from "../support/members.ts";
import { type Program, until } from "../support/program.ts";
import { type SceneInBrowser, sceneInBrowser, WHO } from "../support/scene-in-browser.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("layers and the focus in the console");

type Opening = {
  readonly name: string;
  readonly path: (scene: ConsoleScene) => string;
  readonly shows: string;
  /** What opens it, as an expression for the element to press; or a key. */
  readonly by: { readonly element: string } | { readonly key: string; readonly ctrl?: boolean };
  /** The width at which it is opened, 1,440 unless given; it stays open at all others. */
  readonly width?: number;
};

const button = (text: string): string =>
  `[...document.querySelectorAll("button")].find((it) => it.checkVisibility() && it.innerText.trim().startsWith(${JSON.stringify(text)}))`;
const BEN = "ben@shop.example";
const NOT_OWN = `[...document.querySelectorAll("tr")].find((it) => it.innerText.includes("${BEN}"))`;
const overview = () => "/overview";
const events = () => "/events";

const OPENINGS: readonly Opening[] = [
  { name: "the session", path: overview, shows: "Needs a person", by: { element: "document.querySelector('.me')" } },
  { name: "the palette", path: overview, shows: "Needs a person", by: { key: "k", ctrl: true } },
  { name: "the keys", path: overview, shows: "Needs a person", by: { key: "?" } },
  { name: "more pages", path: overview, shows: "Needs a person", by: { element: button("More") }, width: 390 },
  { name: "a filter", path: events, shows: "order.paid", by: { element: button("Endpoint") } },
  { name: "the filters", path: events, shows: "order.paid", by: { element: button("Filters") }, width: 390 },
  { name: "the export", path: events, shows: "order.paid", by: { element: button("Export") } },
  {
    name: "the end of a payload",
    path: ({ events: { delivered } }) => `/events/${delivered}`,
    shows: "Attempt 1",
    by: { element: button("Erase the payload") },
  },
  {
    name: "a pause",
    path: ({ source }) => `/sources/${source.id}`,
    shows: "Refused signatures",
    by: { element: button("Pause") },
  },
  {
    name: "a rotation",
    path: ({ endpointId }) => `/endpoints/${endpointId}`,
    shows: "Failures in a row",
    by: { element: button("Rotate secret") },
  },
  {
    name: "a suspension",
    path: ({ agent }) => `/agents/${agent.id}`,
    shows: "What it may do",
    by: { element: button("Suspend") },
  },
  { name: "a time", path: events, shows: "order.paid", by: { element: button("Received") } },
  {
    name: "a view to keep",
    path: () => "/events?status=failed&range=24h",
    shows: "order.paid",
    by: { element: button("Save this view") },
  },
  {
    name: "the plan of a replay",
    path: ({ events: { failed } }) => `/events/${failed}`,
    shows: "Attempt 1",
    by: { element: button("Replay") },
  },
  {
    name: "the end of a source",
    path: ({ source }) => `/sources/${source.id}`,
    shows: "Refused signatures",
    by: { element: button("Delete") },
  },
  {
    name: "the end of an endpoint",
    path: ({ endpointId }) => `/endpoints/${endpointId}`,
    shows: "Failures in a row",
    by: { element: button("Delete") },
  },
  {
    name: "another key of an agent",
    path: ({ agent }) => `/agents/${agent.id}`,
    shows: "What it may do",
    by: { element: button("Rotate key") },
  },
  {
    name: "the end of an agent",
    path: ({ agent }) => `/agents/${agent.id}`,
    shows: "What it may do",
    by: { element: button("Delete") },
  },
  {
    name: "the end of an action",
    path: () => "/agents/actions/order.create",
    shows: "Delete this action",
    by: { element: button("Delete") },
  },
  {
    name: "the export of records with their proofs",
    path: () => "/audit",
    shows: "Take it along",
    by: { element: button("A period, or with payloads…") },
  },
  {
    name: "the evidence pack",
    path: () => "/audit",
    shows: "Take it along",
    by: { element: button("Evidence pack…") },
  },
  { name: "the export of the audit", path: () => "/audit", shows: "Take it along", by: { element: button("Export…") } },
  {
    name: "the end of all other sessions",
    path: () => "/settings/sessions",
    shows: "This session",
    by: { element: button("End all others") },
  },
  {
    name: "the end of the plan",
    path: () => "/usage",
    shows: "Used of the plan",
    by: { element: button("Cancel the plan") },
  },
  {
    name: "another role",
    path: () => "/settings/members",
    shows: BEN,
    by: { element: `${NOT_OWN}.querySelector("button")` },
  },
  {
    name: "a link to reset a password",
    path: () => "/settings/members",
    shows: BEN,
    by: { element: button("Reset link") },
  },
  {
    name: "the end of a membership",
    path: () => "/settings/members",
    shows: BEN,
    by: { element: `${NOT_OWN}.querySelectorAll("button")[2]` },
  },
  {
    name: "the erasure of a member",
    path: () => "/settings/members",
    shows: BEN,
    by: { element: `${NOT_OWN}.querySelectorAll("button")[3]` },
  },
  { name: "another plan", path: () => "/usage", shows: "Used of the plan", by: { element: button("Choose") } },
  { name: "a key's end", path: () => "/settings/keys", shows: "ends in", by: { element: button("Revoke") } },
];

/** Enough to reach every part of the pages that are looked at. */
const STOPS = 40;

const FEW_STOPS = 8;

type Watched = { readonly shift: number; readonly what: string };

/** The share of the screen that may move while a page is drawn (Cumulative Layout Shift). */
const SHIFT_MAX = 0.02;
/** In the page: adds up what moves without a reason. */
const WATCH = `(() => {
  globalThis.watched = { shift: 0, what: "" };
  new PerformanceObserver((list) => {
    for (const it of list.getEntries()) if (!it.hadRecentInput) {
      watched.shift += it.value;
      watched.what += it.sources.map(({ node }) => (node?.className ?? node?.nodeName) + " ").join("");
    }
  }).observe({ type: "layout-shift", buffered: true });
})()`;

const inBrowser = (binary: string): void => {
  let world: SceneInBrowser;
  let program: Program;
  let page: BrowserPage;
  let scene: ConsoleScene;
  let held: string;

  const isOpen = (): Promise<boolean> => page.evaluate<boolean>("document.querySelector('dialog[open]') !== null");

  test.before(async () => {
    world = await sceneInBrowser(binary);
    ({ program, page, scene, held } = world);
    await addMember(scene.client, BEN, "approver");
    await openSignedIn(page, program.url, { who: WHO, path: "/overview" });
    await page.shows("Needs a person");
  });
  test.after(() => world?.close());
  test.after.each(() => assert.equal(page.faults(), []));

  for (const { name, path, shows, by, width = 1_440 } of OPENINGS)
    test(`${name}: axe finds nothing, the focus is within, and Esc gives it back`, async () => {
      await page.shaped({ width });
      await page.open(program.url + path(scene));
      await page.shows(shows);
      if ("element" in by)
        await until("it is opened", async () => {
          await page.evaluate(
            `(() => { const it = ${by.element}; if (it && document.querySelector("dialog[open]") === null) { it.focus(); it.click(); } })()`,
          );
          return isOpen();
        });
      else
        await until("it is opened", async () => {
          const event = JSON.stringify({ key: by.key, ctrlKey: by.ctrl === true, bubbles: true });
          if (!(await isOpen()))
            await page.evaluate(`document.body.dispatchEvent(new KeyboardEvent("keydown", ${event})); undefined`);
          return isOpen();
        });
      assert.is(await page.evaluate("document.activeElement.closest('dialog') !== null"), true);
      await layerFitsEverywhere(page, name);
      await page.shaped({ width });
      await page.key("Escape");
      await until("it is closed", async () => !(await isOpen()));
      if ("element" in by)
        assert.is(await page.evaluate(`document.activeElement === ${by.element}`), true, "the focus returns");
      await page.shaped({});
    });

  test("nothing moves while a page is drawn", async () => {
    for (const [path, shows] of [
      ["/overview", "Refusals by gate"],
      ["/events", "order.paid"],
      [`/approvals/${held}`, "If you approve"],
    ] as const) {
      await page.open(program.url + path);
      await page.evaluate(WATCH);
      await page.shows(shows);
      for (let stop = 0; stop < FEW_STOPS; stop += 1) await page.key("Tab");
      const { shift, what } = await page.evaluate<Watched>("globalThis.watched");
      assert.ok(shift <= SHIFT_MAX, `${path} moves by ${shift}: ${what}`);
    }
  });

  test("the focus is always seen, and never behind a bar", async () => {
    const wrong: string[] = [];
    for (const [path, shows, width] of [
      [`/approvals/${held}`, "If you approve", 390],
      [`/approvals/${held}`, "If you approve", 1_024],
      ["/events", "order.paid", 390],
      [`/events/${scene.events.failed}`, "Attempt 1", 390],
      [`/endpoints/${scene.endpointId}`, "Failures in a row", 768],
    ] as const) {
      await page.shaped({ width, height: 700 });
      await page.open(program.url + path);
      await page.shows(shows);
      for (let stop = 0; stop < STOPS; stop += 1) {
        await page.key("Tab");
        const fault = await focusFault(page);
        if (fault !== null) wrong.push(`${path} ${width}: ${fault}`);
      }
    }
    assert.equal(wrong, []);
    await page.shaped({});
  });
};

const binary = browserHere();
if (binary === null)
  skipped("layers and the focus in the console", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
