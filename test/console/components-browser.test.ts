import { createServer } from "node:http";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { bundledFiles, CONSOLE_POLICY } from "../../src/console/bundle.ts";
import { overflow, violations, WIDTHS } from "../support/accessibility.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the console's components in a browser");

/** The program does not serve the page of all components, so it is served here, under the program's policy. */
const served = async (): Promise<{ readonly url: string; close(): void }> => {
  const files = bundledFiles();
  const server = createServer((request, response) => {
    const file = files.get((request.url ?? "").slice(1));
    if (file === undefined) return void response.writeHead(404).end();
    const headers = { "content-type": file.contentType, "content-security-policy": CONSOLE_POLICY };
    response.writeHead(200, headers).end(file.plain);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = server.address();
  const port = typeof at === "object" && at !== null ? at.port : 0;
  return { url: `http://127.0.0.1:${port}/components.html`, close: () => server.close() };
};

const inBrowser = (binary: string): void => {
  let page: BrowserPage;
  let server: Awaited<ReturnType<typeof served>>;

  test.before(async () => {
    [server, page] = await Promise.all([served(), openBrowser(binary)]);
    await page.open(server.url);
    await page.shows("Components");
  });
  test.after(async () => {
    await page.close();
    server.close();
  });
  test.after.each(() => {
    assert.equal(page.faults(), []);
    assert.equal([...page.origins()], [new URL(server.url).origin]);
  });

  test("at six widths and in two schemes, axe finds nothing and nothing scrolls sideways", async () => {
    for (const width of WIDTHS)
      for (const dark of [false, true]) {
        await page.shaped({ width, dark });
        assert.equal(await violations(page), [], `${width} ${dark ? "dark" : "light"}`);
        assert.ok((await overflow(page)) <= 0, `${width} px`);
      }
    await page.shaped({});
  });

  test("axe finds nothing in an open confirmation, palette and chooser; the focus returns when they close", async () => {
    const focused = "document.activeElement.innerText.trim()";
    for (const [name, shows] of [
      ["Suspend…", "Suspend refund-bot?"],
      ["Search or jump to", "erp-mirror"],
      ["Endpoint", "erp-bridge"],
    ] as const) {
      await page.evaluate(
        `[...document.querySelectorAll("button")].find((it) => it.innerText.trim() === "${name}").focus()`,
      );
      await page.key("Enter");
      await page.shows(shows);
      assert.equal(await violations(page), [], name);
      await page.key("Escape");
      await page.hides(shows);
      assert.is(await page.evaluate(focused), name);
    }
  });

  test("a confirmation begins on the safe button", async () => {
    await page.click("Suspend…");
    await page.shows("Suspend refund-bot?");
    assert.is(await page.evaluate("document.activeElement.innerText"), "Keep it active");
    await page.key("Enter");
    await page.hides("Suspend refund-bot?");
  });

  test("a secret leaves the page with Done, which needs the box", async () => {
    const secret = "csa_4Jq8ZrT0nB1xVwKe7mYcPsLh2GdUa9";
    await page.shows(secret);
    assert.is(
      await page.evaluate("[...document.querySelectorAll('button')].find((it) => it.innerText === 'Done').disabled"),
      true,
    );
    await page.evaluate("document.querySelector('.note input[type=checkbox]').click()");
    await page.click("Done");
    await page.hides(secret);
  });

  test("the tree keeps the source text of numbers, hides what a policy hides, and folds by keyboard", async () => {
    await page.shows("1240.00");
    await page.shows("hidden by the policy support-refunds");
    await page.evaluate("document.querySelector('.tree [aria-expanded=true]').focus()");
    await page.key("ArrowLeft");
    await page.shows("{ 5 fields }");
  });
};

const binary = browserHere();
if (binary === null)
  skipped("the console's components in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
