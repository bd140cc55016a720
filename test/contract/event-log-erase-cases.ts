import * as assert from "uvu/assert";
import type { ContractCase } from "./contract-case.ts";
import { event, events, idsOf, newStream, readOn, rejection } from "./event-log-events.ts";

/** An erased stream is empty to whoever reads, and is still there to whoever appends. */
export const eraseCases: readonly ContractCase[] = [
  {
    name: "erased payloads and personal data are read nowhere, and everything else still is",
    run: async (log) => {
      for (const category of ["payload", "personal"]) {
        const start = await log.head();
        const [gone, kept] = [newStream(category), newStream(category)];
        const staying = events(2);
        await log.append(gone, "absent", events(3));
        await log.append(kept, "absent", staying);
        await log.erase(gone);
        assert.equal(await log.read(gone, null, 10), []);
        assert.is(await log.last(gone), null);
        assert.equal(idsOf(await log.read(kept, null, 10)), idsOf(staying));
        const seen = (await readOn(log, start, 1)).filter(({ stream }) => stream === gone || stream === kept);
        assert.equal(idsOf(seen), idsOf(staying));
      }
    },
  },
  {
    name: "erasing twice, or what was never there, changes nothing",
    run: async (log) => {
      const stream = newStream("payload");
      await log.erase(stream);
      assert.is((await log.append(stream, "absent", [event()])).outcome, "appended");
      await log.erase(stream);
      await log.erase(stream);
      assert.equal(await log.read(stream, null, 10), []);
    },
  },
  {
    name: "erasing a stream that is part of the record is a bug, throws and removes nothing",
    run: async (log) => {
      for (const category of ["delivery", "account", "payloads", "person", "personals", "checkpoint"]) {
        const stream = newStream(category);
        await log.append(stream, "absent", [event()]);
        assert.instance(await rejection(() => log.erase(stream)), TypeError, category);
        assert.is((await log.read(stream, null, 10)).length, 1, category);
      }
    },
  },
  {
    name: "an erased stream does not begin again: 'absent' is a conflict, after its last revision",
    run: async (log) => {
      const stream = newStream("payload");
      await log.append(stream, "absent", events(2));
      await log.erase(stream);
      const again = await log.append(stream, "absent", [event()]);
      assert.ok(again.outcome === "conflict" && Number(again.actual) > 1, JSON.stringify(again));
      assert.equal(await log.read(stream, null, 10), []);
    },
  },
  {
    name: "an erased stream's numbering goes on, for 'any' and for the exact revision",
    run: async (log) => {
      const stream = newStream("payload");
      await log.append(stream, "absent", events(2));
      await log.erase(stream);
      const [a, b] = [event(), event()];
      const told = await log.append(stream, "absent", [event()]);
      const end = told.outcome === "conflict" && told.actual !== "absent" ? told.actual : assert.unreachable("no end");
      const third = await log.append(stream, Number(end), [a]);
      const fourth = await log.append(stream, "any", [b]);
      assert.is(third.outcome === "appended" && third.revision, Number(end) + 1);
      assert.is(fourth.outcome === "appended" && fourth.revision, Number(end) + 2);
      const stored = await log.read(stream, null, 10);
      assert.equal(idsOf(stored), idsOf([a, b]));
      assert.is(stored[0]?.revision, Number(end) + 1);
      assert.equal(idsOf(await log.read(stream, Number(end) + 1, 10)), [b.id]);
    },
  },
  {
    name: "an erasure up to a revision takes that event and earlier ones, and no later one",
    run: async (log) => {
      const stream = newStream("payload");
      const [gone, kept] = [events(2), events(2)];
      await log.append(stream, "absent", gone);
      await log.append(stream, 1, kept);
      const start = await log.head();
      await log.erase(stream, 1);
      assert.equal(idsOf(await log.read(stream, null, 10)), idsOf(kept));
      assert.is((await log.last(stream))?.revision, 3);
      assert.is(await log.head(), start, "the last one is the last one still");
      assert.equal(idsOf(await log.read(stream, 2, 10)), idsOf(kept.slice(1)));
      const next = event();
      const appended = await log.append(stream, 3, [next]);
      assert.is(appended.outcome === "appended" && appended.revision, 4, "its numbering goes on");
      await log.erase(stream, 0);
      assert.equal(
        idsOf(await log.read(stream, null, 10)),
        idsOf([...kept, next]),
        "less than before: nothing returns",
      );
      assert.equal(await log.append(stream, 1, kept), await log.append(stream, 1, kept));
      await log.erase(stream, 4);
      assert.equal(await log.read(stream, null, 10), []);
    },
  },
  {
    name: "an event appended during an erasure up to a revision stays, whichever comes first",
    run: async (log) => {
      const stream = newStream("payload");
      await log.append(stream, "absent", events(1));
      for (let upTo = 0, round = 0; round < 10; round += 1) {
        const coming = event();
        const [, appended] = await Promise.all([log.erase(stream, upTo), log.append(stream, "any", [coming])]);
        if (appended.outcome !== "appended") assert.unreachable("'any' was refused");
        else upTo = appended.revision;
        assert.equal(idsOf(await log.read(stream, null, 10)), [coming.id], `round ${round}`);
      }
    },
  },
  {
    name: "an append that expects the last erased event is a conflict",
    run: async (log) => {
      for (const upTo of [undefined, 1]) {
        const stream = newStream("payload");
        await log.append(stream, "absent", events(2));
        await log.erase(stream, upTo);
        assert.is((await log.append(stream, 1, [event()])).outcome, "conflict");
        await log.erase(stream, upTo);
        assert.equal(await log.read(stream, null, 10), []);
      }
    },
  },
  {
    name: "erasing up to what is no revision is a bug and throws",
    run: async (log) => {
      for (const upTo of [-1, 0.5, Number.NaN])
        assert.instance(await rejection(() => log.erase(newStream("payload"), upTo)), TypeError);
    },
  },
  {
    name: "a late repeat of an erased append is answered like the first and restores nothing",
    run: async (log) => {
      const stream = newStream("payload");
      const batch = events(2);
      const first = await log.append(stream, "absent", batch);
      await log.erase(stream);
      assert.equal(await log.append(stream, "absent", batch), first);
      assert.equal(await log.read(stream, null, 10), []);
    },
  },
  {
    name: "positions given before an erasure are not given again",
    run: async (log) => {
      const stream = newStream("payload");
      const first = await log.append(stream, "absent", [event()]);
      await log.erase(stream);
      const next = await log.append(newStream(), "absent", [event()]);
      if (first.outcome !== "appended" || next.outcome !== "appended") assert.unreachable("an append was refused");
      else assert.ok(first.position < next.position);
    },
  },
];
