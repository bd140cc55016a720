import { suite } from "uvu";
import * as assert from "uvu/assert";
import { BodyBudget, type BudgetedBody } from "../../../src/http/body-budget.ts";

const test = suite("the budget of bodies");
const BYTES = 1_000;

/** A budget of 1,000 bytes and 100 places, at a time that the test sets. */
const setUp = () => {
  const clock = { ms: 0, now: () => clock.ms };
  const budget = new BodyBudget({ bytes: BYTES, requests: 100 }, clock);
  const lost: string[] = [];
  const begin = (name: string, source: string, network: string): BudgetedBody =>
    budget.begin({ account: `account of ${source}`, source, network }, () => lost.push(name));
  /** From then on bodies of the source from this network are trusted. */
  const verify = (source: string, network: string): void => {
    const body = begin("verified", source, network);
    body.take(1);
    body.complete();
    body.verified();
    body.leave();
  };
  return { clock, budget, lost, begin, verify };
};

test("bodies of one network take half at most, and a newer one gets the room of the oldest", () => {
  const { budget, lost, begin } = setUp();
  for (let n = 1; n <= 20; n += 1) {
    assert.ok(begin(`slow ${n}`, `source ${n}`, "net").take(100));
    assert.ok(budget.bytes <= BYTES / 2);
  }
  assert.equal(lost[0], "slow 1");
  assert.is(lost.length, 15);
});

test("bodies to one source from many networks take half at most", () => {
  const { budget, begin } = setUp();
  for (let n = 1; n <= 20; n += 1) begin(`slow ${n}`, "src", `net ${n}`).take(100);
  assert.is(budget.bytes, BYTES / 2);
});

test("a body from elsewhere gets the room of the largest party, not of other small ones", () => {
  const { lost, begin } = setUp();
  begin("small", "a", "small").take(100);
  for (let n = 1; n <= 3; n += 1) begin(`large ${n}`, `b ${n}`, "large").take(150);
  begin("other", "c", "other").take(150);
  begin("one more", "d", "one more").take(100);
  assert.equal(lost, []);
  assert.ok(begin("victim", "e", "victim").take(150));
  assert.equal(lost, ["large 1"]);
});

test("a body that has come completely loses nothing, and what has no room is refused for good", () => {
  const { lost, begin } = setUp();
  const complete = begin("complete", "a", "net");
  complete.take(500);
  complete.complete();
  const late = begin("late", "b", "net");
  assert.not.ok(late.take(10));
  complete.leave();
  assert.not.ok(late.take(10));
  assert.not.ok(late.enter());
  assert.equal(lost, []);
});

test("a source keeps its room on networks where its bodies were verified lately", () => {
  const { lost, begin, verify } = setUp();
  verify("victim", "home");
  const victim = begin("victim", "victim", "home");
  assert.ok(victim.take(300));
  for (let n = 1; n <= 50; n += 1) begin(`attacker ${n}`, `other ${n}`, `net ${n}`).take(100);
  for (let n = 1; n <= 50; n += 1) begin(`forger ${n}`, "victim", `net ${n}`).take(100);
  assert.not.ok(lost.includes("victim"));
  assert.ok(victim.take(100));
});

test("a source that was verified lately takes the room of bodies that were not", () => {
  const { begin, verify, budget } = setUp();
  verify("victim", "home");
  for (let n = 1; n <= 200; n += 1) begin(`attacker ${n}`, `other ${n}`, `net ${n}`).take(10);
  assert.ok(budget.bytes > 900);
  assert.ok(begin("victim", "victim", "home").take(400));
});

test("an account with verified sources takes at most half of the room, and its slow bodies lose theirs to others", () => {
  const { clock, budget, lost, begin, verify } = setUp();
  for (let n = 1; n <= 20; n += 1) {
    verify(`source ${n}`, "net");
    budget.begin({ account: "attacker", source: `source ${n}`, network: "net" }, () => lost.push(`${n}`)).take(100);
    assert.ok(budget.bytes <= BYTES / 2);
  }
  lost.length = 0;
  clock.ms += 2_001;
  for (let n = 1; n <= 8; n += 1) {
    const quick = begin(`new ${n}`, `new ${n}`, `elsewhere ${n}`);
    assert.ok(quick.take(100), `new ${n}`);
    quick.complete();
  }
  assert.ok(lost.length > 0 && lost.every((name) => /^\d+$/.test(name)));
});

test("trust ends an hour after the last verified body", () => {
  const { clock, begin, verify } = setUp();
  verify("victim", "home");
  clock.ms += 60 * 60_000;
  assert.is(begin("in time", "victim", "home").party(), "account account of victim");
  clock.ms += 1;
  assert.is(begin("late", "victim", "home").party(), "network home");
});

test("places are shared like bytes, and a verified body counts for its account", () => {
  const { budget, begin } = setUp();
  const bodies = Array.from({ length: 80 }, (_, n) => begin(`${n}`, `source ${n}`, "net"));
  assert.is(bodies.filter((body) => body.enter()).length, 50);
  assert.ok(begin("victim", "victim", "home").enter());
  for (const body of bodies.slice(0, 50)) body.verified();
  assert.ok(begin("same network", "other", "net").enter());
  for (const body of bodies) body.leave();
  assert.is(budget.requests, 2);
});

test.run();
