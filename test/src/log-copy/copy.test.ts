import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { eventStoreLog } from "../../../infra/eventstoredb/event-log.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { type CopyResult, copyLog } from "../../../src/log-copy/copy.ts";
import { chainOf } from "../../../src/log-copy/records.ts";
import { payloadStream } from "../../../src/streams/payloads.ts";
import { event, rejection } from "../../contract/event-log-events.ts";
import type { Misbehaviour } from "../../support/eventstore-double/misbehaviour.ts";
import { startEventStoreDouble } from "../../support/eventstore-double/server.ts";
import { bundleFacts } from "../../support/history.ts";
import { APPEND_LIMIT_BYTES, measuredLog } from "../../support/measured-log.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { until } from "../../support/until.ts";
import { contentOf, variedLog } from "../../support/varied-log.ts";

const test = suite<{ directory: string }>("log copy");

test.before.each((context) => {
  context.directory = mkdtempSync(join(tmpdir(), "log-copy-"));
});
test.after.each(({ directory }) => rmSync(directory, { recursive: true, force: true }));

const copy = (source: EventLog, target: EventLog, inFlight = 1): Promise<CopyResult> =>
  copyLog(source, target, { inFlight, pageMax: 50 });

const isCopy = async (source: EventLog, target: EventLog): Promise<void> => {
  assert.equal(await contentOf(target), await contentOf(source));
  assert.equal(await chainOf(target), await chainOf(source));
};

/** Nobody could bring an erased payload back by keeping it as the first. */
const staysErased = async (target: EventLog, erased: ReadonlySet<string>): Promise<void> => {
  assert.ok(erased.size > 0);
  for (const id of erased) {
    assert.is((await target.append(payloadStream(id), "absent", [event()])).outcome, "conflict", id);
  }
};

test("a log copied there and back differs only in positions", async ({ directory }) => {
  const source = memoryEventLog();
  const varied = variedLog(source, 1, 2);
  await varied.add(150);
  const sqlite = await sqliteEventLog({ path: join(directory, "log.db") });
  const { log: back, largestAppend } = measuredLog(memoryEventLog());
  const there = await copy(source, sqlite, 64);
  assert.equal([there.found, there.copied], [0, (await contentOf(source)).length]);
  assert.equal(there.source, there.target);
  assert.equal(there.target, await chainOf(sqlite));
  await copy(sqlite, back);
  await isCopy(source, sqlite);
  await isCopy(source, back);
  await staysErased(sqlite, varied.erased);
  await staysErased(back, varied.erased);
  assert.ok(largestAppend() < APPEND_LIMIT_BYTES);
  await sqlite.close();
});

test("an empty log is copied to an empty log", async () => {
  const { found, copied, target } = await copy(memoryEventLog(), memoryEventLog());
  assert.equal([found, copied, target.count, target.sha256], [0, 0, 0, "0".repeat(64)]);
});

test("a repeated copy continues and erases what the source has erased since", async () => {
  const [source, target] = [memoryEventLog(), memoryEventLog()];
  const varied = variedLog(source, 2);
  await varied.add(60);
  await copy(source, target);
  const again = await copy(source, target);
  assert.is(again.copied, 0);
  for (let round = 0; round < 8; round += 1) {
    for (let n = 0; n < 3; n += 1) await varied.erase();
    await varied.add(5);
    const { copied, erased } = await copy(source, target);
    assert.ok(copied >= 15 && erased > 0, `${copied} copied, ${erased} erased`);
    await isCopy(source, target);
  }
  await staysErased(target, varied.erased);
});

/** Erasing the last event of a stream takes the next revision there. */
const onEventStoreDB = async (use: (target: EventLog) => Promise<void>): Promise<void> => {
  const double = await startEventStoreDouble();
  const target = await eventStoreLog({ url: double.url });
  try {
    await use(target);
  } finally {
    await target.close();
    await double.stop();
  }
};

/** More than one turn's worth, as the command sends them. */
const TOGETHER = 256;
const CUTS: readonly Misbehaviour[] = [{ how: "cut" }, { how: "cut", committed: true }];

test("a copy to EventStoreDB whose calls are cut, or that is interrupted among many appends, ends equal to the source", async () => {
  const source = memoryEventLog();
  await variedLog(source, 21).add(150);
  const whole = await chainOf(source);
  const random = seededRandom(21);
  const double = await startEventStoreDouble();
  let underWay = 0;
  let most = 0;
  const open = async (): Promise<EventLog> => {
    const log = await eventStoreLog({ url: double.url, keepsOrder: true, limits: { closeMs: 1 } });
    return {
      ...log,
      async append(...args) {
        underWay += 1;
        most = Math.max(most, underWay);
        try {
          return await log.append(...args);
        } finally {
          underWay -= 1;
        }
      },
    };
  };
  let interrupted = 0;
  for (let round = 0; interrupted < 8; round += 1) {
    assert.ok(round < 100, "the copy ended before it was interrupted often");
    const target = await open();
    const how = CUTS[round % CUTS.length] ?? { how: "cut" };
    let appends = random.below(100);
    double.misbehave(how, {
      method: "append",
      times: 1 + random.below(3),
      where: () => {
        appends -= 1;
        return appends <= 0;
      },
    });
    const enough = double.calls("append").length + random.below(60);
    let isOver = false;
    const copying = copy(source, target, 1 + random.below(TOGETHER)).then(
      () => true,
      () => false,
    );
    const whenOver = copying.then(() => {
      isOver = true;
    });
    await until("the copy has got so far", () => isOver || double.calls("append").length >= enough);
    await target.close();
    await whenOver;
    if (!(await copying)) interrupted += 1;
    else if (interrupted < 8) await variedLog(source, 100 + round).add(20);
  }
  double.behave();
  const target = await open();
  await copy(source, target, TOGETHER);
  await isCopy(source, target);
  assert.ok((await chainOf(target)).count >= whole.count);
  assert.ok(most > 50, `${most} appends were under way at once`);
  await target.close();
  await double.stop();
});

test("a long append goes alone until the target has taken one as long, so that its refusal leaves no gap", () =>
  onEventStoreDB(async (server) => {
    const source = memoryEventLog();
    for (let n = 0; n < 40; n += 1) {
      const size = n === 20 || n === 30 ? 100_000 : 10;
      await source.append(`delivery-evt_${n}`, "absent", [event({ text: "x".repeat(size) })]);
    }
    const flights: number[] = [];
    let underWay = 0;
    const target: EventLog = {
      ...server,
      async append(...args) {
        if (underWay === 0) flights.push(0);
        underWay += 1;
        flights.push((flights.pop() ?? 0) + 1);
        const appended = await server.append(...args);
        underWay -= 1;
        return appended;
      },
    };
    await copy(source, target, TOGETHER);
    assert.equal(flights, [20, 1, 19]);
    await isCopy(source, target);
  }));

/** The payload of an event that is copied already. */
const copiedPayload = async (source: EventLog, target: EventLog): Promise<string> => {
  const stream = payloadStream("evt_1");
  await source.append(stream, "absent", [event({ event_id: "evt_1" })]);
  await source.append("delivery-evt_1", "absent", [event({ event_id: "evt_1", payload: { revision: 0 } })]);
  await copy(source, target);
  return stream;
};

const eraseIn = async (source: EventLog, stream: string, upTo?: number): Promise<void> => {
  await source.append("delivery-evt_1", 0, [{ ...event({ event_id: "evt_1" }), type: "PayloadErased" }]);
  await source.erase(stream, upTo);
};

test("a payload that was erased and came again since the last copy is in EventStoreDB as it is in the source", () =>
  onEventStoreDB(async (target) => {
    const source = memoryEventLog();
    const stream = await copiedPayload(source, target);
    await eraseIn(source, stream);
    await source.append(stream, "any", [event()]);
    assert.equal(await copy(source, target).then(({ copied, erased }) => [copied, erased]), [2, 1]);
    await isCopy(source, target);
    await staysErased(target, new Set(["evt_1"]));
  }));

test("a payload that comes again while the erasure before it is copied has no place in EventStoreDB, and the copy says so", () =>
  onEventStoreDB(async (target) => {
    const source = memoryEventLog();
    const stream = await copiedPayload(source, target);
    const before = await source.head();
    await source.append(stream, 0, [event()]);
    await eraseIn(source, stream, 0);
    // This copy does not reach the second payload yet.
    await copy({ ...source, head: async () => before }, target);
    assert.match(
      (await rejection(() => copy(source, target))).message,
      /^payload-evt_1 was erased in the target by an earlier copy, .+ Copy into an empty target\.$/,
    );
    await onEventStoreDB(async (empty) => {
      await copy(source, empty);
      await isCopy(source, empty);
    });
  }));

/** A target that ends with the process at its n-th write: before it is done, or behind it. */
const dying = (log: EventLog, writes: number, isDone: boolean): EventLog => {
  let left = writes;
  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    left -= 1;
    if (left > 0) return work();
    if (left === 0 && isDone) await work();
    throw new Error("killed");
  };
  return {
    ...log,
    append: (stream, expected, events) => write(() => log.append(stream, expected, events)),
    erase: (stream, upTo) => write(() => log.erase(stream, upTo)),
  };
};

test("a bundle's payload that was erased before the copy or since is erased in the target as well", async () => {
  const [source, target] = [memoryEventLog(), memoryEventLog()];
  const facts = bundleFacts("bun_1");
  const payload = { revision: 1, content_type: "", size: 0, commitment: "" };
  const write = (stream: string, ...of: readonly { readonly type: string; readonly data: object }[]) =>
    source.append(
      stream,
      "any",
      of.map(({ type, data }) => event(data as unknown as JsonObject, type)),
    );
  for (const id of ["bun_1", "bun_2"]) {
    await write(`payload-${id}`, { type: "PayloadPartKept", data: {} }, { type: "PayloadKept", data: {} });
    // The revision of a step's own payload says nothing of the bundle's.
    const started = { type: "StepStarted", data: { bundle_id: id, index: 0, payload: { ...payload, revision: 9 } } };
    await write(`bundle-${id}`, facts.admitted({ bundle_id: id, payload }), started);
  }
  const erase = async (id: string): Promise<void> => {
    await write(`bundle-${id}`, { type: "BundlePayloadErased", data: { bundle_id: id, reason: "asked for", at: "" } });
    await source.erase(payloadStream(id));
  };
  await erase("bun_1");
  await copy(source, target);
  await isCopy(source, target);
  await erase("bun_2");
  assert.is((await copy(source, target)).erased, 1);
  await isCopy(source, target);
  await staysErased(target, new Set(["bun_1", "bun_2"]));
  // Two of the bundle's own, and none for what its step refers to.
  assert.is((await target.append(payloadStream("bun_1"), 1, [event()])).outcome, "appended");
});

test("a copy that is interrupted at any write can be continued to the same end", async () => {
  const source = memoryEventLog();
  const varied = variedLog(source, 3);
  await varied.add(25);
  for (let writes = 1, isCut = true; isCut; writes += 1) {
    isCut = false;
    for (const isDone of [false, true]) {
      const target = memoryEventLog();
      const first = await copy(source, dying(target, writes, isDone)).catch((error: Error) => error.message);
      isCut ||= first === "killed";
      await copy(source, target);
      await isCopy(source, target);
      await staysErased(target, varied.erased);
    }
    assert.ok(writes < 1_000);
  }
});

test("a copy that is interrupted many times while the source grows ends equal to the source", async () => {
  const [source, target] = [memoryEventLog(), memoryEventLog()];
  const varied = variedLog(source, 4);
  for (let round = 1; round <= 40; round += 1) {
    await varied.add(3);
    await varied.erase();
    await copy(source, dying(target, round, round % 2 === 0)).catch(() => undefined);
  }
  await copy(source, target);
  await isCopy(source, target);
  await staysErased(target, varied.erased);
});

test("a target with other records is refused in one sentence and left unchanged", async () => {
  const [source, target] = [memoryEventLog(), memoryEventLog()];
  await variedLog(source, 5).add(10);
  await variedLog(target, 6).add(10);
  const before = await contentOf(target);
  const { message } = await rejection(() => copy(source, target));
  const place = String.raw`\w+ \([\w-]+, revision \d+\)`;
  const sentence = `^The target is not a copy of the source. Record 1 of the source is ${place}, of the target it is ${place}.$`;
  assert.match(message, new RegExp(sentence));
  assert.equal(await contentOf(target), before);
});

test("a copy that a service was started on is refused, and none of its payloads is erased", async () => {
  const [source, target] = [memoryEventLog(), memoryEventLog()];
  const varied = variedLog(source, 7);
  await varied.add(10);
  await copy(source, target);
  await variedLog(target, 12).add(1);
  const before = await contentOf(target);
  await varied.erase();
  assert.match((await rejection(() => copy(source, target))).message, "payload-evt_12_0, revision 0");
  assert.equal(await contentOf(target), before);
});

/** The same log with other data in one record. */
const altered = (log: EventLog, stream: string, revision: number, data: JsonObject = { it: "lies" }): EventLog => ({
  ...log,
  async readAll(...page) {
    const events = await log.readAll(...page);
    return events.map((it) => (it.stream === stream && it.revision === revision ? { ...it, data } : it));
  },
});

test("a record that differs in content is named", async () => {
  const [source, target] = [memoryEventLog(), memoryEventLog()];
  await variedLog(source, 9).add(10);
  await copy(source, target);
  const { message } = await rejection(() => copy(source, altered(target, "delivery-evt_9_4", 0)));
  assert.match(
    message,
    /Record \d+, EventAdmitted \(delivery-evt_9_4, revision 0\), has another content in the target/,
  );
  assert.is.not((await chainOf(altered(target, "delivery-evt_9_4", 0))).sha256, (await chainOf(target)).sha256);
});

test("a target that changes records is detected at the end", async () => {
  const [source, target] = [memoryEventLog(), memoryEventLog()];
  await variedLog(source, 10).add(3);
  assert.match(
    (await rejection(() => copy(source, altered(target, "delivery-evt_10_1", 0)))).message,
    "has another content",
  );
});

test("a target that is written to during the copy is refused", async () => {
  const [source, target] = [memoryEventLog(), memoryEventLog()];
  await variedLog(source, 11).add(10);
  const disturbed: EventLog = {
    ...target,
    async append(stream, expected, events) {
      if (stream === "delivery-evt_11_5") await target.append(stream, "any", [event()]);
      return target.append(stream, expected, events);
    },
  };
  assert.match(
    (await rejection(() => copy(source, disturbed))).message,
    "The target was written to meanwhile: delivery-evt_11_5",
  );
});

test("an SQLite target whose disk is full holds a beginning of the source, and the copy can be continued", async ({
  directory,
}) => {
  const source = memoryEventLog();
  await variedLog(source, 12).add(400);
  const path = join(directory, "log.db");
  for (const maxPages of [10, 30, 50]) {
    const full = await sqliteEventLog({ path, maxPages });
    assert.instance(await rejection(() => copy(source, full, 512)), Error);
    await full.close();
    const part = await sqliteEventLog({ path });
    const there = await contentOf(part);
    assert.equal(there, (await contentOf(source)).slice(0, there.length));
    await part.close();
  }
  const target = await sqliteEventLog({ path });
  await copy(source, target, 512);
  await isCopy(source, target);
  await target.close();
});

test("a record of an older log that no engine takes is named, and the target holds what comes before it", async ({
  directory,
}) => {
  const source = memoryEventLog();
  await variedLog(source, 14).add(40);
  const long = altered(source, "delivery-evt_14_20", 0, { body: "x".repeat(1_000_000) });
  const target = await sqliteEventLog({ path: join(directory, "log.db") });
  const { message } = await rejection(() => copy(long, target, 512));
  assert.match(
    message,
    /^delivery-evt_14_20, revision 0, has 1000\d+ bytes, and no engine takes more than 1000000 at once/,
  );
  const there = await contentOf(target);
  assert.equal(there, (await contentOf(source)).slice(0, there.length));
  await copy(source, target, 512);
  await isCopy(source, target);
  await target.close();
});

test("the source is read only as far as it was at the start, and a second copy catches up", async () => {
  const [source, target] = [memoryEventLog(), memoryEventLog()];
  const varied = variedLog(source, 13);
  await varied.add(20);
  const count = (await contentOf(source)).length;
  let isGrown = false;
  const growing: EventLog = {
    ...source,
    async readAll(...page) {
      if (!isGrown) {
        isGrown = true;
        await varied.add(5);
        await varied.erase();
      }
      return source.readAll(...page);
    },
  };
  const { copied } = await copy(growing, target);
  assert.ok(copied <= count);
  await copy(source, target);
  await isCopy(source, target);
});

test.run();
