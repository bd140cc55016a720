import { suite } from "uvu";
import * as assert from "uvu/assert";
import { neededHeads } from "../../../src/audit/needed-heads.ts";

const test = suite("the cosigned trees that an export needs");

const noteBy = (...signers: readonly string[]): string => {
  const signature = Buffer.alloc(72, 1).toString("base64");
  return `log\n1\nroot\n\n${signers.map((name) => `\u2014 ${name} ${signature}\n`).join("")}`;
};

/** One tree an hour: 10, 20 … 100 records; the witness "gone" saw the first three of them. */
async function* heads() {
  for (let size = 10; size <= 100; size += 10)
    yield { size, note: size <= 30 ? noteBy("log", "stays", "gone") : noteBy("log", "stays") };
}

const sizes = async (...indexes: readonly number[]): Promise<readonly number[]> => {
  const pages = async function* () {
    for (const index of indexes) yield [index];
  };
  const found: number[] = [];
  for await (const { size } of neededHeads(heads(), pages())) found.push(size);
  return found.sort((a, b) => a - b);
};

test("a record needs the last tree before it and the first one with it", async () => {
  assert.equal(await sizes(55), [30, 50, 60, 100]);
  assert.equal(await sizes(60), [30, 60, 70, 100]);
  assert.equal(await sizes(55, 57, 71), [30, 50, 60, 70, 80, 100]);
});

test("the newest tree, and the newest that each witness saw, are there whatever the records are", async () => {
  assert.equal(await sizes(), [30, 100]);
  assert.equal(await sizes(0), [10, 30, 100]);
  assert.equal(await sizes(25), [20, 30, 100]);
  assert.equal(await sizes(105), [30, 100]);
});

test("records of every hour need all of them, each once", async () => {
  const all = Array.from({ length: 10 }, (_, i) => 10 * (i + 1));
  assert.equal(await sizes(...all.map((size) => size - 5)), all);
});

test.run();
