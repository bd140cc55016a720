import { suite } from "uvu";
import * as assert from "uvu/assert";
import { arrivals } from "../../../src/delivery/arrivals.ts";
import { START } from "../../support/history.ts";

const test = suite("arrivals behind a backlog");
const job = (n: number) => ({ eventId: `evt_${n}`, account: "acc_1", endpointId: "end_1" });
const listed = (...numbers: readonly number[]) => new Set(numbers.map((n) => `evt_${n}`));
const ids = (jobs: readonly { readonly eventId: string }[] | null) => jobs?.map(({ eventId }) => eventId) ?? null;

test("what the view does not show yet comes behind what it shows, in its order, once", () => {
  const behind = arrivals();
  for (const n of [1, 2, 3]) behind.add(job(n), START);
  assert.equal(ids(behind.take("end_1", listed(0, 1), START)), ["evt_2", "evt_3"]);
  assert.equal(ids(behind.take("end_1", listed(), START)), []);
});

test("as long as the view may lack what is not here, nothing is taken", () => {
  const behind = arrivals();
  behind.miss("end_1", "evt_5", START);
  behind.add(job(6), START);
  assert.is(behind.take("end_1", listed(1, 2), START), null);
  assert.equal(ids(behind.take("end_1", listed(1, 2, 5), START)), ["evt_6"]);
  behind.miss("end_1", "evt_7", START);
  behind.add(job(8), START);
  assert.equal(ids(behind.take("end_1", listed(8), START)), [], "the view has its records in order");
});

test("one that never shows, as another node has delivered it, is waited for a few seconds", () => {
  const behind = arrivals();
  behind.miss("end_1", "evt_5", START);
  assert.is(behind.take("end_1", listed(), START + 5_000), null);
  assert.equal(ids(behind.take("end_1", listed(), START + 5_001)), []);
});

test("the oldest go when there are too many: they are found on disk", () => {
  const behind = arrivals();
  for (let n = 0; n < 600; n += 1) behind.add(job(n), START);
  assert.is(behind.take("end_1", listed(3), START), null);
  const taken = behind.take("end_1", listed(87), START);
  assert.equal([taken?.length, taken?.[0]?.eventId, taken?.at(-1)?.eventId], [512, "evt_88", "evt_599"]);
});

test.run();
