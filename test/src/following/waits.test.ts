import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LONG_WAIT_MS, waitLines } from "../../../src/following/waits.ts";

const test = suite("log lines of waits");

const world = () => {
  const lines: string[] = [];
  const time = { ms: 1_000 };
  const as = (level: string) => (fields: object, message: string) => {
    lines.push(`${level}: ${message} ${JSON.stringify(fields)}`);
  };
  // The three methods that are used, with the arguments that are given.
  const log = { debug: as("debug"), info: as("info"), warn: as("warn") } as unknown as Parameters<typeof waitLines>[0];
  return {
    lines,
    levels: () => lines.map((line) => line.slice(0, line.indexOf(":"))),
    time,
    waits: waitLines(log, "notifications", () => time.ms),
  };
};

test("a wait that ends by itself has debug lines, and a part that does not wait has none", () => {
  const { waits, lines, levels, time } = world();
  waits.over();
  assert.equal(lines, []);
  waits.waiting("the view");
  time.ms += LONG_WAIT_MS - 1;
  waits.waiting("the view");
  waits.over();
  waits.over();
  assert.equal(levels(), ["debug", "debug", "debug"]);
  assert.is(lines[0], 'debug: notifications waits {"part":"notifications","waits_for":"the view","waits_s":0}');
  assert.is(lines[2], 'debug: notifications goes on {"part":"notifications","waited_s":30}');
});

test("a long wait is warned of once, and its end is logged", () => {
  const { waits, lines, levels, time } = world();
  for (let tries = 0; tries < 100; tries += 1) {
    waits.waiting("the view");
    time.ms += 3_000;
  }
  waits.over();
  assert.equal([levels().filter((it) => it === "warn").length, levels().at(-1)], [1, "info"]);
  const warning = lines.find((line) => line.startsWith("warn"));
  assert.is(
    warning,
    'warn: notifications has waited for long {"part":"notifications","waits_for":"the view","waits_s":30}',
  );
  assert.is(lines.at(-1), 'info: notifications goes on after a long wait {"part":"notifications","waited_s":300}');
});

test("each wait is measured from its own beginning, also if the end of the one before was not reported", () => {
  const { waits, levels, time } = world();
  for (let n = 0; n < 5; n += 1) {
    waits.waiting("the view");
    waits.over();
    time.ms += LONG_WAIT_MS;
  }
  for (let n = 0; n < 5; n += 1) {
    waits.waiting("the view");
    time.ms += 2 * LONG_WAIT_MS;
  }
  assert.ok(!levels().includes("warn"));
});

test.run();
