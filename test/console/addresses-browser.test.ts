import { suite } from "uvu";
import * as assert from "uvu/assert";
import { overflow, violations } from "../support/accessibility.ts";
import { type BrowserPage, browserHere } from "../support/browser.ts";
import { logIn } from "../support/client.ts";
import { until } from "../support/program.ts";
import { type SceneInBrowser, sceneInBrowser, WHO } from "../support/scene-in-browser.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

/** Addresses with values that are wrong, doubled, empty and too long, as people write them and programs shorten them. */
const test = suite("what an address of the console may say");
const LONG = "x".repeat(600);
const TURNED = "from=2026-11-17T13:00:00Z&to=2026-11-16T13:00:00Z";
const RANGES = "Choose one of 1 h, 24 h, 7 d and 30 d.";
const MOMENT = "Write a time with its zone, such as 2026-11-17T13:00:00Z.";
const ORDER = "The end has to come after the beginning.";
const ONE_TIME = "Choose a range or two moments, not both.";
const STATE = "Choose a state from the list.";
const LISTS = "Choose one of For you, Everyone’s, Decided and History.";
const SHORTER = "Write at most 512 characters.";
const RECORD = /^Write the number of a record/;

/** Lists, of which nothing is shown while a filter is wrong. */
const LIST_ADDRESSES = [
  ["/events?status=nope", STATE],
  ["/events?range=5y", RANGES],
  ["/events?range=1h&range=7d", RANGES],
  ["/events?range=24h&to=2026-11-16T13:00:00Z", ONE_TIME],
  [`/events?${TURNED}`, ORDER],
  ["/events?gate=nope", "Choose a gate from the list."],
  ["/events?origin=nope", "Choose an origin from the list."],
  [`/events?source_id=${LONG}`, SHORTER],
  ["/approvals?for=nobody", LISTS],
  ["/approvals?for=me&for=all", LISTS],
  ["/approvals?for=any&status=nope", STATE],
  [`/approvals?for=any&${TURNED}`, ORDER],
  ["/approvals?for=all&range=24h", "Only the history is filtered. Remove the filter, or choose History."],
  ["/bundles?status=x", STATE],
  ["/replays?status=x", STATE],
  ["/audit?type=Nope", "Choose from the list what was done."],
  ["/audit?from=abc", MOMENT],
  [`/audit?${TURNED}`, ORDER],
  ["/audit?order=up", "Choose one of the two orders."],
] as const;

const OTHER_ADDRESSES = [
  ["/overview?range=5y", RANGES],
  ["/overview?from=abc", MOMENT],
  [`/overview?${TURNED}`, ORDER],
  ["/overview?to=2026-11-17T13:00:00Z", "Name the beginning, too."],
  ["/overview?from=2000-11-17T13:00:00Z", "Choose a shorter time, of at most four years."],
  ["/events/{event}?attempt=99", "Write the number of an attempt, from 1 to 2."],
  ["/events/{event}?attempt=first", "Write the number of an attempt, from 1 to 2."],
  ["/events/{event}?scale=half", "Choose Full scale, or remove this."],
  ["/approvals/{approval}?for=nobody", LISTS],
  ["/replays?new=range%3D99z", RANGES],
  [`/replays?new=${encodeURIComponent(TURNED)}`, ORDER],
  ["/sources/new?step=2", "Without a source there is only step 1."],
  ["/sources/new?source={source}&step=9", "Choose one of the steps 2, 3 and 4."],
  ["/agents?tab=nope", "Choose one of Agents and Actions."],
  ["/agents?tab=actions&new=nope", "Only an action can be defined here."],
  ["/agents/{agent}?range=5y", RANGES],
  ["/policies/{policy}?tab=nope", "Choose one of Draft, Today, Versions and Decisions."],
  ["/policies/{policy}?tab=today&v=1..2", "Only the tab Versions compares two versions."],
  ["/policies/{policy}?v=abc", "There is one version only, and nothing to compare it with."],
  ["/audit/abc", RECORD],
  ["/audit/99999999", RECORD],
] as const;

const inBrowser = (binary: string): void => {
  let world: SceneInBrowser;
  let page: BrowserPage;
  let base: string;
  let things: Readonly<Record<string, string>>;

  const visit = (path: string): Promise<void> =>
    page.open(base + path.replace(/\{(\w+)\}/g, (_, kind) => String(things[kind])));
  const search = (): Promise<string> => page.evaluate<string>("location.pathname + location.search");
  /** The page's sentences beside red chips, once there are some. */
  const faults = (): Promise<readonly string[]> =>
    until("the page says what is expected", async () => {
      const told = "[...document.querySelectorAll('.err')].map((it) => it.innerText)";
      const all = await page.evaluate<readonly string[]>(told);
      return all.length > 0 ? all : null;
    });
  /** A raw pattern, a path of the schema or a parameter's name says nothing to a reader. */
  const isPlain = async (path: string): Promise<void> => {
    assert.not.match(await page.text(), /must match|In the query|The parameter|could not be loaded/, path);
    assert.is(await page.evaluate("document.querySelectorAll('.chip.bad').length"), 1, path);
    assert.ok((await overflow(page)) <= 0, path);
  };

  test.before(async () => {
    world = await sceneInBrowser(binary);
    ({ page } = world);
    base = world.program.url;
    const { scene, held } = world;
    things = {
      ...{ event: scene.events.failed, approval: held, source: scene.source.id, agent: scene.agent.id },
      policy: scene.policyId,
    };
    const client = await logIn(base, WHO);
    await client.session("POST", `/v1/events/${scene.events.failed}/replay`, {});
    await until("it was sent twice", async () => {
      const { status, attempts } = (await client.call("GET", `/v1/events/${scene.events.failed}`)).body;
      return status === "failed" && attempts.length === 2;
    });
    await openSignedIn(page, base, { who: WHO, path: "/overview" });
  });
  test.after(() => world?.close());
  test.after.each(() => assert.equal(page.faults(), []));

  test("a list with a wrong filter keeps its form, lists nothing, and says only what is expected", async () => {
    for (const [path, expected] of LIST_ADDRESSES) {
      await visit(path);
      assert.equal(await faults(), [expected], path);
      await page.shows("Nothing is listed");
      await page.hides("Save this view…");
      await isPlain(path);
      assert.is(await page.evaluate("document.querySelectorAll('tbody tr, .queue li').length"), 0, path);
    }
    assert.equal(await violations(page), []);
    await page.press("button", "Remove filter Order");
    await page.hides("Nothing is listed");
    assert.is(await search(), "/audit");
  });

  test("every other page says what it expects, and shows nothing of what it did not understand", async () => {
    for (const [path, expected] of OTHER_ADDRESSES) {
      await visit(path);
      const [told = "", ...others] = await faults();
      assert.equal(others, [], path);
      if (typeof expected === "string") assert.is(told, expected, path);
      else assert.match(told, expected, path);
      await isPlain(path);
    }
    assert.equal(await violations(page), []);
    assert.is(await page.evaluate("document.querySelector('.crumbs').innerText.split('\\n').at(-1)"), "Not a record");
    await page.press("button", "Remove filter Record");
    await page.hides("Write the number of a record");
    assert.is(await search(), "/audit");
  });

  test("a wrong value is mended where it stands", async () => {
    await visit("/overview?range=5y");
    assert.equal(await faults(), [RANGES]);
    await page.press("button", /^Change filter Time/);
    await page.click("last 7 d", "dialog");
    await page.shows("Requests over time");
    assert.is(await search(), "/overview?range=7d");
    await visit("/audit/abc");
    await faults();
    await page.press("button", /^Change filter Record/);
    await page.evaluate("document.querySelector('dialog input').focus()");
    await page.write("3");
    await page.key("Enter");
    await page.shows("Consistent");
    assert.is(await search(), "/audit/3");
  });

  test("a plan of a replay is made only of what the address says", async () => {
    const client = await logIn(base, WHO);
    for (const filter of ["range=99z", TURNED, `source_id=${LONG}`, "run=abc", LONG, "status=held"]) {
      await visit(`/replays?new=${encodeURIComponent(filter)}`);
      await page.shows("No replays yet");
      await page.hides("Start the replay");
      assert.not.match(await page.text(), /Sends \d/, filter);
    }
    await page.shows("Only failed or refused events can be replayed");
    await visit("/replays?new=run%3Dabc");
    await page.shows("A replay cannot be limited by “run”");
    await page.click("Show the plan");
    await page.shows("Sends 1 event now.");
    assert.is(await search(), "/replays?new=status%3Dfailed");
    assert.equal((await client.call("GET", "/v1/replays")).body.data, []);
  });

  test("an empty value says nothing, a list takes several, and a filter without a list is one of the history", async () => {
    await visit("/events?status=&range=");
    await page.shows("12 match");
    assert.is(await page.evaluate("document.querySelectorAll('.chip:not(.off, .phone)').length"), 0);
    await visit("/events?status=failed&status=held");
    await page.shows("5 match");
    await visit("/approvals?status=pending");
    await page.shows("1 match");
    await visit("/policies/{policy}?tab=&v=");
    await page.shows("Version 1 is in force");
    assert.is(await page.evaluate("document.querySelector('.tabs [aria-current]').innerText"), "Draft");
    await visit("/replays?new=");
    await page.shows("No replays yet");
    await page.hides("Start the replay");
    await visit("/audit?subject={event}");
    await page.shows("Save this view…");
    assert.is(await page.evaluate("document.querySelector('search input').value"), things.event);
  });

  test("a selected event that is not in the list is told", async () => {
    await visit("/events?at=evt_nope");
    await page.shows("The event evt_nope, which the address selects, is not among these rows.");
    await page.click("Select none");
    await page.hides("which the address selects");
    assert.is(await search(), "/events");
    await visit("/events?at={event}");
    await until("it is selected", () => page.evaluate<boolean>("document.querySelector('tr.here') !== null"));
    await page.hides("which the address selects");
  });

  test("an address without a thing leads on: to the list of its kind, and to the search", async () => {
    for (const [path, list] of [
      ["/events/evt_nope", "/events"],
      [`/events/${LONG}`, "/events"],
      ["/approvals/apr_nope", "/approvals?for=any"],
      ["/bundles/bun_nope", "/bundles"],
      ["/replays/rpl_nope", "/replays"],
      ["/sources/src_nope", "/sources"],
      ["/sources/new?source=src_nope", "/sources"],
      ["/endpoints/end_nope", "/endpoints"],
      ["/agents/agt_nope", "/agents"],
      ["/agents/actions/nope", "/agents?tab=actions"],
      ["/agents/actions/%FF", "/agents?tab=actions"],
      ["/policies/pol_nope", "/policies"],
      ["/settings/nope", "/settings"],
      ["/nope", "/overview"],
    ] as const) {
      await visit(path);
      await page.shows("There is nothing at this address in My account.");
      const way = "[...document.querySelectorAll('#main a.btn.first')].map((it) => it.getAttribute('href'))";
      assert.equal(await page.evaluate(way), [list], path);
    }
    assert.equal(await violations(page), []);
    await page.click("Search or jump to…", "#main");
    await until("the search is open", () => page.evaluate<boolean>("document.querySelector('dialog.pal') !== null"));
    await page.key("Escape");
    await page.click("Overview", "#main");
    await page.shows("Requests over time");
  });

  test("a stage leads to its attempt, which the address opens, and so does an endpoint's last failure", async () => {
    const open = "document.querySelector('section[aria-current]')?.getAttribute('aria-label') ?? null";
    const isOpen = (name: string) =>
      until(`${name} is open`, async () => (await page.evaluate<string | null>(open)) === name);
    await visit("/events/{event}?attempt=1");
    await isOpen("Attempt 1");
    await page.evaluate(
      "[...document.querySelectorAll('.fall .r')].find((it) => it.innerText.startsWith('Attempt 2')).click()",
    );
    await page.click("Open attempt 2", ".fall");
    await isOpen("Attempt 2");
    assert.is(await search(), `/events/${things.event}?attempt=2`);
    await page.evaluate("history.back()");
    await isOpen("Attempt 1");
    await page.click("Show as table");
    await page.click("Attempt 2", "table");
    await isOpen("Attempt 2");
    const client = await logIn(base, WHO);
    const { endpointId } = world.scene;
    const { health } = (await client.call("GET", `/v1/endpoints/${endpointId}`)).body;
    await page.open(`${base}/endpoints/${endpointId}`);
    await page.click("HTTP 422", ".facts");
    await page.shows(`Attempt ${health.last_failure.attempt}`);
    assert.is(await search(), `/events/${health.last_failure.event_id}?attempt=${health.last_failure.attempt}`);
  });
};

const binary = browserHere();
if (binary === null) skipped("addresses in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
