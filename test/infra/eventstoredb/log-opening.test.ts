import { once } from "node:events";
import { createServer as createHttp2 } from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { status } from "@grpc/grpc-js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import { eventStoreLog } from "../../../infra/eventstoredb/event-log.ts";
import type { Limits } from "../../../infra/eventstoredb/limits.ts";
import { isOtherFormat, LOG_FORMAT } from "../../../infra/other-format.ts";
import { event, newStream, rejection } from "../../contract/event-log-events.ts";
import { type EventStoreDouble, startEventStoreDouble } from "../../support/eventstore-double/server.ts";
import { write } from "../../support/eventstore-double/state.ts";
import { until } from "../../support/until.ts";
import { inWorld, PATIENT, SHORT } from "./log-world.ts";

/** Opening says in one sentence what is wrong, and never a password. */

const test = suite("EventStoreDB log: opening");

const opening = (url: string, readOnly = false, limits = PATIENT) => eventStoreLog({ url, readOnly, limits });
/** Tests wait for the end of both. */
const FAILING: Limits = { ...PATIENT, openMs: 3_000, unreachableMs: SHORT.unreachableMs };

const sentenceOf = async (url: string): Promise<string> => {
  const error = await rejection(() => opening(url, false, FAILING));
  assert.is(error.name, "Error");
  assert.not.match(error.message, /secret/);
  assert.not.match(error.message, "\n");
  return error.message;
};

const listening = async (server: Server): Promise<number> => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  return (server.address() as AddressInfo).port;
};

const dataOf = ({ state }: EventStoreDouble, stream: string): readonly JsonObject[] =>
  (state.streams.get(stream)?.records ?? []).map((record) => JSON.parse(Buffer.from(record?.data ?? []).toString()));

test("an invalid connection string is reported as such", async () => {
  for (const url of ["", "mongodb://secret:secret@h", "esdb://secret:secret@h?tls=maybe", "http://127.0.0.1:2113"])
    assert.match(await sentenceOf(url), /not a connection string of EventStoreDB/);
  assert.match(await sentenceOf("esdb://user:not@secret@127.0.0.1:1?tls=false"), /percent-encoded/);
  assert.match(await sentenceOf("esdb://secret:secret@127.0.0.1:2113?tlsCAFile=/no/such/file"), /certificate/);
});

test("an unreachable server or unknown host is reported with the address", async () => {
  const server = createServer();
  const port = await listening(server);
  server.close();
  const refused = await sentenceOf(`esdb://secret:secret@127.0.0.1:${port}?tls=false`);
  assert.match(refused, `EventStoreDB at esdb://127.0.0.1:${port} cannot be used: nothing answers there`);
  assert.match(await sentenceOf("esdb://secret:secret@no-such-host.invalid?tls=false"), /no host of that name/);
});

test("another protocol, and a silent server, are reported", async () => {
  const silent = createServer();
  const http1 = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  const hangsUp = createServer((socket) => socket.destroy());
  const http2 = createHttp2((_request, response) => response.writeHead(404).end());
  const said: readonly (readonly [Server, RegExp])[] = [
    [silent, /does not answer/],
    [http1, /no EventStoreDB/],
    [hangsUp, /hangs up, perhaps because it speaks TLS/],
    [http2, /no EventStoreDB/],
  ];
  for (const [server, sentence] of said) {
    const sockets: Socket[] = [];
    server.on("connection", (socket: Socket) => sockets.push(socket));
    assert.match(await sentenceOf(`esdb://127.0.0.1:${await listening(server)}?tls=false`), sentence);
    server.close();
    // A silent connection is kept by gRPC for as long as it stands.
    for (const socket of sockets) socket.destroy();
  }
});

test(
  "a server without TLS, one that refuses access, and one that is not ready are told apart",
  inWorld(async ({ double }) => {
    assert.match(await sentenceOf(`esdb://secret:secret@localhost:${double.port}`), /speaks no TLS \(tls=false/);
    const answers: readonly (readonly [status, RegExp])[] = [
      [status.UNAUTHENTICATED, /refuses the user name and password/],
      [status.PERMISSION_DENIED, /refuses the user name and password/],
      [status.UNIMPLEMENTED, /no EventStoreDB/],
      [status.UNAVAILABLE, /as the double was told/],
    ];
    for (const [code, sentence] of answers) {
      const odd = double.misbehave({ how: "error", code }, { times: 10_000 });
      assert.match(await sentenceOf(double.url), sentence);
      odd.stop();
    }
  }),
);

test(
  "a user that may not read $all is told so before anything is written",
  inWorld(async ({ double }) => {
    const odd = double.misbehave(
      { how: "error", code: status.PERMISSION_DENIED },
      { method: "readAll", times: 10_000 },
    );
    const before = double.calls("append").length;
    assert.match(await sentenceOf(double.url), /may not read \$all/);
    assert.is(double.calls("append").length, before);
    odd.stop();
  }),
);

test("a server that comes up while the log is being opened is waited for", async () => {
  const double = await startEventStoreDouble();
  await double.stop();
  const log = opening(double.url);
  await double.start();
  await (await log).close();
  await double.stop();
});

test(
  "the log is named once, with its format, however many open it at the same time, and no reader sees that as a record",
  inWorld(async ({ double, open }) => {
    const logs = await Promise.all(Array.from({ length: 5 }, () => open()));
    const [identity] = await Promise.all(logs.map((log) => log.identity()));
    for (const log of logs) {
      assert.is(await log.identity(), identity);
      assert.is(await log.head(), null);
      assert.equal(await log.readAll(null, 10), []);
    }
    assert.equal(dataOf(double, "countersign"), [{ format: LOG_FORMAT, identity }]);
    // Each writes the metadata to see the server's time.
    assert.is(dataOf(double, "$$countersign").length, 6);
  }),
);

test(
  "a node whose clock is not the server's is told by how much, and one that only reads is not asked",
  inWorld(async ({ double, open }) => {
    const clocks: readonly (readonly [number, RegExp])[] = [
      [60_000, /this machine's clock is (?:59|60)\.\d s behind the server's, of which 5 s are allowed: set the clocks/],
      [-60_000, /this machine's clock is (?:59|60)\.\d s ahead of the server's/],
    ];
    for (const [aheadMs, sentence] of clocks) {
      double.state.aheadMs = aheadMs;
      assert.match(await sentenceOf(double.url), sentence);
      await (await opening(double.url, true)).close();
    }
    for (const aheadMs of [4_000, -4_000]) {
      double.state.aheadMs = aheadMs;
      await open();
    }
  }),
);

test(
  "what an operator has written into the metadata of the log's own stream stays",
  inWorld(async ({ double, open }) => {
    const marked = double.state.streams.get("$$countersign")?.records ?? [];
    const [mark] = marked;
    if (mark === undefined) throw new Error("there are no metadata");
    const fields = { $acl: { $r: "ops" } };
    marked.splice(0, 1, { ...mark, data: new Uint8Array(Buffer.from(JSON.stringify(fields))) });
    await open();
    assert.equal(dataOf(double, "$$countersign").at(-1), fields);
  }),
);

const refusesFormat = async (double: EventStoreDouble, found: string): Promise<void> => {
  for (const readOnly of [true, false]) {
    const written = double.calls("append").length;
    const error = await rejection(() => opening(double.url, readOnly));
    assert.ok(isOtherFormat(error), error.message);
    assert.match(
      error.message,
      `${found}, and this version reads format ${LOG_FORMAT} alone: run the version that wrote it, or`,
    );
    assert.is(double.calls("append").length, written, "nothing was written");
  }
};

test(
  "a log of another format is not opened, nor for reading, and nothing is written to it",
  inWorld(async ({ double, log }) => {
    await log.append(newStream(), "absent", [event()]);
    const [name] = double.state.streams.get("countersign")?.records ?? [];
    if (name === undefined) throw new Error("the log has no name");
    for (const [data, found] of [
      [{ format: LOG_FORMAT + 1, identity: "x" }, `has format ${LOG_FORMAT + 1}`],
      [{ format: 1, identity: "x" }, "has format 1"],
      [{}, "names no format"],
    ] as const) {
      const changed = { ...name, data: new Uint8Array(Buffer.from(JSON.stringify(data))) };
      double.state.streams.get("countersign")?.records.splice(0, 1, changed);
      await refusesFormat(double, found);
    }
  }),
);

test("records in a log without a name are another format's", async () => {
  const double = await startEventStoreDouble();
  const { id, type, data, meta } = event();
  const bytes = (json: unknown) => new Uint8Array(Buffer.from(JSON.stringify(json)));
  write(double.state, newStream(), [
    { id, type, data: bytes(data), metadata: bytes(meta), contentType: "application/json" },
  ]);
  await refusesFormat(double, "names no format");
  await double.stop();
});

test("a log that is opened for reading only writes nothing, not even its name", async () => {
  const double = await startEventStoreDouble();
  const reader = await opening(double.url, true);
  assert.equal([...dataOf(double, "countersign"), ...dataOf(double, "$$countersign")], []);
  assert.is(await reader.identity(), "unnamed");
  for (const write of [() => reader.append(newStream(), "absent", [event()]), () => reader.erase(newStream("payload"))])
    assert.is((await rejection(write)).name, "LogUnavailable");
  const writer = await opening(double.url);
  const one = event();
  await writer.append(newStream(), "absent", [one]);
  assert.equal(
    (await reader.readAll(null, 10)).map(({ id }) => id),
    [one.id],
  );
  assert.is(await reader.identity(), await writer.identity());
  await Promise.all([reader.close(), writer.close()]);
  await double.stop();
});

test("a cluster is found by any of its nodes", async () => {
  const double = await startEventStoreDouble();
  for (const url of [
    `esdb+discover://127.0.0.1:${double.port}?tls=false`,
    `esdb://127.0.0.1:1,127.0.0.1:${double.port}?tls=false`,
  ]) {
    const log = await opening(url);
    assert.is((await log.append(newStream(), "absent", [event()])).outcome, "appended");
    await log.close();
  }
  await until("nothing is open", () => double.open() === 0);
  await double.stop();
});

test(
  "an id that is no UUID, or not in lower case, data that are no JSON: bugs that throw before anything is sent",
  inWorld(async ({ double, log }) => {
    const before = double.calls("append").length;
    const one = event();
    const bad = [
      { ...one, id: "1" },
      { ...one, id: one.id.toUpperCase() },
      // The types forbid it.
      { ...one, data: { large: 1n } as never },
    ];
    for (const wrong of bad)
      assert.instance(await rejection(() => log.append(newStream(), "any", [wrong])), TypeError, wrong.id);
    assert.is(double.calls("append").length, before);
  }),
);

test.run();
