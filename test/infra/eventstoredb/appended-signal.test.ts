import { suite } from "uvu";
import * as assert from "uvu/assert";
import { appendedSignal } from "../../../infra/eventstoredb/appended-signal.ts";
import type { Connection, Cursor, Follower } from "../../../infra/eventstoredb/connection.ts";
import { positionOf } from "../../../infra/eventstoredb/positions.ts";
import { until } from "../../support/until.ts";
import { SHORT } from "./log-world.ts";

const test = suite("EventStoreDB log: the signal of what was appended");

const at = (n: bigint): Cursor => ({ commit: n, prepare: n });

test("a pending reopening of a subscription happens, however often the watchdog looks", async () => {
  let isDown = false;
  let head = 1n;
  let opened = 0;
  let follower: Follower | undefined;
  const follow: Connection["follow"] = (asked) => {
    follower = asked;
    if (!isDown) opened += 1;
    setImmediate(() => (isDown ? asked.dropped() : asked.opened()));
    return () => undefined;
  };
  const headOf = async () => {
    if (isDown) throw new Error("it is down");
    head += 1n;
    return positionOf(at(head));
  };
  // It waits longer than the watchdog, as after every outage of some seconds.
  const limits = { ...SHORT, watchMs: 20, reopenMs: 5, reopenMaxMs: 100 };
  const signal = appendedSignal({ follow } as Connection, headOf, limits);
  signal.listen(() => undefined);
  follower?.appended(at(head));
  for (let round = 1; round <= 3; round += 1) {
    isDown = true;
    follower?.dropped();
    await new Promise((resolve) => setTimeout(resolve, 200));
    isDown = false;
    await until("it is open again", () => opened > round);
    follower?.appended(at(head));
  }
  signal.close();
  assert.is(opened, 4);
});

test.run();
