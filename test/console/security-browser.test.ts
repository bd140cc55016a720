import { suite } from "uvu";
import * as assert from "uvu/assert";
import { defineAction } from "../support/agent.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, signUp } from "../support/client.ts";
import { type ConsoleScene, consoleScene } from "../support/console-scene.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the console keeps accounts, members and secrets apart");
const ANA = { email: "ana@shop.example", password: "correct horse battery" };
const BEN = { email: "ben@shop.example", password: "another horse battery" };

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let ana: Client;
  let stranger: Client;
  let scene: ConsoleScene;
  let foreign: ConsoleScene;

  test.before(async () => {
    [program, page] = await Promise.all([startProgram(), openBrowser(binary)]);
    ana = await signUp(program.url, ANA);
    stranger = await signUp(program.url);
    [scene, foreign] = await Promise.all([consoleScene(program.url, ana), consoleScene(program.url, stranger)]);
    const invited = await ana.session("POST", "/v1/members/invitations", { email: BEN.email, role: "admin" });
    const token = new URL(invited.body.invitation_url).hash.replace(/^#(token=)?/, "");
    const body = JSON.stringify({ token, password: BEN.password });
    const headers = { "content-type": "application/json" };
    const accepted = await fetch(`${program.url}/v1/auth/invitations/accept`, { method: "POST", headers, body });
    assert.is(accepted.status, 200);
    await page.shaped({});
    await openSignedIn(page, program.url, { who: ANA, path: "/overview" });
    await page.shows("Needs a person");
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await scene?.shop.target.close();
    await foreign?.shop.target.close();
    removeFolder(program.dir);
  });
  /** The page's policy is never violated, nothing runs that a stranger named, and no other host is asked. */
  test.after.each(() => {
    assert.equal(page.faults(), []);
    assert.equal([...page.origins()], [new URL(program.url).origin]);
  });

  /** What the page shows, without the time that is left to decide, which runs. */
  const main = async (): Promise<string> =>
    (await page.evaluate<string>("document.querySelector('main').innerText")).replaceAll(/\d+ min( \d+ s)?/g, "");
  const kept = (): Promise<string> =>
    page.evaluate<string>(
      "JSON.stringify([location.href, history.state, Object.entries(localStorage), Object.entries(sessionStorage), document.cookie])",
    );
  const approvalOf = async (client: Client, event: string): Promise<string> =>
    (await client.call("GET", `/v1/events/${event}`)).body.approval_id;

  test("an id of another account is the same page as one that never existed, on every page of one thing", async () => {
    const held = await until("the other account's request is held", () => approvalOf(stranger, foreign.events.held));
    const filter = { status: "failed" };
    const replay = await stranger.session("POST", "/v1/replays", { filter }, { "idempotency-key": "replay" });
    await defineAction(stranger, "their.secret.action", foreign.endpointId);
    const ids = [
      ["/events", foreign.events.held],
      ["/approvals", held],
      ["/bundles", foreign.bundles.incomplete],
      ["/sources", foreign.source.id],
      ["/endpoints", foreign.endpointId],
      ["/agents", foreign.agent.id],
      ["/policies", foreign.policyId],
      ["/replays", replay.body.id],
      ["/agents/actions", "their.secret.action"],
    ] as const;
    for (const [path, id] of ids) {
      const never = id.slice(0, 4) + "a".repeat(id.length - 4);
      const pageOf = async (one: string): Promise<string> => {
        await page.open(`${program.url}${path}/${one}`);
        await page.shows("There is nothing at this address in");
        return main();
      };
      // Counts of one's own account may come late, so the pages are compared again; what an id tells, it tells each time.
      await until(`${path} shows the same page`, async () => (await pageOf(never)) === (await pageOf(id)));
    }
  });

  test("a secret that is shown once is in no address and in no storage, and is gone after a reload", async () => {
    await page.open(`${program.url}/agents/${scene.agent.id}`);
    await page.click("Rotate key…", ".acts");
    await page.click("Rotate key", "dialog");
    await page.shows("This key is shown once.");
    const secret = (await page.text()).match(/csa_[\w-]{10,}/)?.[0] ?? "";
    assert.not.equal(secret, "");
    assert.not.match(await kept(), secret);
    await page.open(`${program.url}/agents/${scene.agent.id}`);
    await page.shows("What it may do");
    await page.hides(secret);
    assert.not.match(await kept(), secret);
    assert.not.match(await page.evaluate<string>("document.documentElement.outerHTML"), secret);
    assert.not.match(
      await page.evaluate<string>("JSON.stringify(performance.getEntriesByType('resource').map((it) => it.name))"),
      /csa_|whsec_|csk_|password/,
    );
  });

  for (const [what, from, to, isTold] of [
    ["it is told of", ANA, BEN, true],
    ["it is not told of", BEN, ANA, false],
  ] as const)
    test(`a page of one member never decides as another who has signed in meanwhile, and whom ${what}`, async () => {
      const id = await approvalOf(ana, scene.events.held);
      await page.open(`${program.url}/approvals/${id}`);
      await page.shows(from.email.slice(0, 3));
      await page.shows("If you approve");
      const login = JSON.stringify(JSON.stringify(to));
      // What the form of another tab does: it signs in, and tells the other tabs who it is now.
      await page.evaluate(`(async () => {
        const headers = { "content-type": "application/json" };
        const answer = await fetch("/v1/auth/login", { method: "POST", headers, body: ${login} });
        const { member } = await answer.json();
        globalThis.isReplaced = true;
        if (${isTold}) new BroadcastChannel("countersign-session").postMessage({ member: member.id });
      })()`);
      const told = `${to.email} is signed in now`;
      /** The page tries to decide until it knows who is signed in. */
      const attempt = `(() => {
        if (document.body.innerText.includes(${JSON.stringify(told)})) return true;
        const buttons = [...document.querySelectorAll("main button")];
        if (globalThis.isReplaced && !${isTold}) buttons.find((it) => it.innerText.startsWith("Approve"))?.click();
        return false;
      })()`;
      await until("the page says who is signed in", () => page.evaluate<boolean>(attempt));
      await page.click(`Leave it, and go on as ${to.email}`, "dialog");
      await page.shows(`You decide as ${to.email}.`);
      const { body } = await ana.call("GET", `/v1/approvals/${id}`);
      assert.equal([body.status, body.votes], ["pending", []]);
    });
};

const binary = browserHere();
if (binary === null) skipped("the console's walls in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
