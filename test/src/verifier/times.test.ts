import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Leaf } from "../../../domain/evidence/leaf.ts";
import { Times } from "../../../src/verifier/times.ts";
import type { KnownHead } from "../../../src/verifier/trust.ts";

const test = suite("records' times beside those of witnesses");

const HOUR_S = 3_600;
const START_S = Date.UTC(2026, 0, 1) / 1_000;

const headOf = (size: number, time: number): KnownHead => ({
  size,
  root: new Uint8Array(),
  witness: { name: "witness.example.com", key: "witness.example.com+01", time },
  what: "a checkpoint",
});

/** Only these two members are looked at. */
const leafOf = (index: number, seconds: number) =>
  ({ index, recorded_at: new Date(seconds * 1_000).toISOString() }) as Leaf;

test("records of a tail, which come after a later one, are compared with the trees that have them", () => {
  // The witness was away for two hours.
  const heads = [headOf(7, START_S + 2 * HOUR_S), headOf(12, START_S + 3 * HOUR_S)];
  const times = new Times(heads);
  for (const index of [1, 8, 6, 7, 9]) times.take(leafOf(index, START_S + (index > 6 ? 2 * HOUR_S : index)));
  assert.equal(times.found, []);
  // It says to be later than the tree that has it.
  times.take(leafOf(5, START_S + 2.5 * HOUR_S));
  assert.equal(
    times.found.map(({ index }) => index),
    [5],
  );
});

test.run();
