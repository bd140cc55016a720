import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fitEverywhere, violations } from "../support/accessibility.ts";
import { registerAgent } from "../support/agent.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, signUp } from "../support/client.ts";
import { type ConsoleScene, consoleScene, HOSTILE } from "../support/console-scene.ts";
import { addMember, MEMBER_PASSWORD } from "../support/members.ts";
import { create } from "../support/orders.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("agents and actions in a browser");
const WHO = { email: "ana@shop.example", password: "correct horse battery" };
const VIEWER = "cy@shop.example";
const ONLY_ADMINS = "Only an admin or an owner can do this: ana.";

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  /** Another person's browser. */
  let other: BrowserPage;
  let client: Client;
  let scene: ConsoleScene;

  /** Once the page has drawn the field. */
  const set = async (name: string, value: string, then = ""): Promise<void> => {
    await until(`there is a field ${name}`, () =>
      page.evaluate<boolean>(`(() => {
        const it = document.querySelector("main [name=${name}], dialog [name=${name}]");
        if (it === null) return false;
        it.value = ${JSON.stringify(value)};
        ${then}
        return true;
      })()`),
    );
  };
  const write = (name: string, value: string): Promise<void> => set(name, value);
  const choose = (name: string, value: string): Promise<void> =>
    set(name, value, 'it.dispatchEvent(new Event("change", { bubbles: true }));');
  const signIn = async (on: BrowserPage, { email, password }: typeof WHO): Promise<void> => {
    await on.open(`${program.url}/agents`);
    await on.shows("Sign in");
    await on.evaluate(`document.querySelector("[name=email]").value = ${JSON.stringify(email)};
      document.querySelector("[name=password]").value = ${JSON.stringify(password)}; undefined`);
    await on.click("Sign in", "form");
    await on.shows("helper");
  };

  test.before(async () => {
    [program, page, other] = await Promise.all([startProgram(), openBrowser(binary), openBrowser(binary)]);
    await Promise.all([page.shaped({}), other.shaped({})]);
    client = await signUp(program.url, WHO);
    scene = await consoleScene(program.url, client);
    await addMember(client, VIEWER);
    await signIn(page, WHO);
    await signIn(other, { email: VIEWER, password: MEMBER_PASSWORD });
  });
  test.after(async () => {
    await Promise.all([page.close(), other.close()]);
    killPrograms();
    await scene?.shop.target.close();
    removeFolder(program.dir);
  });
  test.after.each(() => {
    assert.equal([...page.faults(), ...other.faults()], []);
  });

  test("the list says what each agent may do, and what it and all of its policy cost today", async () => {
    const settled = async (): Promise<number> =>
      (await client.call("GET", `/v1/policies/${scene.policyId}/ledger`)).body.settled_eur;
    const before = await settled();
    const clerk = await registerAgent(program.url, client, { name: "clerk", policy_id: scene.policyId });
    await clerk.execute("clerk-1", { ...create("clerk"), wait_ms: 0 });
    const settled_eur = await until("another agent of the policy has spent", async () => {
      const sum = await settled();
      return sum > before ? sum : null;
    });
    await page.open(`${program.url}/agents`);
    await page.shows("every action");
    await page.reads(new RegExp(`€3\\.00 spent all of its policy: €${settled_eur.toFixed(2)} spent`));
    const [all = "", bar = ""] = await page.evaluate<string[]>(
      "[document.querySelector('td.budget .sub').innerText, document.querySelector('td.budget rect.done').getAttribute('width')]",
    );
    assert.ok(all.includes(`€${settled_eur.toFixed(2)} spent`), all);
    assert.is(Number.parseFloat(bar), (settled_eur / 1_000_000) * 100);
    const { body } = await client.call("GET", `/v1/agents/${scene.agent.id}`);
    assert.ok(Date.parse(body.key_since) >= Date.parse(body.created_at));
  });

  test("an agent's page has its figures of a range, its last requests with their run, and its key's age", async () => {
    await page.open(`${program.url}/agents/${scene.agent.id}?range=7d`);
    await page.shows("run run-1");
    await page.shows("min");
    await page.shows(" old");
    const sums = await page.evaluate<[string, string][]>(
      "[...document.querySelectorAll('.sums a')].slice(0, 4).map((it) => [it.getAttribute('href'), it.querySelector('b').innerText])",
    );
    assert.is(sums.length, 4);
    for (const [href, figure] of sums) {
      const { body } = await client.call("GET", `/v1${href}&total=true`);
      assert.is(figure, String(body.total), href);
    }
  });

  test("an action is made, changed and deleted, and what is wrong is told at its field", async () => {
    await page.open(`${program.url}/agents`);
    await page.shows("every action");
    await page.click("Actions", ".tabs");
    await page.shows("Undone by order.cancel");
    await page.hides(`helper ${HOSTILE}`);
    await page.click("Define an action");
    await page.shows("Make the action");
    await write("name", "refund.create");
    await write("title", "Refund {/amount|eur} to {/customer/name}");
    await write("labels", "/customer/name: Customer");
    await write("schema", "{ no JSON");
    await choose("cost", "field");
    await page.shows("One unit in euros");
    await write("pointer", "amount");
    await page.click("Make the action");
    await page.shows("This is not JSON");
    await write("schema", '{"type":"object","required":["amount"]}');
    await page.click("Make the action");
    await page.shows("Version 1");
    for (const text of ["amount, in euros", "It cannot be undone", "/customer/name"]) await page.shows(text);
    assert.is(await page.evaluate("location.pathname"), "/agents/actions/refund.create");
    await choose("reversibility", "compensable");
    await page.shows("Action that undoes it");
    await write("compensation", "order.cancel");
    await page.click("Save");
    await page.shows("Version 2");
    const { body } = await client.call("GET", "/v1/actions/refund.create");
    assert.equal(
      [body.compensation, body.labels, body.cost, body.schema],
      [
        "order.cancel",
        { "/customer/name": "Customer" },
        { pointer: "amount" },
        { type: "object", required: ["amount"] },
      ],
    );
    await page.click("Delete…");
    await page.click("Delete", "dialog");
    await page.shows("refund.create is deleted.");
    await until("it is gone", async () => (await client.call("GET", "/v1/actions/refund.create")).status === 404);
  });

  test("a suspension says what it stops, and asks for the reason that is recorded", async () => {
    await page.open(`${program.url}/agents/${scene.agent.id}`);
    await page.click("Suspend…", ".acts");
    await page.shows(`Suspend helper ${HOSTILE}?`);
    await page.shows("Nothing is held for it; no delivery is under way.");
    assert.is(await page.evaluate("document.activeElement.innerText"), "Keep it active");
    assert.equal(await violations(page), []);
    await write("reason", "It asked too often.");
    await page.click(`Suspend helper ${HOSTILE}`, "dialog");
    await page.shows("It asked too often.");
    await page.click("Resume", ".acts");
    await page.hides("It asked too often.");
  });

  test("a viewer sees the same facts and no act that would be refused; each says who can", async () => {
    await other.open(`${program.url}/agents/${scene.agent.id}`);
    await other.shows("every action");
    await until("each act says who can", async () => {
      const acts = await other.evaluate<[boolean, string][]>(
        "[...document.querySelectorAll('.acts button')].map((it) => [it.disabled, document.getElementById(it.getAttribute('aria-describedby'))?.textContent])",
      );
      return acts.length === 2 && acts.every(([isDisabled, why]) => isDisabled && why === ONLY_ADMINS);
    });
    const seen =
      "[...document.querySelectorAll('.acts .act-why')].filter((it) => it.checkVisibility()).map((it) => it.innerText)";
    assert.equal(await other.evaluate(seen), [ONLY_ADMINS], "once, for both acts");
    await other.shows("Only an admin or an owner can change or delete it: ana.");
    await other.hides(WHO.email);
    await other.open(`${program.url}/agents/actions/order.create`);
    await other.shows(ONLY_ADMINS);
    assert.is(await other.evaluate("document.querySelector('main form')"), null);
    await other.open(`${program.url}/agents?tab=actions`);
    await other.shows("order.create");
    await other.shows("Only an admin or an owner can define an action: ana.");
  });

  test("another account's action and one that never existed are the same page", async () => {
    await page.open(`${program.url}/agents/actions/nothing.here`);
    await page.shows("There is nothing at this address in");
  });

  test("every page fits six widths, in two schemes, and axe finds nothing", async () => {
    const places = [
      ["/agents", "every action"],
      ["/agents?tab=actions", "order.create"],
      ["/agents?tab=actions&new=action", "Make the action"],
      ["/agents/actions/order.create", "Undone by"],
      [`/agents/${scene.agent.id}`, "run run-1"],
    ] as const;
    await fitEverywhere(page, program.url, places);
  });
};

const binary = browserHere();
if (binary === null) skipped("agents and actions in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
