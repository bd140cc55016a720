import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Arrivals } from "../../../src/delivery/arrivals.ts";
import { START } from "../../support/history.ts";

const test = suite("arrivals behind a backlog");
const job = (n: number) => ({ eventId: `evt_${n}`, account: "acc_1", endpointId: "end_1", kind: "due" }) as const;
const listed = (...numbers: readonly number[]) => new Set(numbers.map((n) => `evt_${n}`));
const ids = (jobs: readonly { readonly eventId: string }[] | null) => jobs?.map(({ eventId }) => eventId) ?? null;

test("what the view does not show yet comes behind what it shows, in its order, once", () => {
  const arrivals = new Arrivals();
  for (const n of [1, 2, 3]) arrivals.add(job(n), START);
  assert.equal(ids(arrivals.take(listed(0, 1), START)), ["evt_2", "evt_3"]);
  assert.equal(ids(arrivals.take(listed(), START)), []);
});

test("as long as the view may lack what is not here, nothing is taken", () => {
  const arrivals = new Arrivals();
  arrivals.miss("evt_5", START);
  arrivals.add(job(6), START);
  assert.is(arrivals.take(listed(1, 2), START), null);
  assert.equal(ids(arrivals.take(listed(1, 2, 5), START)), ["evt_6"]);
  arrivals.miss("evt_7", START);
  arrivals.add(job(8), START);
  assert.equal(ids(arrivals.take(listed(8), START)), [], "the view has its records in order");
});

test("one that never shows, as another node has delivered it, is waited for a few seconds", () => {
  const arrivals = new Arrivals();
  arrivals.miss("evt_5", START);
  assert.is(arrivals.take(listed(), START + 5_000), null);
  assert.equal(ids(arrivals.take(listed(), START + 5_001)), []);
});

test("the oldest go when there are too many: they are found on disk", () => {
  const arrivals = new Arrivals();
  for (let n = 0; n < 600; n += 1) arrivals.add(job(n), START);
  assert.is(arrivals.take(listed(3), START), null);
  const taken = arrivals.take(listed(87), START);
  assert.equal([taken?.length, taken?.[0]?.eventId, taken?.at(-1)?.eventId], [512, "evt_88", "evt_599"]);
});

test.run();
