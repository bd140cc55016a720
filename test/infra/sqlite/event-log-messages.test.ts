import { suite } from "uvu";
import * as assert from "uvu/assert";
import { positionOf } from "../../../infra/event-log-arguments.ts";
import {
  decodeOperations,
  encodeOutcomes,
  OperationsEncoder,
  OutcomesDecoder,
} from "../../../infra/sqlite/event-log-messages.ts";
import type { Append, EventRow, EventText, Operation, Outcome } from "../../../infra/sqlite/event-log-writer.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import { sumOfRounds } from "../../support/simulation.ts";

const test = suite("messages between the SQLite log and its writer");

const MIB = 1024 * 1024;

/** What `JSON.stringify` makes of texts that an encoder could get wrong, a lone surrogate among them. */
const TEXTS = [
  "",
  "{}",
  ...["é€😀", 'quotes " and \\', "\u0000\u2028", "\ud800 alone", "x".repeat(300)].map((text) =>
    JSON.stringify({ text }),
  ),
];

const decodedText = (text: string | Uint8Array): string =>
  typeof text === "string" ? text : new TextDecoder("utf-8", { fatal: true }).decode(text);

const asText = ({ data, meta, ...rest }: EventRow): EventText => ({
  ...rest,
  data: decodedText(data),
  meta: decodedText(meta),
});

/** What an operation carries, with bytes as text again. */
const asTexts = (operation: Operation): unknown => {
  if (operation.kind === "erase") return operation;
  if (operation.kind === "append") return { ...operation, events: operation.events.map(asText) };
  return {
    ...operation,
    appends: operation.appends.map((one) => ({ ...one, events: one.events.map(asText) })),
  };
};

const sent = (encoder: OperationsEncoder): readonly Operation[] => {
  const message = encoder.take();
  // As a message is handed to another thread.
  return decodeOperations(structuredClone(message, { transfer: [message.texts] }));
};

const oneOf = <T>(random: SeededRandom, values: readonly T[], otherwise: T): T =>
  values[random.below(values.length)] ?? otherwise;

const randomText = (random: SeededRandom): string => oneOf(random, TEXTS, "").repeat(random.below(20) === 0 ? 400 : 1);

const randomAppend = (random: SeededRandom): Append<EventText> => {
  const count = 1 + random.below(4);
  const meta = `{"meta":${random.below(3)}}`;
  const events = Array.from({ length: count }, (_, index) => ({
    id: `id-${index}-é`,
    type: "Happened",
    data: randomText(random),
    meta: random.below(4) === 0 ? `{"meta":"other ${index}"}` : meta,
  }));
  const expected = oneOf(random, ["absent", "any", 0, 7, Number.MAX_SAFE_INTEGER] as const, "any");
  return { kind: "append", category: "delivery", key: `evt_${random.below(9)}-€`, expected, events };
};

const randomOperation = (random: SeededRandom): Operation<EventText> => {
  const kind = random.below(3);
  if (kind === 0) return { kind: "erase", category: "payload", key: "a-b", upTo: Number.MAX_SAFE_INTEGER };
  if (kind === 1) return randomAppend(random);
  const appends = Array.from({ length: 1 + random.below(5) }, (_, index) => ({
    ...randomAppend(random),
    follows: Array.from({ length: index }, (_, earlier) => earlier),
  }));
  return { kind: "group", appends };
};

test("operations arrive as they were sent, message after message", async () => {
  await sumOfRounds(async (random) => {
    const encoder = new OperationsEncoder();
    for (let message = 0; message < 10; message += 1) {
      const operations = Array.from({ length: random.below(30) }, () => randomOperation(random));
      for (const operation of operations) encoder.add(operation);
      assert.is(encoder.count, operations.length);
      assert.equal(sent(encoder).map(asTexts), operations);
    }
    return 1;
  });
});

test("texts of a MiB and more arrive whole, with small ones before and after them", () => {
  const encoder = new OperationsEncoder();
  const data = [
    "{}",
    JSON.stringify("x".repeat(MIB)),
    JSON.stringify("€".repeat(MIB)),
    "{}",
    JSON.stringify("😀".repeat(MIB / 2)),
  ];
  const events = data.map((text, index) => ({ id: String(index), type: "Large", data: text, meta: "{}" }));
  const operation: Append<EventText> = { kind: "append", category: "payload", key: "a", expected: "absent", events };
  encoder.add(operation);
  encoder.add(operation);
  assert.equal(sent(encoder).map(asTexts), [operation, operation]);
});

test("an operation that cannot be encoded leaves nothing in the message", () => {
  const encoder = new OperationsEncoder();
  const good = { id: "1", type: "Happened", data: '{"n":1}', meta: "{}" };
  const append: Append<EventText> = { kind: "append", category: "payload", key: "a", expected: "any", events: [good] };
  encoder.add(append);
  // What a full memory does: it fails in the middle of the operation.
  const bad = { ...good, data: null as unknown as string };
  assert.throws(() => encoder.add({ ...append, events: [{ ...good, meta: "[]" }, bad] }));
  encoder.add(append);
  assert.equal(sent(encoder).map(asTexts), [append, append]);
});

test("metadata of successive events are sent once", () => {
  const encoder = new OperationsEncoder();
  const meta = JSON.stringify({ text: "m".repeat(10_000) });
  const events = Array.from({ length: 100 }, (_, index) => ({ id: String(index), type: "Happened", data: "{}", meta }));
  const append: Append<EventText> = { kind: "append", category: "payload", key: "a", expected: "any", events };
  encoder.add(append);
  encoder.add({ kind: "group", appends: [{ ...append, follows: [] }] });
  const message = encoder.take();
  assert.ok(message.texts.byteLength <= 64 * 1024, String(message.texts.byteLength));
  assert.equal(decodeOperations(message).map(asTexts)[0], append);
});

test("outcomes arrive as they were answered, and what was not answered is null", () => {
  const position = positionOf(Number.MAX_SAFE_INTEGER);
  const grouped = [
    { outcome: "appended", revision: 0, position: positionOf(1) },
    { outcome: "conflict", actual: "absent" },
    { outcome: "refused" },
  ] as const;
  const outcomes: readonly Outcome[] = [
    { outcome: "appended", revision: Number.MAX_SAFE_INTEGER, position },
    { outcome: "conflict", actual: 0 },
    { outcome: "group", outcomes: grouped },
    { outcome: "erased" },
  ];
  const decoder = new OutcomesDecoder(structuredClone(encodeOutcomes(outcomes)));
  const decoded = Array.from({ length: 6 }, () => decoder.next());
  assert.equal(decoded, [outcomes[0], outcomes[1], ...grouped, outcomes[3]]);
  assert.is(decoder.next(), null);
});

test.run();
