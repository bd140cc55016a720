import { suite } from "uvu";
import * as assert from "uvu/assert";
import { browserHere, openBrowser } from "../support/browser.ts";
import { logIn } from "../support/client.ts";
import { killPrograms, removeFolder, startProgram, until } from "../support/program.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("pages for one-time links in a browser");

const PASSWORD = "correct horse battery";
const LINK = /once: http:\/\/\S+\/start(#\S+)/;

const inBrowser = (binary: string): void => {
  test("the first owner starts, invites a person who joins, and both are in the console; nothing of it leaks", async () => {
    const [program, page] = await Promise.all([startProgram({ SIGNUP: "closed" }), openBrowser(binary)]);
    try {
      const start = await until("the link is printed", () => LINK.exec(program.output())?.[1] ?? "");
      for (const shape of [{}, { width: 390, height: 844, dark: true }]) {
        await page.shaped(shape);
        for (const path of ["join", "reset", "start"]) {
          await page.open(`${program.url}/${path}#a-token`);
          await page.shows("Password");
          assert.equal([await page.pale(), await page.nameless()], [[], []], path);
          assert.is(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, path);
          assert.is(await page.evaluate("location.hash"), "", "the token has left the address");
        }
      }
      await page.open("about:blank");
      await page.open(`${program.url}/start${start}`);
      await page.fill("E-mail", "ana@shop.example");
      await page.fill("Name of the account", "Shop");
      await page.fill("Password", PASSWORD);
      await page.click("Create the account");
      await page.shows("ana@shop.example · Shop");
      const cookies = await page.evaluate<string>("document.cookie");
      assert.is(cookies, "", "no script can read the session");

      const owner = await logIn(program.url, { email: "ana@shop.example", password: PASSWORD });
      const person = { email: "bo@shop.example", role: "approver" };
      const invited = await owner.session("POST", "/v1/members/invitations", person);
      const { pathname, hash } = new URL(invited.body.invitation_url);
      await page.open("about:blank");
      await page.open(`${program.url}${pathname}${hash}`);
      await page.fill("Password", "correcthorsebatterystaple");
      await page.click("Join");
      await page.shows("This is among the commonest passwords.");
      await page.fill("Password", PASSWORD);
      await page.click("Join");
      await page.shows("bo@shop.example · Shop");
      await page.open("about:blank");
      await page.open(`${program.url}${pathname}${hash}`);
      await page.fill("Password", PASSWORD);
      await page.click("Join");
      await page.shows("This link was used or has expired.");
      assert.equal(page.faults(), []);
      assert.equal([...page.origins()], [new URL(program.url).origin]);
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
