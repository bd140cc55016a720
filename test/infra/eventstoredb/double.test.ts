import {
  type AppendResult,
  BACKWARDS,
  binaryEvent,
  END,
  EventStoreDBClient,
  jsonEvent,
  NO_STREAM,
  STREAM_EXISTS,
} from "@eventstore/db-client";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  collect,
  event,
  OWN_CALL,
  readAllOf,
  readStreamOf,
  rejection,
} from "../../support/eventstore-double/client.ts";
import { withDouble } from "../../support/eventstore-double/with-double.ts";

const test = suite("eventstore double: appends, reads, deletion");

const append = (client: EventStoreDBClient, stream: string, count = 1): Promise<AppendResult> =>
  client.appendToStream(
    stream,
    Array.from({ length: count }, () => event()),
  );

test("NO_STREAM on an existing stream is a conflict that knows the revision, on both paths, with an empty message", () =>
  withDouble({}, async (client) => {
    await append(client, "a");
    for (const path of [{}, OWN_CALL]) {
      const error = await rejection(client.appendToStream("a", event(), { expectedRevision: NO_STREAM, ...path }));
      assert.equal([error.type, error.message, error.actualVersion], ["wrong-expected-version", "", 0n]);
    }
  }));

test("an exact revision, or STREAM_EXISTS, on a missing stream is a conflict with no_stream", () =>
  withDouble({}, async (client) => {
    for (const path of [{}, OWN_CALL]) {
      const error = await rejection(client.appendToStream("a", event(), { expectedRevision: 3n, ...path }));
      assert.equal(
        [error.type, error.actualVersion, error.expectedVersion],
        ["wrong-expected-version", "no_stream", 3n],
      );
    }
    const error = await rejection(client.appendToStream("a", event(), { expectedRevision: STREAM_EXISTS }));
    assert.is(error.actualVersion, "no_stream");
  }));

test("of fifty racing appends with NO_STREAM exactly one succeeds", () =>
  withDouble({}, async (client) => {
    const all = Array.from({ length: 50 }, () => client.appendToStream("a", event(), { expectedRevision: NO_STREAM }));
    const settled = await Promise.allSettled(all);
    assert.is(settled.filter(({ status }) => status === "fulfilled").length, 1);
  }));

test("a repeat gives the original revision and position, after later events and a restart, whatever its data", () =>
  withDouble({}, async (client, double) => {
    const events = [event(), event()];
    const first = await client.appendToStream("a", events, { expectedRevision: NO_STREAM });
    await append(client, "a", 3);
    const other = events.map(({ id }) => jsonEvent({ id, type: "Other", data: { other: true } }));
    assert.equal(await client.appendToStream("a", other, { expectedRevision: NO_STREAM }), first);
    await double.stop();
    await double.start();
    await rejection(append(client, "b"));
    assert.equal(await client.appendToStream("a", events, { expectedRevision: NO_STREAM }), first);
    assert.is((await readStreamOf(client, "a")).length, 5);
  }));

test("of a repeat a prefix succeeds, and more than was written conflicts", () =>
  withDouble({}, async (client) => {
    const [one, two, three] = [event(), event(), event()];
    await client.appendToStream("a", [one, two], { expectedRevision: NO_STREAM });
    const prefix = await client.appendToStream("a", [one], { expectedRevision: NO_STREAM });
    assert.is(prefix.nextExpectedRevision, 0n);
    const error = await rejection(client.appendToStream("a", [one, two, three], { expectedRevision: NO_STREAM }));
    assert.equal([error.type, error.actualVersion], ["wrong-expected-version", 1n]);
  }));

test("a repeat with ANY is recognized until the server restarts", () =>
  withDouble({}, async (client, double) => {
    const one = event();
    const first = await client.appendToStream("a", one);
    await append(client, "a");
    assert.equal(await client.appendToStream("a", one), first);
    await double.stop();
    await double.start();
    await rejection(append(client, "b"));
    const again = await client.appendToStream("a", one);
    assert.is(again.nextExpectedRevision, 2n);
  }));

test("the same id in another stream is another event", () =>
  withDouble({}, async (client) => {
    const one = event();
    await client.appendToStream("a", one, { expectedRevision: NO_STREAM });
    await client.appendToStream("b", one, { expectedRevision: NO_STREAM });
    await client.appendToStream("c", one);
    assert.is((await readAllOf(client)).filter(({ id }) => id === one.id).length, 3);
  }));

test("of several events the position of the last is answered, or of the first, and on a repeat none, as is asked for", () =>
  withDouble({ positions: { ofSeveral: "first", onRepeat: "none" } }, async (client) => {
    const events = [event(), event()];
    const { position } = await client.appendToStream("a", events, { expectedRevision: NO_STREAM });
    assert.equal(position, (await readStreamOf(client, "a"))[0]?.position);
    const repeat = await client.appendToStream("a", events, { expectedRevision: NO_STREAM });
    assert.equal([repeat.nextExpectedRevision, repeat.position], [1n, undefined]);
  }));

test("without throwOnAppendFailure the client reports a wrong revision", () =>
  withDouble({}, async (_client, double) => {
    const client = EventStoreDBClient.connectionString(`${double.url}&throwOnAppendFailure=false`);
    await append(client, "a", 5);
    const { success, nextExpectedRevision } = await client.appendToStream("a", event(), { expectedRevision: 0n });
    assert.equal([success, nextExpectedRevision], [false, 1n]);
    await client.dispose();
  }));

test("the data of one append, all events together, may be 1,048,576 bytes", () =>
  withDouble({}, async (client) => {
    const bytes = (size: number) => binaryEvent({ type: "T", data: new Uint8Array(size) });
    await client.appendToStream("a", [bytes(1_000_000), bytes(48_576)]);
    for (const path of [{}, OWN_CALL]) {
      const error = await rejection(client.appendToStream("a", [bytes(1_000_000), bytes(48_577)], path));
      assert.equal([error.type, error.maxAppendSize], ["maximum-append-size-exceeded", 1_048_576]);
    }
    assert.is((await readStreamOf(client, "a")).length, 2);
  }));

test("a newer server counts metadata and types as well", () =>
  withDouble({ appendSize: "everything" }, async (client) => {
    const large = binaryEvent({ type: "T", data: new Uint8Array(1_048_576 - 100), metadata: new Uint8Array(100) });
    const error = await rejection(client.appendToStream("a", large));
    assert.equal([error.type, error.message], ["maximum-append-size-exceeded", ""]);
  }));

test("a message of 20 MiB fails with code 8, and every pending append with it", () =>
  withDouble({}, async (client, double) => {
    double.misbehave({ how: "silent" }, { stream: "waiting" });
    const waiting = rejection(append(client, "waiting"));
    const large = client.appendToStream("a", binaryEvent({ type: "T", data: new Uint8Array(20 * 1024 * 1024) }));
    for (const error of [await rejection(large), await waiting]) assert.equal([error.type, error.code], ["unknown", 8]);
  }));

test("JSON, bytes and metadata come back as they were sent", () =>
  withDouble({}, async (client) => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const data = { text: "aé😀\u0000", nested: [1, null, true] };
    await client.appendToStream("a", [
      jsonEvent({ type: "J", data, metadata: { m: "é" } }),
      binaryEvent({ type: "B", data: bytes, metadata: bytes }),
    ]);
    const [json, binary] = await readStreamOf(client, "a");
    assert.equal([json?.isJson, json?.data, json?.metadata], [true, data, { m: "é" }]);
    assert.equal([binary?.isJson, binary?.data, binary?.metadata], [false, bytes, bytes]);
  }));

test("positions grow with the size of the records and are the same in both kinds of read", () =>
  withDouble({}, async (client) => {
    const appended = await append(client, "a", 1);
    await client.appendToStream("a", jsonEvent({ type: "T", data: { long: "x".repeat(1_000) } }));
    const after = await append(client, "a", 1);
    const [first, , last] = await readStreamOf(client, "a");
    assert.equal([first?.position, last?.position], [appended.position, after.position]);
    assert.ok((after.position?.commit ?? 0n) - (appended.position?.commit ?? 0n) > 1_000n);
    const inAll = (await readAllOf(client)).filter(({ streamId }) => streamId === "a");
    assert.equal([inAll[0]?.position, inAll[2]?.position], [first?.position, last?.position]);
    assert.is(first?.position?.commit, first?.position?.prepare);
  }));

test("a page of readAll begins with the event at its position, and behind the end there is nothing", () =>
  withDouble({}, async (client) => {
    const { position } = await append(client, "a");
    await append(client, "b");
    assert.ok(position);
    const page = await readAllOf(client, { fromPosition: position, maxCount: 2 });
    assert.equal(
      page.map(({ streamId }) => streamId),
      ["a", "b"],
    );
    const far = { commit: position.commit + 100_000n, prepare: position.prepare + 100_000n };
    assert.equal(await readAllOf(client, { fromPosition: far }), []);
  }));

test("a position at which no record begins is an error", () =>
  withDouble({}, async (client) => {
    const { position } = await append(client, "a");
    assert.ok(position);
    const between = { commit: position.commit + 1n, prepare: position.prepare + 1n };
    const error = await rejection(readAllOf(client, { fromPosition: between }));
    assert.equal([error.type, error.message], ["unknown", "2 UNKNOWN: Unexpected ReadAllResult: Error"]);
  }));

test("a page of readAll can hold nothing but the server's own events", () =>
  withDouble({}, async (client, double) => {
    const { position } = await append(client, "a");
    assert.ok(position);
    double.writeSystemEvents(10);
    const [, ...page] = await readAllOf(client, { fromPosition: position, maxCount: 6 });
    assert.equal(page.length, 5);
    assert.ok(page.every(({ streamId, type }) => streamId.startsWith("$") && type.startsWith("$")));
  }));

test("reading backwards begins at the end, or at a revision, or before a position", () =>
  withDouble({}, async (client) => {
    await append(client, "a", 3);
    const revisions = async (options: object) =>
      (await collect(client.readStream("a", { direction: BACKWARDS, ...options }))).map(({ revision }) => revision);
    assert.equal(await revisions({ fromRevision: END, maxCount: 2 }), [2n, 1n]);
    assert.equal(await revisions({ fromRevision: 1n }), [1n, 0n]);
    const last = (await readStreamOf(client, "a"))[2];
    assert.ok(last?.position);
    const before = { direction: BACKWARDS, fromPosition: last.position, maxCount: 1 } as const;
    assert.equal(
      (await readAllOf(client, before)).map(({ revision }) => revision),
      [1n],
    );
    const end = { direction: BACKWARDS, fromPosition: END, maxCount: 1 } as const;
    assert.equal(
      (await readAllOf(client, end)).map(({ id }) => id),
      [last.id],
    );
  }));

test("a stream is read from a revision on, at most so many events; a missing one is not found", () =>
  withDouble({}, async (client) => {
    await append(client, "a", 5);
    const page = await collect(client.readStream("a", { fromRevision: 2n, maxCount: 2 }));
    assert.equal(
      page.map(({ revision }) => revision),
      [2n, 3n],
    );
    assert.equal(await collect(client.readStream("a", { fromRevision: 9n })), []);
    assert.is((await rejection(readStreamOf(client, "b"))).type, "stream-not-found");
  }));

test("what lies below truncateBefore is not read, but stays in $all and in the numbering", () =>
  withDouble({}, async (client) => {
    await append(client, "a", 3);
    await client.setStreamMetadata("a", { truncateBefore: 2 });
    assert.equal(
      (await readStreamOf(client, "a")).map(({ revision }) => revision),
      [2n],
    );
    await client.setStreamMetadata("a", { truncateBefore: 3 });
    assert.equal(await readStreamOf(client, "a"), []);
    assert.is((await client.getStreamMetadata("a")).metadata?.truncateBefore, 3);
    const error = await rejection(client.appendToStream("a", event(), { expectedRevision: NO_STREAM }));
    assert.is(error.actualVersion, 2n);
    assert.is((await append(client, "a")).nextExpectedRevision, 3n);
    assert.is((await readAllOf(client)).filter(({ streamId }) => streamId === "a").length, 4);
  }));

test("a repeat of truncated events succeeds without a position", () =>
  withDouble({}, async (client) => {
    const one = event();
    await client.appendToStream("a", one, { expectedRevision: NO_STREAM });
    await client.setStreamMetadata("a", { truncateBefore: 1 });
    const repeat = await client.appendToStream("a", one, { expectedRevision: NO_STREAM });
    assert.equal([repeat.success, repeat.nextExpectedRevision, repeat.position], [true, 0n, undefined]);
  }));

test("a scavenge takes hidden events out of $all but for the last of a stream, and their positions stay good", () =>
  withDouble({}, async (client, double) => {
    const { position } = await append(client, "a");
    await append(client, "a", 2);
    await client.setStreamMetadata("a", { truncateBefore: 3 });
    double.scavenge();
    const left = (await readAllOf(client, { fromPosition: position ?? "start" })).filter(
      ({ streamId }) => streamId === "a",
    );
    assert.equal(
      left.map(({ revision }) => revision),
      [2n],
    );
    assert.is((await append(client, "a")).nextExpectedRevision, 3n);
  }));

test("a deleted stream is not found; NO_STREAM or the last revision begins it anew behind what it was", () =>
  withDouble({}, async (client) => {
    for (const [stream, expectedRevision] of [["a", NO_STREAM] as const, ["b", 1n] as const]) {
      await append(client, stream, 2);
      await client.deleteStream(stream);
      assert.is((await rejection(readStreamOf(client, stream))).type, "stream-not-found");
      const { nextExpectedRevision } = await client.appendToStream(stream, event(), { expectedRevision });
      assert.is(nextExpectedRevision, 2n);
      assert.equal(
        (await readStreamOf(client, stream)).map(({ revision }) => revision),
        [2n],
      );
    }
  }));

test("an old id appended with ANY to a deleted stream reports success, has no position, and is not there", () =>
  withDouble({}, async (client) => {
    const one = event();
    await client.appendToStream("a", one);
    await client.deleteStream("a");
    const { success, position } = await client.appendToStream("a", one);
    assert.equal([success, position], [true, undefined]);
    assert.is((await rejection(readStreamOf(client, "a"))).type, "stream-not-found");
  }));

test("deleting a missing stream is a conflict at -1", () =>
  withDouble({}, async (client) => {
    const error = await rejection(client.deleteStream("a"));
    assert.equal([error.type, error.actualVersion], ["wrong-expected-version", -1n]);
  }));

test("a tombstoned stream is deleted for ever, and $all tells so", () =>
  withDouble({}, async (client) => {
    await append(client, "a");
    await client.tombstoneStream("a");
    for (const refused of [
      () => readStreamOf(client, "a"),
      () => append(client, "a"),
      () => client.appendToStream("a", event(), OWN_CALL),
      () => client.deleteStream("a"),
      () => client.tombstoneStream("a"),
    ]) {
      const error = await rejection(refused());
      assert.equal([error.type, error.streamName], ["stream-deleted", "a"]);
    }
    const last = (await readAllOf(client)).filter(({ streamId }) => streamId === "a").at(-1);
    assert.equal([last?.type, last?.revision], ["$streamDeleted", 9223372036854775807n]);
  }));

test("an id that is no UUID is a bad request", () =>
  withDouble({}, async (client) => {
    const error = await rejection(client.appendToStream("a", jsonEvent({ id: "nonsense", type: "T", data: {} })));
    assert.equal([error.type, error.message], ["unknown", "Could not recognize BadRequest"]);
  }));

test.run();
