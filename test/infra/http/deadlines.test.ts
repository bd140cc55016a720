import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Deadlines, type Timed } from "../../../infra/http/deadlines.ts";
import { until } from "../../support/until.ts";

const test = suite("deadlines");

const FAR_MS = 60_000;

const world = () => {
  const deadlines = new Deadlines();
  const expired: string[] = [];
  const timed = (name: string, limitMs: number, passedMs = 0): Timed => {
    const it: Timed = {
      limitMs,
      dueAt: performance.now() + limitMs - passedMs,
      earlier: null,
      later: null,
      expire: () => expired.push(name),
      giveUp: () => undefined,
    };
    deadlines.add(it);
    return it;
  };
  return { deadlines, expired, timed };
};

test("requests expire in the order in which they began, each once", async () => {
  const { deadlines, expired, timed } = world();
  for (const name of ["a", "b", "c"]) timed(name, 5);
  await until("the last has expired", () => expired.includes("c"));
  timed("d", 5);
  await until("a later one has expired", () => expired.includes("d"));
  assert.equal(expired, ["a", "b", "c", "d"]);
  assert.is(deadlines.size, 0);
});

test("a request that was taken out does not expire, and those around it do", async () => {
  const { deadlines, expired, timed } = world();
  const [first, , third] = ["a", "b", "c", "d"].map((name) => timed(name, 5));
  if (first === undefined || third === undefined) throw new Error("unreachable");
  deadlines.remove(third);
  deadlines.remove(first);
  await until("the last has expired", () => expired.includes("d"));
  assert.equal(expired, ["b", "d"]);
});

test("a short limit does not wait for a long one", async () => {
  const { deadlines, expired, timed } = world();
  const long = timed("long", FAR_MS);
  timed("short", 5);
  await until("the short one has expired", () => expired.length > 0);
  assert.equal(expired, ["short"]);
  assert.equal(deadlines.all(), [long]);
  deadlines.remove(long);
  assert.equal([deadlines.all(), deadlines.size], [[], 0]);
});

test("one that began while the timer of an earlier one ran has its whole limit", async () => {
  const { expired, timed } = world();
  timed("early", 30, 25);
  const late = timed("late", 30);
  let expiredAt = 0;
  late.expire = () => {
    expiredAt = performance.now();
  };
  await until("both have expired", () => expiredAt > 0);
  assert.equal(expired, ["early"]);
  assert.ok(expiredAt >= late.dueAt, `${late.dueAt - expiredAt} ms too early`);
});

test("when all of a limit have been taken out, the next one still expires", async () => {
  const { deadlines, expired, timed } = world();
  deadlines.remove(timed("a", 20));
  timed("b", 20);
  await until("it has expired", () => expired.length > 0);
  assert.equal(expired, ["b"]);
});

test.run();
