import { suite } from "uvu";
import * as assert from "uvu/assert";
import { overflow, violations } from "../support/accessibility.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { signUp } from "../support/client.ts";
import { type ConsoleScene, consoleScene } from "../support/console-scene.ts";
import { killPrograms, type Program, removeFolder, startProgram } from "../support/program.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the console as people have set their browser");
const WHO = { email: "ana@shop.example", password: "correct horse battery" };

/** A page of 1,280 px has these widths at 200 % and 400 % (WCAG 2.2, success criteria 1.4.4 and 1.4.10). */
const ZOOMED = [640, 320];

/** Words that are cut off, and where; names in the crumbs and in a timeline may be, because they stand in full elsewhere. */
const CUT = `[...document.querySelectorAll("main :is(h1, h2, h3, p, td, dd, dt, label, button, a.btn)")]
  .filter((it) => it.checkVisibility() && !it.closest(".vh, .crumbs, .fall, .tabs, .find, thead"))
  .filter((it) => ["hidden", "clip"].includes(getComputedStyle(it).overflowX) && it.scrollWidth > it.clientWidth + 1)
  .map((it) => it.outerHTML.slice(0, 120))`;

/** What moves, or fades, at this moment. */
const MOVING = `document.getAnimations().filter((it) => it.playState === "running").length`;

/** Marks that cannot be told from what lies behind them. */
const UNSEEN = `[...document.querySelectorAll("main svg.m")].filter((it) => it.checkVisibility())
  .filter((it) => getComputedStyle(it).color === getComputedStyle(document.body).backgroundColor).length`;

/** Paper at 96 dpi. */
const A4 = { width: 794, height: 1_123 };
/** In the page: what is wrong with it on paper. */
const ON_PAPER = `(() => {
  const wrong = [];
  const isSeen = (it) => it.checkVisibility() && it.getClientRects().length > 0;
  const all = (what) => [...document.querySelectorAll(what)].filter(isSeen);
  if (getComputedStyle(document.documentElement).colorScheme !== "light") wrong.push("it is dark");
  wrong.push(...all(".btn, .side, .bar, .tabs, .chips").map((it) => "on paper: " + it.className));
  for (const id of all(".id"))
    if (getComputedStyle(id, "::after").content !== JSON.stringify(id.title)) wrong.push("cut: " + id.title);
  for (const row of all(".acts10 li, .t tr, .head")) {
    const boxes = [...row.children].filter(isSeen).map((it) => [it, it.getBoundingClientRect()]);
    for (const [it, box] of boxes) if (box.width > 2 && it.scrollWidth > Math.ceil(box.width) + 1) wrong.push("over its edge: " + it.outerHTML.slice(0, 120));
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("wider than the paper");
  return wrong;
})()`;

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let scene: ConsoleScene;
  /** Each path, with what it shows once it is there. */
  let places: readonly (readonly [path: string, shows: string])[];

  test.before(async () => {
    [program, page] = await Promise.all([startProgram(), openBrowser(binary)]);
    await page.shaped({});
    const client = await signUp(program.url, WHO);
    scene = await consoleScene(program.url, client);
    const [approval] = (await client.call("GET", "/v1/approvals?status=pending")).body.data;
    places = [
      ["/overview", "Budgets today"],
      ["/events", "The receiver answered 422"],
      ["/events?status=wrong", "Choose a state from the list."],
      [`/events/${scene.events.failed}`, "Payload"],
      [`/approvals/${approval.id}`, "If you approve"],
      [`/bundles/${scene.bundles.incomplete}`, "could not be undone"],
      [`/policies/${scene.policyId}`, "Name and limits"],
      [`/sources/new?source=${scene.source.id}`, "Send a first event"],
      [`/endpoints/${scene.endpointId}`, "What uses it"],
      ["/audit", "Take it along"],
      ["/usage", "Used of the plan"],
      ["/settings/members", "Invite a person"],
      ["/settings/privacy", "How long things are kept"],
    ];
    await openSignedIn(page, program.url, { who: WHO, path: "/overview" });
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await scene?.shop.target.close();
    removeFolder(program.dir);
  });
  test.after.each(() => {
    assert.equal(page.faults(), []);
  });

  test("at 200 % and 400 % no page scrolls sideways, and no words are cut off", async () => {
    for (const [path, shows] of places) {
      await page.shaped({});
      await page.open(program.url + path);
      await page.shows(shows);
      for (const width of ZOOMED) {
        await page.shaped({ width, height: 512 });
        assert.ok((await overflow(page)) <= 0, `${path} at ${width} px`);
        assert.equal(await page.evaluate(CUT), [], `${path} at ${width} px`);
      }
    }
    await page.shaped({});
  });

  test("text of twice the size does not make a page scroll sideways, and cuts no words off", async () => {
    await page.shaped({ fontPx: 32 });
    for (const [path, shows] of places) {
      await page.open(program.url + path);
      await page.shows(shows);
      assert.is(await page.evaluate("getComputedStyle(document.documentElement).fontSize"), "32px");
      assert.ok((await overflow(page)) <= 0, path);
      assert.equal(await page.evaluate(CUT), [], path);
    }
    await page.shaped({});
  });

  test("who asks for less motion sees none, not even while a set-up waits or a layer opens", async () => {
    await page.shaped({ media: { "prefers-reduced-motion": "reduce" } });
    await page.open(`${program.url}/sources/new`);
    await page.shows("Who sends the events?");
    assert.is(await page.evaluate(MOVING), 0);
    await page.evaluate("document.querySelector('.bar button.find').click()");
    assert.is(await page.evaluate(MOVING), 0);
    await page.key("Escape");
    await page.shaped({});
  });

  test("with forced colours, marks, the current place and what has the focus can still be seen", async () => {
    await page.shaped({ media: { "forced-colors": "active" } });
    for (const [path, shows] of places) {
      await page.open(program.url + path);
      await page.shows(shows);
      assert.is(await page.evaluate(UNSEEN), 0, path);
      const outline = "getComputedStyle(document.querySelector('.side .nav a[aria-current]')).outlineStyle";
      assert.is(await page.evaluate(outline), "solid", path);
    }
    await page.key("Tab");
    assert.is(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid");
    await page.shaped({});
  });

  test("on paper the scheme is light, nothing can be pressed, ids are whole, and no text lies over another", async () => {
    for (const [path, shows] of [...places, ["/audit/3", "Record 3"] as const]) {
      await page.shaped({});
      await page.open(program.url + path);
      await page.shows(shows);
      await page.shaped({ ...A4, dark: true, isPrinted: true });
      assert.equal(await page.evaluate(ON_PAPER), [], path);
    }
    await page.shaped({});
  });

  test("who asks for more contrast gets stronger rules, and axe finds nothing", async () => {
    const rule = "getComputedStyle(document.documentElement).getPropertyValue('--rule')";
    const usual = await page.evaluate<string>(rule);
    await page.shaped({ media: { "prefers-contrast": "more" } });
    assert.is.not(await page.evaluate(rule), usual);
    for (const [path, shows] of places.slice(0, 4)) {
      await page.open(program.url + path);
      await page.shows(shows);
      assert.equal(await violations(page), [], path);
    }
    await page.shaped({});
  });
};

const binary = browserHere();
if (binary === null)
  skipped("the console as people have set their browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
