import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gapsOf } from "../../../domain/evidence/multi-proof.ts";
import { subtreesBetween } from "../../../domain/evidence/subtrees-between.ts";

const test = suite("subtrees between records");

test("the subtrees between records, one after the other, are the gaps of all of them", () => {
  for (let size = 1; size <= 40; size += 1) {
    for (const chosen of [[], [0], [size - 1], [0, size - 1], [1, 2, 5, 9, 17, 31], [3, 4, 5, 6, 7]]) {
      const indexes = [...new Set(chosen)].filter((index) => index < size);
      const between = [...indexes, size].flatMap((index, i) =>
        subtreesBetween(size, (indexes[i - 1] ?? -1) + 1, index),
      );
      const leaves = { length: indexes.length, indexAt: (place: number) => indexes[place] ?? -1 };
      assert.equal(between, gapsOf(leaves, size), `${size}: ${indexes.join(" ")}`);
    }
  }
});

test.run();
