import * as assert from "uvu/assert";
import type { NewEvent } from "../../domain/ports/event-log.ts";
import { APPEND_BYTES_MAX } from "../../infra/event-log-arguments.ts";
import type { ContractCase } from "./contract-case.ts";
import { event, idsOf, newStream, rejection } from "./event-log-events.ts";

/** What the limit counts of one event: its type, data and metadata. */
const bytesOf = ({ type, data, meta }: NewEvent): number =>
  Buffer.byteLength(type) + Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(meta));

/** An event of exactly so many bytes; `fill` is one character. */
const eventOf = (bytes: number, fill = "x"): NewEvent => {
  const made = event({ text: "" });
  const room = bytes - bytesOf(made);
  const count = Math.floor(room / Buffer.byteLength(fill));
  // What is left of a fill of several bytes is made up with one of one.
  return { ...made, data: { text: fill.repeat(count) + "x".repeat(room - count * Buffer.byteLength(fill)) } };
};

/** One limit for every engine: what one of them holds can be moved to any other. */
export const sizeCases: readonly ContractCase[] = [
  {
    name: "an append of as many bytes as the limit allows comes back as it was, in one event or in many",
    run: async (log) => {
      const [one, many] = [newStream(), newStream()];
      const whole = eventOf(APPEND_BYTES_MAX);
      assert.is((await log.append(one, "absent", [whole])).outcome, "appended");
      assert.ok((await log.last(one))?.data.text === whole.data.text);
      const parts = Array.from({ length: 10 }, () => eventOf(APPEND_BYTES_MAX / 10));
      assert.is((await log.append(many, "absent", parts)).outcome, "appended");
      assert.equal(idsOf(await log.read(many, null, 100)), idsOf(parts));
    },
  },
  {
    name: "an append of one byte more is refused with its size and the limit, and writes nothing",
    run: async (log) => {
      const stream = newStream();
      const tooMany = [eventOf(APPEND_BYTES_MAX / 2), eventOf(APPEND_BYTES_MAX / 2 + 1)];
      for (const events of [[eventOf(APPEND_BYTES_MAX + 1)], tooMany]) {
        for (const expected of ["absent", "any"] as const) {
          const refusal = await rejection(() => log.append(stream, expected, events));
          assert.is(refusal.name, "AppendTooLarge");
          assert.match(refusal.message, String(APPEND_BYTES_MAX + 1));
          assert.match(refusal.message, String(APPEND_BYTES_MAX));
        }
      }
      assert.equal(await log.read(stream, null, 10), []);
    },
  },
  {
    name: "after an append that is too large the next one works",
    run: async (log) => {
      const stream = newStream();
      const small = event();
      await Promise.all([
        rejection(() => log.append(newStream(), "absent", [eventOf(20 * APPEND_BYTES_MAX)])),
        log.append(stream, "absent", [small]),
      ]);
      assert.is((await log.append(stream, 0, [event()])).outcome, "appended");
      assert.is((await log.read(stream, null, 10))[0]?.id, small.id);
    },
  },
  {
    name: "the limit counts bytes, not characters",
    run: async (log) => {
      for (const fill of ["\u00e9", "\u20ac", "\u{1f600}"]) {
        const stream = newStream();
        const refusal = await rejection(() => log.append(stream, "absent", [eventOf(APPEND_BYTES_MAX + 1, fill)]));
        assert.is(refusal.name, "AppendTooLarge");
        const largest = eventOf(APPEND_BYTES_MAX, fill);
        await log.append(stream, "absent", [largest]);
        assert.ok((await log.last(stream))?.data.text === largest.data.text);
      }
    },
  },
];
