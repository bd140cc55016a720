import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
const PROMISED_BY = /^- `(test\/[^`]+)`: "(.+)"$/gm;
const LINK = /\]\((?!https?:)([^)#]+)\)/g;
const TABLE_ROW = /^\| `([A-Z_]+)`(?:, `([A-Z_]+)`)? \|/gm;
const VARIABLE_READ = /\benv\.([A-Z_]+)|\benv, "([A-Z_]+)"/g;

/** Tests are run in the repository's folder. */
const text = (path: string): string => readFileSync(path, "utf8");
const groups = (pattern: RegExp, from: string): string[] =>
  [...from.matchAll(pattern)].flatMap(([, ...found]) => found.filter((it) => it !== undefined));

const test = suite("the pages for people");

test("each promise names tests that there are", () => {
  const named = [...text("README.md").matchAll(PROMISED_BY)];
  assert.ok(named.length > 0);
  for (const [, file = "", name = ""] of named) assert.ok(text(file).includes(name), `${file}: ${name}`);
});

test("each link to a file leads to one", () => {
  for (const page of PAGES) {
    for (const target of groups(LINK, text(page))) assert.ok(existsSync(join(".", target)), `${page}: ${target}`);
  }
});

test("the table of the configuration has each variable that is read, and no other", () => {
  const shown = groups(TABLE_ROW, text("README.md"));
  const read = new Set(groups(VARIABLE_READ, text("src/config.ts")));
  assert.equal(shown.sort(), [...read].sort());
});

test.run();
