import { suite } from "uvu";
import * as assert from "uvu/assert";
import { overflow, violations } from "../support/accessibility.ts";
import { browserHere, openBrowser } from "../support/browser.ts";
import { killPrograms, removeFolder, startProgram, until } from "../support/program.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the page that lets a command line in");

const WHO = { email: "ana@shop.example", password: "correct horse battery" };
const CLIENT = { client_id: "countersign-cli" };
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";

type Body = Readonly<Record<string, string>>;

const post = async (url: string, body: object): Promise<Body> => {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()) as Body;
};

const inBrowser = (binary: string): void => {
  test("a person signs in, sees who asks, and approves or denies; opening the page decides nothing", async () => {
    const [program, page] = await Promise.all([startProgram(), openBrowser(binary)]);
    const ask = (device_name: string) => post(`${program.url}/v1/auth/device`, { ...CLIENT, device_name });
    /** The next answer that is not about the pace. */
    const outcome = ({ device_code }: Body): Promise<string> =>
      until("the service says what became of it", async () => {
        const body = { ...CLIENT, grant_type: GRANT_TYPE, device_code };
        const { code, token_type } = await post(`${program.url}/v1/auth/device/token`, body);
        return code === "slow-down" ? "" : (code ?? token_type ?? "");
      });
    const write = (name: string, value: string): Promise<void> =>
      page.evaluate(`document.querySelector("[name=${name}]").value = ${JSON.stringify(value)}; undefined`);
    try {
      await post(`${program.url}/v1/auth/signup`, WHO);
      const first = await ask("<b>laptop</b>");
      await page.open(`${program.url}/device#${first.user_code}`);
      await page.shows("Sign in");
      await write("email", WHO.email);
      await write("password", WHO.password);
      await page.click("Sign in", "form");
      await page.shows("A command line wants to log in as you");
      for (const shape of [{}, { width: 390, height: 844, dark: true }]) {
        await page.shaped(shape);
        for (const text of [`${first.user_code}`, "<b>laptop</b>", "change the configuration", "Allow it only if"])
          await page.shows(text);
        assert.equal(await violations(page), []);
        assert.ok((await overflow(page)) <= 0);
      }
      await page.shaped({});
      assert.is(await page.evaluate("location.hash"), "", "the code has left the address");
      assert.not.match(await page.evaluate<string>("document.activeElement.innerText"), /^Allow$/);
      const buttons = await page.evaluate<string[]>(
        `[...document.querySelectorAll("main button")].map((it) => it.innerText.trim()).filter((it) => /^(Allow|Deny)$/.test(it))`,
      );
      assert.equal(buttons, ["Deny", "Allow"]);
      assert.is(await outcome(first), "authorization-pending");
      await page.click("Allow", "main");
      await page.shows("The command line is logged in.");
      assert.is(await outcome(first), "Bearer");

      const second = await ask("other");
      await page.open("about:blank");
      await page.open(`${program.url}/device`);
      await page.shows("Enter the code that your command line shows");
      assert.equal(await violations(page), []);
      await write("user_code", "BCDF-GHJB");
      await page.click("Go on");
      await page.shows("Nothing waits under this code");
      await write("user_code", (second.user_code ?? "").toLowerCase());
      await page.click("Go on");
      await page.shows("other");
      await page.click("Deny", "main");
      await page.shows("The command line was refused");
      assert.is(await outcome(second), "access-denied");
      await page.open(`${program.url}/settings/sessions`);
      await page.shows("Command line");
      assert.equal(page.faults(), []);
    } finally {
      await page.close();
      killPrograms();
      removeFolder(program.dir);
    }
  });
};

const binary = browserHere();
if (binary === null)
  skipped("the page that lets a command line in", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
