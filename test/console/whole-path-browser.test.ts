import { createHmac } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { focusFault } from "../support/focus.ts";
import { keyboardOf } from "../support/keyboard.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the whole path by keyboard alone");
const LINK = /once: http:\/\/\S+\/start(#\S+)/;
const PASSWORD = "correct horse battery";

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let target: Receiver;
  const { focused, tabTo, fillIn, press, choose } = keyboardOf(() => page);

  const codes = (): Promise<string[]> =>
    page.evaluate<string[]>("[...document.querySelectorAll('.copy code')].map((it) => it.innerText)");
  const post = (url: string, secret: string, payload: object) => {
    const body = JSON.stringify(payload);
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    const headers = { "content-type": "application/json", "x-signature": signature };
    return fetch(program.url + new URL(url).pathname, { method: "POST", headers, body });
  };
  /** The letters that lead to a page. */
  const goTo = async (letters: string, shows: string): Promise<void> => {
    await page.write(letters);
    await page.shows(shows);
  };

  const isLayerOpen = (): Promise<boolean> => page.evaluate<boolean>("document.querySelector('dialog[open]') !== null");
  /** Opens a layer, leaves it by its button, and opens it again from where the focus is then. */
  const openLayer = async (button: string, leave: string): Promise<void> => {
    await press(button);
    await until("the layer is open", isLayerOpen);
    await press(leave);
    await until("the layer is closed", async () => !(await isLayerOpen()));
    assert.match(await focused(), new RegExp(`^${button}`), "the focus returns");
    assert.is(await focusFault(page), null);
    await page.key("Enter");
    await until("the layer is open again", isLayerOpen);
  };
  /** The list of all keys opens over everything, and gives the focus back. */
  const lookAtKeys = async (): Promise<void> => {
    const before = await focused();
    await page.write("?");
    await until("the list of keys is open", isLayerOpen);
    await page.key("Escape");
    await until("it is closed", async () => !(await isLayerOpen()));
    assert.is(await focused(), before, "the focus returns");
    assert.is(await focusFault(page), null);
  };
  /** The list takes keys a moment after it is drawn. */
  const openFirst = async (): Promise<void> => {
    await until("a row has the focus", async () => {
      await page.write("j");
      return page.evaluate<boolean>("document.activeElement?.closest('tbody a') !== null");
    });
    assert.is(await focusFault(page), null);
    await lookAtKeys();
    await page.key("Enter");
  };

  test.before(async () => {
    [program, page, target] = await Promise.all([startProgram({ SIGNUP: "closed" }), openBrowser(binary), receiver()]);
    await page.shaped({});
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await target.close();
    removeFolder(program.dir);
  });

  test("first start, source, policy, endpoint, event, approval, replay, audit proof and export", async () => {
    const start = await until("the link is printed", () => LINK.exec(program.output())?.[1] ?? "");
    await page.open(`${program.url}/start${start}`);
    await page.shows("Create the first account");
    await fillIn("E-mail", "ana@shop.example");
    await fillIn("Name of the account", "Shop");
    await fillIn("Password", PASSWORD);
    await page.key("Enter");

    await page.shows("Who sends the events?");
    await tabTo("Stripe");
    const chosen = () => page.evaluate<string>("document.querySelector('[name=type]:checked').value");
    for (let at = 0; at < 20 && (await chosen()) !== "hmac"; at += 1) await page.key("ArrowDown");
    await fillIn("Name", "shop");
    await press("Go on");
    await page.shows("Where are its events sent?");

    // The set-up opens it in another tab; who leaves the page instead goes on with it later.
    await goTo("gp", "No policies yet");
    await press("Write a policy");
    await page.shows("New policy");
    await fillIn("Name", "orders");
    await tabTo("People approve before it is sent");
    await page.key("Space");
    await page.shows("Only when");
    await fillIn("Only when", "payload.amount > 500.0");
    await openLayer("Publish the policy…", "Go on writing");
    await fillIn("Why", "Large orders are read first.");
    await press("Publish the policy");
    await page.shows("Version 1 is in force");

    await goTo("go", "Begin here");
    await press("Go on with its set-up");
    await page.shows("Which policy decides?");
    await fillIn("Name of the endpoint", "till");
    await fillIn("Its address", target.url);
    await choose("Which policy decides?", "orders");
    await press("Go on");
    await page.shows("Waiting for the first event from Custom HMAC.");
    // The page was left for the policy, and the secret that was made before is not kept.
    await press("Make a new secret");
    await page.shows("This secret is shown once.");
    const [, address = "", secret = ""] = await codes();

    target.answer((_, response) => {
      response.statusCode = 410;
      response.end("{}");
    });
    assert.is((await post(address, secret, { type: "order.paid", amount: 900 })).status, 202);
    await page.shows("An event arrived at");
    await press("Open the event");
    await page.shows("Open the decision");

    await goTo("ga", "If you approve");
    await page.write("a");
    // A press first shows what was not on the screen yet; once all was, it asks for the second press.
    await until("it asks for the second press", async () => {
      const button = await focused();
      if (button.startsWith("Approve, now")) return true;
      if (button.startsWith("Approve")) await page.key("Enter");
      else await page.write("a");
      return false;
    });
    assert.is(target.arrivals.length, 0);
    assert.is(await focusFault(page), null);
    await page.key("Enter");
    await page.shows("Approved.");
    await page.shows("Failed");

    target.answer((_, response) => response.end("{}"));
    await goTo("gd", "Next probe");
    await openFirst();
    await press("Enable");
    await page.shows("The endpoint is enabled");
    await goTo("gr", "Replay events");
    await press("Show the plan");
    await press("Start the replay");
    await page.shows("Finished: 1 delivered");
    await goTo("ge", "order.paid");
    await openFirst();
    await page.shows("Succeeded, HTTP 200");

    await goTo("gu", "Records, newest first");
    await until("the newest record is sealed", () =>
      page.evaluate<boolean>("document.querySelector('tbody tr')?.innerText.includes('Sealed') === true"),
    );
    await openFirst();
    await page.shows("Consistent.");
    const vkey = (await (await fetch(`${program.url}/v1/audit/key`)).text()).trim();
    await press("What you have from outside this page");
    await fillIn("The service's key", vkey);
    await press("Check again");
    await page.shows("Authentic.");
    await press("Export all records");
    const exported = await page.downloaded("audit.ndjson");
    assert.ok(exported.split("\n").length > 10, exported);
    assert.equal(page.faults(), []);
    assert.equal([...page.origins()], [new URL(program.url).origin]);
  });
};

const binary = browserHere();
if (binary === null) skipped("the whole path by keyboard alone", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
