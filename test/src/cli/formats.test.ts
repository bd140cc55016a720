import { suite } from "uvu";
import * as assert from "uvu/assert";
import { filterQuery, timeOf } from "../../../src/cli/event-filter.ts";
import { shownSeconds, shownTime, table } from "../../../src/cli/formats.ts";
import { barOf, progressBar } from "../../../src/cli/progress-bar.ts";

const test = suite("what the command line shows");

test("columns are as wide as their widest cell, and nothing follows the last", () => {
  assert.equal(
    table([
      ["a", "bb", ""],
      ["ccc", "d", "e"],
    ]),
    ["a    bb", "ccc  d   e"],
  );
  assert.equal(table([]), []);
});

test("durations have two units, times no fractions", () => {
  const shown = [0, 12.2, 60, 3_601, 90_061].map(shownSeconds);
  assert.equal(shown, ["0 s", "13 s", "1 min 0 s", "1 h 0 min", "1 d 1 h"]);
  assert.is(shownTime("2026-03-01T12:00:00.123Z"), "2026-03-01 12:00:00Z");
});

test("times are given as such, or as how long ago", () => {
  const now = Date.UTC(2026, 2, 1, 12);
  const given = ["90s", "30m", "2h", "3d", "2026-02-01T00:00:00+01:00", undefined];
  assert.equal(
    given.map((text) => timeOf("from", text, now)),
    [
      "2026-03-01T11:58:30.000Z",
      "2026-03-01T11:30:00.000Z",
      "2026-03-01T10:00:00.000Z",
      "2026-02-26T12:00:00.000Z",
      "2026-01-31T23:00:00.000Z",
      undefined,
    ],
  );
  for (const wrong of ["yesterday", "2w", "-1h", ""]) assert.throws(() => timeOf("from", wrong, now), "--from takes");
  assert.is(filterQuery({ source: "src_1", q: "x" }, now).source_id, "src_1");
});

test("an invalid time is refused: a forgotten unit would mean a day of 2001 and everything that failed since", () => {
  const now = Date.UTC(2026, 2, 1, 12);
  const given = ["2026-03-01", "2026-03-01 12:00:00Z", "2026-03-01t12:00z", "2024-02-29T23:59:59.5-01:30"];
  assert.equal(
    given.map((text) => timeOf("from", text, now)),
    ["2026-03-01T00:00:00.000Z", "2026-03-01T12:00:00.000Z", "2026-03-01T12:00:00.000Z", "2024-03-01T01:29:59.500Z"],
  );
  // The third is local time to `Date.parse`, where everything that is shown is UTC.
  for (const wrong of ["2", "12", "2026-03-01T12:00:00", "2026-02-30", "2025-02-29T00:00:00Z", "1 2026-03-01"])
    assert.throws(() => timeOf("from", wrong, now), "--from takes");
});

test("the bar is as full as what is done, and never overflows", () => {
  assert.is(barOf(0, 4, 8), "[........]   0 %");
  assert.is(barOf(3, 4, 8), "[######..]  75 %");
  assert.is(barOf(9, 4, 8), "[########] 100 %");
  assert.is(barOf(0, 0, 2), "[##] 100 %");
});

test("a person sees one line drawn over itself; a file gets lines now and then", () => {
  const drawn: string[] = [];
  const noted: string[] = [];
  const terminal = { out: () => undefined, note: (line: string) => noted.push(line) };
  const screen = { columns: 40, draw: (line: string) => drawn.push(line), ask: async () => true };
  const bar = progressBar({ ...terminal, screen });
  bar.show(1, 2, "and a good many words beside it");
  bar.end();
  assert.equal([drawn.length, drawn[0]?.length, drawn[1], noted], [2, 39, "", []]);
  const words = progressBar(terminal);
  words.show(1, 2, "words");
  words.show(2, 2, "words");
  words.end();
  assert.equal(noted, ["1 of 2  words"]);
});

test.run();
