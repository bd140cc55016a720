import { suite } from "uvu";
import * as assert from "uvu/assert";
import { layerFitsEverywhere, overflow, violations } from "../support/accessibility.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, type HookSource, hookSource, signUp } from "../support/client.ts";
import { type Orders, orders } from "../support/orders.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the console's lists in a browser");
const WHO = { email: "ana@shop.example", password: "correct horse battery" };
/** A spreadsheet would calculate it. */
const FORMULA = "=HYPERLINK(1)";

/** In the page: from now on no call is answered. */
const HOLD_ALL = `(() => {
  globalThis.heldBack = 0;
  globalThis.fetch = () => {
    globalThis.heldBack += 1;
    return new Promise(() => undefined);
  };
})()`;
/** In the page: the next answer with the first page of events comes only when it is let go, two pictures before it is `isRead`. */
const HOLD_FIRST_PAGE = `(() => {
  globalThis.letGo = null;
  globalThis.passed = 0;
  globalThis.isRead = false;
  const ask = globalThis.fetch.bind(globalThis);
  let isHeld = false;
  globalThis.fetch = async (...given) => {
    const answer = await ask(...given);
    const url = String(given[0]?.url ?? given[0]);
    if (!url.includes("/v1/events?") || !url.includes("limit=50") || url.includes("cursor=")) return answer;
    if (isHeld) {
      globalThis.passed += 1;
      return answer;
    }
    isHeld = true;
    await new Promise((resolve) => { globalThis.letGo = resolve; });
    setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.isRead = true; })), 100);
    return answer;
  };
})()`;

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let client: Client;
  let shop: Orders;
  let source: HookSource;
  const ids: string[] = [];
  /** What ends the deliveries that are under way. */
  const late: (() => void)[] = [];

  const statusOf = async (id: string | undefined): Promise<string> =>
    (await client.call("GET", `/v1/events/${id}`)).body.status;
  const sent = async (order: string, more: object): Promise<void> => {
    const { body } = await source.send(order, { order, ...more });
    ids.push(body.event_id);
  };
  const letter = (key: string): Promise<unknown> =>
    page.evaluate(
      `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true })); undefined`,
    );
  /** A key that is pressed before the page listens is lost, so it is pressed until the row is reached. */
  const toRow = (wanted: number): Promise<unknown> =>
    until(`row ${wanted} is reached`, async () => {
      const here = "[...document.querySelectorAll('tbody tr')].findIndex((it) => it.classList.contains('here'))";
      const at = await page.evaluate<number>(here);
      if (at !== wanted) await letter(at < wanted ? "j" : "k");
      return at === wanted;
    });
  /** What the page gives the browser to save. */
  const keepSaved = `(() => {
    globalThis.saved = null;
    const original = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      void blob.text().then((text) => { globalThis.saved = text; });
      return original.call(URL, blob);
    };
  })()`;

  test.before(async () => {
    [program, page, shop] = await Promise.all([startProgram(), openBrowser(binary), orders()]);
    client = await signUp(program.url, WHO);
    const endpoint = { name: "till", url: shop.target.url, retry_schedule_s: [] };
    const { id } = await client.make("/v1/endpoints", endpoint);
    source = await hookSource(client, { endpoint_id: id });
    await sent("one", { type: "order.paid" });
    await sent("two", { type: FORMULA, do: "refuse" });
    await sent("three", { type: 'with "quotes", and a comma' });
    for (const [nth, status] of ["delivered", "failed", "delivered"].entries())
      await until(`${nth} is ${status}`, async () => (await statusOf(ids[nth])) === status);
    await page.shaped({});
    await openSignedIn(page, program.url, { who: WHO, path: "/events" });
    await page.shows(FORMULA);
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await shop?.target.close();
    removeFolder(program.dir);
  });
  test.after.each(() => assert.equal(page.faults(), []));

  test("what the filter finds is saved as a file, in which no cell is calculated", async () => {
    await page.evaluate(keepSaved);
    await page.click("Export", ".acts");
    await page.shows("All that match the filter, newest first, at most 10,000.");
    assert.equal(await violations(page), []);
    await page.click("Save as CSV", "dialog");
    const csv = await until("the file is made", () => page.evaluate<string | null>("globalThis.saved"));
    await page.shows("3 events saved.");
    const [head, ...lines] = csv.trimEnd().split("\r\n");
    assert.is(head, "id,received_at,origin,from,type,to,state,why,cost_eur,attempts,run,rollback");
    assert.equal(
      lines.map((it) => it.split(",")[0]),
      ids.toReversed(),
    );
    assert.match(csv, `,'${FORMULA},till,failed,The receiver answered 422,`);
    assert.match(csv, ',"with ""quotes"", and a comma",till,delivered,');
    await page.evaluate("globalThis.saved = null");
    await page.click("Failed 1", ".tabs");
    await page.hides("order.paid");
    await page.click("Export", ".acts");
    await page.click("Save as NDJSON", "dialog");
    const ndjson = await until("the file is made", () => page.evaluate<string | null>("globalThis.saved"));
    assert.equal(
      ndjson
        .trimEnd()
        .split("\n")
        .map((it) => JSON.parse(it).id),
      [ids[1]],
    );
  });

  test("a filter is saved as a view, is there after a reload, and is removed", async () => {
    await page.open(`${program.url}/events?status=failed,delivered`);
    await page.click("Save this view…");
    await page.shows("Everybody in");
    assert.equal(await violations(page), []);
    await page.evaluate("document.querySelector('dialog [name=name]').value = 'Ended'; undefined");
    await page.click("Save", "dialog");
    await page.shows("The view Ended is saved.");
    await page.open(`${program.url}/events`);
    await page.click("Ended", ".tabs");
    await page.shows("order.paid");
    assert.is(await page.evaluate("location.search"), "?status=failed%2Cdelivered");
    assert.is(await page.evaluate("document.querySelector('.tabs [aria-current]').innerText"), "Ended");
    const kept = await client.session("GET", "/v1/members/me/preferences");
    assert.equal(kept.body.views, [{ name: "Ended", address: "/events?status=failed%2Cdelivered", shared: false }]);
    await page.click("Remove this view");
    await page.shows("The view Ended is removed.");
    await page.shows("Save this view…");
  });

  test("a column is hidden and shown again by keyboard, and the choice stays the member's", async () => {
    const headings = (): Promise<readonly string[]> =>
      page.evaluate<readonly string[]>("[...document.querySelectorAll('main thead th')].map((it) => it.innerText)");
    const isShown = (name: string, is: boolean): Promise<unknown> =>
      until(`${name} is ${is ? "shown" : "hidden"}`, async () => (await headings()).includes(name) === is);
    const toggle = (name: string): Promise<unknown> =>
      page.evaluate(
        `[...document.querySelectorAll("dialog label")].find((it) => it.innerText.trim() === "${name}").querySelector("input").click()`,
      );
    await page.shaped({ width: 1_440 });
    await page.open(`${program.url}/events`);
    await isShown("Cost", true);
    await page.evaluate(
      "[...document.querySelectorAll('main button')].find((it) => it.innerText === 'Columns').focus()",
    );
    await page.key("Enter");
    await page.shows("Show all");
    const fixed =
      "[...document.querySelectorAll('dialog input[disabled]')].map((it) => it.parentElement.innerText.trim())";
    assert.equal(await page.evaluate(fixed), ["Received", "Event"]);
    await toggle("Cost");
    await isShown("Cost", false);
    for (const [width, dark] of [
      [1_440, false],
      [390, true],
    ] as const) {
      await page.shaped({ width, dark });
      assert.equal(await violations(page), [], `${width} dark: ${dark}`);
    }
    await page.shaped({ width: 1_440 });
    await page.key("Escape");
    await until("the focus is on the button again", () =>
      page.evaluate<boolean>("document.activeElement?.innerText === 'Columns'"),
    );
    await page.open(`${program.url}/events`);
    await isShown("Cost", false);
    assert.equal(await violations(page), []);
    await page.click("Columns");
    await page.click("Show all", "dialog");
    await isShown("Cost", true);
    await page.click("Close", "dialog");
    await page.shaped({});
  });

  test("rows are selected by x and by their boxes; a replay of them begins with its plan, and does what it says", async () => {
    await page.open(`${program.url}/events`);
    await page.shows(FORMULA);
    await toRow(1);
    await letter("x");
    await page.shows("1 selected");
    await page.evaluate(`document.querySelector('tr[data-key="${ids[0]}"] .pick').click()`);
    await page.shows("2 selected");
    assert.equal(await violations(page), []);
    await page.click("Replay…", ".picked-bar");
    await page.shows("Sends 1 event now. Skips 1: delivered.");
    await layerFitsEverywhere(page, "the replay of what is selected");
    await page.shaped({});
    assert.is(await page.evaluate("document.activeElement.innerText"), "Send nothing");
    assert.is(await statusOf(ids[1]), "failed");
    shop.target.answer((_, response) => response.end("{}"));
    await page.click("Replay 1 event", "dialog");
    await page.shows("1 event is on its way again.");
    await until("it is delivered", async () => (await statusOf(ids[1])) === "delivered");
    await until("its row says so, in its place", () =>
      page.evaluate<boolean>(`document.querySelectorAll("tbody tr")[1].innerText.includes("Delivered")`),
    );
    assert.is(await page.evaluate("document.querySelector('.picked-bar')"), null);
  });

  test("with the network cut the page says so within 5 s, and when it returns nothing is missing and nothing is twice", async () => {
    await page.open(`${program.url}/events`);
    await page.shows(FORMULA);
    await page.shows("Live");
    // From the cut to its message, without the longest stretch in which the machine drew nothing.
    await page.evaluate(`globalThis.toldMs = null;
      addEventListener("offline", () => {
        const start = performance.now();
        let [before, longest] = [start, 0];
        const look = () => {
          const at = performance.now();
          [before, longest] = [at, Math.max(longest, at - before)];
          const isTold = document.querySelector(".live").innerText.startsWith("Not connected, from");
          if (isTold) globalThis.toldMs = at - start - longest;
          else requestAnimationFrame(look);
        };
        look();
      }, { once: true }); undefined`);
    await page.offline(true);
    const toldMs = await until("it is told", () => page.evaluate<number | null>("globalThis.toldMs"));
    assert.ok(toldMs <= 5_000, `told after ${toldMs} ms`);
    await page.shows(FORMULA);
    for (const order of ["four", "five"]) await sent(order, { type: "order.late" });
    await page.offline(false);
    await page.shows("Show 2 new events");
    await page.shows("Paused while you read: 2 new");
    await page.click("Show 2 new events · this list is paused while you read", ".freshness");
    await page.shows("Live");
    const { body } = await client.call("GET", "/v1/events");
    assert.equal(
      await page.evaluate("[...document.querySelectorAll('tbody tr')].map((it) => it.dataset.key)"),
      body.data.map(({ id }: { readonly id: string }) => id),
    );
  });

  test("a page whose script cannot be loaded says so, and is opened by itself once there is a connection", async () => {
    await page.open(`${program.url}/events`);
    await page.shows(FORMULA);
    await page.forgets();
    await page.offline(true);
    await page.click("Policies", ".side");
    await page.shows("The page could not be loaded.");
    assert.is(await page.evaluate("document.querySelector('#main .note.fail button').innerText"), "Try now");
    await page.offline(false);
    await page.shows("No policies yet");
  });

  test("keys act while no answer of the network comes", async () => {
    await page.open(`${program.url}/events`);
    await page.shows(FORMULA);
    await toRow(0);
    await page.evaluate(HOLD_ALL);
    /** After a key, what it does is there although nothing is answered: the layer, the row or the field. */
    const does = async (key: string, what: string): Promise<unknown> => {
      await letter(key);
      return until(`${key} does ${what}`, () => page.evaluate<boolean>(what));
    };
    const rows = "[...document.querySelectorAll('tbody tr')]";
    await does("j", `${rows}[1].classList.contains("here") && ${rows}[1].contains(document.activeElement)`);
    await does("x", `document.body.innerText.includes("1 selected")`);
    await does("k", `${rows}[0].classList.contains("here")`);
    await does("?", `document.querySelector("dialog[open] h3")?.innerText === "All keys"`);
    await page.key("Escape");
    await until("the layer is closed", () => page.evaluate<boolean>("document.querySelector('dialog') === null"));
    await does("/", `document.activeElement?.closest(".find") !== null`);
    await page.key("Escape");
    await until("the field is left", () => page.evaluate<boolean>("document.activeElement?.closest('.find') === null"));
    await letter("g");
    await does("b", `location.pathname === "/bundles" && document.querySelector("h1")?.innerText === "Bundles"`);
    assert.ok((await page.evaluate<number>("globalThis.heldBack")) > 0, "the page asked for its rows meanwhile");
  });

  test("an answer that is overtaken by a later one does not take a state back", async () => {
    shop.target.answer((_, response) => {
      const done = (): void => void response.end("{}");
      late.push(done);
    });
    await sent("six", { type: "order.slow" });
    await until("it is under way", () => late.length === 1);
    await page.open(`${program.url}/events`);
    await page.shows("Live");
    const row = `document.querySelector('tr[data-key="${ids.at(-1)}"]')`;
    await until("its row says so", () => page.evaluate<boolean>(`${row}?.innerText.includes("Delivering") === true`));
    await page.evaluate(HOLD_FIRST_PAGE);
    await sent("seven", { type: "order.slow" });
    await until("an answer is held back", () => page.evaluate<boolean>("globalThis.letGo !== null"));
    await until("the other is under way", () => late.length === 2);
    for (const done of late.splice(0)) done();
    await until("its row says that it is delivered", () =>
      page.evaluate<boolean>(`${row}.innerText.includes("Delivered")`),
    );
    await until("a later answer has come", () => page.evaluate<boolean>("globalThis.passed > 0"));
    await page.evaluate("globalThis.letGo()");
    await until("the late answer was read", () => page.evaluate<boolean>("globalThis.isRead"));
    assert.match(await page.evaluate<string>(`${row}.innerText`), "Delivered");
  });

  test("a selection fits a narrow window", async () => {
    for (const width of [360, 768, 1_440]) {
      await page.shaped({ width });
      await page.open(`${program.url}/events`);
      await page.shows(FORMULA);
      await toRow(0);
      await letter("x");
      await page.shows("1 selected");
      assert.is(await overflow(page), 0, String(width));
      assert.equal(await violations(page), []);
    }
  });
};

const binary = browserHere();
if (binary === null) skipped("the console's lists in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
