import { suite } from "uvu";
import * as assert from "uvu/assert";
import { start } from "../../src/console/browser/console.ts";
import { hookSource, signUp } from "../support/client.ts";
import { fakePage } from "../support/fake-page.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { receiver as startReceiver } from "../support/receiver.ts";

const test = suite("the console of the whole program");

let program: Program;
test.before(async () => {
  program = await startProgram();
});
test.after(() => {
  killPrograms();
  removeFolder(program.dir);
});

/** Fetches as the browser's page would: with the session's cookie, and saying where it is from. */
const browserFetch = (base: string, jar: { cookie: string }): typeof fetch => {
  const send = async (path: unknown, init: RequestInit = {}): Promise<Response> => {
    const headers = {
      ...(init.headers as Record<string, string>),
      "sec-fetch-site": "same-origin",
      cookie: jar.cookie,
    };
    const response = await fetch(`${base}${path}`, { ...init, headers });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) jar.cookie = set.split(";")[0] ?? "";
    return response;
  };
  // As much of fetch as the console calls.
  return send as typeof fetch;
};

const opened = async (jar: { cookie: string }, hash = "") => {
  const html = await (await fetch(program.url)).text();
  const page = fakePage(html, browserFetch(program.url, jar));
  page.browser.location.hash = hash;
  await start(page.browser);
  const shows = (text: string) => until(`the page shows ${text}`, () => page.text().includes(text));
  return { ...page, shows };
};

test("somebody signs up in it, and finds it again with the same cookie until the logout", async () => {
  const jar = { cookie: "" };
  const page = await opened(jar);
  assert.ok(page.text().includes("First steps"));
  await page.fill(page.byId("sign-up"), {
    email: `console-${process.pid}@example.com`,
    password: "correct horse battery",
  });
  await page.shows("No events yet.");
  const again = await opened(jar);
  await again.shows("No events yet.");
  await again.byId("log-out").fire("click");
  await again.shows("First steps");
  assert.ok((await opened(jar)).text().includes("First steps"));
});

test("an event is found by what it is, with its answer, its gaps and what repeats it; refused senders are counted", async () => {
  const client = await signUp(program.url);
  const receiver = await startReceiver();
  try {
    const endpoint = await client.make("/v1/endpoints", { name: "till", url: receiver.url });
    const source = await hookSource(client, { endpoint_id: endpoint.id });
    const { body: admitted } = await source.send("delivery-1", { type: "<b>order</b>" });
    await source.send("delivery-1", { type: "<b>order</b>" });
    await source.send("delivery-2", {}, { "x-signature": "0".repeat(64) });
    const page = await opened({ cookie: client.cookie });
    await until("it is found", async () => {
      await page.go("#/events?q=delivery-1");
      return page.text().includes(admitted.event_id);
    });
    await until("it is delivered", async () => {
      await page.go(`#/events/${admitted.event_id}`);
      return page.text().includes("number 1, succeeded");
    });
    for (const text of ["delivery-1", "first byte", "webhook-id", "No gate was evaluated."])
      assert.ok(page.text().includes(text), text);
    await page.find("button", "Show").fire("click");
    await page.shows('"type": "<b>order</b>"');
    await page.find("button", "curl").fire("click");
    await page.shows('--data-raw \'{"type":"<b>order</b>"}\'');
    await until("the refused one is counted", async () => {
      await page.go(`#/sources/${source.id}`);
      return page.text().includes("a signature with another secret");
    });
    await page.go(`#/endpoints/${endpoint.id}`);
    await page.shows("Median response time");
    await page.find("button", "Test").fire("click");
    await page.shows("succeeded");
  } finally {
    await receiver.close();
  }
});

test("an agent is suspended by one click, and may act again by one more", async () => {
  const client = await signUp(program.url);
  const agent = await client.make("/v1/agents", { name: "bot", scope: { actions: ["refund.*"] } });
  const page = await opened({ cookie: client.cookie }, "#/agents");
  await until("the agent is in the list", async () => {
    await page.go("#/agents");
    return page.text().includes("refund.*");
  });
  await page.find("button", "Suspend").fire("click");
  await page.shows("The agent is suspended");
  assert.is((await client.call("GET", `/v1/agents/${agent.id}`)).body.status, "suspended");
  await page.find("button", "Resume").fire("click");
  await page.shows("The agent is active again.");
  assert.is((await client.call("GET", `/v1/agents/${agent.id}`)).body.status, "active");
});

test.run();
