import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, logIn } from "../support/client.ts";
import { type ConsoleScene, consoleScene, HOSTILE } from "../support/console-scene.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the console in a browser");

const WHO = { email: "ana@shop.example", password: "correct horse battery" };
/** The width of a common phone; below 320 px nobody looks (WCAG 2.2, success criterion 1.4.10). */
const PHONE = { width: 390, height: 844 };

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let client: Client;
  let scene: ConsoleScene;

  test.before(async () => {
    [program, page] = await Promise.all([startProgram(), openBrowser(binary)]);
    await page.shaped({});
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await scene?.shop.target.close();
    removeFolder(program.dir);
  });
  /** Whatever a test does, and whoever has named things: nothing of it runs, and nothing comes from elsewhere. */
  test.after.each(() => {
    assert.equal(page.faults(), []);
    assert.equal([...page.origins()], [new URL(program.url).origin]);
  });

  const at = async (place: string, shows: string): Promise<void> => {
    // The page that is left may say the same.
    await page.evaluate(`(() => {
      if (location.hash === ${JSON.stringify(place)}) return;
      document.querySelector("#content > article").isLeft = true;
      location.hash = ${JSON.stringify(place)};
    })()`);
    await until(`${place} is drawn`, () =>
      page.evaluate<boolean>(`document.querySelector("#content > article")?.isLeft === undefined`),
    );
    await page.shows(shows);
  };
  /** By the button for it, until the views have what is looked for. */
  const refreshed = (text: string) =>
    until(`a refresh shows ${text}`, async () => {
      await page.click("Refresh");
      return (await page.text()).includes(text);
    });
  const status = async (path: string): Promise<string> => (await client.call("GET", path)).body.status;

  test("somebody signs up, is told what a refused password lacks, and finds an empty list that says what to do", async () => {
    await page.open(`${program.url}/`);
    await page.shows("First steps");
    await page.fill("Email", WHO.email, "#sign-up");
    await page.fill("Password", "short", "#sign-up");
    await page.click("Create it");
    await until("it is said", () => page.evaluate<boolean>("document.getElementById('sign-problem').innerText !== ''"));
    await page.fill("Password", WHO.password, "#sign-up");
    await page.click("Create it");
    await page.shows("No events yet.");
    await page.hides("First steps");
    client = await logIn(program.url, WHO);
    scene = await consoleScene(program.url, client);
    await refreshed("delivered");
  });

  test("the list says why each event is where it is, and is narrowed by status, search and endpoint", async () => {
    await at("#/events", "http-4xx: The receiver answered 422");
    for (const text of [
      `content: refused by "no order over 500 ${HOSTILE}"`,
      "approval: needs an approval",
      "1 duplicate",
    ])
      assert.ok((await page.text()).includes(text), text);
    await page.fill("Status", "blocked");
    await page.click("Search");
    await page.hides(scene.events.failed);
    await page.shows(scene.events.blocked);
    await page.click("Clear");
    await page.shows(scene.events.failed);
    await page.fill("Search", "second");
    await page.click("Search");
    await page.hides(scene.events.blocked);
    await page.shows(scene.events.failed);
    await page.click("More filters");
    await page.fill("Endpoint", "end_of_nobody");
    await page.click("Search");
    await page.shows("No events match.");
  });

  test("a failed event shows why, its timeline, attempts, headers, answer and verdict, its payload and what repeats it", async () => {
    await at(`#/events/${scene.events.failed}`, "http-4xx: The receiver answered 422");
    await page.click("Request headers");
    await page.click("Response headers");
    await page.click("Received headers");
    for (const text of ["received", "number 1, failed", "webhook-signature", "[redacted]", "keep-alive", "first byte"])
      await page.shows(text);
    for (const text of ["1 of 1 rules passed", "x-delivery-id", `shop ${HOSTILE}`]) await page.shows(text);
    await page.click("Show");
    await page.shows(`"note": "${HOSTILE}"`);
    await page.click("Repeat with curl");
    await page.shows("curl --globoff --include --request POST");
  });

  test("it is replayed by a click, and shows by itself that it fails again, and when it is delivered", async () => {
    await at(`#/events/${scene.events.failed}`, "number 1, failed");
    await page.fill("Why (optional)", `mended ${HOSTILE}`);
    await page.click("Replay");
    await page.shows("The event is being replayed.");
    await page.shows("number 2, failed");
    await page.shows(`mended ${HOSTILE}`);
    // It has to fit a phone as well.
    await page.fill("Why (optional)", "w".repeat(100));
    scene.shop.target.answer((_, response) => response.setHeader("x-note", HOSTILE).end(`{"note":"${HOSTILE}"}`));
    await page.click("Replay");
    await page.shows("number 3, succeeded");
  });

  test("a blocked event passes the gates again by a click, and is refused again", async () => {
    await at(`#/events/${scene.events.blocked}`, "denied-by-rule");
    await page.click("Replay through the gates");
    await until("it is said", () => page.evaluate<boolean>("document.getElementById('notice').className === 'bad'"));
    assert.match(await page.evaluate<string>("document.getElementById('notice').innerText"), /no order over 500/);
  });

  test("a held event leads to its approval, which is approved by a click, and it is delivered", async () => {
    await at(`#/events/${scene.events.held}`, "needs an approval");
    await page.click("Decide on it");
    await page.shows('payload.order == "large"');
    await page.fill("Comment (optional)", HOSTILE);
    await page.click("Approve");
    await page.shows("Your approval is recorded.");
    await page.shows(WHO.email);
    await scene.eventIs(scene.events.held, "delivered");
    await at("#/approvals", "No pending approvals.");
  });

  test("bundles show their steps and undos; what is left to people is resolved by them", async () => {
    await at("#/bundles", "rollback incomplete");
    for (const text of ["committed", "rolled back", "Step 1 (order.create) failed", "content: step 1: refused by"])
      await page.shows(text);
    await at(`#/bundles/${scene.bundles.blocked}`, "denied-by-rule");
    await at(`#/bundles/${scene.bundles.rolledBack}`, "compensated");
    await page.click("order.cancel");
    await page.shows("the undo of step 0");
    await at(`#/bundles/${scene.bundles.incomplete}`, "Its compensation order.cancel did not succeed.");
    await page.fill("How it was undone", HOSTILE);
    await page.click("Mark as undone");
    await page.shows("undone by hand");
    assert.is(await status(`/v1/bundles/${scene.bundles.incomplete}`), "rolled_back");
  });

  test("many are replayed: planned, begun from what was planned, and followed to their end", async () => {
    scene.shop.target.answer((_, response) => response.writeHead(500).end());
    const ids = await Promise.all(
      [1, 2, 3].map(async (nth) => (await scene.source.send(`many-${nth}`, { order: `${nth}` })).body.event_id),
    );
    for (const id of ids) await scene.eventIs(id, "failed");
    scene.shop.target.answer((_, response) => response.end());
    await at(`#/replays?source_id=${scene.source.id}`, "Replay many");
    await page.fill("Why", `mended ${HOSTILE}`);
    await page.fill("Events per second", "100");
    await page.click("Plan it");
    await page.shows("Takes about");
    assert.is(await page.evaluate("document.querySelector('[name=rate_per_second]').value"), "100");
    await page.click("Replay 3 events");
    await page.shows("The replay started.");
    await page.shows("3 of 3");
    for (const id of ids) await scene.eventIs(id, "delivered");
    await refreshed("done");
    await at("#/replays", `mended ${HOSTILE}`);
  });

  test("an endpoint that fails says so; it is tested and enabled by one click each", async () => {
    const path = `/v1/endpoints/${scene.endpointId}`;
    scene.shop.target.answer((_, response) => response.writeHead(410).end());
    await scene.source.send("gone", { order: "gone" });
    await until("it is disabled", async () => (await client.call("GET", path)).body.health.state === "disabled");
    await at("#/endpoints", "disabled");
    await at(`#/endpoints/${scene.endpointId}`, "Events wait until the endpoint is enabled.");
    await page.click("Test");
    await page.shows("The receiver answered 410");
    scene.shop.target.answer((_, response) => response.end());
    await page.click("Test");
    await page.shows("succeeded");
    await page.click("Enable");
    await page.shows("The endpoint is enabled");
    await page.hides("Events wait until the endpoint is enabled.");
  });

  test("senders that were refused are counted with what they called themselves", async () => {
    await at("#/sources", `shop ${HOSTILE}`);
    await page.click(`shop ${HOSTILE}`);
    await page.shows("a signature with another secret");
  });

  test("an agent is suspended by one click, or by one key, and may act again", async () => {
    await at("#/agents", `helper ${HOSTILE}`);
    await page.click("Suspend");
    await page.shows("The agent is suspended");
    await page.shows("Resume");
    assert.is(await status(`/v1/agents/${scene.agent.id}`), "suspended");
    await page.evaluate("document.querySelector('#content button').focus()");
    await page.key("Enter");
    await page.shows("The agent is active again.");
    assert.is(await status(`/v1/agents/${scene.agent.id}`), "active");
    // What was pressed is gone: the keyboard goes on in the page, not from its top.
    await until("it has the focus", () => page.evaluate<boolean>("document.activeElement.id === 'content'"));
  });

  /** Every page there is, each with a text that it alone shows. */
  const places = async (): Promise<readonly (readonly [place: string, shows: string])[]> => {
    const list = async (path: string): Promise<string> => (await client.call("GET", path)).body.data[0].id;
    const { events, bundles, agent, source, endpointId } = scene;
    return [
      ["#/events", "More filters"],
      [`#/events/${events.failed}`, events.failed],
      [`#/events/${events.blocked}`, events.blocked],
      ["#/approvals?status=consumed", "of 1"],
      [`#/approvals/${await list("/v1/approvals?status=consumed")}`, "Requested action"],
      ["#/bundles", bundles.committed],
      [`#/bundles/${bundles.incomplete}`, "undone by hand"],
      ["#/agents", agent.id],
      [`#/agents/${agent.id}`, "Its requests"],
      ["#/endpoints", "Success, 1 h"],
      [`#/endpoints/${endpointId}`, "Median response time"],
      ["#/sources", source.id],
      [`#/sources/${source.id}`, "Refused signatures"],
      ["#/replays", "Replay many"],
      [`#/replays/${await list("/v1/replays")}`, "Begun by"],
    ];
  };

  test("every page can be read by day and by night, has a name for every control, and fits a phone", async () => {
    for (const [place, shows] of await places()) {
      for (const shape of [{ dark: false }, { dark: true }, PHONE]) {
        await page.shaped(shape);
        // Names of columns are out of sight on a phone.
        if (shape !== PHONE) await at(place, shows);
        assert.equal(await page.pale(), [], `${place} ${JSON.stringify(shape)}`);
        const [needed = 0, there = 0] = await page.evaluate<number[]>(
          "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
        );
        assert.ok(needed <= there, `${place} needs ${needed} of ${there} px`);
      }
      assert.equal(await page.nameless(), [], place);
    }
    await page.shaped({});
  });

  test("who has the keyboard alone sees where they are, from the first control to the last", async () => {
    await at("#/agents", scene.agent.id);
    await page.evaluate("document.querySelector('#navigation a').focus()");
    const seen: string[] = [];
    for (let presses = 0; presses < 30 && seen.at(-1) !== "Suspend"; presses += 1) {
      await page.key("Tab");
      const [name = "", outline = ""] = await page.evaluate<string[]>(
        "[document.activeElement.innerText, getComputedStyle(document.activeElement).outlineStyle]",
      );
      assert.is(outline, "solid", name);
      seen.push(name);
    }
    for (const name of ["Approvals", "Replays", "Refresh", "Log out", `helper ${HOSTILE}`, "Suspend"])
      assert.ok(seen.includes(name), `${name} in ${seen}`);
  });

  test("the session ends with the logout, and what it showed is gone", async () => {
    await page.click("Log out");
    await page.shows("First steps");
    await page.hides("helper");
    await page.open(`${program.url}/`);
    await page.shows("First steps");
    await page.fill("Email", WHO.email, "#log-in");
    await page.fill("Password", WHO.password, "#log-in");
    await page.click("Log in", "#log-in");
    await page.shows("Log out");
  });
};

/** That the tests above would see what they say does not happen. */
const watched = (binary: string): void => {
  test("what its policy refuses, and what a page throws or asks of its reader, is seen by these tests", async () => {
    const program = await startProgram();
    const page = await openBrowser(binary);
    const saw = (what: RegExp) => until(`${what}`, () => page.faults().some((it) => what.test(it)));
    try {
      await page.open(`${program.url}/`);
      await page.evaluate("void setTimeout(() => alert('asked'))");
      await saw(/dialog: asked/);
      await page.evaluate("void setTimeout(() => { throw new Error('thrown'); })");
      await saw(/exception: .*thrown/);
      await page.evaluate("void setTimeout(() => { document.body.innerHTML = '<b>'; })");
      await saw(/TrustedHTML/);
      await page.evaluate(`void document.body.append(Object.assign(new Image(), { src: "http://127.0.0.1:9/x.png" }))`);
      await saw(/security: .*127\.0\.0\.1:9/);
      await page.evaluate("document.querySelector('#start h1').style.color = '#8888'");
      assert.ok((await page.pale()).some((it) => it.endsWith("Countersign")));
    } finally {
      await page.close();
      await program.stop();
      removeFolder(program.dir);
    }
  });
};

const binary = browserHere();
if (binary === null) {
  skipped("the console in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
} else {
  inBrowser(binary);
  watched(binary);
}

test.run();
