import { suite } from "uvu";
import * as assert from "uvu/assert";
import { appendedSignal } from "../../../infra/eventstoredb/appended-signal.ts";
import type { Connection, Cursor, Follower } from "../../../infra/eventstoredb/connection.ts";
import type { Limits } from "../../../infra/eventstoredb/limits.ts";
import { positionOf } from "../../../infra/eventstoredb/positions.ts";
import { until } from "../../support/until.ts";
import { SHORT } from "./log-world.ts";

const test = suite("EventStoreDB log: the signal of what was appended");

const at = (n: bigint): Cursor => ({ commit: n, prepare: n });

const signalOf = (limits: Partial<Limits> = {}) => {
  let isDown = false;
  let head = 1n;
  const facts = { opened: 0, open: 0, woken: 0 };
  let follower: Follower | undefined;
  const follow: Connection["follow"] = (asked) => {
    follower = asked;
    facts.open += 1;
    const isRefused = isDown;
    if (!isRefused) facts.opened += 1;
    setImmediate(() => (isRefused ? asked.dropped() : asked.opened()));
    return () => {
      facts.open -= 1;
    };
  };
  const headOf = async () => {
    if (isDown) throw new Error("it is down");
    return positionOf(at(head));
  };
  const signal = appendedSignal({ follow }, headOf, { ...SHORT, watchMs: 20, ...limits });
  signal.listen(() => {
    facts.woken += 1;
  });
  return {
    signal,
    facts,
    append: () => {
      head += 1n;
      follower?.appended(at(head));
    },
    down: () => {
      isDown = true;
      follower?.dropped();
    },
    up: () => {
      isDown = false;
    },
  };
};

test("a subscription that was dropped is opened again once it can be, however often the watchdog looks", async () => {
  const { signal, facts, append, down, up } = signalOf();
  append();
  for (let round = 1; round <= 3; round += 1) {
    down();
    await new Promise((resolve) => setTimeout(resolve, 200));
    up();
    await until("it is open again", () => facts.opened > round);
    append();
  }
  signal.close();
  assert.is(facts.opened, 4);
});

test("while records are seen, no subscription is open, and followers are woken to look themselves", async () => {
  const { signal, facts, append } = signalOf({ pollMs: 5, quietMs: 200, watchMs: 10_000 });
  append();
  assert.is(facts.open, 0);
  await until("they are woken again and again", () => {
    signal.saw(positionOf(at(1n)));
    return facts.opened === 1 && facts.woken > 0;
  });
  const before = facts.woken;
  await until("they are woken without a report", () => facts.woken > before);
  await until("it is quiet, so a subscription is open", () => facts.opened === 2);
  signal.close();
  assert.is(facts.open, 0);
});

test("older records that are read meanwhile delay no poll", async () => {
  const { signal, facts, append } = signalOf({ pollMs: 20, quietMs: 60_000, watchMs: 10_000 });
  append();
  signal.saw(positionOf(at(9n)));
  const before = facts.woken;
  const reading = setInterval(() => signal.saw(positionOf(at(3n))), 1);
  await until("they are woken nevertheless", () => facts.woken > before);
  clearInterval(reading);
  signal.close();
});

test.run();
