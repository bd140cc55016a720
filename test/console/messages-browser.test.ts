import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Agent, defineAction, registerAgent } from "../support/agent.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, type HookSource, hookSource, signUp } from "../support/client.ts";
import { addMember, MEMBER_PASSWORD } from "../support/members.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

/** Each message of the design is brought about as it would be; `messages.test.ts` has the words with given facts. */
const test = suite("the messages of the console in a browser");
const ANA = { email: "ana@shop.example", password: "correct horse battery" };
const BEN = { email: "ben@shop.example", password: MEMBER_PASSWORD };
/** The shortest that a policy may set. */
const EXPIRES_S = 60;
/** An approval that expires is waited for at the end of the suite, while most of its time has passed. */
const EXPIRY_LIMIT_MS = 180_000;
const FAILURES = 10;

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let client: Client;
  let target: Receiver;
  let endpoint: string;
  /** Another, whose address changes: that voids what is held for it. */
  let moving: string;
  let approvals: Agent;
  let expiring: string;
  let asked = 0;

  const agentUnder = async (name: string, definition: object, scope = ["refund.*"]): Promise<Agent> => {
    const policy = await client.make("/v1/policies", { name: `${name} policy`, ...definition });
    return registerAgent(program.url, client, { name, policy_id: policy.id, scope: { actions: scope } });
  };
  const ask = async (agent: Agent, payload: object, more: object = {}) => {
    asked += 1;
    const body = { action: "refund.create", payload, wait_ms: 0, ...more };
    return (await agent.execute(`k-${asked}`, body)).body;
  };
  const approvalOf = async (amount: number, agent: Agent = approvals, more: object = {}): Promise<string> =>
    (await ask(agent, { amount }, more)).approval_id;
  /** Presses Approve until all was on the screen and the button asks for the second press. */
  const beginApproving = (): Promise<boolean> =>
    until("it asks for the second press", () =>
      page.evaluate<boolean>(`(() => { const button = document.querySelector(".sign .first");
        if (button.innerText.includes("now")) return true; button.click(); return false; })()`),
    );
  const approval = async (id: string) => (await client.call("GET", `/v1/approvals/${id}`)).body;
  const vote = async (id: string, kind: "approve" | "reject", comment = "Seen") => {
    const { digest, shown_digest } = await approval(id);
    return client.session("POST", `/v1/approvals/${id}/${kind}`, { digest, shown_digest, comment });
  };
  const open = (path: string): Promise<void> => page.open(program.url + path);
  const openApproval = async (id: string): Promise<void> => {
    await open(`/approvals/${id}`);
    await page.shows("If you approve");
  };
  const comment = (text: string): Promise<void> =>
    page.evaluate(`document.getElementById("comment").value = ${JSON.stringify(text)}; undefined`);
  /** The page hears nothing more, as if its frames were late. */
  const deaf = (): Promise<void> =>
    page.evaluate("Object.defineProperty(document, 'visibilityState', { value: 'hidden' }); undefined");
  const refusedEvent = async (agent: Agent, payload: object, more: object = {}): Promise<void> => {
    const { event_id } = await ask(agent, payload, more);
    await until(
      "it is refused",
      async () => (await client.call("GET", `/v1/events/${event_id}`)).body.status === "blocked",
    );
    await open(`/events/${event_id}`);
  };

  test.before(async () => {
    [program, page, target] = await Promise.all([startProgram(), openBrowser(binary), receiver()]);
    await page.shaped({});
    client = await signUp(program.url, ANA);
    await addMember(client, BEN.email, "approver");
    const made = { name: "bank", url: target.url, retry_schedule_s: [] };
    endpoint = (await client.make("/v1/endpoints", made)).id;
    const cost = { pointer: "/amount" };
    await defineAction(client, "refund.create", endpoint, { reversibility: "irreversible", cost });
    await defineAction(client, "payout.send", endpoint);
    moving = (await client.make("/v1/endpoints", { ...made, name: "moving" })).id;
    await defineAction(client, "refund.move", moving, { cost });
    const late = await agentUnder("late-bot", { approval: { expires_after_s: EXPIRES_S } });
    expiring = await approvalOf(3, late);
    approvals = await agentUnder("refund-bot", { approval: { expires_after_s: 3_600 } });
    await openSignedIn(page, program.url, { who: BEN, path: "/approvals" });
    await page.shows("for you");
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await target?.close();
    removeFolder(program.dir);
  });
  test.after.each(() => assert.equal(page.faults(), []));

  test("1 to 3, 5: what a budget, a rate, a loop and a missing field refuse", async () => {
    const budget = await agentUnder("spender", { budget_eur_day: 18 });
    await refusedEvent(budget, { amount: 18.5 });
    await page.reads(
      /Budget refused\. This costs €18\.50 and would pass today's €18\.00 \(€0\.00 is spent or reserved\)\. It resets at midnight in UTC, or an admin raises the budget\./,
    );
    const quick = await agentUnder("quick", { rate_per_minute: 1 });
    await ask(quick, { amount: 1 });
    await refusedEvent(quick, { amount: 1 });
    await page.reads(
      /Rate refused\. 1 request a minute is allowed and this is the 2nd\. The next (is possible in \d+ s|was possible \d+ s later)\./,
    );
    const looping = await agentUnder("looping", { loop: { max_identical: 1, window_s: 600 } });
    await ask(looping, { amount: 1 }, { run_id: "ticket-88213" });
    await refusedEvent(looping, { amount: 1 }, { run_id: "ticket-88213" });
    await page.reads(
      /Loop refused\. The same request came once in 10 minutes\. Look at the run ticket-88213 before you raise the limit\./,
    );
    await page.press("link", "ticket-88213");
    await until("the run's requests are listed", () =>
      page.evaluate<boolean>(
        "location.pathname + location.search === '/events?run=ticket-88213' && document.querySelectorAll('tbody tr').length === 2",
      ),
    );
    const careful = await agentUnder("careful", { require_fields: ["customer.id"] });
    await refusedEvent(careful, { amount: 1 });
    await page.reads(/Field missing\. The policy needs customer\.id; the request has no such field\./);
  });

  test("4, 7: a rule is told with its expression, and a scope with what it holds", async () => {
    const deny = [{ name: "no refunds over 2,000", when: "cost_eur > 2000.0" }];
    await refusedEvent(await agentUnder("generous", { deny }), { amount: 2_500 });
    await page.reads(/Content refused\. The rule "no refunds over 2,000" matched: cost_eur > 2000\.0\./);
    await refusedEvent(approvals, {}, { action: "payout.send" });
    await page.reads(/Out of scope\. refund-bot may ask for refund\.\*; it asked for payout\.send\./);
  });

  test("6: a signature that matches no secret", async () => {
    const source: HookSource = await hookSource(client, { name: "shop" });
    await source.send("forged", {}, { "x-signature": "0".repeat(64) });
    await open(`/sources/${source.id}`);
    await page.reads(
      /Signature refused\. It matches none of this source's secrets\. Copy the secret again from the provider's page for this address\./,
    );
  });

  test("8, 9: the question, and what became of a yes", async () => {
    await openApproval(await approvalOf(1_240));
    await beginApproving();
    await page.reads(/Approve €1,240\.00\? It is sent once and cannot be undone\./);
    await page.click("Approve €1,240.00, now A");
    await page.reads(/Approved\. Delivered to bank in [\d.]+ m?s\./);
    await approvalOf(7);
    await page.shows("Next request");
  });

  test("10: a rejection, and that the agent was told the reason", async () => {
    const { event_id, approval_id } = await ask(approvals, { amount: 20 });
    await openApproval(approval_id);
    await page.click("Reject R");
    await comment("Ask the customer first");
    await page.click("Reject R");
    await page.reads(/Rejected\. Nothing was sent\. refund-bot was told your reason\./);
    const told = await approvals.execution(event_id);
    assert.match(JSON.stringify(told.body), "Ask the customer first");
  });

  test("11, 15: to the one who has approved, and to the one who asked", async () => {
    const two = await agentUnder("careful-bot", { approval: { min_approvals: 2, expires_after_s: 3_600 } });
    const id = await approvalOf(30, two);
    await openApproval(id);
    await beginApproving();
    await page.click("Approve €30.00, now A");
    await page.reads(/Your approval counts: 1 of 2\. ana@shop\.example was asked; it expires in 5\d min( \d+ s)?\./);
    const own = { exclude_requester: true, expires_after_s: 3_600 };
    await openSignedIn(page, program.url, { who: ANA, path: "/overview" });
    await openApproval(await approvalOf(31, await agentUnder("own-bot", { approval: own })));
    await page.reads(/You asked for this, so another person has to decide\. ben@shop\.example can\./);
    await openSignedIn(page, program.url, { who: BEN, path: "/approvals" });
  });

  test("12: the request changed, before a press and at a press that comes too late", async () => {
    const changed = /The request changed while you read it\. The address was \S+ and is now \S+\. /.source;
    for (const [amount, isDeaf, end] of [
      [40, false, "Nothing was decided\\."],
      [41, true, "Your decision was not sent\\."],
    ] as const) {
      await openApproval(await approvalOf(amount, approvals, { action: "refund.move" }));
      if (isDeaf) {
        await beginApproving();
        await deaf();
      }
      await client.session("PATCH", `/v1/endpoints/${moving}`, { url: `${target.url}/at-${amount}` });
      if (isDeaf) await page.click(`Approve €${amount}.00, now A`);
      await page.reads(new RegExp(changed + end));
      assert.is(await page.evaluate("document.querySelector('.sign')"), null);
      await page.click("Read it again");
      await page.shows("If you approve");
      await page.shows(`Approve €${amount}.00`);
    }
  });

  test("13: another person decided, before a press and at a press that comes too late", async () => {
    for (const [amount, isDeaf, end] of [
      [50, false, "Nothing was sent\\."],
      [51, true, "Your decision was not sent\\."],
    ] as const) {
      const id = await approvalOf(amount);
      await openApproval(id);
      if (isDeaf) {
        await beginApproving();
        await deaf();
      }
      await vote(id, "reject");
      if (isDeaf) await page.click(`Approve €${amount}.00, now A`);
      await page.reads(new RegExp(`ana@shop\\.example decided this \\d+ s ago: rejected\\. ${end}`));
      assert.is(await page.evaluate("document.querySelector('.sign')"), null);
    }
  });

  test("16: a suspension tells what it stops; what it cancelled is told at once, without a button", async () => {
    const doomed = await agentUnder("doomed-bot", { approval: { expires_after_s: 3_600 } });
    const [id] = [await approvalOf(60, doomed), await approvalOf(61, doomed)];
    await openSignedIn(page, program.url, { who: ANA, path: `/agents/${doomed.id}` });
    await page.click("Suspend…", ".acts");
    await page.reads(
      /Suspend doomed-bot\? Its key stops at once\. 2 held requests are cancelled; no delivery is under way\./,
    );
    await openSignedIn(page, program.url, { who: BEN, path: `/approvals/${id}` });
    await page.shows("If you approve");
    await client.session("POST", `/v1/agents/${doomed.id}/suspend`, { reason: "It asked too often." });
    await page.reads(/It was cancelled\. Nothing was sent\./);
    assert.is(await page.evaluate("document.querySelector('.sign')"), null);
  });

  test("17 to 19: a secret is rotated, a key is made, a payload is erased", async () => {
    await openSignedIn(page, program.url, { who: ANA, path: `/endpoints/${endpoint}` });
    await page.click("Rotate secret…");
    await page.reads(
      /Rotate this secret\? The old one works for 24 h more\. Put the new one into your receiver before \w{3} \d+ \w{3}, \d\d:\d\d\./,
    );
    await open("/settings/keys");
    await page.shows("Make a key");
    await page.evaluate("document.querySelector('form [name=name]').value = 'robot'; undefined");
    await page.click("Make the key", "form");
    await page.reads(/This key is shown once\. Countersign keeps only a hash of it\. If you lose it, make a new one\./);
    const { body } = await client.call("GET", "/v1/events?status=blocked&limit=1");
    await open(`/events/${body.data[0].id}`);
    await page.click("Erase the payload…");
    await page.reads(/Erase this payload\? Its content is gone for good\. The record and its proof stay\./);
  });

  test("20, 21: an open circuit, and a replay of which a part waits for it", async () => {
    const down = await receiver();
    down.answer((_, response) => response.writeHead(500).end());
    try {
      const { id } = await client.make("/v1/endpoints", { name: "erp-bridge", url: down.url, retry_schedule_s: [] });
      const source = await hookSource(client, { name: "erp", endpoint_id: id });
      for (let nth = 0; nth < FAILURES; nth += 1) await source.send(`down-${nth}`);
      const health = async () => (await client.call("GET", `/v1/endpoints/${id}`)).body.health;
      await until("the circuit is open", async () => (await health()).state === "open");
      await source.send("waits");
      await until("it waits", async () => (await health()).queued > 0);
      await open(`/endpoints/${id}`);
      await page.reads(
        /Circuit open\. \d+ failures in a row\. New events wait and are kept; the next probe is (in [\d a-z]+|now), and the first success resumes delivery\./,
      );
      const body = { filter: { status: "failed", endpoint_id: id } };
      const started = await client.session("POST", "/v1/replays", body, { "idempotency-key": "replay" });
      await open(`/replays/${started.body.id}`);
      await page.reads(/(Running|Finished): 0 delivered\. 10 more wait until erp-bridge answers\./);
    } finally {
      await down.close();
    }
  });

  test("22: an undo that was refused", async () => {
    const bank = await receiver();
    bank.answer(({ body }, response) => {
      const isUndo = body.includes("forward_webhook_id");
      const isBroken = body.includes("second");
      response.writeHead(isUndo ? 409 : isBroken ? 422 : 200, { "content-type": "application/json" });
      response.end(isUndo ? '{"detail":"transfer is settled"}' : "{}");
    });
    try {
      const settings = { name: "bank-gateway", url: bank.url, retry_schedule_s: [] };
      const { id: at } = await client.make("/v1/endpoints", settings);
      await defineAction(client, "transfer.undo", at);
      await defineAction(client, "transfer.send", at, { reversibility: "compensable", compensation: "transfer.undo" });
      const agent = await registerAgent(program.url, client, { name: "banker" });
      const steps = ["first", "second"].map((name) => ({ action: "transfer.send", payload: { name } }));
      const made = await agent.bundle("transfers", steps);
      await open(`/bundles/${made.body.id ?? made.body.bundle_id}`);
      await page.reads(
        /This step could not be undone\. bank-gateway refused (once|\d+ times): "HTTP 409, transfer is settled"\. Undo it by hand, then mark it as undone\./,
      );
    } finally {
      await bank.close();
    }
  });

  test("23: nothing matches, and what would", async () => {
    await open("/events?status=failed&agent_id=agt_nobody");
    await page.shows("No events match");
    await page.reads(/Without State: Failed there (is|are) \d+\. Without Agent: agt_nobody there (is|are) \d+\./);
  });

  test("24: no connection for a minute, and the next attempt", async () => {
    await open("/approvals");
    await page.shows("Live");
    await page.offline(true);
    await page.shows("Not connected, from");
    await page.evaluate("{ const real = Date.now; Date.now = () => real() + 61_000; } undefined");
    await page.reads(/Not connected\. What you see is from [\d:]+\. The next attempt is (in \d s|under way)\. Try now/);
    await page.hides("The list could not be loaded.");
    assert.is(
      await page.evaluate("document.body.innerText.split('What you see is from').length"),
      2,
      "it is told once",
    );
    await page.offline(false);
    await page.click("Try now", ".note");
    await page.shows("Live");
  });

  test("14: nobody decided in time, which is told at once, without a button", async () => {
    await openSignedIn(page, program.url, { who: BEN, path: `/approvals/${expiring}` });
    await until("it is expired", async () => (await approval(expiring)).status === "expired", EXPIRY_LIMIT_MS);
    await page.reads(/It expired at \d\d:\d\d:\d\d\. Nothing was sent\. The agent can ask again\./);
    assert.is(await page.evaluate("document.querySelector('.sign')"), null);
  });
};

const binary = browserHere();
if (binary === null)
  skipped("the messages of the console in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
