import { suite } from "uvu";
import * as assert from "uvu/assert";
import { overflow, violations } from "../support/accessibility.ts";
import { type BrowserPage, browserHere } from "../support/browser.ts";
import { type Client, logIn } from "../support/client.ts";
import type { ConsoleScene } from "../support/console-scene.ts";
import { until } from "../support/program.ts";
import { type SceneInBrowser, sceneInBrowser, WHO } from "../support/scene-in-browser.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("ranges of time in the console");
const BERLIN = "Europe/Berlin";

/** The figures of the page with their addresses; null while one of them is not known. */
const FIGURES = `(() => {
  const all = [...document.querySelectorAll(".sums a")].map((it) =>
    [it.getAttribute("href"), it.querySelector("b").innerText, it.firstChild.innerText.trim()]);
  return all.length < 12 || all.some(([, figure]) => figure === "–") ? null : all;
})()`;
const TITLE_OF_MEDIAN = "Delivery, median";

/** Presses a pointer on the drawing at one part of its width, and lets it go at another. */
const drawn = (from: number, to: number): string => `(() => {
  const chart = [...document.querySelectorAll(".chart svg")].find((it) => it.checkVisibility());
  const { left, top, width, height } = chart.getBoundingClientRect();
  for (const [name, part] of [["pointerdown", ${from}], ["pointermove", ${to}], ["pointerup", ${to}]])
    chart.dispatchEvent(new PointerEvent(name, { clientX: left + part * width, clientY: top + height / 2, bubbles: true }));
})()`;
/** Presses the pointer on a bar. */
const PRESSED = `(() => {
  const bar = [...document.querySelectorAll(".chart rect.c-fail")].find((it) => it.checkVisibility());
  const { left, top, width, height } = bar.getBoundingClientRect();
  for (const name of ["pointerdown", "pointerup"])
    bar.dispatchEvent(new PointerEvent(name, { clientX: left + width / 2, clientY: top + height / 2, bubbles: true }));
})()`;

const inBrowser = (binary: string): void => {
  let world: SceneInBrowser;
  let page: BrowserPage;
  let client: Client;
  let scene: ConsoleScene;
  let base: string;

  const address = (): Promise<string> => page.evaluate<string>("location.pathname + location.search");
  const totalOf = async (path: string): Promise<number> =>
    (await client.call("GET", `/v1${path}&limit=1&total=true`)).body.total;
  const chip = (): Promise<string | null> =>
    page.evaluate<string | null>("document.querySelector('.chip:not(.off, .phone)')?.innerText ?? null");

  test.before(async () => {
    world = await sceneInBrowser(binary, { time_zone: BERLIN });
    ({ page, scene } = world);
    base = world.program.url;
    client = await logIn(base, WHO);
    const { digest } = (await client.call("GET", `/v1/approvals/${world.held}`)).body;
    const vote = { digest, comment: "Not today" };
    await client.session("POST", `/v1/approvals/${world.held}/reject`, vote);
    await scene.source.send("held-still", { order: "large" });
    await scene.source.send("held-too", { order: "large" });
    await until("all are listed", async () => (await totalOf("/approvals?status=pending,rejected")) === 3);
    await openSignedIn(page, base, { who: WHO, path: "/overview" });
  });
  test.after(() => world?.close());
  test.after.each(() => assert.equal(page.faults(), []));

  for (const range of ["1h", "24h", "7d", "30d"])
    test(`in the range ${range}, every figure of the overview equals the count of its list`, async () => {
      await page.open(`${base}/overview?range=${range}`);
      await page.shows("Approvals in this range");
      const figures = await until("all figures are known", () =>
        page.evaluate<readonly [href: string, figure: string, name: string][] | null>(FIGURES),
      );
      const told = new Map(figures.map(([, figure, name]) => [name, figure]));
      assert.equal([told.get("Asked"), told.get("Rejected")], ["3", "1"]);
      for (const [href, figure, name] of figures) {
        if (name === TITLE_OF_MEDIAN) continue;
        const path = href.replace("for=any&", "");
        assert.is(figure, String(await totalOf(path)), `${name} ${href}`);
      }
      const parts = figures.slice(7).map(([, figure]) => Number(figure));
      assert.is(
        parts.reduce((sum, it) => sum + it, 0),
        Number(told.get("Asked")),
        "the outcomes add up",
      );
    });

  test("a figure of the approvals leads to as many rows, and the chip says which range they are of", async () => {
    await page.open(`${base}/overview`);
    await page.shows("Approvals in this range");
    await page.evaluate(
      "[...document.querySelectorAll('.sums a')].find((it) => it.innerText.startsWith('Rejected')).click()",
    );
    await page.shows("1 match");
    assert.is(await page.evaluate("document.querySelectorAll('.queue li').length"), 1);
    assert.match(String(await chip()), /Asked for .*\d\d:\d\d.* to .*\d\d:\d\d/);
    await page.evaluate("document.querySelector('[aria-label=\"Remove filter Asked for\"]').click()");
    await until("the range is gone", async () => (await address()) === "/approvals?for=any&status=rejected");
    await page.shows("1 match");
  });

  test("the history of approvals is saved as a view, shared and removed", async () => {
    await page.open(`${base}/approvals?for=any&status=rejected`);
    await page.click("Save this view…");
    await page.shows("Everybody in");
    await page.evaluate("document.querySelector('dialog [name=name]').value = 'Said no'; undefined");
    await page.click("Save", "dialog");
    await page.shows("The view Said no is saved.");
    await page.open(`${base}/approvals`);
    await page.click("Said no", ".tabs");
    await page.shows("1 match");
    await page.click("Remove this view");
    await page.shows("Save this view…");
    for (const width of [360, 768, 1_440]) {
      await page.shaped({ width });
      assert.equal(await violations(page), [], String(width));
      assert.ok((await overflow(page)) <= 0, String(width));
    }
    await page.shaped({});
  });

  test("a bar leads to its list, every figure of the table to as many events, and a drag chooses a range", async () => {
    await page.open(`${base}/overview`);
    await page.click("Show as table");
    const cells = await page.evaluate<readonly [string, string][]>(
      "[...document.querySelectorAll('details td a')].map((it) => [it.getAttribute('href'), it.innerText])",
    );
    assert.ok(cells.length >= 4, JSON.stringify(cells));
    for (const [href, figure] of cells) assert.is(figure, String(await totalOf(href)), href);
    await page.evaluate(PRESSED);
    await page.shows("The receiver answered 422");
    const at = await address();
    assert.match(at, /^\/events\?/);
    for (const part of [/status=failed/, /from=/, /to=/]) assert.match(at, part);
    await page.shows(`${await totalOf(at)} match`);
    await page.evaluate("history.back(); undefined");
    await page.shows("Approvals in this range");
    await page.evaluate(drawn(0.3, 0.99));
    await until("the address has the range", async () => /^\/overview\?from=.*&to=/.test(await address()));
    await page.shows("Approvals in this range");
    assert.is(await page.evaluate("document.querySelector('nav[aria-label=Range] [aria-current]')"), null);
    const figures = await until("all figures are known", () =>
      page.evaluate<readonly [href: string, figure: string, name: string][] | null>(FIGURES),
    );
    for (const [href, figure, name] of figures)
      if (name !== TITLE_OF_MEDIAN) assert.is(figure, String(await totalOf(href.replace("for=any&", ""))), name);
  });

  test("a time is chosen in the account's zone, and a link keeps the moment", async () => {
    await page.open(`${base}/events`);
    await page.shows("order.paid");
    await page.click("Received", ".chips");
    await page.shows(`in ${BERLIN}`);
    for (const dark of [false, true]) {
      await page.shaped({ width: 390, dark });
      assert.equal(await violations(page), [], `dark: ${dark}`);
    }
    await page.shaped({});
    const write = (name: string, value: string): Promise<void> =>
      page.evaluate(`document.querySelector("dialog [name=${name}]").value = "${value}"; undefined`);
    await write("from", "2026-07-01T14:00:00");
    await write("to", "2026-07-01T13:00:00");
    await page.click("Show", "dialog");
    await page.shows("The end has to come after the beginning.");
    await write("to", "2099-01-01T14:00:00");
    await page.click("Show", "dialog");
    await until("the address has both in UTC", async () => {
      const { searchParams } = new URL(base + (await address()));
      return (
        searchParams.get("from") === "2026-07-01T12:00:00.000Z" && searchParams.get("to") === "2099-01-01T13:00:00.000Z"
      );
    });
    await page.shows("order.paid");
    assert.match(String(await chip()), /Received 1 Jul, 14:00 to 1 Jan 2099, 14:00/);
    await page.evaluate("document.querySelector('.chip:not(.off, .phone) button').click()");
    await page.shows("Around this moment");
    await write("moment", "2026-07-01T14:00:00");
    await page.click("5 min before and after", "dialog");
    await until("the address has the minutes around it", async () => {
      const { searchParams } = new URL(base + (await address()));
      return (
        `${searchParams.get("from")} ${searchParams.get("to")}` === "2026-07-01T11:55:00.000Z 2026-07-01T12:05:00.000Z"
      );
    });
    await page.shows("No events match");
    await page.open(`${base}/events?range=1h`);
    await page.click("Change filter Received last 1 h");
    await page.evaluate("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; undefined");
    await page.click("Copy link to this moment", "dialog");
    await page.shows("The link is copied");
    const link = new URL(await page.evaluate<string>("globalThis.copied"));
    assert.is(link.searchParams.get("range"), null);
    for (const name of ["from", "to"]) assert.match(String(link.searchParams.get(name)), /^20\d\d-.*Z$/);
    const total = await totalOf("/events?origin=source,agent");
    await page.open(link.href);
    await page.shows(`${total} match`);
  });

  test("an event and a record lead to what happened around their moment", async () => {
    const minutes = (at: string): number => {
      const { searchParams } = new URL(base + at);
      const [from, to] = ["from", "to"].map((name) => Date.parse(searchParams.get(name) ?? ""));
      return (Number(to) - Number(from)) / 60_000;
    };
    await page.open(`${base}/events/${scene.events.held}`);
    await page.click("Around this moment");
    await page.shows(" match");
    const events = await address();
    assert.match(events, /^\/events\?from=.*&to=.*&at=evt_/);
    assert.is(minutes(events), 10);
    await page.shows(`${await totalOf(`${events.replace(/&at=.*/, "")}&origin=source,agent`)} match`);
    assert.match(String(await chip()), /Received .* to /);
    const row = `document.querySelector('tbody a[href="/events/${scene.events.held}"]') !== null`;
    assert.is(await page.evaluate(row), true, "the event is among them");

    await page.open(`${base}/audit/3`);
    await page.click("Around this moment");
    await until("the records are narrowed", async () => /^\/audit\?from=.*&to=/.test(await address()));
    assert.is(minutes(await address()), 10);
    await page.shows("Newest first");
    assert.match(String(await chip()), /When .* to /);
    await until("there are records", () => page.evaluate<boolean>("document.querySelector('tbody a') !== null"));
  });

  test("several states are chosen in one filter, and Backspace in the empty search takes the last one away", async () => {
    await page.open(`${base}/events`);
    await page.shows("order.paid");
    await page.click("State", ".chips");
    await page.click("Failed", "dialog");
    await page.click("Refused", "dialog");
    assert.is(await page.evaluate("document.querySelectorAll('dialog [aria-pressed=true]').length"), 2);
    assert.is(await address(), "/events?status=failed%2Cblocked");
    await page.click("Close", "dialog");
    await page.shows(`${await totalOf("/events?status=failed,blocked&origin=source,agent")} match`);
    await page.evaluate("document.querySelector('.find input').focus()");
    await page.key("Backspace");
    await until("the filter is gone", async () => (await address()) === "/events");
  });

  test("a wrong filter keeps each page and its form, and says what is expected", async () => {
    for (const [path, expected] of [
      ["/events?from=yesterday", "Write a time with its zone, such as 2026-11-17T13:00:00Z."],
      ["/events?range=2w", "Choose one of 1 h, 24 h, 7 d and 30 d."],
      ["/audit?to=tomorrow", "Write a time with its zone, such as 2026-11-17T13:00:00Z."],
      ["/audit?range=2w", "Choose one of 1 h, 24 h, 7 d and 30 d."],
      ["/approvals?for=any&status=nonsense", "Choose a state from the list."],
      ["/approvals?for=any&from=yesterday", "Write a time with its zone, such as 2026-11-17T13:00:00Z."],
    ] as const) {
      await page.open(base + path);
      await page.shows(expected);
      assert.is(await page.evaluate("document.querySelector('.chip.bad') !== null"), true, path);
      assert.equal(await violations(page), [], path);
      await page.evaluate("document.querySelector('.chip.bad .x').click()");
      await page.hides(expected);
    }
  });
};

const binary = browserHere();
if (binary === null) skipped("ranges of time in the console", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
