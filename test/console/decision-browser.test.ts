import { suite } from "uvu";
import * as assert from "uvu/assert";
import { overflow, violations, WIDTHS } from "../support/accessibility.ts";
import { type Agent, defineAction, registerAgent } from "../support/agent.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, signUp } from "../support/client.ts";
import { HOSTILE } from "../support/console-scene.ts";
import { addMember, MEMBER_PASSWORD } from "../support/members.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the decision card in a browser");
const WHO = { email: "ana@shop.example", password: "correct horse battery" };
const BEN = "ben@shop.example";
const STATEMENT = `UPDATE customers\n   SET credit = 500\n -- ${HOSTILE}\n${" AND id <> 4711\n".repeat(60)}`;

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let client: Client;
  let target: Receiver;
  let agent: Agent;
  let asked = 0;

  const ask = async (amount: number, more: object = {}): Promise<string> => {
    asked += 1;
    const payload = { amount, customer: { name: `Hana ${HOSTILE}` }, card: "4242 4242", ...more };
    const { body } = await agent.execute(`k-${asked}`, { action: "refund.create", payload, wait_ms: 0 });
    return body.approval_id;
  };
  const approval = async (id: string) => (await client.call("GET", `/v1/approvals/${id}`)).body;
  const approve = async (id: string): Promise<void> => {
    const { digest, shown_digest } = await approval(id);
    await client.session("POST", `/v1/approvals/${id}/approve`, { digest, shown_digest });
    await until("it is sent", async () => (await approval(id)).outcome.status === "delivered");
  };
  const opened = async (id: string): Promise<void> => {
    await page.open(`${program.url}/approvals/${id}`);
    await page.shows("If you approve");
  };
  /** Until the view has them: what comes after the list was read is announced, and moves nothing. */
  const listed = (...ids: readonly string[]): Promise<boolean> =>
    until("the view has them", async () => {
      return (await client.call("GET", `/v1/approvals?ids=${ids}`)).body.data.length === ids.length;
    });
  /** Each press shows what was not on the screen; once all was, the button asks for a second press, which would decide. */
  const untilAsked = (): Promise<boolean> =>
    until("it asks for the second press", () =>
      page.evaluate<boolean>(`(() => { const button = document.querySelector(".sign .first");
        if (button.innerText.includes("now")) return true; button.click(); return false; })()`),
    );
  const fill = (name: string, value: string): Promise<void> =>
    page.evaluate(`document.querySelector("[name=${name}]").value = ${JSON.stringify(value)}; undefined`);

  test.before(async () => {
    [program, page, target] = await Promise.all([startProgram(), openBrowser(binary), receiver()]);
    await page.shaped({});
    client = await signUp(program.url, WHO);
    const { id: endpoint } = await client.make("/v1/endpoints", { name: `bank ${HOSTILE}`, url: target.url });
    await defineAction(client, "refund.undo", endpoint);
    await defineAction(client, "refund.create", endpoint, {
      title: "Refund {/amount|eur} to {/customer/name}",
      labels: { "/customer/name": `Customer ${HOSTILE}` },
      cost: { pointer: "/amount" },
      ...{ reversibility: "compensable", compensation: "refund.undo" },
    });
    await defineAction(client, "mail.send", endpoint, { reversibility: "irreversible", cost: { fixed_eur: 1 } });
    const { id: policy_id } = await client.make("/v1/policies", {
      ...{ name: `refunds ${HOSTILE}`, budget_eur_day: 5_000, redact: ["card"] },
      approval: { expires_after_s: 3_600, reveal: ["approver"] },
    });
    agent = await registerAgent(program.url, client, { name: `helper ${HOSTILE}`, policy_id });
    await addMember(client, BEN, "approver");
    await approve(await ask(100, { old: "1" }));
    await page.open(`${program.url}/approvals`);
    await page.shows("Sign in");
    await fill("email", BEN);
    await fill("password", MEMBER_PASSWORD);
    await page.click("Sign in", "form");
    await page.shows("Approvals");
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await target?.close();
    removeFolder(program.dir);
  });
  test.after.each(async () => {
    assert.equal(page.faults(), []);
    assert.equal([...page.origins()], [new URL(program.url).origin]);
    assert.equal(await page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]"), [0, 0, ""]);
  });

  test("it says what would happen, what was usual, what it costs, how it is undone and what is signed", async () => {
    const id = await ask(1_240, { statement: STATEMENT });
    await opened(id);
    for (const text of [
      `Refund €1,240.00 to Hana ${HOSTILE}`,
      `helper ${HOSTILE}`,
      `Customer ${HOSTILE}`,
      `refunds ${HOSTILE} v1`,
      "It can be undone: refund.undo is sent to",
      "12 times as much",
      "the same",
      "removed",
      "€100.00 spent",
      "€1,340.00 after this, of €5,000.00",
      "It binds the request and its endpoint",
      "hidden by the policy",
      "2 requests today",
      "Expires in",
    ])
      await page.shows(text);
    await page.hides("4242");
    assert.is(await page.evaluate("document.activeElement.closest('.sign') === null"), true);
  });

  test("the list has the sentence that is decided, and its tabs say how many there are", async () => {
    const { body } = await agent.execute("in-a-run", {
      ...{ action: "refund.create", payload: { amount: 1_310, customer: { name: "Hana" } } },
      ...{ run_id: "ticket-88213", wait_ms: 0 },
    });
    // A row that comes after the page would wait behind the bar.
    await until("it is listed", async () => {
      const { data } = (await client.call("GET", "/v1/approvals?for=all")).body;
      return data.some(({ id }: { readonly id: string }) => id === body.approval_id);
    });
    await page.open(`${program.url}/approvals?for=all`);
    await until("the row has its sentence", () =>
      page.evaluate<boolean>(
        "document.querySelector('.queue')?.innerText.includes('Refund €1,310.00 to Hana') === true",
      ),
    );
    await until("the tabs have their counts", () =>
      page.evaluate<boolean>(
        "/^For you\\s*\\d+ Everyone’s\\s*\\d+ Decided\\s*\\d+ today History$/.test([...document.querySelectorAll('.tabs a')].map((it) => it.innerText.trim()).join(' '))",
      ),
    );
    await page.click("Export…");
    await page.click("Save as CSV");
    const csv = await page.downloaded(`approvals-${new Date().toISOString().slice(0, 10)}.csv`);
    assert.match(csv, /"Refund €1,310\.00 to Hana",1310,pending,/);
    await opened(body.approval_id);
    await page.shows("in the run ticket-88213");
  });

  test("a part that was not on the screen is shown by the first press; a reveal is a record; two presses decide", async () => {
    const id = await ask(50, { statement: STATEMENT });
    await page.shaped({ width: 390, height: 700 });
    await opened(id);
    await page.click("Reveal, and record that you did");
    await page.shows("4242 4242");
    await page.shows("It is recorded that the hidden fields were shown to you.");
    const bar = await page.evaluate<number>("document.querySelector('.sign .do').getBoundingClientRect().bottom");
    assert.ok(bar <= 700, `the buttons end at ${bar}`);
    await page.evaluate("document.getElementById('comment').value = 'Seen'; undefined");
    await untilAsked();
    assert.is((await approval(id)).status, "pending");
    await page.click("Approve €50.00, now");
    await page.shows("Approved.");
    await until("the outcome is on the screen", () =>
      page.evaluate<boolean>(`(() => { const { top, bottom } = document.querySelector(".told").getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight; })()`),
    );
    const { votes } = await approval(id);
    assert.equal([votes[0].comment, votes[0].shown.form], ["Seen", "full"]);
    const records = async (type: string) =>
      (await client.session("GET", `/v1/audit?subject=${id}&type=${type}`)).body.data.length;
    await until("the reveal is a record", async () => (await records("HiddenFieldsRevealed")) === 1);
    await until("the vote is a record", async () => (await records("VoteCast")) === 1);
    await page.shaped({});
  });

  test("a statement of 4,000 characters is read to its end on a phone, without scrolling sideways", async () => {
    const lines = Array.from(
      { length: 100 },
      (_, at) => `UPDATE c SET a = ${String(at).padStart(4, "0")} WHERE b = 1;`,
    );
    const statement = [`${lines.join("\n")}\n`.padEnd(3_990, "-"), "-- the end"].join("");
    const id = await ask(55, { statement });
    await page.shaped({ width: 360, height: 700 });
    await opened(id);
    await page.shows("-- the end");
    assert.ok((await overflow(page)) <= 0);
    const [isWhole, isInside] = await page.evaluate<[boolean, boolean]>(`(() => {
      const it = [...document.querySelectorAll(".sql")].find((one) => one.innerText.includes("-- the end"));
      it.scrollIntoView({ block: "end" });
      const { right, bottom } = it.getBoundingClientRect();
      const top = document.querySelector(".sign").getBoundingClientRect().top;
      return [it.scrollHeight <= it.clientHeight + 1 && it.scrollWidth <= it.clientWidth + 1, right <= innerWidth && bottom <= top + 1];
    })()`);
    assert.equal([isWhole, isInside], [true, true]);
    await page.shaped({});
  });

  test("a long field counts as read at its end, which each press comes nearer to", async () => {
    const id = await ask(56, { statement: STATEMENT.repeat(3) });
    await page.shaped({ width: 390, height: 700 });
    await opened(id);
    const press = () =>
      page.evaluate<readonly [string, number, boolean]>(`(() => {
        const button = document.querySelector(".sign .first");
        button.click();
        const { bottom } = [...document.querySelectorAll(".sql")].at(-1).closest("tr").getBoundingClientRect();
        return [button.innerText, scrollY, bottom <= document.querySelector(".sign").getBoundingClientRect().top];
      })()`);
    const places: number[] = [];
    for (let isAtEnd = false; !isAtEnd; ) {
      const [said, top, isShown] = await press();
      assert.match(said, /^Approve €56\.00/);
      assert.not.match(said, /now/, "nothing is asked for before the end");
      assert.ok(
        places.every((it) => it < top),
        `${places} and then ${top}`,
      );
      places.push(top);
      assert.ok(places.length < 40);
      isAtEnd = isShown;
    }
    assert.ok(places.length > 2, `${places.length} screens`);
    await untilAsked();
    assert.is((await approval(id)).status, "pending");
    await page.shaped({});
  });

  test("who comes too late is told who decided, and what", async () => {
    const id = await ask(60);
    await opened(id);
    await page.click("Reject R");
    const { digest } = await approval(id);
    await client.session("POST", `/v1/approvals/${id}/reject`, { digest, comment: `Ask again ${HOSTILE}` });
    await page.shows(`${WHO.email} decided this`);
    await page.shows("ago: rejected. Nothing was sent.");
    await page.shows(`Ask again ${HOSTILE}`);
    await page.shows("What was to be sent");
    await page.shows("Countersign was to send refund.create to");
    await page.shows("It could have been undone: refund.undo would have been sent to");
    for (const text of ["Countersign sends", "It can be undone", "What is sent"]) await page.hides(text);
    assert.is(await page.evaluate("document.querySelector('.sign')"), null);
  });

  test("rows beside an open card follow what becomes of them, and no request is read that nobody opened", async () => {
    const [other, shown] = [await ask(61), await ask(62)];
    await listed(other, shown);
    await opened(shown);
    const row = `document.querySelector('.queue [data-key="${other}"]')?.innerText`;
    await until("both are listed", () => page.evaluate<boolean>(`${row}?.includes("needs 1 approval") === true`));
    const { digest } = await approval(other);
    await client.session("POST", `/v1/approvals/${other}/reject`, { digest, comment: "Not now" });
    await until("its row says so", () => page.evaluate<boolean>(`${row}?.includes("Rejected") === true`));
    const read = await page.evaluate<readonly string[]>(
      "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)",
    );
    assert.ok(read.includes(`/v1/approvals/${shown}`));
    assert.equal(
      read.filter((path) => path.includes(other)),
      [],
      "a read of it would be a record in the name of somebody who has not seen it",
    );
  });

  test("a changed destination is told, the buttons go, and the new request is a link away", async () => {
    const id = await ask(70);
    await opened(id);
    const { endpoint } = await approval(id);
    await client.session("PATCH", `/v1/endpoints/${endpoint.id}`, { url: `${target.url}/moved` });
    await page.shows("The request changed");
    assert.is(await page.evaluate("document.querySelector('.sign')"), null);
    await page.click("Read it again");
    await page.shows("/moved");
  });

  test("a bundle shows every step, and the one that cannot be undone", async () => {
    const steps = [
      { action: "refund.create", payload: { amount: 5, customer: { name: "Ida" }, card: "1" } },
      { action: "mail.send", payload: { text: HOSTILE } },
    ];
    const { body } = await agent.bundle("both", steps, { name: `both ${HOSTILE}` });
    const id = await until("it is held", async () => {
      const found = await client.call("GET", `/v1/bundles/${body.id ?? body.bundle_id}`);
      return found.body.approval_id;
    });
    await opened(id);
    for (const text of ["A step of it cannot be undone.", "mail.send", "cannot be undone", "undone by refund.undo"])
      await page.shows(text);
    await page.shows("Refund €5.00 to Ida");
  });

  test("a bundle of fifty steps shows the one that cannot be undone at 360 px, without anything being opened", async () => {
    const steps = Array.from({ length: 49 }, (_, at) => ({
      action: "refund.create",
      payload: { amount: 1, customer: { name: `Customer ${at + 1}` }, card: "1" },
    }));
    const irreversible = { action: "mail.send", payload: { text: "the last" } };
    const { body } = await agent.bundle("fifty", [...steps, irreversible], { name: "month-end" });
    const id = await until("it is held", async () => {
      const found = await client.call("GET", `/v1/bundles/${body.id ?? body.bundle_id}`);
      return found.body.approval_id;
    });
    await page.shaped({ width: 360, height: 700 });
    await opened(id);
    await page.shows("A step of it cannot be undone.");
    const sentence = `Agent helper ${HOSTILE} asks for "month-end", 50 steps as one; step 50 (mail.send) cannot be undone`;
    assert.is(await page.evaluate("document.getElementById('deed').innerText"), sentence);
    await until("every step is there, and the last is marked", () =>
      page.evaluate<boolean>(`(() => {
        const seen = [...document.querySelectorAll("main :is(li, tr)")].filter((it) => it.checkVisibility());
        const of = (name) => seen.filter((it) => it.innerText.includes(name));
        return of("mail.send").some((it) => it.innerText.includes("cannot be undone")) && of("Customer 49").length > 0;
      })()`),
    );
    assert.ok((await overflow(page)) <= 0);
    await page.shaped({});
    await page.open(`${program.url}/approvals?for=all`);
    await until("its row says the same", () =>
      page.evaluate<boolean>(
        `document.querySelector('.queue [data-key="${id}"] b')?.innerText === ${JSON.stringify(sentence)}`,
      ),
    );
  });

  test("the list begins with what expires first, and a new request takes its place", async () => {
    const later = await ask(70);
    await listed(later);
    await page.open(`${program.url}/approvals`);
    await page.shows("Refund €70.00");
    const order = () =>
      page.evaluate<readonly string[]>(
        "[...document.querySelectorAll('.queue a[data-key]')].map((it) => it.dataset.key)",
      );
    assert.is((await order()).at(-1), later, "of one policy the newest expires last");
    const soonPolicy = { name: "soon", approval: { expires_after_s: 600 } };
    const { id: policy_id } = await client.make("/v1/policies", soonPolicy);
    const hasty = await registerAgent(program.url, client, { name: "hasty", policy_id });
    const payload = { amount: 60, customer: { name: "Hana" } };
    const { body } = await hasty.execute("soon", { action: "refund.create", payload, wait_ms: 0 });
    await page.shows("Show 1 new request");
    await page.write(".");
    await until("it is the first", async () => (await order())[0] === body.approval_id);
    assert.is((await order()).at(-1), later);
  });

  test("the card fits six widths, in two schemes, and axe finds nothing", async () => {
    const id = await ask(80, { statement: STATEMENT });
    for (const width of WIDTHS)
      for (const dark of [false, true]) {
        await page.shaped({ width, dark });
        await opened(id);
        await page.shows("Budget today");
        assert.equal(await violations(page), [], `${width} ${dark ? "dark" : "light"}`);
        assert.ok((await overflow(page)) <= 0, `${width} px`);
      }
  });
};

const binary = browserHere();
if (binary === null) skipped("the decision card in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
