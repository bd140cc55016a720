import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Shares } from "../../infra/shares.ts";

const test = suite("shares of a limited resource");

/** How much a party gets that takes one after another until it gets no more. */
const takeAll = (shares: Shares, party: string): number => {
  let taken = 0;
  while (shares.take([party], 1)) taken += 1;
  return taken;
};

test("one party gets half, and each greedy party leaves a part to the next one", () => {
  const shares = new Shares(1_200);
  assert.equal(
    ["a", "b", "c", "d"].map((party) => takeAll(shares, party)),
    [600, 300, 150, 75],
  );
  assert.is(shares.total, 1_125);
});

test("an amount for two parties needs room in both shares", () => {
  const shares = new Shares(100);
  assert.ok(shares.take(["network", "source a"], 30));
  assert.not.ok(shares.take(["network", "source b"], 30));
  assert.ok(shares.take(["other", "source b"], 30));
});

test("a returned amount is free for others, and a moved one counts for the new party alone", () => {
  const shares = new Shares(100);
  shares.take(["a"], 40);
  shares.move(["a"], ["b"], 40);
  assert.equal([shares.of("a"), shares.of("b"), shares.total], [0, 40, 40]);
  shares.give(["b"], 40);
  assert.equal([shares.of("b"), shares.total], [0, 0]);
  assert.is(takeAll(shares, "c"), 50);
});

test.run();
