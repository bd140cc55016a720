import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ByteRate } from "../../../src/http/byte-rate.ts";
import { testClock } from "../../support/http-app.ts";

const test = suite("the rate of large bodies");
const MIB = 1_048_576;
const LIMIT_MS = 6_000;
const body = (party: string) => ({ party, bytes: MIB, bytesPerS: 8 * MIB, limitMs: LIMIT_MS });

test("large bodies of one party wait for their turn, at the rate of its plan after a burst", () => {
  const rate = new ByteRate(testClock());
  const waits = Array.from({ length: 8 }, () => rate.turn(body("attacker")));
  assert.equal(waits, [0, 0, 0, 0, 0, 125, 250, 375]);
});

test("another party does not wait, and neither do small bodies", () => {
  const rate = new ByteRate(testClock());
  for (let n = 0; n < 20; n += 1) rate.turn(body("attacker"));
  assert.is(rate.turn(body("victim")), 0);
  assert.is(rate.turn({ ...body("attacker"), bytes: 64 * 1_024 }), 0);
});

test("a body that would wait for too long is refused and not counted", () => {
  const clock = testClock();
  const rate = new ByteRate(clock);
  const waits = Array.from({ length: 200 }, () => rate.turn(body("attacker")));
  assert.is(waits.filter((wait) => wait !== null).length, 53);
  clock.advance(10_000);
  assert.is(rate.turn(body("attacker")), 0);
});

test.run();
