import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ChangeFollower, FRAMES_PER_SECOND } from "../../../src/feed/change-follower.ts";
import type { Change } from "../../../src/feed/topics.ts";

const test = suite("what a stream has still to tell");

const changes = (first: number, count: number): readonly Change[] =>
  Array.from({ length: count }, (_, n) => ({ topic: "events", id: `evt_${first + n}`, position: `${first + n}` }));

const started = () => new ChangeFollower("acc_1", ["events", "bundles"], "0");

test("a slow reader costs a few ids and a number, however much has changed", () => {
  const follower = started();
  for (let round = 0; round < 100; round += 1) {
    follower.give(changes(round * 1_000, 1_000));
    follower.reach(String(round));
  }
  assert.equal(follower.take(0), [{ topic: "events", changed: 100_000 }]);
  assert.equal(follower.take(1), []);
});

test("after single frames the number waits for the end of their second, and the client does not resume behind it", () => {
  const follower = started();
  follower.give(changes(0, 3));
  assert.is(follower.take(0).length, 1);
  assert.is(follower.resumable(), "0");
  follower.give(changes(10, FRAMES_PER_SECOND));
  follower.reach("20");
  assert.equal(follower.take(999), []);
  assert.is(follower.resumable(), null);
  const [due] = follower.take(1_000);
  assert.is(due !== undefined && "changes" in due ? due.changes.size : 0, FRAMES_PER_SECOND);
  assert.is(follower.resumable(), "20");
});

test("one thing that changes often is one frame at its newest position, even if older records come late", () => {
  const follower = started();
  follower.give([{ topic: "events", id: "evt_1", position: "5" }]);
  follower.give([{ topic: "events", id: "evt_1", position: "2" }]);
  assert.equal(follower.take(0), [{ topic: "events", changes: new Map([["evt_1", "5"]]) }]);
});

test("while it catches up, the client does not resume behind what it missed", () => {
  const follower = started();
  const hasCaughtUp = follower.catchUp();
  assert.is(follower.resumable(), null);
  hasCaughtUp();
  assert.is(follower.resumable(), "0");
});

test.run();
