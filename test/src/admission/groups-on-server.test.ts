import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import { eventStoreLog } from "../../../infra/eventstoredb/event-log.ts";
import { LIMITS } from "../../../infra/eventstoredb/limits.ts";
import { endedOnce } from "../../../src/delivery/admission-lease.ts";
import { OrderedAdmissions } from "../../../src/delivery/ordered-admissions.ts";
import type { Misbehaviour } from "../../support/eventstore-double/misbehaviour.ts";
import { type EventStoreDouble, startEventStoreDouble } from "../../support/eventstore-double/server.ts";
import { sumOfRounds } from "../../support/simulation.ts";
import { until } from "../../support/until.ts";
import { type ClaimsWorld, claimNode, claimsWorld, webhookId } from "../../support/webhook-claims.ts";

/** Admissions in groups on EventStoreDB, which answers each append of a group by itself. */
const test = suite("admissions in groups on a server");

const START = "2026-05-05T12:00:00.000Z";
const PAYLOAD = { cost: 1 };
/** So long that a lost reply is noticed only after the test has ended its wait for the others. */
const TRY_MS = 3_000;

type Run = { readonly double: EventStoreDouble; readonly world: ClaimsWorld };

const onDouble = async <T>(run: (it: Run) => Promise<T>, appendTryMs = TRY_MS): Promise<T> => {
  const double = await startEventStoreDouble();
  const log = await eventStoreLog({ url: double.url, limits: { ...LIMITS, appendTryMs } });
  try {
    return await run({ double, world: await claimsWorld(START, { rate_per_minute: 1_000 }, PLANS.scale, log) });
  } finally {
    double.behave();
    await log.close();
    await double.stop();
  }
};

const deliveryOf = (key: string): string => `delivery-${webhookId(key)}`;

test("a claim whose answer is late delays neither the others of its group nor the next group", async () => {
  await onDouble(async ({ double, world }) => {
    const node = claimNode(world);
    await node.send("opens the day", PAYLOAD);
    const slow = double.misbehave(
      { how: "silent", committed: true },
      { method: "append", stream: deliveryOf("slow"), times: 1 },
    );
    const ended: string[] = [];
    const send = async (key: string): Promise<void> => {
      assert.is((await node.send(key, PAYLOAD)).outcome, "claimed");
      ended.push(key);
    };
    const first = ["a", "slow", "b"].map(send);
    await until("the others are answered", () => ended.length === 2);
    const second = ["c", "d"].map(send);
    await until("the next group is answered", () => ended.length === 4);
    assert.is(slow.happened(), 1);
    assert.equal(ended.toSorted(), ["a", "b", "c", "d"]);
    await Promise.all([...first, ...second]);
    assert.equal(ended.at(-1), "slow");
    await node.ledgers.idle();
  });
});

const LATE: readonly Misbehaviour[] = [
  { how: "silent", committed: true },
  { how: "silent" },
  { how: "slow", ms: 20 },
  { how: "slow", ms: 20, committed: true },
  { how: "timeout", committed: true },
];
const WAVES = 10;
const WAVE = 6;

test("an ordered endpoint gets its events in the log's order, whichever append is answered first", async () => {
  const kept = await sumOfRounds((random) =>
    onDouble(async ({ double, world }) => {
      const admissions = new OrderedAdmissions();
      const offered: string[] = [];
      let overtaken = 0;
      let newest = "";
      const deliver: NonNullable<Parameters<typeof claimNode>[1]>["deliver"] = {
        lease(job, state) {
          const open = admissions.open();
          const queue = (jobs: readonly { readonly eventId: string }[]): void =>
            void offered.push(...jobs.map(({ eventId }) => eventId));
          return endedOnce({
            records: [],
            state,
            begin({ position }) {
              if (position < newest) overtaken += 1;
              else newest = position;
              queue(admissions.close(open, { job, position }));
            },
            cancel: () => queue(admissions.close(open, null)),
          });
        },
        offer: ({ known, ...job }) => {
          const { position = "" } = known ?? {};
          for (const { eventId } of admissions.add({ job, position })) offered.push(eventId);
        },
      };
      const node = claimNode(world, { deliver, endpointId: "end_1" });
      await node.send("opens the day", PAYLOAD);
      const sent: Promise<unknown>[] = [];
      for (let wave = 0; wave < WAVES; wave += 1) {
        const keys = Array.from({ length: WAVE }, (_, n) => `${wave}_${n}`);
        for (const key of keys) {
          const how = random.below(4) === 0 ? LATE[random.below(LATE.length)] : undefined;
          if (how !== undefined) double.misbehave(how, { method: "append", stream: deliveryOf(key) });
        }
        sent.push(...keys.map((key) => node.send(key, PAYLOAD)));
        const ms = random.below(15);
        await new Promise((resolve) => setTimeout(resolve, ms));
      }
      await Promise.all(sent);
      const claims = (await world.log.readAll(null, 10_000, "records")).filter(({ type }) => type === "EventAdmitted");
      assert.equal(
        offered,
        claims.map(({ stream }) => stream.slice("delivery-".length)),
      );
      await node.ledgers.idle();
      return overtaken;
    }, 40),
  );
  assert.ok(kept > 0, "no answer ever overtook another");
});

test.run();
