import * as assert from "uvu/assert";
import type { JsonObject } from "../../domain/json.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { until } from "../support/until.ts";
import type { ContractCase } from "./contract-case.ts";
import { event, events, idsOf, newStream, readOn, rejection } from "./event-log-events.ts";

/** What JSON can carry and careless storage cannot. `JSON.parse` makes `__proto__` a property of its own. */
const AWKWARD = JSON.parse(
  String.raw`{"nul":"a\u0000b","lone":"\ud800","pair":"😀","nfd":"é","rtl":"\u202e","line":"\u2028","quote":"'\"\\",
  "empty":"","":"no name","zero":0,"small":-1e-7,"large":9007199254740991,"none":null,"yes":true,"list":[[],{},[1,"a"]],
  "deep":{"a":{"b":{"c":[{"d":1}]}}},"__proto__":{"polluted":true},"constructor":1}`,
) as JsonObject;

/** Engines that only poll for others' appends do so several times a second. */
const WAKE_MAX_MS = 2_000;

export const readCases: readonly ContractCase[] = [
  {
    name: "an appended event is read back whole, at once, with its stream, revision and position",
    run: async (log) => {
      const stream = newStream();
      const [a, b] = [event({ n: 1 }, "First"), event({ n: 2 }, "Second")];
      const appended = await log.append(stream, "absent", [a, b]);
      const [first, second, ...more] = await log.read(stream, null, 10);
      assert.equal(more, []);
      assert.equal(first, { ...a, stream, revision: 0, position: first?.position });
      assert.equal(second, { ...b, stream, revision: 1, position: second?.position });
      assert.is(appended.outcome === "appended" && appended.position, second?.position);
    },
  },
  {
    name: "data of every shape that JSON has comes back as it was",
    run: async (log) => {
      const stream = newStream();
      await log.append(stream, "absent", [event(AWKWARD), event({})]);
      const [first, second] = await log.read(stream, null, 10);
      assert.is(JSON.stringify(first?.data), JSON.stringify(AWKWARD));
      assert.equal(second?.data, {});
    },
  },
  {
    name: "the log's identity does not change with its events",
    run: async (log) => {
      const identity = await log.identity();
      assert.ok(identity.length > 0);
      await log.append(newStream(), "absent", events(2));
      assert.is(await log.identity(), identity);
    },
  },
  {
    name: "a recorded event is plain data",
    run: async (log) => {
      const stream = newStream();
      await log.append(stream, "absent", [event({ n: 1 })]);
      const recorded = await log.last(stream);
      const names = ["data", "id", "meta", "position", "revision", "stream", "type"];
      for (const copy of [JSON.parse(JSON.stringify(recorded)), { ...recorded }, structuredClone(recorded)]) {
        assert.equal(Object.keys(copy).sort(), names);
        assert.equal(copy, recorded);
      }
    },
  },
  {
    name: "a recorded event cannot be changed through an object passed in or out",
    run: async (log) => {
      const stream = newStream();
      const data = { list: [1] };
      await log.append(stream, "absent", [event(data)]);
      data.list.push(2);
      const [read] = await log.read(stream, null, 1);
      // The types forbid it; the contract is about what happens when somebody does it all the same.
      const readData = read?.data as { list: number[] } | undefined;
      readData?.list.push(3);
      assert.equal((await log.read(stream, null, 1))[0]?.data, { list: [1] });
    },
  },
  {
    name: "a stream is read in pages after a revision, until an empty one",
    run: async (log) => {
      const stream = newStream();
      const stored = events(7);
      await log.append(stream, "absent", stored);
      const ids = idsOf(stored);
      assert.equal(idsOf(await log.read(stream, null, 3)), ids.slice(0, 3));
      assert.equal(idsOf(await log.read(stream, 2, 3)), ids.slice(3, 6));
      assert.equal(idsOf(await log.read(stream, 5, 3)), ids.slice(6));
      assert.equal(await log.read(stream, 6, 3), []);
      assert.equal(await log.read(stream, 99, 3), []);
    },
  },
  {
    name: "a missing stream is an empty page and has no last event",
    run: async (log) => {
      const stream = newStream();
      assert.equal(await log.read(stream, null, 10), []);
      assert.is(await log.last(stream), null);
    },
  },
  {
    name: "the last event of a stream is that of its highest revision",
    run: async (log) => {
      const stream = newStream();
      await log.append(stream, "absent", events(2));
      const newest = event({ newest: true });
      await log.append(stream, 1, [newest]);
      await log.append(newStream(), "absent", [event()]);
      const last = await log.last(stream);
      assert.is(last?.id, newest.id);
      assert.is(last?.revision, 2);
      assert.equal(last?.data, { newest: true });
    },
  },
  {
    name: "a page of no events, of a fraction, or after an invalid revision is a bug and throws",
    run: async (log) => {
      const stream = newStream();
      for (const limit of [0, -1, 1.5, Number.NaN]) {
        assert.instance(await rejection(() => log.read(stream, null, limit)), TypeError, `read ${limit}`);
        assert.instance(await rejection(() => log.readAll(null, limit)), TypeError, `readAll ${limit}`);
      }
      assert.instance(await rejection(() => log.read(stream, -1, 1)), TypeError);
    },
  },
  {
    name: "the whole log is read in the order of the appends, across streams",
    run: async (log) => {
      const start = await log.head();
      const streams = [newStream(), newStream("payload"), newStream()];
      const sent: string[] = [];
      for (let n = 0; n < 25; n += 1) {
        const batch = events((n % 3) + 1);
        await log.append(streams[n % streams.length] ?? newStream(), "any", batch);
        sent.push(...idsOf(batch));
      }
      const own = (await readOn(log, start)).filter(({ stream }) => streams.includes(stream));
      assert.equal(idsOf(own), sent);
    },
  },
  {
    name: "paging through the whole log neither skips nor repeats, whatever the page size",
    run: async (log) => {
      const start = await log.head();
      const stream = newStream();
      for (let n = 0; n < 5; n += 1) await log.append(stream, "any", events(5));
      const whole = idsOf(await readOn(log, start, 1_000));
      assert.is(whole.length >= 25, true);
      for (const pageMax of [1, 2, 7, 24, 25]) assert.equal(idsOf(await readOn(log, start, pageMax)), whole);
    },
  },
  {
    name: "positions are of one width and rise as text, as the revisions of each stream do",
    run: async (log) => {
      const start = await log.head();
      const streams = [newStream(), newStream()];
      for (let n = 0; n < 12; n += 1) await log.append(streams[n % 2] ?? newStream(), "any", events(2));
      const seen = await readOn(log, start);
      const next = new Map<string, number>();
      let before: RecordedEvent | undefined;
      for (const recorded of seen) {
        if (before !== undefined) {
          assert.ok(before.position < recorded.position, `${before.position} before ${recorded.position}`);
          assert.is(before.position.length, recorded.position.length);
        }
        before = recorded;
        if (!streams.includes(recorded.stream)) continue;
        assert.is(recorded.revision, next.get(recorded.stream) ?? 0);
        next.set(recorded.stream, recorded.revision + 1);
      }
      assert.equal([...next.values()], [12, 12]);
    },
  },
  {
    name: "a follower of the log sees every event once, in order, while many append",
    run: async (log) => {
      const start = await log.head();
      const streams = Array.from({ length: 40 }, () => newStream());
      let isWriting = true;
      const writing = Promise.all(
        streams.map(async (stream) => {
          for (let n = 0; n < 5; n += 1) await log.append(stream, "any", events(2));
        }),
      ).finally(() => {
        isWriting = false;
      });
      // Awaited below, unless the case fails before.
      writing.catch(() => undefined);
      const followed: string[] = [];
      let at = start;
      // The last round begins after the last append and so finds all that is left.
      for (let isLast = false; !isLast; ) {
        isLast = !isWriting;
        const page = await readOn(log, at, 13);
        at = page.at(-1)?.position ?? at;
        followed.push(...idsOf(page));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await writing;
      const whole = idsOf(await readOn(log, start));
      // Compared as text: showing how two such lists differ would take half a minute.
      assert.ok(followed.join() === whole.join(), `${followed.length} were seen of ${whole.length}`);
      assert.ok(whole.length >= 400);
    },
  },
  {
    name: "the head is the position of the newest event",
    run: async (log) => {
      const appended = await log.append(newStream(), "absent", events(2));
      const head = await log.head();
      assert.is(head, appended.outcome === "appended" ? appended.position : null);
      assert.equal(await log.readAll(head, 10), []);
    },
  },
  {
    name: "the head of the records ignores payloads",
    run: async (log) => {
      const record = await log.append(newStream(), "absent", events(2));
      await log.append(newStream("payload"), "absent", events(3));
      assert.is(await log.head("records"), record.outcome === "appended" ? record.position : null);
      assert.equal(await log.readAll(await log.head("records"), 10, "records"), []);
    },
  },
  {
    name: "an append wakes everyone who listens",
    run: async (log) => {
      const woken = [0, 0];
      const stops = [0, 1].map((n) =>
        log.onAppended(() => {
          woken[n] = (woken[n] ?? 0) + 1;
        }),
      );
      await log.append(newStream(), "absent", [event()]);
      await until("both are woken", () => woken.every((times) => times > 0), WAKE_MAX_MS);
      for (const stop of stops) stop();
    },
  },
  {
    name: "a listener that has stopped is not woken",
    run: async (log) => {
      let stopped = 0;
      let listening = 0;
      const stop = log.onAppended(() => {
        stopped += 1;
      });
      const stopOther = log.onAppended(() => {
        listening += 1;
      });
      stop();
      stop();
      await log.append(newStream(), "absent", [event()]);
      await until("the other is woken", () => listening > 0, WAKE_MAX_MS);
      stopOther();
      assert.is(stopped, 0);
    },
  },
  {
    name: "the records leave out payload- and personal- streams and nothing else, in the same order",
    run: async (log) => {
      const before = await log.head();
      const [kept, ...left] = [newStream(), newStream("payload"), newStream("personal")];
      for (const stream of [left[0], kept, left[1], left[0], kept, left[1]])
        await log.append(stream ?? kept, "any", [event()]);
      const all = await log.readAll(before, 100);
      const records = await log.readAll(before, 100, "records");
      assert.equal(idsOf(records), idsOf(all.filter(({ stream }) => stream === kept)));
      assert.is(records.length, 2);
      assert.is(await log.head("records"), records.at(-1)?.position);
      assert.equal(idsOf(await log.readAll(before, 1, "records")), idsOf(records.slice(0, 1)));
    },
  },
  {
    name: "following a few types shows each of their events once and continues after all others",
    run: async (log) => {
      const before = await log.head();
      const stream = newStream();
      const types = ["Wanted", "Other", "Other", "Also", "Other", "Wanted", "Other"];
      for (const type of types) await log.append(stream, "any", [event({}, type)]);
      const seen: string[] = [];
      let after = before;
      for (;;) {
        const { events: page, upTo } = await log.readTypes(["Wanted", "Also"], after, 2);
        seen.push(...page.map(({ type }) => type));
        if (upTo === null) break;
        assert.ok(after === null || upTo > after);
        after = upTo;
      }
      assert.equal(seen, ["Wanted", "Also", "Wanted"]);
      assert.is(after, await log.head());
      assert.equal(await log.readTypes(["Wanted"], after, 2), { events: [], upTo: null });
    },
  },
];
