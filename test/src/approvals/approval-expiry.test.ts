import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { approvals } from "../../../projections/approvals.ts";
import { approvalExpiry } from "../../../src/approvals/approval-expiry.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { foldInto } from "../../support/fold-into.ts";
import { appendTo, approvalFacts, at, history, START } from "../../support/history.ts";
import { testClock } from "../../support/http-app.ts";
import { until } from "../../support/until.ts";

const test = suite("approval expiry");

/** Approvals that end one second behind each other, asked for and not decided. */
const asked = async (count: number) => {
  const log = memoryEventLog();
  const { add, events } = history();
  for (let i = 1; i <= count; i += 1)
    add(`approval-apr_${i}`, approvalFacts(`apr_${i}`, { expires_at: at(60 + i) }).requested());
  await appendTo(log, events);
  const views = memoryViewStore([approvals.schema]);
  await foldInto(log, views, [approvals]);
  const clock = testClock(START);
  const errors: unknown[] = [];
  const timer = (over: Partial<ViewStore> = {}) =>
    approvalExpiry({
      ...{ log, views: { ...views, ...over }, aggregates: aggregates(log, clock), clock },
      onError: (error) => errors.push(error),
    });
  const expired = async (): Promise<readonly string[]> =>
    (await log.readAll(null, 2_000)).filter(({ type }) => type === "ApprovalExpired").map(({ stream }) => stream);
  return { log, views, clock, errors, timer, expired };
};

test("only approvals that are due expire, each in its account's name", async () => {
  const { log, clock, timer, expired } = await asked(5);
  const it = timer();
  clock.advance(60_999);
  assert.is(await it.expireDue(), 0);
  clock.advance(2_001);
  assert.is(await it.expireDue(), 3);
  assert.equal(await expired(), ["approval-apr_1", "approval-apr_2", "approval-apr_3"]);
  const last = await log.last("approval-apr_1");
  assert.equal([last?.meta.account, last?.meta.actor], ["acc_1", { kind: "system", id: "approvals" }]);
  assert.equal(last?.data.at, at(63));
});

test("more due approvals than one page expire once each, with several nodes and a view that lags", async () => {
  const { clock, timer, expired } = await asked(450);
  clock.advance(3_600_000);
  const ended = await Promise.all([timer().expireDue(), timer().expireDue()]);
  assert.is((ended[0] ?? 0) + (ended[1] ?? 0) >= 450, true);
  assert.is((await expired()).length, 450);
  assert.is(new Set(await expired()).size, 450);
});

for (const [what, isDroppedBefore] of [
  ["a view that is dropped while it runs", false],
  ["a view that is being rebuilt when it starts", true],
] as const) {
  test(`${what} keeps no approval from expiring in time`, async () => {
    const { log, views, clock, timer, expired } = await asked(450);
    const drop = async () => views.drop("approvals.v2", await log.identity());
    if (isDroppedBefore) await drop();
    const it = timer();
    it.start();
    await until("it knows all of them", () => it.pending() === 450);
    if (!isDroppedBefore) await drop();
    clock.advance(3_600_000);
    await it.expireDue();
    assert.is((await expired()).length, 450);
    await it.stop();
  });
}

test("an approval that the reactor reports is remembered until it is decided", async () => {
  const { log, views, timer, clock, expired } = await asked(2);
  await views.drop("approvals.v2", await log.identity());
  const it = timer();
  const pass = async (event: RecordedEvent): Promise<void> => {
    for (const { on, run } of it.reactions) if (on === event.type) await run(event);
  };
  for (const event of await log.readAll(null, 10)) await pass(event);
  assert.is(it.pending(), 2);
  const { add } = history();
  await pass(add("approval-apr_1", approvalFacts("apr_1").granted(1)));
  assert.is(it.pending(), 1);
  clock.advance(3_600_000);
  assert.is(await it.expireDue(), 1);
  assert.equal([await expired(), it.pending()], [["approval-apr_2"], 0]);
});

test("a view that is dropped while it is read is read again, with the log", async () => {
  const { log, views, timer, errors } = await asked(450);
  let isDropped = false;
  const it = timer({
    async page(view, query) {
      const found = await views.page(view, query);
      if (!isDropped && found.length > 0) await views.drop("approvals.v2", await log.identity());
      isDropped ||= found.length > 0;
      return found;
    },
  });
  it.start();
  await until("it knows all of them", () => it.pending() === 450);
  await it.stop();
  assert.match(String(errors[0]), /dropped while it was read/);
});

test("the loop runs by itself, survives an outage of the views, and stops", async () => {
  const { views, clock, timer, expired, errors } = await asked(1);
  clock.advance(3_600_000);
  let isAway = true;
  const it = timer({
    page: (...args) => (isAway ? Promise.reject(new Error("away")) : views.page(...args)),
  });
  it.start();
  await until("it has failed to look", () => errors.length > 0);
  isAway = false;
  await until("it has looked again", async () => (await expired()).length === 1);
  await it.stop();
});

test.run();
