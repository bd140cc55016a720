import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Job } from "../../../src/delivery/job.ts";
import { OrderedAdmissions } from "../../../src/delivery/ordered-admissions.ts";

const test = suite("ordered admissions");

const jobOf = (eventId: string): Job => ({
  kind: "due",
  eventId,
  account: "acc_1",
  endpointId: "end_1",
  body: Buffer.from("{}"),
});
const at = (position: string) => ({ job: jobOf(position), position });
const idsOf = (jobs: readonly Job[]): readonly string[] => jobs.map(({ eventId }) => eventId);

test("a job waits for an append that may have an earlier position, and for no later one", () => {
  const it = new OrderedAdmissions();
  const [first, second] = [it.open(), it.open()];
  assert.equal(idsOf(it.close(second, at("5"))), []);
  const third = it.open();
  assert.equal(idsOf(it.close(first, at("3"))), ["3", "5"]);
  assert.equal(idsOf(it.close(third, at("7"))), ["7"]);
});

test("an append that admits nothing, and a job that was not announced, keep the order of the others", () => {
  const it = new OrderedAdmissions();
  assert.equal(idsOf(it.add(at("1"))), ["1"]);
  const [lost, open] = [it.open(), it.open()];
  assert.equal(idsOf(it.add(at("4"))), []);
  assert.equal(idsOf(it.close(open, at("2"))), []);
  assert.equal(idsOf(it.close(lost, null)), ["2", "4"]);
});

test("few jobs wait with their bodies, and so many at once wait for nothing", () => {
  const it = new OrderedAdmissions();
  it.open();
  const released: (readonly Job[])[] = [];
  for (let n = 0; n < 1_025; n += 1) released.push(it.add(at(String(n).padStart(4, "0"))));
  assert.equal(released.slice(0, -1).flat(), []);
  const all = released.at(-1) ?? [];
  assert.is(all.length, 1_025);
  assert.is(all.filter(({ body }) => body !== undefined).length, 64);
});

test.run();
