import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Expected } from "../../../domain/ports/event-log.ts";
import type { Database } from "../../../infra/sqlite/driver.ts";
import { type EventLogReader, openReader } from "../../../infra/sqlite/event-log-reader.ts";
import { openWriting } from "../../../infra/sqlite/event-log-schema.ts";
import {
  type EventLogWriter,
  type EventText,
  eventLogWriter,
  type Operation,
  type Outcome,
} from "../../../infra/sqlite/event-log-writer.ts";
import { IndexBatches } from "../../../infra/sqlite/index-batches.ts";
import { StreamIndex } from "../../../infra/sqlite/stream-index.ts";
import type { StreamName } from "../../../infra/stream-name.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import { sumOfRounds } from "../../support/simulation.ts";

const test = suite("the index of streams in SQLite");

const META = JSON.stringify({ account: "acc_1" });
const event = (): EventText => ({ id: randomUUID(), type: "Happened", data: "{}", meta: META });

/** Every stream shares its hash with others. */
const collidingHash = ({ category, key }: StreamName): number => (category.length + key.length) % 2;

const STREAMS: readonly StreamName[] = [
  ...["a", "b", "cc", "dd"].map((key) => ({ category: "delivery", key })),
  ...["a", "b"].map((key) => ({ category: "payload", key })),
  // The reader keeps another tail for streams that are rarely written.
  ...["a", "b"].map((key) => ({ category: "policy", key })),
];

/** Two writing connections of one file, as two processes have them, each with batches of a few records. */
const opened = (size: number) => {
  const directory = mkdtempSync(join(tmpdir(), "countersign-test-"));
  const path = join(directory, "log.sqlite");
  const connections = [openWriting({ path }), openWriting({ path })] as const;
  const writerOn = (db: Database): EventLogWriter => {
    const index = new StreamIndex(db, { hash: collidingHash });
    return eventLogWriter(db, index, new IndexBatches(db, index, size));
  };
  // These tests need no durability.
  for (const db of connections) db.exec("PRAGMA synchronous = OFF");
  const reader = openReader(path, collidingHash);
  const [first] = connections;
  const rowsOf = ({ category, key }: StreamName) =>
    first
      .prepare("SELECT revision, id, type FROM events WHERE category = ? AND key = ? ORDER BY position")
      .all(category, key);
  const close = (): void => {
    reader.close();
    for (const db of connections) db.close();
    rmSync(directory, { recursive: true });
  };
  return { path, first, writers: connections.map(writerOn), writerOn, reader, rowsOf, close };
};

type Opened = ReturnType<typeof opened>;

const outcomeOf = (writer: EventLogWriter | undefined, operation: Operation): Outcome | undefined => {
  const group = writer?.commit([operation]);
  if (group?.result !== "committed") throw new Error(`not committed: ${JSON.stringify(group)}`);
  return group.outcomes[0];
};

const checkStreams = ({ reader, rowsOf }: Opened): void => {
  for (const stream of STREAMS) {
    const rows = rowsOf(stream);
    assert.equal(
      rows.map(({ revision }) => revision),
      rows.map((_, index) => index),
      "revisions have no gaps",
    );
    const present = rows.filter(({ type }) => type !== "").map(({ id }) => id);
    assert.equal(
      reader.read(stream, null, 1_000).map(({ id }) => id),
      present,
    );
    assert.is(reader.last(stream)?.id, present.at(-1));
    // A reader remembers where the stream ends, and finds what is appended there nevertheless.
    assert.equal(reader.read(stream, Math.max(0, rows.length - 1), 3), []);
    const middle = rows.length >> 1;
    assert.equal(
      reader.read(stream, middle, 3).map(({ revision }) => revision),
      rows.flatMap(({ revision, type }) => (Number(revision) > middle && type !== "" ? [revision] : [])).slice(0, 3),
    );
  }
};

const append = (stream: StreamName, expected: Expected, events: readonly EventText[]): Operation => ({
  kind: "append",
  ...stream,
  expected,
  events,
});

type Done = { readonly operation: Operation; readonly outcome: Outcome | undefined };

const tell = (reader: EventLogReader, { operation, outcome }: Done): void => {
  if (operation.kind === "append" && outcome?.outcome === "appended")
    reader.appended(operation, operation.events.length, outcome.position);
};

const round = async (random: SeededRandom): Promise<number> => {
  const log = opened(8);
  const done: Done[] = [];
  for (let step = 0; step < 150; step += 1) {
    const writer = log.writers[random.below(log.writers.length)];
    const stream = STREAMS[random.below(STREAMS.length)];
    if (stream === undefined) continue;
    const head = log.rowsOf(stream).length - 1;
    const dice = random.next();
    const earlier = done[random.below(done.length)];
    if (dice < 0.05 && stream.category === "payload") {
      outcomeOf(writer, { kind: "erase", ...stream, upTo: random.below(head + 2) });
    } else if (dice < 0.2 && earlier !== undefined) {
      assert.equal(outcomeOf(writer, earlier.operation), earlier.outcome, "a repeat is answered like the first");
      tell(log.reader, earlier);
    } else if (dice < 0.3) {
      const expected = head + 1 + random.below(2);
      const outcome = outcomeOf(writer, append(stream, expected, [event()]));
      assert.equal(outcome, { outcome: "conflict", actual: head === -1 ? "absent" : head });
    } else {
      const operation = append(
        stream,
        head === -1 ? "absent" : head,
        Array.from({ length: 1 + random.below(3) }, event),
      );
      const outcome = outcomeOf(writer, operation);
      assert.is(outcome?.outcome, "appended");
      done.push({ operation, outcome });
      // Another process may have appended, of which the reader is not told.
      if (random.next() < 0.7) tell(log.reader, { operation, outcome });
    }
    if (step % 10 === 0) checkStreams(log);
  }
  checkStreams(log);
  const indexed = Number(log.first.prepare("SELECT up_to FROM indexed").get()?.up_to);
  log.close();
  return indexed;
};

test("two connections and a reader find every record, whatever is indexed and whichever hashes are equal", async () => {
  assert.ok((await sumOfRounds(round)) > 0, "batches were written");
});

test("what a crash leaves of a batch is completed by the next connection", () => {
  const log = opened(256);
  const [writer] = log.writers;
  for (let n = 0; n < 260; n += 1) {
    outcomeOf(writer, append({ category: "delivery", key: `n${n}` }, "absent", [event()]));
  }
  const indexed = () => ({
    ...log.first.prepare("SELECT (SELECT up_to FROM indexed) AS upTo, count(*) AS rows FROM streams").get(),
  });
  const part = indexed();
  assert.is(part.upTo, 0);
  assert.ok(Number(part.rows) > 0, "a part is written");
  const db = openWriting({ path: log.path });
  const next = log.writerOn(db);
  for (let n = 260; n < 400; n += 1) {
    outcomeOf(next, append({ category: "delivery", key: `n${n}` }, "absent", [event()]));
  }
  assert.equal(indexed(), { upTo: 256, rows: 256 });
  for (let n = 0; n < 400; n += 1) {
    assert.is(log.reader.read({ category: "delivery", key: `n${n}` }, null, 10).length, 1, `n${n}`);
  }
  db.close();
  log.close();
});

test("a group that is rolled back leaves nothing in the index", () => {
  const log = opened(8);
  const [writer] = log.writers;
  const stream = { category: "delivery", key: "a" };
  for (let n = 0; n < 7; n += 1) outcomeOf(writer, append(stream, "any", [event()]));
  const bad = { ...event(), data: null } as unknown as EventText;
  assert.is(writer?.commit([append(stream, 6, [event()]), append(stream, 7, [event(), bad])]).result, "unavailable");
  for (let n = 7; n < 20; n += 1) {
    assert.is(outcomeOf(writer, append(stream, n - 1, [event()]))?.outcome, "appended");
  }
  checkStreams(log);
  log.close();
});

test.run();
