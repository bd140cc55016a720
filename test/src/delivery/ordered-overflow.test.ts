import { suite } from "uvu";
import * as assert from "uvu/assert";
import { OrderedOverflow } from "../../../src/delivery/ordered-overflow.ts";
import { START } from "../../support/history.ts";

const test = suite("ordered overflow");
const job = (n: number) => ({ eventId: `evt_${n}`, account: "acc_1", endpointId: "end_1", kind: "due" }) as const;
const listed = (...numbers: readonly number[]) => new Set(numbers.map((n) => `evt_${n}`));
const ids = (jobs: readonly { readonly eventId: string }[] | null) => jobs?.map(({ eventId }) => eventId) ?? null;

test("jobs that the view does not list yet come once, after those that it lists, in their order", () => {
  const overflow = new OrderedOverflow();
  for (const n of [1, 2, 3]) overflow.add(job(n), START);
  assert.equal(ids(overflow.take(listed(0, 1), START)), ["evt_2", "evt_3"]);
  assert.equal(ids(overflow.take(listed(), START)), []);
});

test("nothing is taken while an event may be missing from both the view and the overflow", () => {
  const overflow = new OrderedOverflow();
  overflow.miss("evt_5", START);
  overflow.add(job(6), START);
  assert.is(overflow.take(listed(1, 2), START), null);
  assert.equal(ids(overflow.take(listed(1, 2, 5), START)), ["evt_6"]);
  overflow.miss("evt_7", START);
  overflow.add(job(8), START);
  assert.equal(ids(overflow.take(listed(8), START)), [], "the view has its records in order");
});

test("an event that never appears, because another node has delivered it, is awaited for a few seconds", () => {
  const overflow = new OrderedOverflow();
  overflow.miss("evt_5", START);
  assert.is(overflow.take(listed(), START + 5_000), null);
  assert.equal(ids(overflow.take(listed(), START + 5_001)), []);
});

test("the oldest jobs are dropped when there are too many, and found on disk", () => {
  const overflow = new OrderedOverflow();
  for (let n = 0; n < 600; n += 1) overflow.add(job(n), START);
  assert.is(overflow.take(listed(3), START), null);
  const taken = overflow.take(listed(87), START);
  assert.equal([taken?.length, taken?.[0]?.eventId, taken?.at(-1)?.eventId], [512, "evt_88", "evt_599"]);
});

test.run();
