import { suite } from "uvu";
import * as assert from "uvu/assert";
import { overflow, violations } from "../support/accessibility.ts";
import { browserHere, openBrowser } from "../support/browser.ts";
import { logIn } from "../support/client.ts";
import { killPrograms, removeFolder, startProgram, until } from "../support/program.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("pages for one-time links in a browser");

const PASSWORD = "correct horse battery";
const LINK = /once: http:\/\/\S+\/start(#\S+)/;

const FIRST_READ_FAILS = `(() => {
  const ask = globalThis.fetch.bind(globalThis);
  let isFirst = true;
  globalThis.fetch = async (...given) => {
    const fails = isFirst && String(given[0].url ?? given[0]).includes("/invitations/read");
    isFirst &&= !fails;
    if (fails) throw new TypeError("Failed to fetch");
    return ask(...given);
  };
})()`;

const inBrowser = (binary: string): void => {
  test("the first owner starts, invites a person who joins, and both are in the console; nothing of it leaks", async () => {
    const [program, page] = await Promise.all([startProgram({ SIGNUP: "closed" }), openBrowser(binary)]);
    const write = (name: string, value: string): Promise<void> =>
      page.evaluate(`document.querySelector("[name=${name}]").value = ${JSON.stringify(value)}; undefined`);
    try {
      const start = await until("the link is printed", () => LINK.exec(program.output())?.[1] ?? "");
      const looksRight = async (link: string, words: string): Promise<void> => {
        for (const shape of [{}, { width: 390, height: 844, dark: true }]) {
          await page.shaped(shape);
          await page.open("about:blank");
          await page.open(`${program.url}${link}`);
          await page.shows(words);
          assert.equal(await violations(page), [], link);
          assert.ok((await overflow(page)) <= 0, link);
          assert.is(await page.evaluate("location.hash"), "", "the token has left the address");
        }
        await page.shaped({});
      };
      await looksRight("/start#a-token", "Password");
      for (const path of ["join", "reset"]) {
        await looksRight(`/${path}#a-token`, "This link was used or has expired.");
        assert.not.match(await page.text(), /Shop|Password/, "a link without a secret says nothing of an account");
      }
      await page.open(`${program.url}/join`);
      await page.shows("This address has no link in it.");
      await page.open(`${program.url}/start`);
      await page.shows("This address has no link in it.");
      // As when it is pasted over the address of this page: no document is loaded.
      await page.evaluate(`location.hash = ${JSON.stringify(start)}; undefined`);
      await page.shows("Create the first account");
      await write("email", "ana@shop.example");
      await write("account_name", "Shop");
      await write("password", PASSWORD);
      assert.is(await page.evaluate("location.hash"), "", "a pasted token has left the address");
      await page.click("Create the account");
      await page.shows("Who sends the events?");
      for (const command of ["login --url", "listen --forward", "send --source", "events show"])
        await page.shows(`countersign ${command}`);
      await page.open(`${program.url}/overview`);
      await page.shows("Nothing waits for a person.");
      await page.shows("Begin here");
      await page.shows("Shop");
      assert.is(await page.evaluate("document.cookie"), "", "no script can read the session");

      const owner = await logIn(program.url, { email: "ana@shop.example", password: PASSWORD });
      const person = { email: "bo@shop.example", role: "approver" };
      const invited = await owner.session("POST", "/v1/members/invitations", person);
      const { pathname, hash } = new URL(invited.body.invitation_url);
      await looksRight(`${pathname}${hash}`, "Approver: you may read everything and decide approvals");
      const offer = await page.text();
      for (const said of ["Join the account", "Shop", "ana@shop.example", "bo@shop.example"])
        assert.ok(offer.includes(said), `${said} in ${offer}`);
      await write("password", "correcthorsebatterystaple");
      await page.click("Join");
      await page.shows("This is among the commonest passwords.");
      await write("password", PASSWORD);
      await page.click("Join");
      await page.shows("Nothing waits for a person.");
      const made = await owner.session("POST", `/v1/members/${invited.body.id}/reset`);
      assert.is(made.status, 201, JSON.stringify(made.body));
      const reset = new URL(made.body.reset_url);
      await looksRight(`${reset.pathname}${reset.hash}`, "Set a new password");
      for (const said of ["Shop", "bo@shop.example"]) await page.shows(said);
      await page.early(FIRST_READ_FAILS);
      await page.open("about:blank");
      await page.open(`${program.url}${pathname}${hash}`);
      await page.shows("The invitation could not be loaded.");
      await page.click("Try now");
      await page.shows("This link was used or has expired.");
      assert.equal(page.faults(), []);
      assert.equal(
        [...page.origins()].filter((it) => it !== "null"),
        [new URL(program.url).origin],
      );
    } finally {
      await page.close();
      killPrograms();
      removeFolder(program.dir);
    }
  });
};

const binary = browserHere();
if (binary === null)
  skipped("pages for one-time links in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
