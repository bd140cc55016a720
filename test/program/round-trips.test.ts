import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type HookSource, hookSource, signUp } from "../support/client.ts";
import { countedMongodb } from "../support/counted-mongodb.ts";
import { type EventStoreDouble, startEventStoreDouble } from "../support/eventstore-double/server.ts";
import { freshDatabase, mongodbServer } from "../support/mongodb.ts";
import { killPrograms, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

/** What one event costs on the servers, with all roles in one process. docs/engines.md states these figures. */
const test = suite<{ dir: string; target: Receiver; double: EventStoreDouble }>("round trips of an event");

test.before.each(async (context) => {
  context.dir = temporaryFolder();
  context.target = await receiver();
  context.double = await startEventStoreDouble();
});
test.after.each(async ({ dir, target, double }) => {
  killPrograms();
  await target.close();
  double.behave();
  await double.stop();
  removeFolder(dir);
});

/** So long that appends which wait for an answer cannot be taken for appends that are sent together. */
const ANSWER_MS = 60;
const WAVE = 8;
const WAVES = 6;
const MANY = 400;
const AT_ONCE = 32;

const KEY = Buffer.alloc(32, 1).toString("base64");

type Append = { readonly stream: string; readonly at: number };

const world = async (env: Record<string, string>, dir: string, target: Receiver): Promise<HookSource> => {
  const program = await startProgram(env, dir);
  const client = await signUp(program.url);
  const policy = await client.make("/v1/policies", { name: "rate", rate_per_minute: 100_000 });
  const endpoint = await client.make("/v1/endpoints", { name: "app", url: target.url });
  return hookSource(client, { policy_id: policy.id, endpoint_id: endpoint.id });
};

const sendMany = async (hook: HookSource, count: number, name: string): Promise<void> => {
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      assert.is((await hook.send(`${name}_${next}`)).status, 202);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
};

/**
 * How many round trips one after another these appends took. What begins within half of an answer's time was sent
 * together: a timer may fire a little early, so a whole answer's time would join two round trips now and then.
 */
const roundsOf = (appends: readonly Append[]): number => {
  let rounds = 0;
  let begun = Number.NEGATIVE_INFINITY;
  for (const { at } of appends.toSorted((a, b) => a.at - b.at)) {
    if (at < begun + ANSWER_MS / 2) continue;
    rounds += 1;
    begun = at;
  }
  return rounds;
};

const least = (numbers: readonly number[]): number => Math.min(...numbers);

test("on EventStoreDB an admission waits for two round trips, and a delivered event for four in four appends", async ({
  dir,
  target,
  double,
}) => {
  const hook = await world({ EVENTSTORE_URL: double.url, COUNTERSIGN_KEY: KEY }, dir, target);
  await sendMany(hook, 64, "warm");
  const appends: Append[] = [];
  double.misbehave(
    { how: "slow", ms: ANSWER_MS, committed: true },
    {
      method: "append",
      times: Number.POSITIVE_INFINITY,
      where: ({ stream }) => {
        appends.push({ stream: stream ?? "", at: performance.now() });
        return true;
      },
    },
  );
  const before: number[] = [];
  const whole: number[] = [];
  const counts: number[] = [];
  for (let wave = 0; wave < WAVES; wave += 1) {
    const answers = await Promise.all(
      Array.from({ length: WAVE }, async (_, n) => {
        const { body } = await hook.send(`wave_${wave}_${n}`);
        return { id: String(body.event_id), at: performance.now() };
      }),
    );
    for (const { id, at } of answers) {
      const own = (): readonly Append[] => appends.filter(({ stream }) => stream.endsWith(id));
      await until("it is delivered", () => own().length >= 4 || null);
      before.push(roundsOf(own().filter((it) => it.at < at)));
      whole.push(roundsOf(own()));
      counts.push(own().length);
    }
  }
  assert.is(least(before), 2);
  assert.is(least(whole), 4);
  assert.is(least(counts), 4);
});

test("on EventStoreDB at most six appends are made for an event under load, and each record is read about once", async ({
  dir,
  target,
  double,
}) => {
  const hook = await world({ EVENTSTORE_URL: double.url, COUNTERSIGN_KEY: KEY }, dir, target);
  await sendMany(hook, 100, "warm");
  const read = (): number => double.given("readAll") + double.given("read") + double.given("subscribe");
  const [appends, records, reads] = [double.calls("append").length, double.state.log.length, read()];
  await sendMany(hook, MANY, "event");
  await until("all are delivered", () => target.arrivals.length === 100 + MANY || null);
  const perEvent = (double.calls("append").length - appends) / MANY;
  const perRecord = (read() - reads) / (double.state.log.length - records);
  // Four of the event itself, or five if its lease was not part of the admission, and those of the ledgers.
  assert.ok(perEvent <= 6, `${perEvent} appends for an event`);
  assert.ok(perRecord <= 1.2, `${perRecord} records read for each that was written`);
});

const server = mongodbServer("the commands of an event in MongoDB");
if (server !== null) {
  test("on MongoDB less than one command is sent for an event under load", async ({ dir, target }) => {
    const database = freshDatabase(server);
    const mongodb = await countedMongodb(database.url);
    const hook = await world({ MONGODB_URL: mongodb.url }, dir, target);
    await sendMany(hook, 100, "warm");
    const [commands, turns] = [mongodb.commands(), mongodb.turns()];
    await sendMany(hook, MANY, "event");
    await until("all are delivered", () => target.arrivals.length === 100 + MANY || null);
    const [perEvent, turnsPerEvent] = [(mongodb.commands() - commands) / MANY, (mongodb.turns() - turns) / MANY];
    assert.ok(perEvent <= 1, `${perEvent} commands for an event`);
    assert.ok(turnsPerEvent <= 0.5, `${turnsPerEvent} round trips one after another for an event`);
    await mongodb.stop();
    await database.drop();
  });
}

test.run();
