import { suite } from "uvu";
import * as assert from "uvu/assert";
import { visibleText } from "../../../domain/visible-text.ts";
import { tonedTable } from "../../../src/cli/formats.ts";
import { run } from "../../../src/cli/run.ts";
import { hasColours, painted, toneOfState, visibleLineOf } from "../../../src/cli/tone.ts";
import { toned } from "../../support/scripted-service.ts";

const test = suite("colours");

test("only a terminal gets colours, and only if the person wants them", () => {
  assert.is(hasColours(true, {}), true);
  assert.is(hasColours(false, {}), false);
  assert.is(hasColours(true, { NO_COLOR: "1" }), false);
  assert.is(hasColours(true, { NO_COLOR: "", TERM: "xterm" }), true);
  assert.is(hasColours(true, { TERM: "dumb" }), false);
});

test("a colour surrounds a line whose own codes were made visible", () => {
  const line = visibleText("\u001b[31mred");
  assert.is(painted(line, "good"), `\u001b[32m${line}\u001b[39m`);
  assert.not.match(line, "\u001b");
});

test("what a command says without a tone stays plain", async () => {
  const tones: unknown[] = [];
  await run(["--version"], {}, { out: (_, tone) => tones.push(tone), note: () => undefined });
  assert.equal(tones, [undefined]);
});

test("a part of a line keeps its tone when an escape before it makes the line longer", () => {
  const line = visibleLineOf({ text: "a\u202e failed", tones: [{ from: 3, to: 9, tone: "bad" }] });
  assert.is(painted(line.text, line.tones), "a\\u202e \u001b[31mfailed\u001b[39m");
});

test("no text can end the colour of a part or begin one", () => {
  const line = visibleLineOf({ text: "\u001b[31mok", tones: [{ from: 0, to: 7, tone: "dim" }] });
  assert.is(painted(line.text, line.tones), "\u001b[2m\\u001b[31mok\u001b[22m");
});

test("columns of a table are aligned by what is seen, not by the codes of colours", () => {
  const lines = tonedTable([
    [{ text: "STATUS", tone: "dim" }, "ID"],
    [{ text: "ok", tone: "good" }, "a"],
  ]);
  assert.equal(
    lines.map(({ text, tones }) => painted(text, tones)),
    ["\u001b[2mSTATUS\u001b[22m  ID", "\u001b[32mok\u001b[39m      a"],
  );
});

test("states are good, bad or waiting, and one that is none of these stays plain", () => {
  assert.equal(["delivered", "failed", "held", "recorded", "constructor"].map(toneOfState), [
    "good",
    "bad",
    "waiting",
    undefined,
    undefined,
  ]);
});

test("a list has faint headings and states with a colour; JSON has none", async () => {
  const data = [{ id: "end_a", name: "app", health: { state: "open" }, url: "https://app.example/" }];
  const list = await toned(["endpoints", "list"], { data, next_cursor: null });
  assert.equal(
    list.map(({ text, tone }) => [text, tone]),
    [
      ["ID", "dim"],
      ["NAME", "dim"],
      ["HEALTH.STATE", "dim"],
      ["URL", "dim"],
      ["open", "bad"],
    ],
  );
  assert.equal(await toned(["endpoints", "list", "--json"], { data, next_cursor: null }), []);
  const shown = await toned(["sources", "show", "src_a"], { id: "src_a", status: "paused" });
  assert.equal(
    shown.map(({ text, tone }) => [text, tone]),
    [
      ["id", "dim"],
      ["status", "dim"],
      ["paused", "waiting"],
    ],
  );
});

test.run();
