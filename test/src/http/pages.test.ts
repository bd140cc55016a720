import { readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PAGE_STYLE } from "../../../src/http/page-style.ts";
import { PROBLEM_CODES, PROBLEMS } from "../../../src/streams/problems.ts";
import { echo, testApp } from "../../support/http-app.ts";

const test = suite("the pages for people");

test("every problem has a page that says what happened and what to do", async () => {
  const app = await testApp([]);
  for (const code of PROBLEM_CODES) {
    const { statusCode, headers, body } = await app.inject({ url: `/problems/${code}` });
    assert.is(statusCode, 200, code);
    assert.match(String(headers["content-type"]), /^text\/html/);
    assert.match(String(headers["content-security-policy"]), /^default-src 'none'; style-src 'sha256-/);
    assert.match(body, new RegExp(`<code>${code}</code>, status ${PROBLEMS[code].status}\\.`));
    assert.match(body, /<dt>What happened<\/dt><dd>[A-Z][^<]+\.<\/dd><dt>What to do<\/dt><dd>[A-Z][^<]+\.<\/dd>/, code);
  }
  const unknown = await app.inject({ url: "/problems/%3Cscript%3E" });
  assert.is(unknown.statusCode, 404);
  assert.is(unknown.json().code, "not-found");
  await app.close();
});

test("the page of the API loads nothing, and each of its links within the page leads somewhere", async () => {
  const app = await testApp([echo(), echo({ path: "/v1/open", who: "anyone", summary: "<b>Open</b>" })]);
  const { statusCode, body } = await app.inject({ url: "/docs" });
  assert.is(statusCode, 200);
  assert.match(body, /<title>Countersign: the API<\/title>/);
  assert.match(body, /POST \/v1\/things/);
  assert.match(body, /&lt;b&gt;Open/);
  assert.not.match(body, /<script|src=|<b>/);
  const ids = new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  for (const [, id] of body.matchAll(/href="#([^"]+)"/g)) assert.ok(ids.has(id), `#${id}`);
  await app.close();
});

test("the colours and typefaces of the pages are those of the console", () => {
  const tokens = readFileSync("console/design/tokens.css", "utf8");
  const lines = [...PAGE_STYLE.matchAll(/^ {2}(--[a-z0-9-]+: .*;)$/gm)].map(([, line = ""]) => line);
  assert.ok(lines.length > 8);
  for (const line of lines) assert.ok(tokens.includes(line), line);
});

test.run();
