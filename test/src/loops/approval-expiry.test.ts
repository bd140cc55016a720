import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ViewStore } from "../../../domain/ports.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { approvals } from "../../../projections/approvals.ts";
import { aggregates } from "../../../src/aggregates.ts";
import { approvalExpiry } from "../../../src/loops/approval-expiry.ts";
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
  const timer = (over: Pick<ViewStore, "page"> = views) =>
    approvalExpiry({ views: over, aggregates: aggregates(log, clock), clock, onError: (error) => errors.push(error) });
  const expired = async (): Promise<readonly string[]> =>
    (await log.readAll(null, 2_000)).filter(({ type }) => type === "ApprovalExpired").map(({ stream }) => stream);
  return { log, views, clock, errors, timer, expired };
};

test("what is due ends, and only that, each in its account's name", async () => {
  const { log, clock, timer, expired } = await asked(5);
  const it = timer();
  clock.advance(60_999);
  assert.is(await it.look(), 0);
  clock.advance(2_001);
  assert.is(await it.look(), 3);
  assert.equal(await expired(), ["approval-apr_1", "approval-apr_2", "approval-apr_3"]);
  const last = await log.last("approval-apr_1");
  assert.equal([last?.meta.account, last?.meta.actor], ["acc_1", { kind: "system", id: "approvals" }]);
  assert.equal(last?.data.at, at(63));
});

test("more than are looked at in one go, once each, with a view that is behind and several nodes", async () => {
  const { clock, timer, expired } = await asked(450);
  clock.advance(3_600_000);
  const ended = await Promise.all([timer().look(), timer().look()]);
  assert.is((ended[0] ?? 0) + (ended[1] ?? 0) >= 450, true);
  assert.is((await expired()).length, 450);
  assert.is(new Set(await expired()).size, 450);
});

test("it looks by itself, goes on after the views were away, and stops", async () => {
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
