import { suite } from "uvu";
import * as assert from "uvu/assert";
import { eventStoreLog } from "../../infra/eventstoredb/event-log.ts";
import { databaseBeside } from "../../scripts/bench/database-beside.ts";
import { type EngineFlags, enginesToMeasure } from "../../scripts/bench/engines.ts";
import { type Envelope, NO_TRACE, toEvents } from "../../src/streams/envelope.ts";
import { startEventStoreDouble } from "../support/eventstore-double/server.ts";

const test = suite("the benchmark's engines");

const none: EngineFlags = { engines: false, double: false, embedded: false, yes: false };
const key = Buffer.alloc(32, 1).toString("base64");

const envelope: Envelope = {
  commandId: "cmd_1",
  account: "acc_1",
  actor: { kind: "system", id: "test" },
  trace: NO_TRACE,
  at: "2026-01-01T00:00:00.000Z",
};

const refused = async (env: Record<string, string>, flags: Partial<EngineFlags>, sentence: RegExp): Promise<void> => {
  try {
    await enginesToMeasure(env, { ...none, ...flags });
  } catch (error) {
    assert.instance(error, Error);
    assert.match((error as Error).message, sentence);
    return;
  }
  assert.unreachable("nothing was refused");
};

test("without a flag the embedded engines are measured, even if the environment names others", async () => {
  const sets = await enginesToMeasure({ MONGODB_URL: "mongodb://127.0.0.1:1/x" }, none);
  assert.equal(
    sets.map(({ name }) => name),
    ["embedded"],
  );
});

test("both are measured when both are asked for, the embedded ones first", async () => {
  const sets = await enginesToMeasure({ KAFKA_BROKERS: "127.0.0.1:1" }, { ...none, engines: true, embedded: true });
  assert.equal(
    sets.map(({ name }) => name),
    ["embedded", "configured"],
  );
});

test("with no engine configured, or two logs, a sentence says what to set", async () => {
  await refused({}, { engines: true }, /EVENTSTORE_URL, MONGODB_URL and KAFKA_BROKERS .* none of them is set/);
  const EVENTSTORE_URL = "esdb://127.0.0.1:1?tls=false";
  await refused({ EVENTSTORE_URL, COUNTERSIGN_KEY: key }, { double: true }, /--double takes the place/);
  await refused({ EVENTSTORE_URL }, { engines: true }, /COUNTERSIGN_KEY is required/);
});

test("a log that holds something is only measured when that was asked for", async () => {
  const double = await startEventStoreDouble();
  const env = { EVENTSTORE_URL: double.url, COUNTERSIGN_KEY: key };
  const flags = { ...none, engines: true };
  try {
    const [empty] = await enginesToMeasure(env, flags);
    assert.match(empty?.notes.join(" ") ?? "", /the log keeps the records/);
    const log = await eventStoreLog({ url: double.url });
    await log.append("source-1", "absent", toEvents([{ type: "SourcePaused", data: {} }], envelope));
    await log.close();
    await refused(env, flags, /is not empty, .* give --yes if that may be/);
    const [filled] = await enginesToMeasure(env, { ...flags, yes: true });
    assert.is(filled?.name, "configured");
  } finally {
    await double.stop();
  }
});

test("figures of the double say that they are not those of EventStoreDB", async () => {
  const [set] = await enginesToMeasure({}, { ...none, double: true });
  assert.match(set?.notes.join(" ") ?? "", /double .* not what EventStoreDB does/);
});

test("the benchmark's database is another one on the configured server", () => {
  for (const [url, beside] of [
    ["mongodb://127.0.0.1:27117/countersign", "mongodb://127.0.0.1:27117/countersign_1"],
    ["mongodb://127.0.0.1:27117", "mongodb://127.0.0.1:27117/countersign_1"],
    ["mongodb://a:1,b:2/audit?replicaSet=rs0", "mongodb://a:1,b:2/audit_1?replicaSet=rs0"],
    ["mongodb+srv://u:p@db.example.com/audit", "mongodb+srv://u:p@db.example.com/audit_1?authSource=audit"],
    ["mongodb://u:p@a/audit?authSource=admin", "mongodb://u:p@a/audit_1?authSource=admin"],
  ]) {
    assert.is(databaseBeside(url ?? "", "1"), beside);
  }
});

test.run();
