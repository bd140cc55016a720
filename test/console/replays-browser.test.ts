import { suite } from "uvu";
import * as assert from "uvu/assert";
import { namedWaits, planText } from "../../console/src/pages/replay-text.ts";
import { violations } from "../support/accessibility.ts";
import { defineAction, registerAgent } from "../support/agent.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, type HookSource, hookSource, signUp } from "../support/client.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

/** A replay of events whose endpoints are well, disabled and failing, and of a bundle's step. */
const test = suite("replays in a browser");
const WHO = { email: "ana@shop.example", password: "correct horse battery" };
/** So many failures in a row open a circuit. */
const FAILURES = 10;

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let client: Client;
  const targets: Receiver[] = [];

  type Endpoint = { readonly id: string; readonly target: Receiver; readonly source: HookSource };
  let well: Endpoint;
  let down: Endpoint;
  const endpointThat = async (name: string, status: number): Promise<Endpoint> => {
    const target = await receiver();
    targets.push(target);
    target.answer((_, response) => response.writeHead(status).end("{}"));
    const { id } = await client.make("/v1/endpoints", { name, url: target.url, retry_schedule_s: [] });
    return { id, target, source: await hookSource(client, { name: `for ${name}`, endpoint_id: id }) };
  };
  const fails = async (source: HookSource, name: string, payload: object = {}): Promise<void> => {
    const { event_id: id } = (await source.send(name, payload)).body;
    await until(
      `${name} has failed`,
      async () => (await client.call("GET", `/v1/events/${id}`)).body.status === "failed",
    );
  };
  const plan = async () => {
    const body = { filter: { status: "failed" }, dry_run: true };
    return (await client.session("POST", "/v1/replays", body)).body;
  };
  /** Only one of the endpoints has a circuit that opens. */
  const textOf = (planned: Awaited<ReturnType<typeof plan>>): string =>
    planText(
      planned,
      namedWaits(planned.waiting_at, () => "erp-bridge"),
    );
  const rowsOf = (): Promise<number> => page.evaluate<number>("document.querySelectorAll('tbody tr').length");

  test.before(async () => {
    [program, page] = await Promise.all([startProgram(), openBrowser(binary)]);
    await page.shaped({});
    client = await signUp(program.url, WHO);
    well = await endpointThat("billing-app", 422);
    await fails(well.source, "mended-1");
    await fails(well.source, "mended-2");
    await fails(well.source, "still-broken", { broken: true });
    well.target.answer(({ body }, response) => response.writeHead(body.includes("broken") ? 422 : 200).end("{}"));
    const gone = await endpointThat("old-app", 422);
    await fails(gone.source, "gone-1");
    gone.target.answer((_, response) => response.writeHead(410).end("{}"));
    await fails(gone.source, "gone-2");
    down = await endpointThat("erp-bridge", 500);
    for (let nth = 0; nth < FAILURES; nth += 1) await fails(down.source, `down-${nth}`);
    // What a probe sends and fails goes on waiting, however long the test takes.
    await client.session("PATCH", `/v1/endpoints/${down.id}`, { retry_schedule_s: [3_600, 3_600, 3_600] });
    const bank = await receiver();
    targets.push(bank);
    bank.answer((_, response) => response.writeHead(422).end("{}"));
    const made = { name: "bank", url: bank.url, retry_schedule_s: [] };
    await defineAction(client, "transfer.send", (await client.make("/v1/endpoints", made)).id);
    const agent = await registerAgent(program.url, client, { name: "banker" });
    await agent.bundle("transfers", [{ action: "transfer.send", payload: {} }]);
    await until("all of that is known", async () => {
      const { count, waiting, skipped: left } = await plan();
      return count === 13 && waiting === 10 && left.length === 2;
    });
    await openSignedIn(page, program.url, { who: WHO, path: "/replays" });
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await Promise.all(targets.map((it) => it.close()));
    removeFolder(program.dir);
  });
  test.after.each(() => assert.equal(page.faults(), []));

  test("the plan says what is sent, what waits and what is skipped; the result is what it said, without a tick", async () => {
    const planned = await plan();
    await page.click("Show the plan");
    await page.shows("Sends 3 events now. 10 wait until erp-bridge answers.");
    await page.shows("2: the endpoint is disabled");
    await page.shows("1: a step of a bundle is not sent alone");
    await page.click("Start the replay");
    await page.shows("2 delivered, 1 failed, 3 skipped. 10 more wait until erp-bridge answers.");
    await page.shows("Finished");
    await page.shows("6 of 16 are done, 10 wait");
    const id = (await page.evaluate<string>("location.pathname")).split("/").at(-1);
    const { body } = await client.call("GET", `/v1/replays/${id}`);
    assert.is(body.delivered + body.failed + body.waiting, planned.count);
    assert.is(body.waiting, planned.waiting);
    assert.equal(body.waiting_at, planned.waiting_at);
    const byReason = (it: typeof planned.skipped) => [...it].sort((a, b) => a.reason.localeCompare(b.reason));
    assert.equal(byReason(body.skipped_by), byReason(planned.skipped));
    await page.shows("2 events: the endpoint is disabled.");
    await page.shows("1 event: a step of a bundle is not sent alone.");
    await page.shows("10 events wait for erp-bridge: its circuit is open.");
    await page.reads(new RegExp(`Begun by ${WHO.email}`));
    await page.shows("10 events a second at most");
    const mark = await page.evaluate<string>("document.querySelector('main .st use').getAttribute('href')");
    assert.is(mark, "#m-failed");
    assert.equal(await violations(page), []);
  });

  test("the figure of those that were skipped leads to their reasons, which add up to it", async () => {
    await page.click("Skipped 3");
    await until("the reasons are on the screen", () =>
      page.evaluate<boolean>(
        "(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.querySelector(':target').getBoundingClientRect())",
      ),
    );
    const told = await page.evaluate<string>("document.querySelector(':target').innerText");
    const sum = [...told.matchAll(/^(\d+) events?:/gm)].reduce((all, [, many]) => all + Number(many), 0);
    assert.is(sum, 3, told);
    await page.evaluate("history.back(); undefined");
    await page.shows("Its events");
  });

  test("an endpoint's page leads to the events that wait for it, and they are as many as it says", async () => {
    const { data } = (await client.call("GET", "/v1/endpoints")).body;
    const { id } = data.find(({ name }: { readonly name: string }) => name === "erp-bridge");
    const path = await page.evaluate<string>("location.pathname");
    await page.open(`${program.url}/endpoints/${id}`);
    await page.click("10 events", ".facts");
    await page.shows("10 match");
    assert.is(await rowsOf(), 10);
    await page.open(program.url + path);
    await page.shows("Waiting");
  });

  test("each figure leads to as many events as it says, and Back to the replay", async () => {
    const path = await page.evaluate<string>("location.pathname");
    for (const [name, many] of [
      ["Delivered 2", 2],
      ["Failed 1", 1],
      ["Waiting 10", 10],
      ["10 events wait", 10],
      ["Its events", 13],
    ] as const) {
      await page.click(name);
      await until(`${name} leads to ${many}`, async () => (await rowsOf()) === many);
      await page.evaluate("history.back(); undefined");
      await until("the replay is there again", () => page.evaluate<boolean>(`location.pathname === "${path}"`));
      await page.shows("Its events");
    }
  });

  test("a plan is made for what a list of events shows, and its filter is in the address", async () => {
    const { data } = (await client.call("GET", "/v1/endpoints")).body;
    const { id } = data.find(({ name }: { readonly name: string }) => name === "erp-bridge");
    await page.open(`${program.url}/events?status=failed&endpoint_id=${id}&range=24h`);
    const many = (await client.call("GET", `/v1/events?status=failed&endpoint_id=${id}&total=true`)).body.total;
    await page.shows(`${many} match`);
    await page.click("Replay all that match…");
    const body = { filter: { status: "failed", endpoint_id: id }, dry_run: true };
    await page.shows(textOf((await client.session("POST", "/v1/replays", body)).body));
    await page.shows("erp-bridge");
    await page.shows("last 24 h");
    const planned = new URL(await page.evaluate<string>("location.href")).searchParams.get("new");
    assert.is(planned, `status=failed&endpoint_id=${id}&range=24h`);
    assert.equal(await violations(page), []);
    await page.evaluate("document.querySelector('[aria-label=\"Remove filter Endpoint\"]').click()");
    const all = (await client.session("POST", "/v1/replays", { ...body, filter: { status: "failed" } })).body;
    await page.shows(textOf(all));
    await page.open(`${program.url}/events?status=failed&q=order`);
    await page.shows("Export");
    assert.is(
      await page.evaluate("document.body.innerText.includes('Replay all that match')"),
      false,
      "it has no words",
    );
  });

  test("an address that names other events makes no plan, and says what can be replayed", async () => {
    await page.open(`${program.url}/replays?new=status%3Ddelivered`);
    await page.shows("Only failed or refused events can be replayed, not “delivered”.");
    assert.is(await page.evaluate("document.body.innerText.includes('Start the replay')"), false);
    await page.click("Show the plan");
    await page.shows("Start the replay");
    assert.is(await page.evaluate("location.search"), "?new=status%3Dfailed");
  });

  test("replays are filtered by state, and neither that filter nor a plan removes the other", async () => {
    const rows = (many: number) => until(`${many} rows`, async () => (await rowsOf()) === many);
    await page.open(`${program.url}/replays?new=status%3Dblocked`);
    await page.shows("Sends 0 events now.");
    await rows(1);
    await page.click("State", "[aria-label='Filter replays']");
    await page.click("Cancelled", "dialog");
    await page.shows("No replays match");
    await page.click("Finished", "dialog");
    await page.click("Close", "dialog");
    await rows(1);
    await page.shows("Sends 0 events now.");
    assert.is(await page.evaluate("location.search"), "?new=status%3Dblocked&status=cancelled%2Cdone");
    await page.evaluate("document.querySelector('[aria-label=\"Which events\"]').value = 'failed'; undefined");
    await page.evaluate(
      "document.querySelector('[aria-label=\"Which events\"]').dispatchEvent(new Event('change', { bubbles: true }))",
    );
    await until("the plan is another", () =>
      page.evaluate<boolean>("location.search === '?new=status%3Dfailed&status=cancelled%2Cdone'"),
    );
    assert.equal(await violations(page), []);
    await page.open(`${program.url}/replays?status=finished`);
    await page.shows("Choose a state from the list.");
    await page.evaluate("document.querySelector('.chip.bad .x').click()");
    await rows(1);
  });

  test("the plan of selected events tells what waits and what is skipped, and what was refused meanwhile is told", async () => {
    const { data } = (await client.call("GET", "/v1/events?status=failed&limit=100")).body;
    const idOf = (name: string): string =>
      data.find(({ delivery_id: id }: { readonly delivery_id: string }) => id === name)?.id;
    const [broken, gone] = [idOf("still-broken"), idOf("gone-1")];
    await page.open(`${program.url}/events?status=failed`);
    await page.shows("Export");
    for (const id of [broken, gone]) {
      const box = `document.querySelector('tr[data-key="${id}"] .pick')`;
      await until(`${id} is listed`, () => page.evaluate<boolean>(`${box} !== null`));
      await page.evaluate(`${box}.click(); undefined`);
    }
    await page.shows("2 selected");
    await page.click("Replay…", ".picked-bar");
    await page.shows("Sends 1 event now. Skips 1: the endpoint is disabled.");
    assert.match(
      await page.evaluate<string>("document.querySelector('dialog [role=status]').innerText"),
      /^Sends 1 event now\./,
    );
    well.target.answer((_, response) => response.end("{}"));
    await client.session("POST", `/v1/events/${broken}/replay`, {});
    await until("another has replayed it", async () => {
      return (await client.call("GET", `/v1/events/${broken}`)).body.status === "delivered";
    });
    await page.evaluate(`{
      const ask = globalThis.fetch;
      globalThis.fetch = async (...given) => {
        if (given[1]?.method === "POST") await new Promise((resolve) => { globalThis.letGo = resolve; });
        return ask(...given);
      };
    } undefined`);
    await page.click("Replay 1 event", "dialog");
    await page.shows("1 of 1");
    // The browser itself closes it at the second press, and it is opened again.
    for (let nth = 0; nth < 3; nth += 1) await page.key("Escape");
    await until("it stays open while it runs", () =>
      page.evaluate<boolean>("document.querySelector('dialog.box[open]') !== null"),
    );
    assert.equal(
      await page.evaluate(
        "[...document.querySelectorAll('dialog.box button')].map((it) => [it.innerText, it.disabled])",
      ),
      [
        ["Close", true],
        ["Replay 1 event", true],
      ],
    );
    await page.evaluate("globalThis.letGo()");
    await page.shows("1 event was not sent.");
    await page.shows("The event was delivered already.");
    await page.shows("2 selected");
    assert.equal(await violations(page), []);
    await page.click("Close", "dialog");
    await until("nothing is selected", () => page.evaluate<boolean>("document.querySelector('.picked-bar') === null"));
  });

  test("a replay that has ended is followed until nothing waits any more", async () => {
    const { data } = (await client.call("GET", "/v1/replays")).body;
    const replay = data.find((it: { readonly waiting: number }) => it.waiting > 0);
    await page.open(`${program.url}/replays/${replay.id}`);
    await page.shows("10 events wait for erp-bridge: its circuit is open.");
    down.target.answer((_, response) => response.end("{}"));
    await client.session("POST", `/v1/endpoints/${down.id}/enable`);
    await page.shows("16 of 16 are done");
    await page.shows("12 delivered, 1 failed, 3 skipped.");
  });

  test("the list of replays is saved as a file", async () => {
    await page.open(`${program.url}/replays`);
    await page.click("Export…");
    await page.click("Save as CSV");
    const csv = await page.downloaded(`replays-${new Date().toISOString().slice(0, 10)}.csv`);
    const [head, first] = csv.split(/\r?\n/);
    assert.is(head, "id,started_at,events,from,to,state,total,delivered,failed,waiting,skipped,ended_at");
    assert.match(first ?? "", /,failed,,,done,16,12,1,0,3,/);
  });
};

const binary = browserHere();
if (binary === null) skipped("replays in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
