import { readdirSync, readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { consoleFiles } from "../../../src/console/files.ts";
import { LINK_PAGES, linkPage } from "../../../src/console/link-pages.ts";
import { consolePage } from "../../../src/console/page.ts";
import { consoleRoutes } from "../../../src/routes/operations/console.ts";
import { PUBLIC_URL, testApp } from "../../support/http-app.ts";

const test = suite("console files");
const opened = () => testApp(consoleRoutes(() => PUBLIC_URL, "open"));
const SOURCES = "src/console/browser";
/** Tests are run in the repository's folder. */
const sources = readdirSync(SOURCES).map((name) => [name, readFileSync(`${SOURCES}/${name}`, "utf8")] as const);

test("the page loads its style and its modules from here, and its policy allows nothing else", async () => {
  const answer = await (await opened()).inject({ url: "/" });
  assert.is(answer.statusCode, 200);
  assert.is(answer.headers["content-type"], "text/html; charset=utf-8");
  const csp = String(answer.headers["content-security-policy"]);
  assert.match(csp, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; /);
  assert.match(csp, /frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/);
  assert.not.match(csp, /unsafe|\*|https?:/);
  assert.not.match(answer.body, /<style|style="|\son\w+="|<script(?![^>]*src="\/console\/)/);
  for (const [, address = ""] of answer.body.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g))
    assert.is((await (await opened()).inject({ url: address })).statusCode, 200, address);
});

test("the page has the first steps for a visitor who is not signed in, without any script", async () => {
  const { body } = await (await opened()).inject({ url: "/" });
  for (const url of ["/docs", "/openapi.json", "/public/status/summary", "/health"])
    assert.ok(body.includes(`href="${url}"`));
  assert.ok(body.includes(`curl -c cookies.txt ${PUBLIC_URL}/v1/auth/signup`));
  assert.not.match(body, /<div id="start"[^>]*hidden/);
  assert.ok(consolePage('http://x/"><script>', "open").includes("http://x/&quot;>&lt;script>"));
});

test("where strangers may not sign up, the page offers no form for it and names no call", async () => {
  const app = await testApp(consoleRoutes(() => PUBLIC_URL, "closed"));
  const { body } = await app.inject({ url: "/" });
  assert.match(body, /<form id="sign-up" hidden>/);
  assert.match(body, /Accept an owner's invitation/);
  assert.ok(body.includes(`curl -c cookies.txt ${PUBLIC_URL}/v1/auth/login`));
  assert.not.match(body, /auth\/signup/);
});

test("every module that one of them imports is served, as a script of its own, and asked for again", async () => {
  const app = await opened();
  const seen = new Set<string>();
  const follow = async (name: string): Promise<void> => {
    if (seen.has(name)) return;
    seen.add(name);
    const answer = await app.inject({ url: `/console/${name}` });
    assert.is(answer.statusCode, 200, name);
    assert.is(answer.headers["content-type"], "text/javascript; charset=utf-8");
    assert.is(answer.headers["x-content-type-options"], "nosniff");
    assert.is(answer.headers["cache-control"], "no-cache");
    const again = await app.inject({
      url: `/console/${name}`,
      headers: { "if-none-match": String(answer.headers.etag) },
    });
    assert.equal([again.statusCode, again.body], [304, ""]);
    for (const [, target = ""] of answer.body.matchAll(/from "\.\/([^"]+)"/g)) await follow(target);
    assert.not.match(answer.body, /from "(?!\.\/[a-z-]+\.js")/);
  };
  await follow("main.js");
  assert.ok(seen.size > 10);
});

test("nothing else of the build is served", async () => {
  const app = await opened();
  for (const name of ["main.js.map", "files.js", "..%2ffiles.js", "%2e%2e%2f%2e%2e%2fmain.js", "constructor", ""])
    assert.is((await app.inject({ url: `/console/${name}` })).statusCode, 404, name);
  assert.ok(consoleFiles().size < 50);
});

test("every id that a module looks for is in the page, once", () => {
  const linkPages = LINK_PAGES.map(linkPage);
  const asked = sources.flatMap(([name, text]) => {
    const pages = name === "link-page.ts" ? linkPages : [consolePage(PUBLIC_URL, "open")];
    return [...text.matchAll(/byId\(document, "([^"]+)"\)/g)].map(([, id = ""]) => [id, pages] as const);
  });
  assert.ok(asked.length > 5);
  for (const [id, pages] of asked) for (const page of pages) assert.is(page.split(`id="${id}"`).length, 2, id);
});

test("no module knows a way to make markup of text, or keeps anything in the browser", () => {
  for (const [name, text] of sources)
    assert.not.match(
      text,
      /innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|localStorage|sessionStorage|document\.cookie/,
      name,
    );
});

test.run();
