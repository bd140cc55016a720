import * as assert from "uvu/assert";
import type { ContractCase } from "./contract-case.ts";
import { event, events, idsOf, newStream } from "./event-log-events.ts";

/** A lost reply is answered by sending the same append again: same ids, same expected revision. */
export const repeatCases: readonly ContractCase[] = [
  {
    name: "a repeat of an 'absent' append is answered like the first and writes nothing",
    run: async (log) => {
      const stream = newStream();
      const batch = events(2);
      const first = await log.append(stream, "absent", batch);
      assert.equal(await log.append(stream, "absent", batch), first);
      assert.equal(idsOf(await log.read(stream, null, 10)), idsOf(batch));
    },
  },
  {
    name: "a repeat of an append at an exact revision is answered like the first and writes nothing",
    run: async (log) => {
      const stream = newStream();
      await log.append(stream, "absent", events(2));
      const batch = events(2);
      const first = await log.append(stream, 1, batch);
      assert.equal(await log.append(stream, 1, batch), first);
      assert.is((await log.read(stream, null, 10)).length, 4);
    },
  },
  {
    name: "a repeat is recognised after later events",
    run: async (log) => {
      const stream = newStream();
      const [one, two] = [events(2), events(1)];
      const first = await log.append(stream, "absent", one);
      const second = await log.append(stream, 1, two);
      await log.append(stream, 2, events(3));
      assert.equal(await log.append(stream, "absent", one), first);
      assert.equal(await log.append(stream, 1, two), second);
      assert.is((await log.read(stream, null, 10)).length, 6);
    },
  },
  {
    name: "the beginning of an append is a repeat of it, with its own last revision and position",
    run: async (log) => {
      const stream = newStream();
      const batch = events(3);
      await log.append(stream, "absent", batch);
      const second = (await log.read(stream, null, 10))[1];
      const again = await log.append(stream, "absent", batch.slice(0, 2));
      assert.equal(again, { outcome: "appended", revision: 1, position: second?.position });
    },
  },
  {
    name: "an append longer than the one written is a conflict and writes nothing",
    run: async (log) => {
      const stream = newStream();
      const batch = events(2);
      await log.append(stream, "absent", batch);
      assert.equal(await log.append(stream, "absent", [...batch, event()]), { outcome: "conflict", actual: 1 });
      assert.is((await log.read(stream, null, 10)).length, 2);
    },
  },
  {
    name: "the same ids in another order, or at another revision, are no repeat",
    run: async (log) => {
      const stream = newStream();
      const [a, b, c] = [event(), event(), event()];
      await log.append(stream, "absent", [a, b, c]);
      assert.equal(await log.append(stream, "absent", [b, a]), { outcome: "conflict", actual: 2 });
      assert.equal(await log.append(stream, "absent", [b]), { outcome: "conflict", actual: 2 });
      assert.equal(await log.append(stream, 1, [b]), { outcome: "conflict", actual: 2 });
    },
  },
  {
    name: "a repeat of the last 'any' append is answered like the first and writes nothing",
    run: async (log) => {
      const stream = newStream();
      await log.append(stream, "any", events(2));
      const batch = events(2);
      const first = await log.append(stream, "any", batch);
      assert.equal(await log.append(stream, "any", batch), first);
      assert.is((await log.read(stream, null, 10)).length, 4);
    },
  },
  {
    name: "one append sent many times at once happens once",
    run: async (log) => {
      const stream = newStream();
      const batch = events(2);
      const results = await Promise.all(Array.from({ length: 20 }, () => log.append(stream, "absent", batch)));
      for (const result of results) assert.equal(result, results[0]);
      assert.is(results[0]?.outcome, "appended");
      assert.is((await log.read(stream, null, 100)).length, 2);
    },
  },
  {
    name: "the same id in another stream is another event",
    run: async (log) => {
      const [one, two] = [newStream(), newStream()];
      const same = event();
      await log.append(one, "absent", [same]);
      assert.is((await log.append(two, "absent", [same])).outcome, "appended");
      assert.equal(idsOf(await log.read(two, null, 10)), [same.id]);
    },
  },
];
