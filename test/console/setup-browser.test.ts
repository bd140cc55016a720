import { createHmac } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fitEverywhere, violations } from "../support/accessibility.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { logIn } from "../support/client.ts";
import { checkFirstEventBar } from "../support/first-event-bar.ts";
import { keyboardOf } from "../support/keyboard.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("setting up in a browser");
const LINK = /once: http:\/\/\S+\/start(#\S+)/;
const PASSWORD = "correct horse battery";

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  const { tabTo, fillIn, press } = keyboardOf(() => page);
  let target: Receiver;
  /** What the page has shown once, to look for it in storage. */
  const secrets: string[] = [];

  const fill = async (label: string, value: string): Promise<void> => {
    await page.shows(label);
    const found = await page.evaluate<boolean>(`(() => {
      const label = [...document.querySelectorAll("main label")].find((it) => it.innerText.trim() === ${JSON.stringify(label)});
      if (!label?.control) return false;
      label.control.value = ${JSON.stringify(value)};
      return true;
    })()`);
    assert.ok(found, `there is a field ${label}`);
  };
  const codes = (): Promise<string[]> =>
    page.evaluate<string[]>("[...document.querySelectorAll('.copy code')].map((it) => it.innerText)");
  const post = (url: string, secret: string, payload: object) => {
    const body = JSON.stringify(payload);
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    const headers = { "content-type": "application/json", "x-signature": signature };
    return fetch(program.url + new URL(url).pathname, { method: "POST", headers, body });
  };
  const stores = async (what: string): Promise<void> => {
    const kept = await page.evaluate<string>(
      "JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }])",
    );
    assert.not(kept.includes(what), "a secret is in the address or in storage");
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
  test.after.each(async () => {
    assert.equal(page.faults(), []);
    for (const it of secrets) await stores(it);
  });

  let address = "";
  let secret = "";

  test("by keyboard alone, a stranger comes from the first start to a delivered event", async () => {
    const began = performance.now();
    const start = await until("the link is printed", () => LINK.exec(program.output())?.[1] ?? "");
    await page.open(`${program.url}/start${start}`);
    await page.shows("Create the first account");
    await fillIn("E-mail", "ana@shop.example");
    await fillIn("Name of the account", "Shop");
    await fillIn("Password", PASSWORD);
    await page.key("Enter");
    await page.shows("Who sends the events?");
    await page.shows("in four commands");
    assert.equal(await violations(page), []);
    await tabTo("Stripe");
    const chosen = () => page.evaluate<string>("document.querySelector('[name=type]:checked').value");
    for (let at = 0; at < 20 && (await chosen()) !== "hmac"; at += 1) await page.key("ArrowDown");
    assert.is(await chosen(), "hmac");
    await fillIn("Name", "shop");
    await press("Go on");
    await page.shows("Where are its events sent?");
    await fillIn("Name of the endpoint", "till");
    await fillIn("Its address", target.url);
    await press("Go on");
    await page.shows("Waiting for the first event from Custom HMAC.");
    const [endpointSecret, url, made] = await codes();
    [address, secret] = [url ?? "", made ?? ""];
    assert.match(endpointSecret ?? "", /^whsec_/);
    assert.match(address, /\/v1\/webhooks\/hmac\/src_/);
    secrets.push(endpointSecret ?? "", secret);

    assert.is((await post(address, "another secret", { order: 1 })).status, 401);
    await page.shows("Signature refused. It matches none of this source's secrets.");
    assert.equal(await violations(page), []);
    assert.is((await post(address, secret, { type: "order.paid" })).status, 202);
    await page.shows("An event arrived at");
    await page.shows("order.paid");
    await page.shows("Delivered");
    assert.is(target.arrivals.length, 1);
    await press("Open the event");
    await page.shows("Succeeded, HTTP 200");
    checkFirstEventBar("the console alone", performance.now() - began);
  });

  test("what was shown once does not come back, and the overview no longer leads", async () => {
    await page.evaluate("history.back()");
    await page.shows("An event arrived at");
    for (const it of secrets) await page.hides(it);
    await page.open(`${program.url}/overview`);
    await page.shows("1 request was refused in the last hour");
    await page.hides("Begin here");
  });

  test("an event is told by the stream: the list learns of it without asking again and again", async () => {
    await page.open(`${program.url}/events`);
    await page.shows("order.paid");
    await page.shows("Live");
    const asked = () =>
      page.evaluate<number>(
        "performance.getEntriesByType('resource').filter((it) => it.name.includes('/v1/events')).length",
      );
    const before = await asked();
    await post(address, secret, { type: "order.shipped" });
    await page.shows("Show 1 new event");
    await page.hides("order.shipped");
    await page.shows("Paused while you read");
    assert.ok((await asked()) > before, "it was read after the stream told of it");
    await page.click("Show 1 new event · this list is paused while you read");
    await page.shows("order.shipped");
  });

  test("a source is renamed and its secret rotated; the one before is still accepted; then it is deleted", async () => {
    const id = new URL(address).pathname.split("/").at(-1) ?? "";
    await page.open(`${program.url}/sources/${id}`);
    await page.shows("Change it");
    await fill("Name", "the shop");
    await page.click("Save");
    await page.shows("The source is changed.");
    await until("it has its name", async () =>
      (await page.evaluate<string>("document.querySelector('h1').innerText")).includes("the shop"),
    );
    await page.click("Rotate the secret");
    await page.shows("is accepted until");
    const rotated = await until("the secret is shown", async () => (await codes())[1] ?? "");
    secrets.push(rotated);
    for (const it of [secret, rotated]) assert.is((await post(address, it, { type: `with ${it}` })).status, 202);
    await page.click("Delete…");
    await page.click("Delete", "dialog");
    await page.shows("the shop is deleted.");
    await until("it takes nothing", async () => (await post(address, rotated, {})).status === 404);
  });

  test("an endpoint and an agent are made, changed and deleted, and what they are given is shown once", async () => {
    await page.open(`${program.url}/endpoints/new`);
    await page.shows("Make the endpoint");
    await fill("Name", "ledger");
    await fill("Address", "http://10.0.0.1/hook");
    await page.click("Make the endpoint");
    await until("the address is refused", () => page.evaluate<boolean>("document.querySelector('.err') !== null"));
    await fill("Address", target.url);
    await page.click("Make the endpoint");
    await page.shows("This signing secret is shown once.");
    secrets.push((await codes())[0] ?? "");
    await page.evaluate("document.querySelector('.note input').click()");
    await page.click("Done");
    await page.shows("Failures in a row");
    await page.hides("whsec_");
    await page.click("Test", ".acts");
    await page.shows("The test was delivered: HTTP 200.");
    await fill("Requests a second", "7");
    await page.click("Save");
    await page.shows("The endpoint is changed.");
    await page.click("Rotate secret…");
    await page.click("Rotate secret", "dialog");
    await page.shows("Deliveries are signed with the old one as well until");
    secrets.push(await until("the secret is shown", async () => (await codes())[0] ?? ""));
    await page.click("Delete…");
    await page.click("Delete", "dialog");
    await page.shows("ledger is deleted.");

    await page.open(`${program.url}/agents/new`);
    await page.shows("Make the agent");
    await fill("Name", "refund-bot");
    await fill("What it may ask for", "Not An Action!");
    await page.click("Make the agent");
    await page.shows("must be the name of an action");
    await fill("What it may ask for", "refund.*, order.read");
    await page.click("Make the agent");
    await page.shows("This key is shown once.");
    secrets.push((await codes())[0] ?? "");
    await page.evaluate("document.querySelector('.note input').click()");
    await page.click("Done");
    await page.shows("all that begin with refund., order.read");
    await page.hides("csa_");
    await page.click("Delete…");
    await page.click("Delete", "dialog");
    await page.shows("refund-bot is deleted.");
  });

  test("what does not exist, and what is another's, is the same page", async () => {
    for (const id of ["src_nothing", `src_${"a".repeat(32)}`]) {
      await page.open(`${program.url}/sources/new?source=${id}`);
      await page.shows("There is nothing at this address in Shop.");
    }
  });

  test("every page of a set-up fits six widths, in two schemes, and axe finds nothing", async () => {
    await page.open(`${program.url}/sources/new`);
    await page.shows("Who sends the events?");
    await fill("Name", "shop-stripe");
    await page.click("Go on");
    await page.shows("Where are its events sent?");
    const places = [
      ["/sources/new", "Who sends the events?"],
      [await page.evaluate<string>("location.pathname + location.search"), "Where are its events sent?"],
      [await page.evaluate<string>("location.pathname + location.search.replace(/step=2/, 'step=3')"), "Waiting for"],
      ["/endpoints/new", "Make the endpoint"],
      ["/agents/new", "Make the agent"],
    ] as const;
    await fitEverywhere(page, program.url, places);
    // The source that is set up here gets a policy that its sample does not pass.
    const source = new URL(places[1][0], program.url).searchParams.get("source");
    const owner = await logIn(program.url, { email: "ana@shop.example", password: PASSWORD });
    const strict = await owner.session("POST", "/v1/policies", { name: "strict", require_fields: ["not_there"] });
    const put = await owner.session("PATCH", `/v1/sources/${source}`, { policy_id: strict.body.id });
    assert.is(put.status, 200, JSON.stringify([strict.body, put.body]));
    await page.shaped({});
    await page.open(`${program.url}${places[2][0]}`);
    await page.click("Send a sample event");
    await page.shows("Field missing. The policy needs not_there; the request has no such field.");
    await page.shows("The sample below was refused");
    assert.is((await page.text()).split("not_there").length, 2, "the reason is told once");
    assert.is(await page.evaluate("document.querySelector('main .err')"), null);
  });
};

const binary = browserHere();
if (binary === null) skipped("setting up in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
