import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { measuredLog } from "../../../src/observability/measured-log.ts";
import { history } from "../../support/history.ts";

const test = suite("a measured log");

const sample = () => {
  const { add } = history();
  const { position: _, stream, revision: __, ...event } = add("delivery-evt_1", { type: "Happened", data: {} });
  return { stream, event };
};

const measured = (log = memoryEventLog()) => {
  const told: string[] = [];
  return {
    told,
    ...measuredLog(log, { appended: (ms, outcome, count) => told.push(ms >= 0 ? `${count} ${outcome}` : "negative") }),
  };
};

test("each append is reported with its outcome, and everything else is the log's own", async () => {
  const { log, told, appends } = measured();
  const { stream, event } = sample();
  assert.is((await log.append(stream, "absent", [event])).outcome, "appended");
  assert.is((await log.append(stream, "absent", [{ ...event, id: "another" }])).outcome, "conflict");
  assert.equal(told, ["1 appended", "1 conflict"]);
  assert.is((await log.read(stream, null, 10)).length, 1);
  assert.equal(appends(), { count: 0, oldestS: 0 });
});

test("each append of a group is reported, and one that was refused as a conflict", async () => {
  const { log, told, appends } = measured();
  const { stream, event } = sample();
  const one = { stream, expected: "absent", events: [event], follows: [] } as const;
  const next = { ...one, stream: "delivery-evt_2", follows: [1] };
  const answers = await log.appendGroup([one, { ...one, events: [{ ...event, id: "another" }] }, next]);
  assert.equal(
    answers.map(({ outcome }) => outcome),
    ["appended", "conflict", "refused"],
  );
  assert.equal(told, ["1 appended", "2 conflict"]);
  assert.equal(appends(), { count: 0, oldestS: 0 });
});

test("a failed append is reported, and its error is thrown on", async () => {
  const failing = async () => {
    throw new Error("the disk is full");
  };
  const { log, told, appends } = measured({ ...memoryEventLog(), append: failing });
  const { stream, event } = sample();
  const failed = await log.append(stream, "any", [event]).catch((error: Error) => error.message);
  assert.equal([failed, told, appends().count], ["the disk is full", ["1 failed"], 0]);
});

test("an append without an answer is visible by its age while it waits", async () => {
  const release: (() => void)[] = [];
  const inner = memoryEventLog();
  const { log, told, appends } = measured({
    ...inner,
    async append(...args) {
      await new Promise<void>((resolve) => release.push(resolve));
      return inner.append(...args);
    },
  });
  const { stream, event } = sample();
  const first = log.append(stream, "any", [event]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const second = log.append(stream, "any", [{ ...event, id: "another" }]);
  const { count, oldestS } = appends();
  assert.is(count, 2);
  assert.ok(oldestS > 0.001, String(oldestS));
  assert.equal(told, []);
  for (const go of release.splice(0)) go();
  await Promise.all([first, second]);
  assert.equal(appends(), { count: 0, oldestS: 0 });
});

test.run();
