import { suite } from "uvu";
import * as assert from "uvu/assert";
import { QuietPoll } from "../../../src/following/quiet-poll.ts";

const test = suite("the pause between looks");

const LOOKS = 1_000;

test("it becomes longer, but stays bounded, while looks find nothing", () => {
  const poll = new QuietPoll(1_000);
  const pauses = Array.from({ length: LOOKS }, () => {
    poll.foundNothing();
    return poll.ms;
  });
  assert.is(pauses[0], 1_000);
  assert.is(pauses.at(-1), 5_000);
  assert.equal(
    pauses,
    pauses.toSorted((a, b) => a - b),
  );
});

test("it is short again after a hint, or a look that has found something", () => {
  const poll = new QuietPoll(1_000);
  for (let looks = 0; looks < LOOKS; looks += 1) poll.foundNothing();
  poll.isBusy();
  assert.is(poll.ms, 1_000);
});

test.run();
