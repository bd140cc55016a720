import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { usage } from "../../../projections/usage.ts";
import { ACCOUNT, admissionNode, TINY } from "../../support/admission-world.ts";
import { testClock } from "../../support/http-app.ts";
import { projected } from "../../support/projected.ts";

const test = suite("an admission across the end of a month");
/** What the policy of the world lets through, three a minute. */
const SMALL = { never: false, large: false };
const LAST_MS = Date.parse("2026-01-31T23:59:59.990Z");
const APART_MS = 25_000;

test("an event counts for the month whose quota it used, so no month has more events than its plan includes", async () => {
  const memory = memoryEventLog();
  const clock = testClock(LAST_MS);
  const slow: EventLog = {
    ...memory,
    async append(stream, expected, events) {
      // The log is slow with January's last place: it is there in February.
      if (stream === `ledger-${ACCOUNT}-2026-01`) clock.advance(1_000);
      return memory.append(stream, expected, events);
    },
  };
  const node = admissionNode(slow, clock);
  assert.is((await node.send("last", SMALL)).status, "recorded");
  const answers: (string | number)[] = [];
  for (let nth = 0; nth <= TINY.eventsPerMonth; nth += 1) {
    clock.advance(APART_MS);
    answers.push((await node.send(`february-${nth}`, SMALL)).outcome);
  }
  await node.rest();
  assert.equal(answers, [...Array.from({ length: TINY.eventsPerMonth }, () => 202), "gate-quota"]);

  const view = projected(usage);
  view.apply(await memory.readAll(null, 10_000, "records"));
  const eventsOf = (month: string): unknown => view.all()[`${ACCOUNT}/${month}`]?.events;
  assert.equal([eventsOf("2026-01"), eventsOf("2026-02")], [1, TINY.eventsPerMonth]);
});

test.run();
