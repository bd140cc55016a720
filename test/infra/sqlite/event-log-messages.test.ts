import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import type { Metadata, NewEvent } from "../../../domain/ports/event-log.ts";
import { APPEND_BYTES_MAX, GROUP_BYTES_MAX, positionOf } from "../../../infra/event-log-arguments.ts";
import { AppendTooLarge } from "../../../infra/log-errors.ts";
import {
  decodeOperations,
  encodeOutcomes,
  OperationsEncoder,
  OutcomesDecoder,
} from "../../../infra/sqlite/event-log-messages.ts";
import type { Append, EventRow, Operation, Outcome } from "../../../infra/sqlite/event-log-writer.ts";
import { metadataText } from "../../../infra/sqlite/metadata-text.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import { sumOfRounds } from "../../support/simulation.ts";

const test = suite("messages between the SQLite log and its writer");

/** Data that an encoder could get wrong, a lone surrogate among them. */
const DATA: readonly JsonObject[] = [
  {},
  ...["", "é€😀", 'quotes " and \\', "\u0000\u2028", "\ud800 alone", "x".repeat(300)].map((text) => ({ text })),
];

const metaOf = (command: string): Metadata => ({
  account: "acc_1",
  actor: { kind: "source", id: "src_1" },
  command_id: command,
  trace_id: "0".repeat(32),
  span_id: "0".repeat(16),
  causation_id: null,
  recorded_at: "2026-01-02T03:04:05.678Z",
  schema: 1,
});

const eventOf = (id: string, data: JsonObject, meta = metaOf("cmd_1")): NewEvent => ({
  id,
  type: "Happened",
  data,
  meta,
});

const appendOf = (events: readonly NewEvent[]): Append<NewEvent> => ({
  ...{ kind: "append", category: "payload", key: "a", expected: "absent" },
  events,
});

const decodedText = (text: string | Uint8Array): string =>
  typeof text === "string" ? text : new TextDecoder("utf-8", { fatal: true }).decode(text);

const textOfRow = ({ data, meta, ...rest }: EventRow): unknown => ({
  ...rest,
  data: decodedText(data),
  meta: decodedText(meta),
});

const textOfEvent = ({ data, meta, ...rest }: NewEvent): unknown => ({
  ...rest,
  data: JSON.stringify(data),
  meta: metadataText(meta),
});

/** What an operation carries, with each event as the texts that are stored. */
const asTexts =
  <E>(textOf: (event: E) => unknown) =>
  (operation: Operation<E>): unknown => {
    if (operation.kind === "erase") return operation;
    if (operation.kind === "append") return { ...operation, events: operation.events.map(textOf) };
    return { ...operation, appends: operation.appends.map((one) => ({ ...one, events: one.events.map(textOf) })) };
  };

const arrived = (operations: readonly Operation[]): unknown => operations.map(asTexts(textOfRow));
const given = (operations: readonly Operation<NewEvent>[]): unknown => operations.map(asTexts(textOfEvent));

const sent = (encoder: OperationsEncoder): readonly Operation[] => {
  const message = encoder.take();
  // As a message is handed to another thread.
  return decodeOperations(structuredClone(message, { transfer: [message.texts] }));
};

const oneOf = <T>(random: SeededRandom, values: readonly T[], otherwise: T): T =>
  values[random.below(values.length)] ?? otherwise;

const randomData = (random: SeededRandom): JsonObject => {
  const data = oneOf(random, DATA, {});
  return random.below(20) === 0 ? { many: Array.from({ length: 400 }, () => data) } : data;
};

const randomAppend = (random: SeededRandom, metas: readonly Metadata[]): Append<NewEvent> => {
  const count = 1 + random.below(4);
  const meta = oneOf(random, metas, metaOf("cmd_1"));
  const events = Array.from({ length: count }, (_, index) =>
    eventOf(`id-${index}-é`, randomData(random), random.below(4) === 0 ? metaOf(`other ${index}`) : meta),
  );
  const expected = oneOf(random, ["absent", "any", 0, 7, Number.MAX_SAFE_INTEGER] as const, "any");
  return { kind: "append", category: "delivery", key: `evt_${random.below(9)}-€`, expected, events };
};

const METAS = ["cmd_1", "cmd_2", "cmd_é"].map(metaOf);

const randomOperation = (random: SeededRandom): Operation<NewEvent> => {
  const kind = random.below(3);
  if (kind === 0) return { kind: "erase", category: "payload", key: "a-b", upTo: Number.MAX_SAFE_INTEGER };
  if (kind === 1) return randomAppend(random, METAS);
  const appends = Array.from({ length: 1 + random.below(5) }, (_, index) => ({
    ...randomAppend(random, METAS),
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
      assert.equal(arrived(sent(encoder)), given(operations));
    }
    return 1;
  });
});

test("texts of a MiB and more arrive whole, with small ones before and after them", () => {
  const encoder = new OperationsEncoder();
  const long = (text: string, length: number) => appendOf([eventOf("1", { text: text.repeat(length) })]);
  const small = appendOf([eventOf("2", {})]);
  const appends = [long("x", 900_000), long("€", 300_000), long("😀", 200_000)].map((one) => ({ ...one, follows: [] }));
  const operations: Operation<NewEvent>[] = [small, { kind: "group", appends }, small];
  for (const operation of operations) encoder.add(operation);
  assert.equal(arrived(sent(encoder)), given(operations));
  for (const operation of operations) encoder.add(operation);
  assert.equal(arrived(sent(encoder)), given(operations));
});

test("an operation that cannot be encoded leaves nothing in the message", () => {
  const encoder = new OperationsEncoder();
  const append = appendOf([eventOf("1", { n: 1 })]);
  const circular: Record<string, unknown> = {};
  circular.itself = circular;
  // It fails in the middle of the operation, as where memory is full.
  const bad = [eventOf("2", {}, metaOf("other")), eventOf("3", circular as JsonObject)];
  encoder.add(append);
  assert.throws(() => encoder.add(appendOf(bad)));
  encoder.add(append);
  assert.equal(arrived(sent(encoder)), given([append, append]));
});

test("what is too large is refused and leaves nothing in the message", () => {
  const encoder = new OperationsEncoder();
  const append = appendOf([eventOf("1", { n: 1 })]);
  encoder.add(append);
  const tooLarge = appendOf([eventOf("2", {}), eventOf("3", { text: "€".repeat(APPEND_BYTES_MAX / 3) })]);
  assert.throws(
    () => encoder.add(tooLarge),
    (error: unknown) => error instanceof AppendTooLarge,
  );
  const large = appendOf([eventOf("4", { text: "x".repeat(APPEND_BYTES_MAX - 1_000) })]);
  const group = Array.from({ length: GROUP_BYTES_MAX / APPEND_BYTES_MAX + 1 }, () => ({ ...large, follows: [] }));
  assert.throws(
    () => encoder.add({ kind: "group", appends: group }),
    (error: unknown) => error instanceof AppendTooLarge,
  );
  encoder.add(large);
  assert.equal(arrived(sent(encoder)), given([append, large]));
});

test("metadata of successive events are sent once", () => {
  const encoder = new OperationsEncoder();
  const meta = metaOf("m".repeat(10_000));
  const append = appendOf(Array.from({ length: 20 }, (_, index) => eventOf(String(index), {}, meta)));
  encoder.add(append);
  encoder.add({ kind: "group", appends: [{ ...append, follows: [] }] });
  const message = encoder.take();
  assert.ok(message.texts.byteLength <= 2 * 10_000, String(message.texts.byteLength));
  const [first] = decodeOperations(message);
  assert.equal(first === undefined ? null : arrived([first]), given([append]));
  // The next message is decoded by itself, so it has the metadata again.
  encoder.add(append);
  assert.equal(arrived(sent(encoder)), given([append]));
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
