import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type BrowserPage, browserHere } from "../support/browser.ts";
import { until } from "../support/program.ts";
import { type SceneInBrowser, sceneInBrowser, WHO } from "../support/scene-in-browser.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("what the console shows when its reader returns to a page");

/** A part of the name of the scene's source. */
const SOURCE = "shop ";

/** In the page: nothing is answered as long as `isHeld` is true. */
const HOLD = `(() => {
  globalThis.isHeld = false;
  const waiting = [];
  const ask = globalThis.fetch.bind(globalThis);
  globalThis.fetch = async (...given) => {
    if (globalThis.isHeld) await new Promise((resolve) => waiting.push(resolve));
    return ask(...given);
  };
  globalThis.release = () => { globalThis.isHeld = false; for (const go of waiting.splice(0)) go(); };
})()`;

const inBrowser = (binary: string): void => {
  let world: SceneInBrowser;
  let page: BrowserPage;

  test.before(async () => {
    world = await sceneInBrowser(binary);
    ({ page } = world);
    await page.early(HOLD);
    await openSignedIn(page, world.program.url, { who: WHO, path: "/overview" });
  });
  test.after(() => world?.close());
  test.after.each(() => assert.equal(page.faults(), []));

  test("a page is drawn from memory at once, then anew, and nothing of it is stored", async () => {
    await page.shows("Needs a person");
    await page.click("Sources", "nav.side");
    await page.shows(SOURCE);
    await page.evaluate("globalThis.isHeld = true");
    await page.click("Overview", "nav.side");
    await page.shows("Needs a person");
    await page.shows("Requests over time");
    await page.click("Sources", "nav.side");
    await page.shows(SOURCE);
    await page.click("Bundles", "nav.side");
    await page.hides(SOURCE);
    assert.is(await page.evaluate("document.querySelector('main table') === null"), true, "this one was never read");
    await page.evaluate("globalThis.release()");
    await until("it is read", () => page.evaluate<boolean>("document.querySelector('main table') !== null"));
    const stored = await page.evaluate<readonly string[]>(
      "[...Object.keys(localStorage), ...Object.keys(sessionStorage)].filter((it) => it !== 'countersign-scheme')",
    );
    assert.equal(stored, []);
  });

  test("what somebody decides by is never shown from memory", async () => {
    await page.open(`${world.program.url}/approvals/${world.held}`);
    await page.shows("Approve");
    await page.click("Sources", "nav.side");
    await page.shows(SOURCE);
    await page.evaluate("globalThis.isHeld = true");
    await page.evaluate("history.back()");
    await page.shows("Approvals");
    await until("the head is drawn", () => page.evaluate<boolean>("document.querySelector('main h1') !== null"));
    assert.is(
      await page.evaluate(
        "[...document.querySelectorAll('main button')].some((it) => it.textContent.includes('Approve'))",
      ),
      false,
    );
    await page.evaluate("globalThis.release()");
    await until("it is read", () =>
      page.evaluate<boolean>(
        "[...document.querySelectorAll('main button')].some((it) => it.textContent.includes('Approve'))",
      ),
    );
  });
};

const binary = browserHere();
if (binary === null) skipped("returning to a page", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
