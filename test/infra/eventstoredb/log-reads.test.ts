import { status } from "@grpc/grpc-js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { logAttempts } from "../../../infra/eventstoredb/attempts.ts";
import { clientConnection } from "../../../infra/eventstoredb/client.ts";
import { type Pages, pages as pagesOf } from "../../../infra/eventstoredb/pages.ts";
import { reads as readsOf } from "../../../infra/eventstoredb/reads.ts";
import { isErasableStream } from "../../../infra/eventstoredb/recorded-event.ts";
import { RecordDamaged } from "../../../infra/log-errors.ts";
import { DAMAGED_TYPE } from "../../../infra/stream-name.ts";
import { withTimeout } from "../../../infra/with-timeout.ts";
import { events, idsOf, newStream, rejection } from "../../contract/event-log-events.ts";
import type { Method, Misbehaviour } from "../../support/eventstore-double/misbehaviour.ts";
import { HANG_MS, inWorld, SHORT, type World } from "./log-world.ts";

/** Each misbehaviour once, and for ever: no event is missed or given twice, no hang, and the next read works. */

const test = suite("EventStoreDB log: reads of a misbehaving server");

const soon = <T>(work: Promise<T>): Promise<T> => withTimeout(HANG_MS, "it hangs", work);
const error = (code: status): Misbehaviour => ({ how: "error", code });

/** Longer than one try is waited for. */
const SLOW_MS = SHORT.readIdleMs * 2;

const ofReads: Readonly<Record<string, Misbehaviour>> = {
  silence: { how: "silent" },
  "an answer that comes too late": { how: "slow", ms: SLOW_MS },
  "a cut in the middle": { how: "cut", afterEvents: 2 },
  UNAVAILABLE: error(status.UNAVAILABLE),
  CANCELLED: error(status.CANCELLED),
  UNKNOWN: error(status.UNKNOWN),
  ABORTED: error(status.ABORTED),
  "a timeout": { how: "timeout" },
  "an event given twice": { how: "repeat-event" },
  "a page of before": { how: "repeat-page" },
};

/** Compared as text: to show how two pages differ would take half a minute. */
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Each read of the log, and what it has to give of a stream and of what is behind `start`. */
const readings = async ({ log }: World) => {
  await log.append(newStream(), "absent", events(1));
  const start = await log.head();
  const [stream, other] = [newStream(), newStream("payload")];
  await log.append(other, "absent", events(3));
  await log.append(stream, "absent", events(8));
  const whole = await log.readAll(start, 100);
  assert.is(whole.length, 11);
  const records = whole.slice(3);
  const reads: readonly (readonly [Method, () => Promise<unknown>, unknown])[] = [
    ["read", () => log.read(stream, null, 5), records.slice(0, 5)],
    ["read", () => log.read(stream, 4, 100), records.slice(5)],
    ["read", () => log.last(stream), whole.at(-1)],
    ["readAll", () => log.readAll(start, 100), whole],
    ["readAll", () => log.readAll(start, 4), whole.slice(0, 4)],
    ["readAll", () => log.readAll(whole[4]?.position ?? null, 100, "records"), whole.slice(5)],
    ["readAll", () => log.readAll(null, 1), await log.readAll(null, 1)],
    ["readAll", () => log.readTypes(["Tested"], start, 2), { events: whole.slice(0, 2), upTo: whole[1]?.position }],
    ["readAll", () => log.head(), whole.at(-1)?.position],
  ];
  return reads;
};

test(
  "a read of the records is sent no payload, and a payload between them takes no place of the page",
  inWorld(async ({ double, log }) => {
    await log.append(newStream(), "absent", events(1));
    const start = await log.head();
    const [payload, personal] = [newStream("payload"), newStream("personal")];
    for (let round = 0; round < 5; round += 1) {
      for (const stream of [payload, personal]) await log.append(stream, "any", events(4));
      await log.append(newStream(), "absent", events(2));
    }
    const before = double.given("readAll");
    assert.is((await log.readAll(start, 10, "records")).length, 10);
    // A page begins with the event at which the last one ended.
    assert.is(double.given("readAll") - before, 11);
    const last = await log.head("records");
    assert.is(double.given("readAll") - before, 11 + 4);
    assert.equal(await log.readAll(last, 10, "records"), []);
  }),
);

test(
  "the payloads between what is asked for are not held in memory",
  inWorld(async ({ double, log }) => {
    await log.append(newStream("payload"), "absent", events(5));
    await log.append(newStream(), "absent", events(1));
    const connection = clientConnection(double.url);
    const pages = pagesOf(connection);
    let held = 0;
    const counting: Pages = {
      ...pages,
      async allAfter(...asked) {
        const page = await pages.allAfter(...asked);
        held += page.events.filter((one) => isErasableStream(one) && Object.keys(one.data ?? {}).length > 0).length;
        return page;
      },
    };
    const reads = readsOf(counting, logAttempts(SHORT));
    assert.is((await reads.readAll(null, 100, "records")).length, 1);
    assert.is((await reads.readTypes(["Other"], null, 100)).events.length, 0);
    assert.is(held, 0);
    assert.is((await reads.readAll(null, 100, "everything")).length, 6);
    assert.is(held, 5);
    await connection.close();
  }),
);

for (const [name, misbehaviour] of Object.entries(ofReads)) {
  test(
    `${name} in answer to a read is not noticed by who reads`,
    inWorld(async (world) => {
      for (const [method, read, expected] of await readings(world)) {
        // What a page of before is depends on what was read before: everything else is, in turn.
        await world.log.readAll(null, 3);
        await world.log.read(newStream(), null, 1);
        const odd = world.double.misbehave(misbehaviour, { method });
        assert.ok(same(await soon(read()), expected), String(read));
        odd.stop();
        assert.ok(same(await soon(read()), expected), String(read));
      }
    }),
  );
}

test(
  "a page that ends too early is a short page, and what is behind it comes with the next",
  inWorld(async ({ double, log }) => {
    const start = await log.head();
    const stream = newStream();
    const batch = events(20);
    await log.append(stream, "absent", batch);
    const seen: string[] = [];
    let at = start;
    while (seen.length < 20) {
      double.misbehave({ how: "end", afterEvents: 4 }, { method: "readAll" });
      const page = await soon(log.readAll(at, 100));
      seen.push(...idsOf(page));
      at = page.at(-1)?.position ?? at;
    }
    assert.equal(seen, idsOf(batch));
    double.misbehave({ how: "end" }, { method: "readAll" });
    assert.is(await soon(log.head()), at);
  }),
);

for (const name of ["silence", "UNAVAILABLE", "a cut in the middle"]) {
  test(
    `${name} in answer to every read is LogUnavailable within the limit, and the next read works`,
    inWorld(async (world) => {
      const reads = await readings(world);
      const misbehaviour = ofReads[name] ?? { how: "silent" };
      world.double.misbehave(misbehaviour, { method: ["read", "readAll"], times: 10_000 });
      const failures = await Promise.all(reads.map(([, read]) => rejection(() => soon(read()))));
      assert.equal(
        failures.map((failure) => failure.name),
        failures.map(() => "LogUnavailable"),
      );
      world.double.behave();
      for (const [, read, expected] of reads) assert.ok(same(await soon(read()), expected), String(read));
    }, SHORT),
  );
}

test(
  "a server that gives each page twice gives nobody an event twice, and comes to an end",
  inWorld(async ({ double, log }) => {
    await log.append(newStream(), "absent", events(30));
    const [first] = await log.readAll(null, 1);
    double.misbehave({ how: "repeat-page" }, { method: "readAll", times: 10_000 });
    const after = first?.position ?? null;
    const seen = idsOf(await soon(log.readAll(after, 100)));
    assert.is(new Set(seen).size, seen.length);
    double.behave();
    const behind = idsOf(await log.readAll(after, 100));
    assert.is(behind.length, 29);
    assert.equal(seen, behind.slice(0, seen.length));
  }),
);

test(
  "a position at which nothing begins is not one of this log, nor is one of another width",
  inWorld(async ({ log }) => {
    await log.append(newStream(), "absent", events(1));
    for (const position of [`${"7".padStart(20, "0")}${"7".padStart(20, "0")}`, "0000000000000007", "x"])
      assert.instance(await soon(rejection(() => log.readAll(position, 1))), TypeError);
  }),
);

test(
  "a damaged record is refused by its name, and a damaged payload is shown without its content",
  inWorld(async ({ double: { state }, log }) => {
    const [stream, payload, other] = [newStream(), newStream("payload"), newStream()];
    await log.append(stream, "absent", events(3));
    await log.append(payload, "absent", events(1));
    const [first, second] = await log.read(stream, null, 2);
    const stored = state.log.filter((record) => record.stream === payload || record.id === second?.id);
    assert.is(stored.length, 2);
    for (const member of ["data", "metadata"] as const) {
      for (const record of stored) record[member][0] = "[".charCodeAt(0);
      for (const read of [() => log.read(stream, null, 9), () => log.readAll(first?.position ?? null, 9, "records")]) {
        const error = await rejection(read);
        assert.instance(error, RecordDamaged);
        assert.match(error.message, `${stream}, revision 1, at position ${second?.position}, cannot be read`);
      }
      assert.is((await log.last(stream))?.revision, 2);
      const [kept] = await log.read(payload, null, 9);
      assert.equal([kept?.type, kept?.data, kept?.revision], [DAMAGED_TYPE, {}, 0]);
      for (const record of stored) record[member][0] = "{".charCodeAt(0);
    }
    // Another program may write to the same server, in its own form.
    await log.append(other, "absent", events(1));
    const foreign = state.log.find((record) => record.stream === other);
    assert.ok(foreign);
    for (const member of [foreign.data, foreign.metadata])
      Buffer.from(member.buffer, member.byteOffset, member.length).fill(0);
    assert.equal(await log.read(other, null, 9), []);
  }),
);

test.run();
