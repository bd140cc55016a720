import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { DeliveryEvent } from "../../domain/delivery/events.ts";
import { deliveryQueue } from "../../projections/delivery-queue.ts";
import { endpoints } from "../../projections/endpoints.ts";
import { events } from "../../projections/events.ts";
import { replays } from "../../projections/replays.ts";
import { at, deliveryFacts, endpointRegistered, type History, history, replayFacts } from "../support/history.ts";
import { words } from "../support/personal-words.ts";
import { folded } from "../support/projected.ts";

const test = suite("replays view");
const BY = { kind: "member", id: "mem_1" } as const;

const of = (log: History, id: string) => folded(replays, log.events, 3).all()[id];
const told = (log: History, id: string, tell: (is: ReturnType<typeof deliveryFacts>) => readonly DeliveryEvent[]) => {
  for (const fact of tell(deliveryFacts(id))) log.add(`delivery-${id}`, fact);
};
const inReplay = (event: DeliveryEvent): DeliveryEvent =>
  // Of an end: a member that it may have.
  ({ ...event, data: { ...event.data, replay_id: "rpl_1" } }) as DeliveryEvent;
const failing = (is: ReturnType<typeof deliveryFacts>) => [
  is.admitted(),
  is.started(1, 1),
  is.attemptFailed(1, 2, null),
  is.failed(2),
];

test("the outcomes of its events are counted from their records; unprocessed events are skipped at its end", () => {
  const log = history();
  const is = replayFacts();
  for (const id of ["evt_1", "evt_2", "evt_3"]) told(log, id, failing);
  log.add("replay-rpl_1", is.started({ status: "failed" }, words("mended"), 5));
  told(log, "evt_1", (fact) => [fact.replayed(10), inReplay(fact.delivered(11))]);
  told(log, "evt_2", (fact) => [fact.replayed(10), inReplay(fact.failed(11))]);
  told(log, "evt_3", (fact) => [fact.replayed(10, { id: "rpl_other" }), fact.failed(11)]);
  log.add("replay-rpl_1", is.progressed(12, { received_at: at(0), id: "evt_3" }, 1));
  const counts = { total: 5, replayed: 2, delivered: 1, failed: 1 };
  const running = { account: "acc_1", status: "running", filter: { status: "failed" }, ...counts, skipped: 1 };
  const changed = (count: number) => ({ skipped_by: [{ reason: "changed", count }], excluded: [], open: {} });
  const about = {
    rate_per_second: 10,
    by: BY,
    reason: words("mended"),
    started_at: at(0),
    ended_at: null,
    cancelled: null,
  };
  assert.equal(of(log, "rpl_1"), { ...running, ...about, ...changed(1) });
  log.add("replay-rpl_1", is.finished(13));
  assert.equal(of(log, "rpl_1"), { ...running, ...about, ...changed(3), status: "done", skipped: 3, ended_at: at(13) });
  assert.is(of(log, "rpl_other"), undefined, "of one event there is no document");
});

test("a replayed blocked event counts by the gates' verdict, and a held one by the people's decision", () => {
  const log = history();
  log.add("replay-rpl_1", replayFacts().started({ status: "blocked" }));
  const again = { replay: { id: "rpl_1", by: BY, reason: null } };
  told(log, "evt_1", (is) => [is.blocked(), is.blocked(again)]);
  told(log, "evt_2", (is) => [is.blocked(), is.held({}, again), inReplay(is.holdEnded(5, "rejected"))]);
  told(log, "evt_3", (is) => [is.blocked(), is.admitted(again), inReplay(is.delivered(5))]);
  told(log, "evt_4", (is) => [is.blocked(), is.blocked()]);
  const { replayed, delivered, failed } = of(log, "rpl_1") as Record<string, unknown>;
  assert.equal([replayed, delivered, failed], [3, 1, 2]);
});

test("a cancelled replay shows by whom and why", () => {
  const log = history();
  log.add("replay-rpl_1", replayFacts().started());
  log.add("replay-rpl_1", replayFacts().cancelled(9));
  const { status, ended_at, cancelled } = of(log, "rpl_1") as Record<string, unknown>;
  assert.equal([status, ended_at, cancelled], ["cancelled", at(9), { by: BY, reason: words("enough") }]);
});

test("the event itself shows each replay, waits in the queue again, and is counted by its endpoint", () => {
  const log = history();
  log.add("endpoint-end_1", endpointRegistered());
  told(log, "evt_1", failing);
  const stopped = folded(events, log.events, 3).all().evt_1 as Record<string, unknown>;
  assert.equal([stopped.status, stopped.stopped_at], ["failed", log.events.at(-1)?.position]);
  told(log, "evt_1", (is) => [is.replayed(60)]);
  const event = folded(events, log.events, 3).all().evt_1 as Record<string, unknown>;
  assert.equal([event.status, event.failure, event.stopped_at], ["retrying", null, undefined]);
  assert.equal(event.replays, [{ id: "rpl_1", by: BY, reason: words("mended"), at: at(60) }]);
  assert.equal((event.timeline as readonly unknown[]).at(-1), {
    stage: "replayed",
    at: at(60),
    reason: words("mended"),
  });
  const queued = folded(deliveryQueue, log.events, 3).all().evt_1 as Record<string, unknown>;
  assert.equal([queued.due_at, queued.admitted_at, queued.attempts, queued.lease_until], [at(60), at(0), 1, null]);
  assert.is((folded(endpoints, log.events, 3).all().end_1 as Record<string, unknown>).queued, 1);
});

test("a replayed blocked event was not received again: its timeline shows the replay", () => {
  const log = history();
  told(log, "evt_1", (is) => [
    is.blocked(),
    is.admitted({ replay: { id: "rpl_1", by: BY, reason: words("mended") }, at: at(60) }),
  ]);
  const event = folded(events, log.events, 3).all().evt_1 as Record<string, unknown>;
  const stages = (event.timeline as readonly { stage: string }[]).map(({ stage }) => stage);
  assert.equal(stages, ["received", "authenticated", "gated", "blocked", "replayed", "gated", "admitted"]);
  assert.equal(event.replays, [{ id: "rpl_1", by: BY, reason: words("mended"), at: at(60) }]);
});

test.run();
