import { randomUUID } from "node:crypto";
import * as assert from "uvu/assert";
import type { ContractCase } from "./contract-case.ts";
import { event, events, idsOf, newStream, readOn, rejection } from "./event-log-events.ts";

/** As many as a sender that retries impatiently, and more than a pool of connections. */
const RACERS = 50;

export const appendCases: readonly ContractCase[] = [
  {
    name: "an append answers the revision and position of its last event",
    run: async (log) => {
      const stream = newStream();
      const appended = await log.append(stream, "absent", events(3));
      const last = (await log.read(stream, null, 10)).at(-1);
      assert.equal(appended, { outcome: "appended", revision: 2, position: last?.position });
    },
  },
  {
    name: "'absent' admits exactly one of many racing creators and tells the others the winner's revision",
    run: async (log) => {
      const stream = newStream();
      const racers = Array.from({ length: RACERS }, () => event());
      const results = await Promise.all(racers.map((racer) => log.append(stream, "absent", [racer])));
      const winners = racers.filter((_, index) => results[index]?.outcome === "appended");
      assert.is(winners.length, 1);
      for (const result of results.filter(({ outcome }) => outcome === "conflict"))
        assert.equal(result, { outcome: "conflict", actual: 0 });
      assert.equal(idsOf(await log.read(stream, null, 100)), idsOf(winners));
    },
  },
  {
    name: "'absent' on a stream that exists is a conflict, reports its head and writes nothing",
    run: async (log) => {
      const stream = newStream();
      const first = events(3);
      await log.append(stream, "absent", first);
      assert.equal(await log.append(stream, "absent", events(2)), { outcome: "conflict", actual: 2 });
      assert.equal(idsOf(await log.read(stream, null, 10)), idsOf(first));
    },
  },
  {
    name: "an exact revision appends after it",
    run: async (log) => {
      const stream = newStream();
      const [a, b, c] = [event(), event(), event()];
      await log.append(stream, "absent", [a]);
      const second = await log.append(stream, 0, [b, c]);
      assert.is(second.outcome === "appended" && second.revision, 2);
      const stored = await log.read(stream, null, 10);
      assert.equal(idsOf(stored), idsOf([a, b, c]));
      assert.equal(
        stored.map(({ revision }) => revision),
        [0, 1, 2],
      );
    },
  },
  {
    name: "a stale revision is a conflict, reports the head and writes nothing",
    run: async (log) => {
      const stream = newStream();
      const start = await log.head();
      const stored = events(2);
      await log.append(stream, "absent", stored);
      assert.equal(await log.append(stream, 0, [event()]), { outcome: "conflict", actual: 1 });
      assert.equal(await log.append(stream, 0, events(3)), { outcome: "conflict", actual: 1 });
      const seen = (await readOn(log, start)).filter((recorded) => recorded.stream === stream);
      assert.equal(idsOf(seen), idsOf(stored));
    },
  },
  {
    name: "a future revision is a conflict and leaves no gap",
    run: async (log) => {
      const stream = newStream();
      await log.append(stream, "absent", [event()]);
      assert.equal(await log.append(stream, 1, [event()]), { outcome: "conflict", actual: 0 });
      assert.equal(await log.append(stream, 7, [event()]), { outcome: "conflict", actual: 0 });
      assert.is((await log.read(stream, null, 10)).length, 1);
    },
  },
  {
    name: "an exact revision of a missing stream is a conflict with 'absent'",
    run: async (log) => {
      const stream = newStream();
      assert.equal(await log.append(stream, 0, [event()]), { outcome: "conflict", actual: "absent" });
      assert.equal(await log.read(stream, null, 10), []);
    },
  },
  {
    name: "an exact revision admits exactly one of many racing writers",
    run: async (log) => {
      const stream = newStream();
      await log.append(stream, "absent", [event()]);
      const results = await Promise.all(Array.from({ length: RACERS }, () => log.append(stream, 0, [event()])));
      assert.is(results.filter(({ outcome }) => outcome === "appended").length, 1);
      assert.is((await log.read(stream, null, 100)).length, 2);
    },
  },
  {
    name: "'any' appends at the head, whether or not the stream exists",
    run: async (log) => {
      const stream = newStream();
      const first = await log.append(stream, "any", [event()]);
      const second = await log.append(stream, "any", events(2));
      assert.is(first.outcome === "appended" && first.revision, 0);
      assert.is(second.outcome === "appended" && second.revision, 2);
    },
  },
  {
    name: "many racing 'any' appends all succeed, each whole and at its own place",
    run: async (log) => {
      const stream = newStream();
      const appends = Array.from({ length: RACERS }, () => events(2));
      const results = await Promise.all(appends.map((pair) => log.append(stream, "any", pair)));
      const stored = await log.read(stream, null, 1_000);
      assert.equal(
        stored.map(({ revision }) => revision),
        stored.map((_, index) => index),
      );
      for (const [index, result] of results.entries()) {
        if (result.outcome !== "appended") assert.unreachable("an 'any' append was refused");
        else assert.equal(idsOf(stored.slice(result.revision - 1, result.revision + 1)), idsOf(appends[index] ?? []));
      }
    },
  },
  {
    name: "one append's conflict does not touch those sent together with it",
    run: async (log) => {
      const [taken, free] = [newStream(), newStream()];
      await log.append(taken, "absent", [event()]);
      const outcomes = await Promise.all([
        log.append(free, "absent", [event()]),
        log.append(taken, "absent", [event()]),
        log.append(free, 0, [event()]),
      ]);
      assert.equal(
        outcomes.map(({ outcome }) => outcome),
        ["appended", "conflict", "appended"],
      );
      assert.is((await log.read(free, null, 10)).length, 2);
    },
  },
  {
    name: "streams whose names begin alike are different streams",
    run: async (log) => {
      const id = randomUUID();
      const names = [`delivery-${id}`, `delivery-${id}-a`, `delivery-${id}-a-b`, `delivery-${id}-A`, `payload-${id}`];
      const nfc = `delivery-${id}-\u00e9`;
      const all = [...names, nfc, nfc.normalize("NFD"), `delivery-${id}_a`, `delivery-${id}%`];
      for (const name of all)
        assert.is((await log.append(name, "absent", [event({ name })])).outcome, "appended", name);
      for (const name of all) {
        const stored = await log.read(name, null, 10);
        assert.equal(
          stored.map((recorded) => [recorded.stream, recorded.data]),
          [[name, { name }]],
        );
      }
    },
  },
  {
    name: "an append of nothing is a bug and throws",
    run: async (log) => {
      const stream = newStream();
      assert.instance(await rejection(() => log.append(stream, "any", [])), TypeError);
      assert.instance(await rejection(() => log.append(stream, "absent", [])), TypeError);
    },
  },
  {
    name: "an invalid stream name is a bug and throws",
    run: async (log) => {
      const names = [
        "",
        "delivery",
        "delivery-",
        "-x",
        "$system-x",
        "Delivery-x",
        "delivery-\u0000",
        "delivery-\ud800",
      ];
      for (const name of [...names, `delivery-${"x".repeat(600)}`]) {
        assert.instance(await rejection(() => log.append(name, "any", [event()])), TypeError, name);
        assert.instance(await rejection(() => log.read(name, null, 1)), TypeError, name);
        assert.instance(await rejection(() => log.last(name)), TypeError, name);
      }
    },
  },
  {
    name: "a revision that is none, one id twice, an event without id or type are bugs and throw",
    run: async (log) => {
      const stream = newStream();
      const one = event();
      for (const expected of [-1, 0.5, Number.NaN])
        assert.instance(await rejection(() => log.append(stream, expected, [one])), TypeError, String(expected));
      assert.instance(await rejection(() => log.append(stream, "any", [one, one])), TypeError);
      for (const text of ["", "a\u0000b", "\ud800"]) {
        assert.instance(await rejection(() => log.append(stream, "any", [{ ...one, id: text }])), TypeError);
        assert.instance(await rejection(() => log.append(stream, "any", [event({}, text)])), TypeError);
      }
      assert.equal(await log.read(stream, null, 10), []);
    },
  },
  {
    name: "a closed log refuses to append",
    run: async (log) => {
      await log.close();
      assert.is((await rejection(() => log.append(newStream(), "any", [event()]))).name, "LogUnavailable");
    },
  },
];
