import { createHmac } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Agent, defineAction, registerAgent } from "../support/agent.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { addMember, MEMBER_PASSWORD } from "../support/members.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

/** Each task starts on the Overview, and is done by what assistive technology calls things, with the pointer. */
const test = suite("five tasks of a fresh reader");
const ANA = { email: "ana@shop.example", password: "correct horse battery" };
const BEN = { email: "ben@shop.example", password: MEMBER_PASSWORD };
const AUDITOR = { email: "aud@shop.example", password: MEMBER_PASSWORD };
const TASK_MS = 60_000;
/**
 * What a person takes for one act: they look for it and decide, point, and press. From the keystroke-level model
 * (Card, Moran and Newell, 1980); a fresh reader also reads, so the time to think is tripled.
 */
const CLICK_MS = 3 * 1_350 + 1_100 + 200;
const LETTER_MS = 280;

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let client: Client;
  let agent: Agent;
  let bank: Receiver;
  let clicks = 0;
  let letters = 0;

  const click = async (role: string, name: string | RegExp): Promise<void> => {
    clicks += 1;
    await page.press(role, name);
  };
  const write = async (text: string): Promise<void> => {
    letters += text.length;
    await page.write(text);
  };
  type Reader = { readonly who: typeof ANA; readonly clicksMax: number };
  /** The page works alone for a part of the time; the rest is what a person takes for so many acts. */
  const task = async (name: string, { who, clicksMax }: Reader, acts: () => Promise<void>): Promise<void> => {
    await openSignedIn(page, program.url, { who, path: "/overview" });
    await page.shows("Needs a person");
    [clicks, letters] = [0, 0];
    const began = performance.now();
    await acts();
    const machineMs = performance.now() - began;
    const personMs = clicks * CLICK_MS + letters * LETTER_MS;
    console.log(`${name}: ${clicks} clicks, ${letters} letters, ${Math.round(machineMs)} ms of the page`);
    assert.ok(clicks <= clicksMax, `${name} takes ${clicks} clicks`);
    assert.ok(personMs < TASK_MS, `${name} takes a person ${personMs} ms`);
    assert.ok(machineMs < TASK_MS, `${name} takes the page ${machineMs} ms`);
  };

  test.before(async () => {
    [program, page, bank] = await Promise.all([startProgram(), openBrowser(binary), receiver()]);
    await page.shaped({});
    client = await signUp(program.url, ANA);
    await addMember(client, BEN.email, "approver");
    await addMember(client, AUDITOR.email, "auditor");
    const settings = { url: bank.url, retry_schedule_s: [] };
    const { id: endpoint } = await client.make("/v1/endpoints", { name: "billing-app", ...settings });
    const title = "Refund {/amount|eur} to {/customer}";
    await defineAction(client, "refund.create", endpoint, { title, cost: { pointer: "/amount" } });
    const rules = { budget_eur_day: 5_000, approval: { when: "cost_eur > 50.0", expires_after_s: 3_600 } };
    const policy = await client.make("/v1/policies", { name: "refunds", ...rules });
    agent = await registerAgent(program.url, client, { name: "refund-bot", policy_id: policy.id });
    const ask = (amount: number, customer: string) =>
      agent.execute(`k-${customer}`, { action: "refund.create", payload: { amount, customer }, wait_ms: 0 });
    const small = (await ask(12.5, "Ida Holm")).body.event_id;
    const sent = async (id: string, status: string) =>
      until(`${id} is ${status}`, async () => (await client.call("GET", `/v1/events/${id}`)).body.status === status);
    await sent(small, "delivered");
    await ask(1_240, "Hana Weiss");
    const { id: till } = await client.make("/v1/endpoints", { name: "till", ...settings });
    const shop = await hookSource(client, { name: "shop", endpoint_id: till });
    bank.answer((_, response) => response.writeHead(422).end('{"detail":"no such order"}'));
    await sent((await shop.send("order-1", { type: "order.paid" })).body.event_id, "failed");
    bank.answer((_, response) => response.end("{}"));
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await bank?.close();
    removeFolder(program.dir);
  });
  test.after.each(() => assert.equal(page.faults(), []));

  test("an approver decides", async () => {
    await task("decide", { who: BEN, clicksMax: 4 }, async () => {
      await click("link", "Decide");
      await page.shows("Refund €1,240.00 to Hana Weiss");
      await click("button", /^Approve €1,240\.00 A/);
      const asksAgain = "document.querySelector('.sign .first')?.innerText.includes('now') === true";
      // A first press shows what was not on the screen yet.
      if (!(await page.evaluate<boolean>(asksAgain))) await click("button", /^Approve €1,240\.00/);
      await click("button", /^Approve €1,240\.00, now/);
      await page.shows("Approved. Delivered to billing-app");
    });
  });

  test("an operator learns why an event failed, and sends it again", async () => {
    await task("why did it fail, and mend it", { who: ANA, clicksMax: 5 }, async () => {
      await click("link", /^Failed/);
      // Where a long name may break, assistive technology reads no space.
      await click("link", "order.paid");
      await page.shows("HTTP 422");
      await click("button", "Replay…");
      await page.shows("Sends 1 event now.");
      await click("button", "Replay 1 event");
      await page.shows("Succeeded, HTTP 200");
    });
  });

  test("an auditor learns who approved a request, and what they saw", async () => {
    await task("who approved it, and what did they see", { who: AUDITOR, clicksMax: 4 }, async () => {
      await click("link", "Audit");
      await click("link", /^Decisions/);
      await click("link", /approved/);
      await click("link", "Open the approval");
      await page.shows("What was sent");
      await page.shows("Hana Weiss");
      await page.shows("ben@shop.example approved");
      await page.shows("Every field was shown to them.");
    });
  });

  test("a viewer of costs learns what an agent spent in a week", async () => {
    await task("what did an agent spend this week", { who: ANA, clicksMax: 4 }, async () => {
      await click("link", "Agents");
      await click("link", "refund-bot");
      await click("link", /^7 d/);
      await page.shows("€1,252.50");
    });
  });

  test("a developer adds a GitHub source, and sees its first event", async () => {
    await task("add a GitHub source", { who: ANA, clicksMax: 7 }, async () => {
      await click("link", "Sources");
      await click("link", /^Add a source/);
      await click("radio", /^GitHub/);
      await click("textbox", /^Name/);
      await write("code");
      await click("button", "Go on");
      await click("button", "Go on");
      await page.shows("Waiting for the first event from GitHub.");
      const codes = await page.evaluate<string[]>(
        "[...document.querySelectorAll('.copy code')].map((it) => it.innerText)",
      );
      const [address = "", secret = ""] = codes;
      const body = JSON.stringify({ zen: "Keep it logically awesome." });
      const signature = createHmac("sha256", secret).update(body).digest("hex");
      const headers = {
        ...{ "content-type": "application/json", "x-github-event": "ping", "x-github-delivery": "d-1" },
        "x-hub-signature-256": `sha256=${signature}`,
      };
      const answer = await fetch(program.url + new URL(address).pathname, { method: "POST", headers, body });
      assert.is(answer.status, 202);
      await page.shows("An event arrived at");
    });
  });
};

const binary = browserHere();
if (binary === null) skipped("five tasks of a fresh reader", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
