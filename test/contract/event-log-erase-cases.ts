import * as assert from "uvu/assert";
import type { ContractCase } from "./event-log.ts";
import { event, events, idsOf, newStream, readOn, rejection } from "./event-log-events.ts";

/** An erased stream is empty to whoever reads, and is still there to whoever appends. */
export const eraseCases: readonly ContractCase[] = [
  {
    name: "an erased payload is read nowhere, and everything else still is",
    run: async (log) => {
      const start = await log.head();
      const [gone, kept] = [newStream("payload"), newStream("payload")];
      const staying = events(2);
      await log.append(gone, "absent", events(3));
      await log.append(kept, "absent", staying);
      await log.erase(gone);
      assert.equal(await log.read(gone, null, 10), []);
      assert.is(await log.last(gone), null);
      assert.equal(idsOf(await log.read(kept, null, 10)), idsOf(staying));
      const seen = (await readOn(log, start, 1)).filter(({ stream }) => stream === gone || stream === kept);
      assert.equal(idsOf(seen), idsOf(staying));
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
    name: "erasing a stream that is not a payload is a bug, throws and removes nothing",
    run: async (log) => {
      for (const category of ["delivery", "account", "payloads", "checkpoint"]) {
        const stream = newStream(category);
        await log.append(stream, "absent", [event()]);
        assert.instance(await rejection(() => log.erase(stream)), TypeError, category);
        assert.is((await log.read(stream, null, 10)).length, 1, category);
      }
    },
  },
  {
    name: "an erased stream does not begin again: 'absent' is a conflict, at its last revision or behind",
    run: async (log) => {
      const stream = newStream("payload");
      await log.append(stream, "absent", events(2));
      await log.erase(stream);
      const again = await log.append(stream, "absent", [event()]);
      // An engine may need a revision of its own to erase.
      assert.ok(again.outcome === "conflict" && Number(again.actual) >= 1, JSON.stringify(again));
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
    name: "a late repeat of an erased append is answered as the first time and brings nothing back",
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
