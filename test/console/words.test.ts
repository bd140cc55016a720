import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("the words of the console");

/** Each word that no page says, and the one that it says instead. Names of the API's values are not sentences. */
const FORBIDDEN: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\bplease\b/i, "the request itself"],
  [/\bsuccessfully\b/i, "what was done"],
  [/\boops\b/i, "what happened"],
  [/\binvalid\b/i, "what is expected"],
  [/\bare you sure\b/i, "the question itself"],
  [/\bwebhooks?\b/i, "event"],
  [/\bintegrations?\b/i, "source"],
  [/\bdestinations?\b/i, "endpoint"],
  [/\b(blocked|denied)\b/i, "refused"],
  [/\bdeclined?\b/i, "rejected"],
  [/\berrored\b/i, "failed"],
  [/\b(confirm|deny)\b/i, "approve or reject"],
  [/\bresen[dt]\b/i, "replay"],
  [/\b(compensate[ds]?|revert(ed|s)?)\b/i, "undo or roll back"],
  [/\bpurged?\b/i, "erase"],
  [/\bdeactivate[ds]?\b/i, "suspend, pause or disable"],
  [/\blog entry\b/i, "record"],
  [/\b(somebody|whoever|whatever)\b/i, "a person or a thing by its name"],
];

const FOLDERS = ["console/src", "console/design"];

const sourcesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((it) => /\.tsx?$/.test(it))
    .map((it) => join(folder, it));

/** A text with a space that begins like a sentence or a label; names, classes and calls of the API do not. */
const isSaid = (text: string): boolean => /^\s*[A-Z“].*\s/.test(text) && !/^(GET|POST|PUT|PATCH|DELETE) /.test(text);

const COMMENT = /^\s*(\/\/|\/?\*)/;
const QUOTED = /"([^"\n]*)"|`([^`\n]*)`/g;
const TAGS = /<\/?[a-zA-Z][^<>]*>|\{[^{}]*\}/g;
/** What program text has and prose has not. */
const PROGRAM = /[=;{}<>|&]|^\s*(import|export|const|return|if|for|case|type|readonly)\b|\bas const\b|\w\(|: \w+,$/;

/** What a line of a source says on a page: its quoted sentences, or prose between tags. */
const saidOn = (line: string): readonly string[] => {
  if (COMMENT.test(line)) return [];
  const quoted = [...line.matchAll(QUOTED)].map(([, plain, template]) => plain ?? template ?? "").filter(isSaid);
  const prose = line.replace(TAGS, " ");
  return quoted.length > 0 || PROGRAM.test(prose) || !/\w \w/.test(prose) ? quoted : [prose.trim()];
};

/** What a file says on a page, with the lines at which it says it. */
const saidIn = (file: string): readonly (readonly [line: number, text: string])[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, at) => saidOn(line).map((text) => [at + 1, text] as const));

test("no page says a word for which the console has another", () => {
  const said = FOLDERS.flatMap(sourcesIn).flatMap((file) => saidIn(file).map((it) => [file, ...it] as const));
  assert.ok(said.length > 500, "the sources were read");
  const wrong = said.flatMap(([file, line, text]) =>
    FORBIDDEN.filter(([word]) => word.test(text)).map(
      ([word, instead]) => `${file}:${line} says ${word.exec(text)?.[0]} for ${instead}: ${text}`,
    ),
  );
  assert.equal(wrong, []);
});

test("a sentence is recognised, and the name of a value is not", () => {
  assert.equal(saidOn('  title: "The endpoint has refused it.",'), ["The endpoint has refused it."]);
  assert.equal(saidOn("            Your session has <b>ended</b> now"), ["Your session has  ended  now"]);
  assert.equal(saidOn('  code === "invalid-request" || class="btn first"'), []);
  assert.equal(saidOn("  // The receiver is invalid here."), []);
});

test.run();
