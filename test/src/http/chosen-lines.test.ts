import * as fc from "fast-check";
import { pino } from "pino";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { chosenLines } from "../../../src/http/chosen-lines.ts";
import { programLogger } from "../../../src/http/program-logger.ts";

const test = suite("lines whose members are chosen");

const recorded = () => {
  const lines: string[] = [];
  return { lines, stream: { write: (line: string) => void lines.push(line), flush: () => undefined } };
};
const withoutTime = (line = ""): string => line.replace(/"time":\d+/, '"time":0');

type Members = Record<string, string | number | null>;
const bothOf = (members: Members, message: string): readonly [string, string] => {
  const { lines, stream } = recorded();
  pino({ base: null }, stream).info(members, message);
  chosenLines(true, stream).info(members, message);
  return [withoutTime(lines[0]), withoutTime(lines[1])];
};

const HOSTILE = [
  ...["", '"', "\\", "\n", "\r\n", "\u0000", "\u001f", "\u007f", "\u2028", "\u{1f600}", "\ue000", "\uffff"],
  ...['","level":50,"x":"', "}\n{", "é".repeat(100), `${"a".repeat(60)}"`],
];

test("a line is byte for byte pino's, whatever its strings and numbers are", () => {
  for (const text of HOSTILE) {
    const [expected, actual] = bothOf({ text, after: 1 }, text);
    assert.is(actual, expected, JSON.stringify(text));
  }
  for (const number of [0, -0, 1.5, 1e21, -1e-9, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, null]) {
    const [expected, actual] = bothOf({ number }, "x");
    assert.is(actual, expected, String(number));
  }
  const string = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(string, string, fc.double(), (one, other, number) => {
      const [expected, actual] = bothOf({ one, number, other, nothing: null }, one);
      assert.is(actual, expected);
    }),
  );
});

test("half of a surrogate pair is escaped, so that the line is UTF-8", () => {
  for (const half of ["\ud800", "\udfff", "a\ud83d"]) {
    const { lines, stream } = recorded();
    chosenLines(true, stream).info({ half }, "x");
    assert.is(Buffer.from(lines[0] ?? "").toString(), lines[0]);
    assert.is(JSON.parse(lines[0] ?? "").half, half);
  }
});

test("no line is written below the level of the log", () => {
  for (const [logLevel, count] of [
    ["debug", 1],
    ["info", 1],
    ["warn", 0],
    ["silent", 0],
  ] as const) {
    const { lines, stream } = recorded();
    programLogger({ logLevel }, stream).chosen.info({ status: 202 }, "answered");
    assert.is(lines.length, count, logLevel);
  }
});

test("a chosen line keeps its place among the others", () => {
  const { lines, stream } = recorded();
  const logger = programLogger({ logLevel: "info" }, stream);
  logger.warn("first");
  logger.chosen.info({}, "second");
  logger.info("third");
  assert.equal(
    lines.map((line) => JSON.parse(line).msg),
    ["first", "second", "third"],
  );
});

test.run();
