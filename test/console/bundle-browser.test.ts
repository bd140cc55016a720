import { suite } from "uvu";
import * as assert from "uvu/assert";
import { overflow, violations, WIDTHS } from "../support/accessibility.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { signUp } from "../support/client.ts";
import { create, type Orders, type OrdersWorld, orders, ordersWorld } from "../support/orders.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the page of a bundle in a browser");
const WHO = { email: "ana@shop.example", password: "correct horse battery" };
/** The most that a bundle has. */
const STEPS = 50;

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let shop: Orders;
  let world: OrdersWorld;

  /** A bundle of fifty steps that fails at the last but one, of which one undo is refused. */
  const bundle = async (ending: string): Promise<string> => {
    const steps = Array.from({ length: STEPS - 2 }, (_, n) => create(`o${n}`, n === 3 ? { undo: "refuse" } : {}));
    const mail = { action: "mail.send", payload: { order: "letter" } };
    const { body } = await world.agent.bundle(ending, [...steps, create("last", { do: "refuse" }), mail], {
      name: "month-end-payout",
    });
    const id = body.id ?? body.bundle_id;
    await until("the bundle has ended", async () => {
      const { status } = (await world.client.call("GET", `/v1/bundles/${id}`)).body;
      return status === "rollback_incomplete";
    });
    return id;
  };

  const fitsEverywhere = async (what: string): Promise<void> => {
    for (const width of WIDTHS)
      for (const dark of [false, true]) {
        await page.shaped({ width, dark });
        if (process.env.SHOTS) await page.screenshot(`${process.env.SHOTS}/${what}-${width}-${dark}.png`);
        assert.equal(await violations(page), [], `${width} ${dark ? "dark" : "light"}`);
        assert.ok((await overflow(page)) <= 0, `at ${width} px`);
      }
    await page.shaped({});
  };

  test.before(async () => {
    [program, page, shop] = await Promise.all([startProgram(), openBrowser(binary), orders()]);
    await page.shaped({});
    world = await ordersWorld(program.url, shop.target, {
      ...{ as: await signUp(program.url, WHO), endpoint: { name: "bank-gateway" } },
      agent: { name: "payout-runner" },
    });
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await shop.target.close();
    removeFolder(program.dir);
  });
  test.after.each(() => assert.equal(page.faults(), []));

  test("fifty steps are shown to scale, the irreversible one says so, and what is left needs a note", async () => {
    const id = await bundle("month-end");
    await openSignedIn(page, program.url, { who: WHO, path: `/bundles/${id}` });
    await page.shows("Step 4, order.create");
    await page.shows("This step could not be undone. bank-gateway refused");
    // The letter was never sent, so nothing of it has to be undone.
    await page.hides("cannot be undone: 50");
    await page.shows("turned back");
    await page.shows("1 undo refused");
    await page.shows("not started; it cannot be undone, so it comes last");
    await page.shows("Sent to bank-gateway");
    await page.shows("The policy asked for none");
    await page.shows("Records of this bundle");
    const rows = await page.evaluate<number>("document.querySelectorAll('.fall .r:not(.ax)').length");
    assert.is(rows, STEPS);
    // The first screen says what is left and why, without anything being opened or scrolled.
    const isFirst = "document.querySelectorAll('.note')[0].innerText.includes('could not be undone')";
    const isSeen = "document.querySelectorAll('.note')[1].getBoundingClientRect().bottom < innerHeight";
    assert.ok(await page.evaluate<boolean>(`${isFirst} && ${isSeen}`));

    await page.click("Mark as undone");
    assert.is((await world.client.call("GET", `/v1/bundles/${id}`)).body.status, "rollback_incomplete");
    await page.evaluate(`document.querySelector("[name=comment]").value = "Called the bank"; undefined`);
    await page.click("Mark as undone");
    await page.reads(/Undone by hand at [^\n]*\d\d:\d\d:\d\d: Called the bank/);
    await page.hides("could not be undone");
    await page.reads(
      /Rollback ended [^\n]*\d\d:\d\d:\d\d Undone by hand Step 4, by ana@shop.example, [^\n]*\d\d:\d\d:\d\d/,
    );

    const { steps } = (await world.client.call("GET", `/v1/bundles/${id}`)).body;
    const undone = steps.find((it: { status: string }) => it.status === "compensated");
    await page.open(`${program.url}/events/${undone.event_id}`);
    await page.reads(/Delivered, undone with its bundle/);
    const byHand = steps.find((it: { resolution: unknown }) => it.resolution !== null);
    await page.open(`${program.url}/events/${byHand.event_id}`);
    await page.reads(/Delivered, undone by hand, see its bundle/);
    await page.open(`${program.url}/events?action=order.create`);
    await page.reads(/Delivered, undone Undone with its bundle/);
    await page.reads(/Delivered, undone Undone by hand/);
  });

  test("the matches of a search are told as far as they were read", async () => {
    // Each step was undone but the one that failed, and the letter was never sent.
    const sent = 2 * (STEPS - 2) + 1;
    await page.open(`${program.url}/events?action=order.create`);
    await page.shows(`${STEPS - 1} match`);
    await page.evaluate(
      "history.pushState(null, '', '/events?q=order.'); dispatchEvent(new PopStateEvent('popstate'))",
    );
    await page.shows("More than 50 match");
    await page.click("Load 50 more");
    await page.reads(new RegExp(`(?<!More than )${sent} match`));
  });

  test("the list of bundles is saved as a file", async () => {
    await page.open(`${program.url}/bundles?status=rolled_back`);
    await page.shows("month-end-payout");
    await page.click("Export…");
    await page.click("Save as CSV");
    const csv = await page.downloaded(`bundles-${new Date().toISOString().slice(0, 10)}.csv`);
    assert.match(csv, /,month-end-payout,payout-runner,50,rolled_back,/);
  });

  test("bundles are filtered by several states, as the address says", async () => {
    await page.open(`${program.url}/bundles`);
    await page.shows("month-end-payout");
    await page.click("State", ".chips");
    await page.click("Held", "dialog");
    await page.shows("No bundles match");
    await page.click("Rolled back", "dialog");
    await page.click("Close", "dialog");
    await page.shows("month-end-payout");
    assert.is(await page.evaluate("location.search"), "?status=held%2Crolled_back");
    assert.is(await page.evaluate("document.querySelectorAll('tbody tr').length"), 1);
    await page.shows("Save this view…");
    assert.equal(await violations(page), []);
    await page.open(`${program.url}/bundles?status=undone`);
    await page.shows("Choose a state from the list.");
    await page.evaluate("document.querySelector('.chip.bad .x').click()");
    await page.shows("month-end-payout");
    assert.is(await page.evaluate("location.search"), "");
  });

  test("while a step still has to be undone by hand, the list of events says so", async () => {
    const id = await bundle("half");
    const state = /Delivered, needs manual undo Its bundle could not undo it/;
    await page.open(`${program.url}/events?action=order.create&status=delivered`);
    await page.reads(state);
    await fitsEverywhere("events");
    // By a member's session, as a person has to.
    await page.evaluate(`void fetch("/v1/bundles/${id}/steps/3/resolve", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ comment: "Called the bank" }),
    })`);
    await page.hides("Its bundle could not undo it");
  });

  test("it fits six widths in two schemes, and axe finds nothing", async () => {
    const id = await bundle("again");
    await page.open(`${program.url}/bundles/${id}`);
    await page.shows("What each step did");
    await fitsEverywhere("bundle");
  });
};

const binary = browserHere();
if (binary === null)
  skipped("the page of a bundle in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
