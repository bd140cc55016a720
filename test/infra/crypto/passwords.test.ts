import { parseOptions } from "@node-rs/argon2";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { boundedQueue } from "../../../infra/bounded-queue.ts";
import { ARGON2, DECOY_HASH, passwords } from "../../../infra/crypto/passwords.ts";

const test = suite("passwords");

test("a password is checked against its argon2id hash", async () => {
  const { hash, verify } = passwords();
  const hashed = await hash("correct horse");
  assert.ok(hashed !== "overloaded" && hashed.hash.startsWith("$argon2id$v=19$m=19456,t=2,p=1$"));
  assert.is(await verify(hashed.hash, "correct horse"), "right");
  assert.is(await verify(hashed.hash, "correct house"), "wrong");
  const again = await hash("correct horse");
  assert.ok(again !== "overloaded" && again.hash !== hashed.hash);
});
test("an unknown account costs the same work and is always wrong", async () => {
  const { hash, verify } = passwords();
  const { algorithm, version, outputLen, saltLen, ...cost } = parseOptions(DECOY_HASH);
  assert.equal(cost, ARGON2);
  const hashed = await hash("x");
  assert.ok(hashed !== "overloaded");
  assert.equal({ algorithm, version, outputLen, saltLen, ...cost }, parseOptions(hashed.hash));
  assert.is(await verify(null, "correct horse"), "wrong");
});
test("calls beyond the queue are refused, and queued calls are served", async () => {
  const { verify } = passwords({ atOnce: 1, waitingMax: 2 });
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => verify(null, "x")));
  assert.equal(outcomes, ["wrong", "wrong", "wrong", "overloaded", "overloaded", "overloaded"]);
  assert.is(await verify(null, "x"), "wrong");
});

test("a bounded queue never runs more at once, keeps the order and survives failures", async () => {
  const queue = boundedQueue({ atOnce: 2, waitingMax: 100 });
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const work = (i: number) => async () => {
    running += 1;
    most = Math.max(most, running);
    order.push(i);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    if (i % 3 === 0) throw new Error(`work ${i}`);
  };
  const settled = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => queue.run(work(i))));
  assert.is(most, 2);
  assert.equal(
    order,
    Array.from({ length: 20 }, (_, i) => i),
  );
  assert.is(settled.filter(({ status }) => status === "rejected").length, 7);
  assert.is(await queue.run(async () => "still open"), "still open");
});
test.run();
