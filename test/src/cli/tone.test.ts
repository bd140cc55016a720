import { suite } from "uvu";
import * as assert from "uvu/assert";
import { visibleText } from "../../../domain/visible-text.ts";
import { run } from "../../../src/cli/run.ts";
import { hasColours, painted } from "../../../src/cli/tone.ts";

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

test.run();
