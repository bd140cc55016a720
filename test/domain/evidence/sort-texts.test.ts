import { suite } from "uvu";
import * as assert from "uvu/assert";
import { sortTexts } from "../../../domain/evidence/sort-texts.ts";

const test = suite("sorted texts");

test("few and many texts come out as the built-in sort has them", () => {
  for (const count of [0, 1, 2, 5, 23, 24, 25, 200]) {
    const texts = Array.from(
      { length: count },
      (_, i) => `${(i * 7_919) % 101}${i % 3 === 0 ? "\u{1f600}" : "\ufb33"}`,
    );
    assert.equal(sortTexts([...texts]), [...texts].sort(), `${count} texts`);
    assert.equal(sortTexts([...texts].sort().reverse()), [...texts].sort(), `${count} texts, the last first`);
  }
});

test.run();
