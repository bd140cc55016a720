import { suite } from "uvu";
import * as assert from "uvu/assert";
import { bufferedLines } from "../../../src/http/buffered-lines.ts";
import { until } from "../../support/until.ts";

const test = suite("lines that are written together");

const written = () => {
  const writes: string[] = [];
  return { writes, lines: bufferedLines((text) => writes.push(text)) };
};

test("lines of a moment are one write, whole and in their order", async () => {
  const { writes, lines } = written();
  for (const line of ["a\n", "b\n", "c\n"]) lines.write(line);
  assert.equal(writes, []);
  await until("they are written", () => writes.length > 0);
  assert.equal(writes, ["a\nb\nc\n"]);
  lines.write("d\n");
  await until("the next ones as well", () => writes.length > 1);
  assert.equal(writes, ["a\nb\nc\n", "d\n"]);
});

test("at most a fixed length is buffered, and the end of the process writes it all", () => {
  const { writes, lines } = written();
  const line = `${"x".repeat(999)}\n`;
  for (let i = 0; i < 100; i += 1) lines.write(line);
  assert.ok(writes.length >= 3 && writes.every((text) => text.length < 34_000));
  lines.flush();
  assert.is(writes.join(""), line.repeat(100));
  lines.flush();
  assert.ok(!writes.includes(""));
});

test("an error line is written at once, after the lines before it", () => {
  const { writes, lines } = written();
  lines.write('{"level":30,"msg":"answered"}\n');
  lines.write('{"level":50,"msg":"deliverer failed"}\n');
  assert.equal(writes, ['{"level":30,"msg":"answered"}\n{"level":50,"msg":"deliverer failed"}\n']);
});

test.run();
