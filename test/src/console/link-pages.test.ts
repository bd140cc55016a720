import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startLinkPage } from "../../../src/console/browser/link-page.ts";
import { LINK_PAGES, linkPage } from "../../../src/console/link-pages.ts";
import { consoleRoutes } from "../../../src/routes/operations/console.ts";
import { fakePage } from "../../support/fake-page.ts";
import { PUBLIC_URL, testApp } from "../../support/http-app.ts";

const test = suite("pages for one-time links");

test("each page loads its style and script from here, keeps nothing, and its policy allows nothing else", async () => {
  const app = await testApp(consoleRoutes(() => PUBLIC_URL, "open"));
  for (const name of LINK_PAGES) {
    const { statusCode, headers, body } = await app.inject({ url: `/${name}` });
    assert.is(statusCode, 200);
    assert.is(headers["content-type"], "text/html; charset=utf-8");
    assert.is(headers["cache-control"], "no-store");
    assert.is(headers["referrer-policy"], "no-referrer");
    const csp = String(headers["content-security-policy"]);
    assert.match(csp, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; /);
    assert.match(csp, /form-action 'none'; frame-ancestors 'none'/);
    assert.not.match(csp, /unsafe|\*|https?:/);
    assert.not.match(body, /<style|style="|\son\w+="|https?:|<script(?![^>]*src="console\/)/);
    for (const [, address = ""] of body.matchAll(/(?:src|href)="(console\/[^"]+)"/g))
      assert.is((await app.inject({ url: `/${address}` })).statusCode, 200, address);
  }
  await app.close();
});

/** The page in a browser, whose calls are answered with `status`. */
const opened = (name: (typeof LINK_PAGES)[number], hash: string, status = 200) => {
  const calls: [string, unknown][] = [];
  const addresses: string[] = [];
  const page = fakePage(linkPage(name), async (input, init) => {
    calls.push([String(input), JSON.parse(String(init?.body))]);
    const problem = { code: "not-found", detail: "This link was used or has expired." };
    return new Response(JSON.stringify(status === 200 ? {} : problem), { status });
  });
  const location = { hash, pathname: `/${name}`, replace: (address: string) => void addresses.push(`go ${address}`) };
  const history = { replaceState: (_data: null, _unused: string, address: string) => void addresses.push(address) };
  const { document, fetch } = page.browser;
  startLinkPage({ document, location, history, fetch });
  return { page, calls, addresses };
};

test("it takes the token out of the address, sends it to the API, and goes on to the console", async () => {
  const fields = { email: "ana@shop.example", account_name: "Shop", password: " a long password " };
  for (const [name, path] of [
    ["join", "v1/auth/invitations/accept"],
    ["reset", "v1/auth/reset"],
    ["start", "v1/auth/start"],
  ] as const) {
    const { page, calls, addresses } = opened(name, "#the-token");
    assert.equal(addresses, [`/${name}`]);
    const given = name === "start" ? fields : { password: fields.password };
    await page.fill(page.byId("link"), given);
    assert.equal(calls, [[path, { token: "the-token", ...given }]]);
    assert.equal(addresses, [`/${name}`, "go ./"]);
  }
});

test("the link's page says what is wrong and lets the person try again", async () => {
  const { page, calls, addresses } = opened("join", "#the-token", 404);
  for (const password of ["one long password", "another long password"]) {
    await page.fill(page.byId("link"), { password });
    assert.match(page.text(), "This link was used or has expired.");
  }
  assert.equal([calls.length, addresses], [2, ["/join"]]);
});

test("two clicks are one call", async () => {
  const { page, calls } = opened("join", "#the-token");
  await Promise.all([1, 2].map(() => page.fill(page.byId("link"), { password: "one long password" })));
  assert.is(calls.length, 1);
});

test("without a token it shows no form", () => {
  const { page } = opened("join", "");
  assert.ok(page.byId("link").hidden);
  assert.match(page.text(), "This address has no link in it");
});

test.run();
