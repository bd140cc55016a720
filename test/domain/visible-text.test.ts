import { suite } from "uvu";
import * as assert from "uvu/assert";
import { visibleText as inBrowser } from "../../console/design/visible-text.ts";
import { visibleLine, visibleText } from "../../domain/visible-text.ts";

const test = suite("visible text");

/** UAX #9, section 2: the marks, embeddings, overrides and isolates. */
const BIDIRECTIONAL = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069";
const INVISIBLE =
  "\u00ad\u034f\u115f\u180e\u200b\u200c\u200d\u2028\u2029\u2060\u2064\u2800\u3164\ufe0f\ufeff\uffa0\ufffb";
const SPACES = "\u00a0\u1680\u2000\u200a\u202f\u205f\u3000";
const CONTROLS = "\0\b\v\f\u001b\u007f\u0085\u009b";

test("characters that reorder text or are not seen are shown as escapes", () => {
  for (const character of BIDIRECTIONAL + INVISIBLE + SPACES + CONTROLS) {
    const shown = `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
    assert.is(visibleText(`a${character}b`), `a${shown}b`);
    assert.is(visibleLine(`a${character}b`), `a${shown}b`);
  }
  // Tags of plane 14, and a half of a surrogate pair.
  assert.is(visibleLine("\u{e0041}\ud800"), "\\udb40\\udc41\\ud800");
});

test("visible characters stay as they are", () => {
  for (const text of ["Zürich, 120.00 €", "日本語", "العربية", "e\u0301", "😀", "\\u202e", ""])
    assert.is(visibleLine(text), text);
  assert.is(visibleText("a\n\tb\r\nc"), "a\n\tb\r\nc");
  assert.is(visibleText("a\rb"), "a\\u000db");
  assert.is(visibleLine("a\n\tb"), "a\\u000a\\u0009b");
});

test("inside JSON an escape means the same character", () => {
  const value = { note: BIDIRECTIONAL + INVISIBLE + SPACES + CONTROLS };
  assert.equal(JSON.parse(visibleText(JSON.stringify(value))), value);
});

test("the browser shows every character as the service does", () => {
  const differing: string[] = [];
  for (let point = 0; point <= 0x10ffff; point += 1) {
    const text = String.fromCodePoint(point);
    if (visibleText(text) !== inBrowser(text)) differing.push(point.toString(16));
  }
  assert.equal(differing, []);
});

test.run();
