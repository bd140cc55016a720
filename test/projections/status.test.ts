import { suite } from "uvu";
import * as assert from "uvu/assert";
import { percentile } from "../../projections/histogram.ts";
import { dayId, healthId, hourId, type StatusCounts, type StatusHour, status } from "../../projections/status.ts";
import { at, deliveryFacts, history } from "../support/history.ts";
import { folded } from "../support/projected.ts";

const test = suite("status view");
const facts = deliveryFacts();
const DAY_S = 86_400;

test("hours and days count all accounts together, and name none", () => {
  const log = history();
  log.add("delivery-evt_1", facts.admitted());
  log.add("delivery-evt_2", facts.admitted(), { account: "acc_2" });
  log.add("delivery-evt_3", facts.blocked());
  log.add("delivery-evt_1", facts.delivered(2));
  log.add("delivery-evt_2", facts.failed(3_700));
  const view = folded(status, log.events);
  const counts = ({ admitted, blocked, delivered, failed }: StatusCounts) => [admitted, blocked, delivered, failed];
  const hour = view.get<StatusHour>(hourId(at(0)));
  assert.ok(hour);
  assert.equal(counts(hour), [2, 1, 1, 0]);
  assert.ok(Math.abs((percentile(hour.latency, 0.5) ?? 0) - 2_000) <= 125);
  assert.equal(counts(view.get<StatusHour>(hourId(at(3_700))) ?? hour), [0, 0, 0, 1]);
  assert.equal(counts(view.get<StatusCounts>(dayId(at(0))) ?? hour), [2, 1, 1, 1]);
  assert.not.match(JSON.stringify(view.all()), /acc_|evt_|end_|src_/);
});

test("two days of hours and 90 days are kept", () => {
  const log = history();
  for (let day = 0; day < 100; day += 1) log.add(`delivery-${day}`, facts.admitted({ at: at(day * DAY_S) }));
  const ids = Object.keys(folded(status, log.events).all());
  assert.is(ids.filter((id) => id.startsWith("day/")).length, 90);
  assert.is(ids.filter((id) => id.startsWith("hour/")).length, 2);
});

test("a held event counts as admitted from its release", () => {
  const log = history();
  log.add("delivery-evt_1", facts.held());
  log.add("delivery-evt_1", facts.released(3_700));
  log.add("delivery-evt_2", facts.held());
  log.add("delivery-evt_2", facts.holdEnded(3_700, "expired"));
  const view = folded(status, log.events);
  assert.is(view.get<StatusHour>(hourId(at(0))), null);
  assert.is(view.get<StatusHour>(hourId(at(3_700)))?.admitted, 1);
});

test("a day is as the service found itself, once in five minutes however many nodes look", () => {
  const log = history();
  const look = (second: number, status: string) =>
    log.add("checkpoint-status", { type: "StatusObserved", data: { status, at: at(second) } }, { account: "" });
  look(0, "operational");
  look(10, "down");
  look(300, "degraded");
  look(900, "operational");
  assert.equal(folded(status, log.events).get(healthId(at(0))), {
    operational: 2,
    degraded: 1,
    down: 0,
    first: 144,
    last: 147,
  });
});

test.run();
