import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fitEverywhere } from "../support/accessibility.ts";
import { type Agent, defineAction, registerAgent } from "../support/agent.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, type HookSource, hookSource, signUp } from "../support/client.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

/** What an operator sees while an endpoint is down: what waits, for what, and what to do next. */
const test = suite("the console while an endpoint is down");
const ANA = { email: "ana@shop.example", password: "correct horse battery" };
/** So many failures in a row open a circuit. */
const FAILURES = 10;

/** In the page: each figure of the overview that says how much waits, and where it leads. */
const WAITING = `(() => {
  const links = [...document.querySelectorAll("main a")].filter((it) => it.checkVisibility());
  const sums = links.filter((it) => ["Held", "Waiting"].includes(it.closest(".sums") && it.querySelector("span")?.innerText));
  const bars = links.filter((it) => it.closest(".barlist") && it.innerText.trim() === "shelf.count");
  const rows = links.filter((it) => it.closest("table") && it.innerText.trim() === "erp-bridge");
  return [
    ...sums.map((it) => [it.querySelector("span").innerText, it.getAttribute("href"), it.querySelector("b").innerText]),
    ...bars.map((it) => ["shelf.count", it.getAttribute("href"), it.closest("li").innerText.trim().split(/\\s+/).at(-1)]),
    ...rows.map((it) => ["erp-bridge", it.getAttribute("href"), [...it.closest("tr").cells].at(-1).innerText]),
  ];
})()`;

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let client: Client;
  let down: Receiver;
  let endpoint: string;
  let source: HookSource;
  let agent: Agent;
  let failed: string;
  let waiting: string;
  let bundle: string;

  const open = (path: string): Promise<void> => page.open(program.url + path);
  const eventIs = (id: string, status: string) =>
    until(`${id} is ${status}`, async () => (await client.call("GET", `/v1/events/${id}`)).body.status === status);

  test.before(async () => {
    [program, page, down] = await Promise.all([startProgram(), openBrowser(binary), receiver()]);
    await page.shaped({});
    down.answer((_, response) => response.writeHead(500).end());
    client = await signUp(program.url, ANA);
    const made = { name: "erp-bridge", url: down.url, retry_schedule_s: [] };
    endpoint = (await client.make("/v1/endpoints", made)).id;
    await defineAction(client, "stock.move", endpoint);
    agent = await registerAgent(program.url, client, { name: "stock-bot", scope: { actions: ["stock.*"] } });
    source = await hookSource(client, { name: "erp", endpoint_id: endpoint });
    const sent: string[] = [];
    for (let nth = 0; nth < FAILURES; nth += 1) sent.push((await source.send(`down-${nth}`)).body.event_id);
    const health = async () => (await client.call("GET", `/v1/endpoints/${endpoint}`)).body.health;
    await until("the circuit is open", async () => (await health()).state === "open");
    failed = sent[0] ?? "";
    await eventIs(failed, "failed");
    waiting = (await source.send("waits")).body.event_id;
    const asked = await agent.bundle(
      "b",
      [1, 2].map((order) => ({ action: "stock.move", payload: { order } })),
      { name: "stock-count" },
    );
    bundle = asked.body.id ?? asked.body.bundle_id;
    const policy = { name: "counts", approval: { when: "true", expires_after_s: 3_600 } };
    const { id: policy_id } = await client.make("/v1/policies", policy);
    await defineAction(client, "shelf.count", endpoint);
    const counter = { name: "count-bot", scope: { actions: ["shelf.count"] }, policy_id };
    const asking = await registerAgent(program.url, client, counter);
    const held = (await asking.execute("held", { action: "shelf.count", payload: {}, wait_ms: 0 })).body.event_id;
    await eventIs(held, "held");
    await until("both wait", async () => (await health()).queued === 2);
    await openSignedIn(page, program.url, { who: ANA, path: "/overview" });
    await page.shows("Needs a person");
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await down?.close();
    removeFolder(program.dir);
  });
  test.after.each(() => {
    assert.equal(page.faults(), []);
  });

  test("the endpoint says how many wait since when and when it is probed, and its figures hide none of them", async () => {
    await open(`/endpoints/${endpoint}`);
    await page.reads(/Circuit open\. \d+ failures in a row\. New events wait and are kept; the next probe is /);
    await page.reads(/2 events wait\. The circuit has been open since \d\d:\d\d:\d\d\./);
    const figures = await until("the figures are drawn", async () => {
      const found = await page.evaluate<[name: string, href: string, value: string][]>(
        "[...document.querySelectorAll('.sums a')].map((it) => [it.querySelector('span').innerText, it.getAttribute('href'), it.querySelector('b').innerText])",
      );
      return found.some(([name, , value]) => name === "Waiting" && value === "2") ? found : null;
    });
    assert.equal(
      figures.map(([name]) => name),
      ["Delivered", "Refused", "Held", "Failed", "Waiting"],
    );
    for (const [name, href, value] of figures) {
      const { body } = await client.call("GET", `/v1${href}&total=true`);
      assert.is(value, String(body.total), name);
    }
  });

  test("what waits names the endpoint, on its own page, in the list and as a step of a bundle", async () => {
    await open(`/events/${waiting}`);
    await page.reads(
      /(Queued|Retrying)\. It waits for erp-bridge, whose circuit has been open since \d\d:\d\d:\d\d(\.\d+)?\. The next probe is (in [\d a-z]+|now), and the first success resumes delivery\./,
    );
    await page.click("Open the endpoint", ".note");
    await page.shows("Circuit open.");
    await open("/events?status=queued,retrying");
    await page.reads(/It waits for erp-bridge, whose circuit is open/);
    await open(`/bundles/${bundle}`);
    await page.reads(/Step 1 \(stock\.move\) waits\. It waits for erp-bridge, whose circuit has been open since/);
    await page.reads(/What each step did[\s\S]+It waits for erp-bridge, whose circuit is open/);
    await page.hides("It is being sent");
    // The second step waits for its turn, not for a person.
    await page.hides("Held");
  });

  test("what the overview says is waiting is as much as each list behind it has, while an endpoint and a person are waited for", async () => {
    await open("/overview");
    await page.shows("Waiting for approval, by action");
    const figures = await until("all of them are drawn, and say that something waits", async () => {
      const found = await page.evaluate<[name: string, href: string, value: string][]>(WAITING);
      return found.length === 4 && found.every(([, , value]) => /^[1-9]/.test(value)) ? found : null;
    });
    for (const [name, href, value] of figures) {
      // An endpoint's page has no count of a list; what waits for it are the events that it has not got yet.
      const list =
        name === "erp-bridge"
          ? `/events?endpoint_id=${endpoint}&status=queued,retrying,delivering`
          : href.replace("for=any&", "");
      const { body } = await client.call("GET", `/v1${list}${list.includes("?") ? "&" : "?"}total=true`);
      assert.is(Number.parseInt(value, 10), body.total, `${name} ${list}`);
      await open(href);
      await page.reads(name === "erp-bridge" ? /2 events wait\./ : new RegExp(`${body.total} match`));
    }
    const badge = await until("the sidebar counts", () =>
      page.evaluate<string | null>("document.querySelector('nav.side .count')?.firstChild?.data ?? null"),
    );
    assert.is(badge, String((await client.session("GET", "/v1/approvals?for=me&limit=100")).body.data.length));
    assert.is(badge, "1");
  });

  test("the overview says when the endpoint is probed next", async () => {
    await open("/overview");
    await page.reads(/erp-bridge\. Its circuit is open\. 2 events wait\. The next probe is (in [\d a-z]+|now)\./);
  });

  test("a failed event offers the next act beside its cause, and so does a refused one", async () => {
    await open(`/events/${failed}`);
    await page.reads(/Failed\. The receiver answered 500/);
    assert.equal(
      await page.evaluate("[...document.querySelectorAll('.note :is(button, a)')].map((it) => it.innerText.trim())"),
      ["Replay…", "Open the endpoint"],
    );
    await page.click("Replay…", ".note");
    await page.shows("1 event is tried once and, if that fails, waits until erp-bridge answers.");
    await page.click("Send nothing", "dialog");
    await defineAction(client, "payout.send", endpoint);
    const { event_id } = (await agent.execute("k-1", { action: "payout.send", payload: {}, wait_ms: 0 })).body;
    await eventIs(event_id, "blocked");
    await open(`/events/${event_id}`);
    await page.reads(/Out of scope\. stock-bot may ask for stock\.\*; it asked for payout\.send\./);
    await page.click("Open the agent", ".note");
    await page.shows("What it may do");
  });

  test("all of it fits six widths in two schemes, and axe finds nothing", async () => {
    await fitEverywhere(page, program.url, [
      [`/endpoints/${endpoint}`, "Circuit open."],
      [`/events/${waiting}`, "It waits for erp-bridge"],
      [`/bundles/${bundle}`, "It waits for erp-bridge"],
    ]);
  });
};

const binary = browserHere();
if (binary === null)
  skipped("the console while an endpoint is down", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
