import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Agent, defineAction, registerAgent } from "../support/agent.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, signUp } from "../support/client.ts";
import { type Keyboard, keyboardOf } from "../support/keyboard.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("many decisions by keyboard");
const WHO = { email: "ana@shop.example", password: "correct horse battery" };
/** The bar is a hundred in three minutes. Fewer show the same, because each is decided in the same way. */
const DECISIONS = Number(process.env.DECISIONS ?? 24);
/** Every so many is rejected, and in the page's own order nobody knows which these will be. */
const REJECTED_EVERY = 5;
/** Five times the bar, for a machine that does much else. */
const EACH_MS = (5 * 180_000) / 100;

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let client: Client;
  let target: Receiver;
  let agent: Agent;
  const keys: Keyboard = keyboardOf(() => page);

  const shown = (): Promise<string> =>
    page.evaluate<string>("document.querySelector('.deed .bigtitle')?.innerText ?? ''");
  const shownId = (): Promise<string> => page.evaluate<string>("document.querySelector('.deed .id')?.title ?? ''");
  const focused = () => keys.focused();
  const letter = (key: string): Promise<void> => page.write(key);

  /** One sentence, a statement longer than the screen, a request without a sentence, and a bundle. */
  const askFor: readonly ((nth: number) => Promise<unknown>)[] = [
    (nth) =>
      agent.execute(`k-${nth}`, {
        ...{ action: "refund.create", wait_ms: 0 },
        payload: { amount: nth, order: `o-${nth}` },
      }),
    (nth) =>
      agent.execute(`k-${nth}`, {
        ...{ action: "data.update", wait_ms: 0 },
        payload: { sql: `UPDATE t SET a = ${nth}\n${" OR b = 1\n".repeat(60)}` },
      }),
    (nth) => agent.execute(`k-${nth}`, { action: "refund.undo", payload: { nth }, wait_ms: 0 }),
    (nth) =>
      agent.bundle(`b-${nth}`, [
        { action: "refund.create", payload: { amount: nth, order: `b-${nth}` } },
        { action: "data.update", payload: { sql: "SELECT 1" } },
      ]),
  ];

  test.before(async () => {
    [program, page, target] = await Promise.all([startProgram(), openBrowser(binary), receiver()]);
    await page.shaped({});
    client = await signUp(program.url, WHO);
    const { id } = await client.make("/v1/endpoints", { name: "bank", url: target.url });
    const cost = { pointer: "/amount" };
    await defineAction(client, "refund.create", id, { title: "Refund {/amount|eur} for order {/order}", cost });
    await defineAction(client, "data.update", id, { reversibility: "irreversible" });
    await defineAction(client, "refund.undo", id);
    const policy = await client.make("/v1/policies", { name: "all", approval: { expires_after_s: 3_600 } });
    agent = await registerAgent(program.url, client, { policy_id: policy.id });
    for (let nth = 1; nth <= DECISIONS; nth += 1) {
      await askFor[nth % askFor.length]?.(nth);
    }
    await until("all are listed", async () => {
      const { body } = await client.call("GET", "/v1/approvals?status=pending&total=true&limit=1");
      return body.total === DECISIONS;
    });
    await openSignedIn(page, program.url, { who: WHO, path: "/approvals" });
    await page.shows("If you approve");
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await target?.close();
    removeFolder(program.dir);
  });
  test.after.each(() => assert.equal(page.faults(), []));

  test("each takes a few keys, and the log holds exactly the decisions that were meant", async () => {
    const meant = new Map<string, string>();
    const began = performance.now();
    for (let nth = 1; nth <= DECISIONS; nth += 1) {
      const id = await until(`request ${nth} is shown, after ${[...meant.keys()].at(-1)}`, async () => {
        const now = await shownId();
        return now !== "" && !meant.has(now) ? now : null;
      });
      const isRejected = nth % REJECTED_EVERY === 0;
      await until("its keys are heard", async () => {
        await letter(isRejected ? "c" : "a");
        return (await focused()).startsWith(isRejected ? "Comment" : "Approve");
      });
      if (isRejected) {
        await page.write(`no ${nth}`);
        await keys.tabTo("Reject");
        await page.key("Enter");
        await page.shows("Say why, then press Reject again.");
        await keys.tabTo("Reject");
        await page.key("Enter");
        await page.shows("Rejected.");
      } else {
        await until("it asks for the second press", async () => {
          if ((await focused()).includes("now")) return true;
          await page.key("Enter");
          return false;
        });
        await page.key("Enter");
        await page.shows("Approved.");
      }
      meant.set(id, isRejected ? "reject" : "approve");
      if (nth === DECISIONS) break;
      await until("the next one has the focus", async () => (await focused()) === "Next request");
      await page.key("Enter");
    }
    const took = performance.now() - began;
    assert.ok(took < DECISIONS * EACH_MS, `${DECISIONS} decisions took ${took} ms`);
    const { body } = await client.call("GET", "/v1/approvals?limit=100");
    const decided = new Map<string, string>();
    for (const { id } of body.data) {
      const one = (await client.call("GET", `/v1/approvals/${id}`)).body;
      assert.is(one.votes.length, 1);
      decided.set(id, one.votes[0].decision);
    }
    assert.equal([...decided].sort(), [...meant].sort());
  });

  test("after the last one, a request that arrives is the next, and Enter opens it", async () => {
    assert.is(await page.evaluate("document.body.innerText.includes('Next request')"), false);
    const payload = { amount: 7, order: "late" };
    await agent.execute("k-late", { action: "refund.create", payload, wait_ms: 0 });
    await until("it is offered", async () => (await focused()) === "Next request");
    assert.is((await shown()).includes("late"), false);
    await page.key("Enter");
    await until("it is shown", async () => (await shown()) === "Refund €7.00 for order late");
  });
};

const binary = browserHere();
if (binary === null) skipped("many decisions by keyboard", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
