import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const PROMISES = "docs/promises.md";
const CONFIGURATION = "docs/operator.md";
const PAGES = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].filter((page) => existsSync(page)),
  ...readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .map((page) => join("docs", page)),
];
const README_LINES_MAX = 250;
const PROMISED_BY = /^- `(test\/[^`]+)`: "(.+)"$/gm;
const LINK = /\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g;
const HEADING = /^#+ (.+)$/gm;
const TABLE_ROW = /^\| `([A-Z_]+)`(?:, `([A-Z_]+)`)? \|/gm;
const VARIABLE_READ = /\benv\.([A-Z_]+)|\benv, "([A-Z_]+)"/g;

/** Tests are run in the repository's folder. */
const text = (path: string): string => readFileSync(path, "utf8");
const groups = (pattern: RegExp, from: string): string[] =>
  [...from.matchAll(pattern)].flatMap(([, ...found]) => found.filter((it) => it !== undefined));

const test = suite("the pages for people");

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");

test("the README is short enough for a first visit", () => {
  const lines = text("README.md").split("\n").length;
  assert.ok(lines <= README_LINES_MAX, `${lines} lines`);
});

test("each promise names tests that there are", () => {
  const named = [...text(PROMISES).matchAll(PROMISED_BY)];
  assert.ok(named.length > 0);
  for (const [, file = "", name = ""] of named) assert.ok(text(file).includes(name), `${file}: ${name}`);
});

test("each link to a file or a heading leads to one", () => {
  for (const page of PAGES) {
    for (const [, target = "", anchor] of text(page).matchAll(LINK)) {
      const to = target === "" ? page : join(dirname(page), target);
      assert.ok(existsSync(to), `${page}: ${target}`);
      if (anchor === undefined) continue;
      const anchors = groups(HEADING, text(to)).map(anchorOf);
      assert.ok(anchors.includes(anchor), `${page}: ${target}#${anchor}`);
    }
  }
});

test("the table of the configuration has each variable that is read, and no other", () => {
  const shown = groups(TABLE_ROW, text(CONFIGURATION));
  const files = ["config", "stripe-config", "witness-config"];
  const read = new Set(groups(VARIABLE_READ, files.map((name) => text(`src/${name}.ts`)).join("")));
  assert.equal(shown.sort(), [...read].sort());
});

test("the headers of a delivery are those that are sent, and no other", () => {
  const sent = [...text("src/delivery/outbound.ts").matchAll(/"([a-z]+(?:-[a-z]+)+|traceparent|signature)"/g)];
  const [, chapter = ""] = text("docs/receiver.md").split("## The headers of a delivery");
  const [table = ""] = chapter.split(/\n\n(?!\|)/).filter((it) => it.includes("| header |"));
  const rows = table.split("\n").flatMap((row) => groups(/`([a-z-]+)`/g, row.split("|")[1] ?? ""));
  const signed = ["webhook-signature", "signature"];
  assert.equal(rows.sort(), [...new Set([...sent.map(([, name]) => name), ...signed])].sort());
});

test.run();
