import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog, Position, RecordedEvent } from "../../../domain/ports/event-log.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { followedLog } from "../../../src/following/followed-log.ts";
import { readerSource } from "../../../src/following/log-reader.ts";
import { Reactor } from "../../../src/following/reactor.ts";
import { RecentRecords } from "../../../src/following/recent-records.ts";
import { appendTo, history } from "../../support/history.ts";
import { until } from "../../support/until.ts";

const test = suite("recent records");

const counted = (log: EventLog) => {
  const reads = { readTypes: 0, readAll: 0, records: 0 };
  const counting: EventLog = {
    ...log,
    async readTypes(...asked) {
      reads.readTypes += 1;
      return log.readTypes(...asked);
    },
    async readAll(...asked) {
      reads.readAll += 1;
      const page = await log.readAll(...asked);
      reads.records += page.length;
      return page;
    },
  };
  return { log: counting, reads };
};

const sample = (count: number, type: string, stream = "delivery-evt_1") => {
  const { add, events } = history();
  for (let i = 0; i < count; i += 1) add(stream, { type, data: { i } });
  return events;
};

const following = (log: EventLog, recent: RecentRecords, on: string, fails: () => boolean = () => false) => {
  const seen: unknown[] = [];
  const reactor = new Reactor(
    { log, recent, clock: { now: () => 0 }, onError: () => undefined },
    [
      {
        on,
        async run({ stream, data }) {
          if (fails()) throw new Error("not now");
          seen.push(`${stream} ${data.i}`);
        },
      },
    ],
    { name: on.toLowerCase(), gatherMs: 1 },
  );
  reactor.start();
  return { reactor, seen };
};

const pageAfter = async (log: EventLog, after: Position | null): Promise<readonly RecordedEvent[]> =>
  log.readAll(after, 1_000, "records");

test("a follower of the embedded log looks only once its types, or a record of another process, were appended", async () => {
  const embedded = memoryEventLog();
  const { log: counting, reads } = counted(embedded);
  const recent = new RecentRecords(counting);
  const log = followedLog(counting, recent, true);
  const { reactor, seen } = following(log, recent, "Wanted");
  await until("it has begun", () => reads.readTypes > 0);
  await appendTo(log, sample(1, "Other", "delivery-evt_0"));
  await until("it has looked at the first gap", async () => reads.readTypes > 1);
  const before = reads.readTypes;
  await appendTo(log, sample(200, "Other"));
  await appendTo(log, sample(1, "Wanted", "delivery-evt_2"));
  await until("it has seen it", () => seen.length === 1);
  // Once for the record, and at the end; within a second a follower also looks by itself.
  assert.ok(reads.readTypes - before < 10, `${reads.readTypes - before} looks`);
  // Another process appends between two records of this one.
  await appendTo(embedded, sample(1, "Wanted", "delivery-evt_3"));
  await appendTo(log, sample(1, "Other", "delivery-evt_4"));
  await until("it has seen that of the other process", () => seen.length === 2);
  assert.equal(seen, ["delivery-evt_2 0", "delivery-evt_3 0"]);
  await reactor.stop();
});

test("one reader reads each record once for all followers, also for one that fails meanwhile", async () => {
  const server = memoryEventLog();
  const { log: counting, reads } = counted(server);
  const recent = new RecentRecords(counting);
  const log = followedLog(counting, recent, false);
  const source = readerSource(counting, recent);
  recent.feedFrom(source);
  let isFailing = true;
  const failing = following(log, recent, "Failing", () => isFailing);
  const others = ["A", "B", "C"].map((type) => following(log, recent, type));
  await until(
    "the source has looked",
    async () => (await recent.readTypes(["A"], await server.head(), 1)).upTo === null,
  );
  const before = reads.records;
  await appendTo(log, sample(1, "Failing", "delivery-evt_f"));
  for (const type of ["A", "B", "C"]) await appendTo(log, sample(50, type, `delivery-evt_${type}`));
  await until("the others have seen theirs", () => others.every(({ seen }) => seen.length === 50));
  isFailing = false;
  await until("the one that failed has seen its own", () => failing.seen.length === 1);
  const written = (await pageAfter(server, null)).length;
  for (const { reactor } of [failing, ...others]) await reactor.stop();
  await source.stop();
  assert.ok(reads.records - before <= written * 1.2, `${reads.records - before} read, ${written} written`);
});

test("what is forgotten, or has a gap before it, is read from the log, in order and without a loss", async () => {
  const server = memoryEventLog();
  await appendTo(server, sample(3, "A"));
  const recent = new RecentRecords(server, { recordsMax: 10 });
  recent.follow(null, () => undefined);
  recent.looked(await server.head());
  const start = await server.head();
  for (let round = 0; round < 30; round += 1) {
    const after = await server.head();
    await appendTo(server, sample(1, "A", `delivery-evt_r${round}`));
    const records = await pageAfter(server, after);
    // Every seventh page is never offered, as if the source had ended meanwhile.
    if (round % 7 !== 6) recent.offer({ after, upTo: records.at(-1)?.position ?? "", records });
  }
  const all = await pageAfter(server, start);
  for (const from of [start, ...all.map(({ position }) => position)]) {
    const rest = all.filter(({ position }) => from === null || position > from);
    const seen: RecordedEvent[] = [];
    for (let at = from, page = await recent.readAll(at, 4); page.length > 0; page = await recent.readAll(at, 4)) {
      seen.push(...page);
      at = page.at(-1)?.position ?? at;
    }
    assert.equal(
      seen.map(({ id }) => id),
      rest.map(({ id }) => id),
    );
    const typed = await recent.readTypes(["A"], from, 100);
    assert.equal(
      typed.events.map(({ id }) => id),
      rest.map(({ id }) => id),
    );
  }
});

test("if the source is silent, followers read the log themselves", async () => {
  const server = memoryEventLog();
  const recent = new RecentRecords(server, { freshMs: 20 });
  recent.follow(["A"], () => undefined);
  const end = await server.head();
  recent.looked(end);
  await appendTo(server, sample(1, "A"));
  await until("the record is found", async () => (await recent.readTypes(["A"], end, 10)).events.length === 1);
});

test("a type that is followed later is not missed among records that were noted before", async () => {
  const server = memoryEventLog();
  const recent = new RecentRecords(server);
  recent.follow(["A"], () => undefined);
  recent.looked(null);
  await appendTo(server, sample(1, "B"));
  const records = await pageAfter(server, null);
  recent.offer({ after: null, upTo: records.at(-1)?.position ?? "", records });
  assert.is((await recent.readTypes(["A"], null, 10)).events.length, 0);
  recent.follow(["B"], () => undefined);
  assert.is((await recent.readTypes(["B"], null, 10)).events.length, 1);
});

test.run();
