import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LANE_MAX, LANE_MIN, Lanes, WAITING_MAX } from "../../../src/delivery/lanes.ts";
import { systemTimers } from "../../../src/following/timers.ts";

const test = suite("lanes");
const job = (endpointId: string, n: number) =>
  ({ kind: "due", eventId: `${endpointId}/${n}`, account: "acc", endpointId }) as const;
const yes = (): boolean => true;
const lanes = (): Lanes => new Lanes({ now: () => 0 }, systemTimers);
const laneOf = (queue: Lanes, endpointId: string) => queue.of({ endpointId, account: "acc" });

test("endpoints take turns, however many jobs one of them has", () => {
  const queue = lanes();
  for (let n = 0; n < 100; n += 1) queue.put(job("slow", n));
  queue.put(job("fast", 0));
  const taken = [queue.take(yes), queue.take(yes)].map((it) => it?.endpointId);
  assert.equal(taken.sort(), ["fast", "slow"]);
});

test("an endpoint without room is passed over until one of its jobs is done", () => {
  const queue = lanes();
  const [first, second] = [job("a", 1), job("a", 2)];
  queue.put(first);
  queue.put(second);
  const room = (lane: { running: number }) => lane.running < 1;
  assert.is(queue.take(room), first);
  assert.is(queue.take(room), null);
  queue.done(first);
  assert.is(queue.take(room), second);
});

test("jobs of one endpoint keep their order", () => {
  const queue = lanes();
  for (let n = 0; n < 5; n += 1) queue.put(job("a", n));
  const order = Array.from({ length: 5 }, () => queue.take(yes)?.eventId);
  assert.equal(order, ["a/0", "a/1", "a/2", "a/3", "a/4"]);
});

test("a job that waits or runs is not taken in again; once done it may be", () => {
  const queue = lanes();
  const it = job("a", 1);
  assert.equal([queue.put(it), queue.put(it)], [true, false]);
  queue.take(yes);
  assert.is(queue.put(it), false);
  queue.done(it);
  assert.is(queue.put(it), true);
});

test("a full lane takes no more and says that there is more on disk", () => {
  const queue = lanes();
  for (let n = 0; n < LANE_MAX; n += 1) assert.is(queue.put(job("a", n)), true);
  assert.is(queue.put(job("a", LANE_MAX)), false);
  assert.is(laneOf(queue, "a").hasMoreOnDisk, true);
  assert.is(queue.put(job("b", 0)), true);
  assert.is(queue.waiting, LANE_MAX + 1);
});

test("jobs left to the disk may be queued again, and running jobs go on", () => {
  const queue = lanes();
  const all = [1, 2, 3].map((n) => job("a", n));
  for (const it of all) queue.put(it);
  queue.put(job("b", 1));
  const running = queue.take(yes);
  assert.is(queue.leaveToDisk(laneOf(queue, "a")), all[2]);
  assert.equal([queue.running, queue.waiting, laneOf(queue, "a").hasMoreOnDisk], [1, 1, true]);
  assert.is(queue.take(yes)?.endpointId, "b");
  assert.is(queue.take(yes), null);
  assert.equal([queue.put(job("a", 1)), queue.put(job("a", 2))], [false, true]);
  if (running !== null) queue.done(running);
  assert.is(queue.take(yes)?.eventId, "a/2");
  assert.is(queue.leaveToDisk(laneOf(queue, "new")), undefined);
  assert.is(laneOf(queue, "new").hasMoreOnDisk, true);
});

test("all lanes together are bounded, none takes more than it leaves, and each endpoint always has some room", () => {
  const queue = lanes();
  for (let endpoint = 0; endpoint < 100; endpoint += 1)
    for (let n = 0; n < LANE_MAX; n += 1) queue.put(job(`hanging_${endpoint}`, n));
  assert.ok(queue.waiting <= WAITING_MAX + 100 * LANE_MIN, String(queue.waiting));
  assert.equal([queue.isFull(laneOf(queue, "hanging_0")), queue.isFull(laneOf(queue, "fast"))], [true, false]);
  for (let n = 0; n < LANE_MIN; n += 1) assert.is(queue.put(job("fast", n)), true);
  assert.equal([queue.put(job("fast", LANE_MIN)), laneOf(queue, "fast").hasMoreOnDisk], [false, true]);
});

test("jobs that bypass an open circuit stay in memory when the rest is left to the disk", () => {
  const queue = lanes();
  const undo = { ...job("a", 2), kind: "undo" } as const;
  queue.put(job("a", 1));
  queue.put(undo);
  assert.is(queue.leaveToDisk(laneOf(queue, "a"))?.eventId, "a/1");
  assert.equal([queue.waiting, queue.take(yes)], [1, undo]);
});

test("a lane is idle once it has neither jobs nor more on disk, and keeps what is known of its endpoint", () => {
  const queue = lanes();
  const lane = laneOf(queue, "a");
  lane.refusedProbe = "a/1";
  queue.leaveToDisk(lane);
  assert.equal([...queue.busy()], [lane]);
  queue.setMoreOnDisk(lane, false);
  assert.equal([[...queue.busy()], laneOf(queue, "a").refusedProbe], [[], "a/1"]);
  queue.put(job("a", 2));
  queue.setMoreOnDisk(lane, true);
  queue.setMoreOnDisk(lane, false);
  assert.equal([...queue.busy()], [lane]);
});

test("the endpoint that has been idle longest is forgotten when there are too many", () => {
  const queue = lanes();
  const [busy, oldest] = [laneOf(queue, "busy"), laneOf(queue, "oldest")];
  queue.put(job("busy", 1));
  for (let n = 0; n < 10_000; n += 1) laneOf(queue, `end_${n}`);
  assert.is(queue.find("busy"), busy);
  assert.is(queue.find("oldest"), undefined);
  assert.is.not(laneOf(queue, "oldest"), oldest);
});

test("an endpoint whose account has too much under way is passed over until any job of the account is done", () => {
  const queue = lanes();
  const [first, second] = [job("a", 1), job("b", 1)];
  queue.put(first);
  queue.put(second);
  const room = ({ account }: { account: string }) => queue.runningOf(account) < 1;
  assert.is(queue.take(room), first);
  assert.equal([queue.take(room), queue.runningOf("acc"), queue.runningOf("other")], [null, 1, 0]);
  queue.done(first);
  assert.is(queue.take(room), second);
  queue.done(second);
  assert.is(queue.runningOf("acc"), 0);
});

test.run();
