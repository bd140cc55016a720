import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LANE_MAX, LANE_MIN, lanes, WAITING_MAX } from "../../../src/delivery/lanes.ts";

const test = suite("lanes");
const job = (endpointId: string, n: number) => ({ eventId: `${endpointId}/${n}`, account: "acc", endpointId });

test("endpoints take turns, however many jobs one of them has", () => {
  const queue = lanes();
  for (let n = 0; n < 100; n += 1) queue.put(job("slow", n));
  queue.put(job("fast", 0));
  const taken = [queue.take(() => 1), queue.take(() => 1)].map((it) => it?.endpointId);
  assert.equal(taken.sort(), ["fast", "slow"]);
});

test("an endpoint without room is passed over until one of its jobs is done", () => {
  const queue = lanes();
  const [first, second] = [job("a", 1), job("a", 2)];
  queue.put(first);
  queue.put(second);
  const room = (lane: { running: number }) => 1 - lane.running;
  assert.is(queue.take(room), first);
  assert.is(queue.take(room), null);
  queue.done(first);
  assert.is(queue.take(room), second);
});

test("jobs of one endpoint keep their order", () => {
  const queue = lanes();
  for (let n = 0; n < 5; n += 1) queue.put(job("a", n));
  const order = Array.from({ length: 5 }, () => queue.take(() => 1)?.eventId);
  assert.equal(order, ["a/0", "a/1", "a/2", "a/3", "a/4"]);
});

test("a job that waits or runs is not taken in again; once done it may be", () => {
  const queue = lanes();
  const it = job("a", 1);
  assert.equal([queue.put(it), queue.put(it)], [true, false]);
  queue.take(() => 1);
  assert.is(queue.put(it), false);
  queue.done(it);
  assert.is(queue.put(it), true);
});

test("a full lane takes no more and says that there is more on disk", () => {
  const queue = lanes();
  for (let n = 0; n < LANE_MAX; n += 1) assert.is(queue.put(job("a", n)), true);
  assert.is(queue.put(job("a", LANE_MAX)), false);
  assert.is(queue.lane("a")?.overflowed, true);
  assert.is(queue.put(job("b", 0)), true);
  assert.is(queue.waiting(), LANE_MAX + 1);
});

test("what waits for an endpoint is forgotten when it is held, and may be taken in again; what runs goes on", () => {
  const queue = lanes();
  const all = [1, 2, 3].map((n) => job("a", n));
  for (const it of all) queue.put(it);
  queue.put(job("b", 1));
  const running = queue.take(() => 1);
  assert.equal(
    queue.hold("a", "acc").map(({ eventId }) => eventId),
    ["a/2", "a/3"],
  );
  assert.equal([queue.running(), queue.waiting(), queue.lane("a")?.overflowed], [1, 1, true]);
  assert.is(queue.take(() => 1)?.endpointId, "b");
  assert.is(
    queue.take(() => 1),
    null,
  );
  assert.equal([queue.put(job("a", 1)), queue.put(job("a", 2))], [false, true]);
  if (running !== null) queue.done(running);
  assert.is(queue.take(() => 1)?.eventId, "a/2");
  assert.equal([queue.hold("new", "acc"), queue.lane("new")?.overflowed], [[], true]);
});

test("all lanes together have an end, none takes more than it leaves, and an endpoint has some room whatever the others have", () => {
  const queue = lanes();
  for (let endpoint = 0; endpoint < 100; endpoint += 1)
    for (let n = 0; n < LANE_MAX; n += 1) queue.put(job(`hanging_${endpoint}`, n));
  assert.ok(queue.waiting() <= WAITING_MAX + 100 * LANE_MIN, String(queue.waiting()));
  assert.equal([queue.isFull("hanging_0"), queue.isFull("fast")], [true, false]);
  for (let n = 0; n < LANE_MIN; n += 1) assert.is(queue.put(job("fast", n)), true);
  assert.equal([queue.put(job("fast", LANE_MIN)), queue.lane("fast")?.overflowed], [false, true]);
});

test("a lane that is let go is forgotten once nothing is in it", () => {
  const queue = lanes();
  queue.hold("a", "acc");
  queue.letGo("a");
  assert.is(queue.lane("a"), undefined);
  queue.put(job("b", 1));
  queue.hold("b", "acc");
  queue.put(job("b", 2));
  queue.letGo("b");
  assert.equal([queue.lane("b")?.overflowed, queue.lane("b")?.waiting.length], [false, 1]);
});

test("an endpoint whose account has too much under way is passed over until any job of the account is done", () => {
  const queue = lanes();
  const [first, second] = [job("a", 1), job("b", 1)];
  queue.put(first);
  queue.put(second);
  const room = ({ account }: { account: string }) => 1 - queue.runningOf(account);
  assert.is(queue.take(room), first);
  assert.equal([queue.take(room), queue.runningOf("acc"), queue.runningOf("other")], [null, 1, 0]);
  queue.done(first);
  assert.is(queue.take(room), second);
  queue.done(second);
  assert.is(queue.runningOf("acc"), 0);
});

test.run();
