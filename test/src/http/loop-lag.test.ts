import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loopLag } from "../../../src/http/loop-lag.ts";
import { until } from "../../support/until.ts";

const test = suite("how late the event loop runs");

test("the lag is the delay of an overdue look, also before that look, and zero after a punctual one", async () => {
  let now = 1_000;
  const lag = loopLag(() => now);
  assert.is(lag(), 0);
  now += 100;
  assert.is(lag(), 0, "the look is due, and not late");
  now += 700;
  assert.is(lag(), 700, "nothing has been looked at for so long");
  // The look itself comes at a time that stands still: it says the same, until there is another one.
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.is(lag(), 700);
  await until("another look was on time", () => {
    now += 1;
    return lag() < 700;
  });
});

test("the lag is forgotten when there were no requests for a while", async () => {
  let now = 1_000;
  const lag = loopLag(() => now);
  lag();
  now += 5_000;
  assert.is(lag(), 4_900);
  await new Promise((resolve) => setTimeout(resolve, 150));
  now += 10_000;
  assert.is(lag(), 0);
});

test.run();
