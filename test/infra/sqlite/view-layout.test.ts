import { suite } from "uvu";
import * as assert from "uvu/assert";
import { timeOf } from "../../../infra/sqlite/view-layout.ts";
import { seededRandom } from "../../support/seeded-random.ts";

const ROUNDS = 20_000;
const DIGIT_OR_SIGN = "0123456789-:.TZ ";

const test = suite("rows of views in SQLite");

/** What `timeOf` promises, said by the engine's own functions. */
const expected = (text: string): number | null => {
  const ms = Date.parse(text);
  return text.length === 24 && !Number.isNaN(ms) && new Date(ms).toISOString() === text ? ms : null;
};

test("a text is a time only if Date writes exactly that text", () => {
  const days = ["2026-02-28", "2026-02-29", "2028-02-29", "2026-02-30", "2026-04-31", "2026-13-01", "2026-00-10"];
  const odd = ["0000-01-01", "0099-12-31", "9999-12-31", "+02026-1-1", "2026-1-011", "20２6-01-01"];
  const clocks = ["00:00:00.000", "23:59:59.999", "24:00:00.000", "23:60:00.000", "23:59:60.000", "1 :00:00.000"];
  for (const day of [...days, ...odd])
    for (const clock of clocks)
      for (const text of [`${day}T${clock}Z`, `${day} ${clock}Z`, `${day}T${clock}z`, `${day}T${clock}`])
        assert.is(timeOf(text), expected(text), text);
});

test("a time with one other character is the time that Date says, or none", () => {
  const random = seededRandom(7);
  for (let round = 0; round < ROUNDS; round += 1) {
    const text = new Date(random.below(4_000_000_000_000)).toISOString();
    const at = random.below(text.length);
    const other = text.slice(0, at) + DIGIT_OR_SIGN[random.below(DIGIT_OR_SIGN.length)] + text.slice(at + 1);
    assert.is(timeOf(text), Date.parse(text), text);
    assert.is(timeOf(other), expected(other), other);
  }
});

test.run();
