import {
  type AllStreamSubscription,
  END,
  type EventStoreDBClient,
  eventTypeFilter,
  excludeSystemEvents,
  type Position,
  START,
  type StreamSubscription,
  type SubscribeToAllOptions,
  streamNameFilter,
} from "@eventstore/db-client";
import { status } from "@grpc/grpc-js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type ClientError, event } from "../../support/eventstore-double/client.ts";
import { withDouble } from "../../support/eventstore-double/with-double.ts";
import { until } from "../../support/until.ts";

const test = suite("eventstore double: subscriptions");

type Followed = {
  readonly ids: string[];
  readonly positions: Position[];
  caughtUp: number;
  ended: boolean;
  error: ClientError | null;
};

const follow = (subscription: AllStreamSubscription | StreamSubscription): Followed => {
  const followed: Followed = { ids: [], positions: [], caughtUp: 0, ended: false, error: null };
  // The two kinds of subscription differ in the types of their events alone, which no listener here reads.
  const listening = subscription as AllStreamSubscription;
  listening.on("data", ({ event: given }) => {
    followed.ids.push(given?.id ?? "");
    if (given?.position !== undefined) followed.positions.push(given.position);
  });
  listening.on("caughtUp", () => {
    followed.caughtUp += 1;
  });
  listening.on("end", () => {
    followed.ended = true;
  });
  listening.on("error", (error: ClientError) => {
    followed.error = error;
  });
  return followed;
};

const followAll = async (client: EventStoreDBClient, options: SubscribeToAllOptions): Promise<Followed> => {
  const followed = follow(client.subscribeToAll({ filter: excludeSystemEvents(), ...options }));
  await until("the subscription caught up", () => followed.caughtUp === 1);
  return followed;
};

test("what there is comes first, then that it caught up, then what is written", () =>
  withDouble({}, async (client) => {
    const events = [event(), event(), event()];
    await client.appendToStream("a", events);
    const followed = await followAll(client, { fromPosition: START });
    assert.equal(
      followed.ids,
      events.map(({ id }) => id),
    );
    const late = event();
    await client.appendToStream("a", late);
    await until("it is given what was written", () => followed.ids.at(-1) === late.id);
  }));

test("it resumes behind its position or revision; from the end it gives only what is new", () =>
  withDouble({}, async (client) => {
    const [one, two, three] = [event(), event(), event()];
    const { position } = await client.appendToStream("a", one);
    await client.appendToStream("a", two);
    assert.ok(position);
    const resumed = await followAll(client, { fromPosition: position });
    const fromEnd = await followAll(client, { fromPosition: END });
    const ofStream = follow(client.subscribeToStream("a", { fromRevision: 0n }));
    await client.appendToStream("a", three);
    await until("all are given it", () => fromEnd.ids.length === 1 && ofStream.ids.length === 2);
    assert.equal(resumed.ids, [two.id, three.id]);
    assert.equal(fromEnd.ids, [three.id]);
    assert.equal(ofStream.ids, [two.id, three.id]);
  }));

test("excludeSystemEvents looks at the type: an ordinary type in a $ stream comes through", () =>
  withDouble({}, async (client) => {
    const one = event();
    await client.appendToStream("$strange", one);
    await client.setStreamMetadata("a", { truncateBefore: 1 });
    assert.equal((await followAll(client, {})).ids, [one.id]);
  }));

test("filters take prefixes and expressions, of stream names and of types", () =>
  withDouble({}, async (client) => {
    const [one, two] = [event(), event()];
    await client.appendToStream("a-1", one);
    await client.appendToStream("b-1", { ...two, type: "Else" });
    for (const [filter, ids] of [
      [streamNameFilter({ prefixes: ["a-", "c-"] }), [one.id]],
      [streamNameFilter({ regex: "^b" }), [two.id]],
      [eventTypeFilter({ prefixes: ["Else"] }), [two.id]],
    ] as const) {
      assert.equal((await followAll(client, { filter })).ids, ids);
    }
  }));

test("a filtered subscription tells by checkpoints how far it looked", () =>
  withDouble({ systemEventsEvery: 0 }, async (client) => {
    const reached: bigint[] = [];
    const checkpointReached = (_subscription: unknown, { commit }: Position): void => {
      reached.push(commit);
    };
    const filter = eventTypeFilter({
      prefixes: ["None"],
      maxSearchWindow: 10,
      checkpointInterval: 2,
      checkpointReached,
    });
    await followAll(client, { filter });
    for (let count = 0; count < 45; count += 1) await client.appendToStream("a", event());
    await until("two checkpoints", () => reached.length === 2);
    const [first = 0n, second = 0n] = reached;
    assert.ok(second > first);
  }));

test("a burst drops a live subscription; resuming behind its last event loses nothing", () =>
  withDouble({}, async (client) => {
    const followed = await followAll(client, {});
    await client.appendToStream("a", event());
    await until("the first event", () => followed.ids.length === 1);
    await client.appendToStream("a", Array.from({ length: 200 }, event));
    await until("it is dropped", () => followed.error !== null);
    assert.equal([followed.error?.type, followed.error?.code], ["timeout", 10]);
    assert.match(followed.error?.message ?? "", "Consumer too slow to handle event while live");
    const last = followed.positions.at(-1);
    assert.ok(last);
    const resumed = await followAll(client, { fromPosition: last });
    assert.is(followed.ids.length + resumed.ids.length, 201);
  }));

test("it can be ended, failed and silenced while it is live", () =>
  withDouble({}, async (client, double) => {
    const all = [await followAll(client, {}), await followAll(client, {}), await followAll(client, {})] as const;
    const [ending, failing, silencing] = double.subscriptions();
    ending?.end();
    failing?.fail(status.INTERNAL, "no more");
    silencing?.silence();
    await until("the first has ended and the second failed", () => all[0].ended && all[1].error !== null);
    assert.equal([all[0].error, all[1].error?.code, all[1].ended], [null, status.INTERNAL, false]);
    await client.appendToStream("a", event());
    await followAll(client, {});
    assert.equal([all[2].ids.length, all[2].ended, all[2].error], [0, false, null]);
  }));

test("it can end, be cut or stay silent from the start", () =>
  withDouble({}, async (client, double) => {
    double.misbehave({ how: "end" }, { method: "subscribe" });
    const ended = follow(client.subscribeToAll());
    await until("it has ended", () => ended.ended);
    double.misbehave({ how: "silent" }, { method: "subscribe" });
    const silent = follow(client.subscribeToAll());
    await until("the call came", () => double.calls("subscribe").length === 2);
    double.misbehave({ how: "cut" }, { method: "subscribe" });
    const cut = follow(client.subscribeToAll());
    await until("it was cut, and the silent one with it", () => cut.error !== null && silent.error !== null);
    assert.equal([cut.error?.code, silent.ids.length, double.subscriptions().length], [status.UNAVAILABLE, 0, 0]);
  }));

test.run();
