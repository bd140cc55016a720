import { connect } from "node:net";
import { type AppendResult, EventStoreDBClient, NO_STREAM, type Position } from "@eventstore/db-client";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import { StreamsClient } from "@eventstore/db-client/generated/streams_grpc_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import { credentials, status } from "@grpc/grpc-js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { event, OWN_CALL, readAllOf, readStreamOf, rejection } from "../../support/eventstore-double/client.ts";
import { DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE } from "../../support/eventstore-double/misbehaviour.ts";
import { withDouble } from "../../support/eventstore-double/with-double.ts";
import { until } from "../../support/until.ts";

const test = suite("eventstore double: misbehaviour");

const append = (client: EventStoreDBClient, stream: string, options: object = {}): Promise<AppendResult> =>
  client.appendToStream(stream, event(), options);

const reads = (client: EventStoreDBClient): Promise<boolean> =>
  readAllOf(client, { maxCount: 1 }).then(
    () => true,
    () => false,
  );

test("cut after the commit and before the answer: rejected, in the log, and the repeat is recognized", () =>
  withDouble({}, async (client, double) => {
    for (const [stream, path] of [["a", {}] as const, ["b", OWN_CALL] as const]) {
      double.misbehave({ how: "cut", committed: true }, { method: "append" });
      const one = event();
      const appending = client.appendToStream(stream, one, { expectedRevision: NO_STREAM, ...path });
      const error = await rejection(appending);
      assert.equal([error.type, error.code], ["unavailable", status.UNAVAILABLE]);
      await until("the client is connected again", () => reads(client));
      const again = await client.appendToStream(stream, one, { expectedRevision: NO_STREAM, ...path });
      assert.is(again.nextExpectedRevision, 0n);
      assert.is((await readStreamOf(client, stream)).length, 1);
    }
  }));

test("cut before the commit: rejected and not in the log", () =>
  withDouble({}, async (client, double) => {
    double.misbehave({ how: "cut" }, { method: "append" });
    assert.is((await rejection(append(client, "a"))).code, status.UNAVAILABLE);
    await until("the client is connected again", () => reads(client));
    assert.is(double.state.streams.has("a"), false);
    await append(client, "a", { expectedRevision: NO_STREAM });
  }));

test("a crash rejects all pending appends at once, whether or not they are in the log", () =>
  withDouble({}, async (client, double) => {
    double.misbehave({ how: "silent", committed: true }, { times: 5, stream: "in" });
    double.misbehave({ how: "silent" }, { times: 5, stream: "out" });
    const pending = ["in", "out"].flatMap((stream) =>
      Array.from({ length: 5 }, () => rejection(append(client, stream))),
    );
    await until("all are pending", () => double.calls("append").length === 10);
    double.crash();
    for (const error of await Promise.all(pending)) assert.is(error.type, "unavailable");
    await until("the client is connected again", () => reads(client));
    assert.is((await readStreamOf(client, "in")).length, 5);
    assert.is((await rejection(readStreamOf(client, "out"))).type, "stream-not-found");
  }));

test("silent: the batch path waits for ever, a call of its own until its deadline", () =>
  withDouble({}, async (client, double) => {
    const silent = double.misbehave({ how: "silent" }, { method: "append", times: 2 });
    const batched = rejection(append(client, "a"));
    await until("it has come", () => silent.happened() === 1);
    const error = await rejection(append(client, "a", { ...OWN_CALL, deadline: 1_000 }));
    assert.equal([error.type, error.code], ["deadline-exceeded", status.DEADLINE_EXCEEDED]);
    assert.is(silent.happened(), 2);
    double.crash();
    assert.is((await batched).code, status.UNAVAILABLE);
  }));

test("slow: an answer after the wait, before which the append is in the log or not", () =>
  withDouble({}, async (client, double) => {
    double.misbehave({ how: "slow", ms: 1_000 }, { stream: "late" });
    double.misbehave({ how: "slow", ms: 100, committed: true }, { stream: "early" });
    const both = Promise.all([append(client, "late"), append(client, "early")]);
    await until("the early one is written", () => double.state.streams.has("early"));
    assert.is(double.state.streams.has("late"), false);
    assert.equal(
      (await both).map(({ nextExpectedRevision }) => nextExpectedRevision),
      [0n, 0n],
    );
    double.misbehave({ how: "slow", ms: 50 }, { method: "readAll" });
    assert.ok((await readAllOf(client)).length > 0);
  }));

test("not-leader: the call is refused, and the client goes to the leader that it was told", () =>
  withDouble({}, async (leaders, leader) =>
    withDouble({}, async (client, follower) => {
      follower.misbehave({ how: "not-leader", leader: leader.endpoint }, { times: Number.POSITIVE_INFINITY });
      const error = await rejection(append(client, "a"));
      assert.equal([error.type, error.leader], ["not-leader", leader.endpoint]);
      await append(client, "a");
      assert.is((await readStreamOf(leaders, "a")).length, 1);
      assert.is(follower.state.streams.has("a"), false);
    }),
  ));

test("unavailable, and any other status, ends the call and writes nothing unless it is said", () =>
  withDouble({}, async (client, double) => {
    double.misbehave(UNAVAILABLE, { stream: "a" });
    const error = await rejection(append(client, "a"));
    assert.equal([error.type, error.code], ["unavailable", status.UNAVAILABLE]);
    double.misbehave({ how: "error", code: status.INTERNAL, committed: true }, { stream: "b" });
    assert.is((await rejection(append(client, "b", OWN_CALL))).code, status.INTERNAL);
    assert.equal([double.state.streams.has("a"), double.state.streams.has("b")], [false, true]);
    double.misbehave(UNAVAILABLE, { method: ["read", "readAll"], times: 2 });
    assert.is((await rejection(readStreamOf(client, "b"))).type, "unavailable");
    assert.is((await rejection(readAllOf(client))).type, "unavailable");
  }));

test("resource exhausted on the batch path takes every pending append along", () =>
  withDouble({}, async (client, double) => {
    double.misbehave({ how: "silent" }, { stream: "waiting" });
    const waiting = rejection(append(client, "waiting"));
    await until("it waits", () => double.calls("append", "waiting").length === 1);
    double.misbehave(RESOURCE_EXHAUSTED, { stream: "a" });
    for (const error of [await rejection(append(client, "a")), await waiting]) {
      assert.equal([error.type, error.code], ["unknown", status.RESOURCE_EXHAUSTED]);
    }
    await append(client, "a");
  }));

test("the server's own time is up for one append alone", () =>
  withDouble({}, async (client, double) => {
    double.misbehave(DEADLINE_EXCEEDED, { stream: "a", times: 2 });
    const [late, well] = await Promise.all([rejection(append(client, "a")), append(client, "b")]);
    assert.equal([late.type, well.success], ["deadline-exceeded", true]);
    assert.is((await rejection(append(client, "a", OWN_CALL))).code, status.DEADLINE_EXCEEDED);
  }));

test("the answer to an append names no position, that of its first event, or one that is none", () =>
  withDouble({ systemEventsEvery: 0 }, async (client, double) => {
    const answered = async (position: "none" | "first" | "wrong"): Promise<Position | undefined> => {
      double.misbehave({ how: "position", position });
      return (await client.appendToStream("a", [event(), event()])).position;
    };
    assert.is(await answered("none"), undefined);
    const first = await answered("first");
    const wrong = await answered("wrong");
    const written = await readStreamOf(client, "a");
    assert.equal(first, written[2]?.position);
    assert.ok(wrong && written.every(({ position }) => position?.commit !== wrong.commit));
  }));

test("a page gives an event twice, or is the page before once more, or ends early", () =>
  withDouble({ systemEventsEvery: 0 }, async (client, double) => {
    for (let count = 0; count < 6; count += 1) await append(client, "a");
    const positions = (await readAllOf(client)).map(({ position }) => position);
    const revisions = async (index: number): Promise<readonly bigint[]> => {
      const page = await readAllOf(client, { fromPosition: positions[index] ?? "start", maxCount: 3 });
      return page.map(({ revision }) => revision);
    };
    double.misbehave({ how: "repeat-event" });
    assert.equal(await revisions(1), [1n, 1n, 2n]);
    double.misbehave({ how: "repeat-page" });
    assert.equal(await revisions(3), [1n, 2n, 3n]);
    double.misbehave({ how: "end", afterEvents: 1 });
    assert.equal(await revisions(3), [3n]);
    double.misbehave({ how: "cut", afterEvents: 1 });
    assert.is((await rejection(readAllOf(client))).code, status.UNAVAILABLE);
  }));

test("frozen: connections are taken and nothing is answered; thawed, all is answered", () =>
  withDouble({}, async (client, double) => {
    await append(client, "a");
    double.freeze();
    let answered = 0;
    const count = (): void => {
      answered += 1;
    };
    const pending = [append(client, "a").then(count), readAllOf(client).then(count)];
    const fresh = connect(double.port, "127.0.0.1");
    await until("the new connection is taken", () => double.open() === 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal([answered, double.calls("append").length], [0, 1]);
    double.thaw();
    await Promise.all(pending);
    fresh.destroy();
  }));

test("down: calls are refused at once with a raw error; up again, the same client finds the same log", () =>
  withDouble({}, async (client, double) => {
    await append(client, "a");
    await double.stop();
    await rejection(append(client, "a"));
    const refused = await rejection(append(client, "a"));
    assert.equal([refused.type, refused.code], [undefined, status.UNAVAILABLE]);
    await double.start();
    await until("an append succeeds", () =>
      append(client, "a").then(
        () => true,
        () => false,
      ),
    );
    assert.is((await readStreamOf(client, "a")).length, 2);
  }));

test("a double that keeps the state of another goes on with its log", () =>
  withDouble({}, async (client, double) => {
    await append(client, "a");
    await withDouble({ keep: double.state }, async (other) => {
      await append(other, "a", { expectedRevision: 0n });
      assert.is((await readStreamOf(other, "a")).length, 2);
    });
  }));

test("a client that discovers asks for the members and finds the double", () =>
  withDouble({}, async (_client, double) => {
    const client = EventStoreDBClient.connectionString(`esdb+discover://127.0.0.1:${double.port}?tls=false`);
    await append(client, "a");
    assert.is(double.calls("gossip").length, 1);
    await client.dispose();
  }));

test("without the batch path among the server's methods every append is a call of its own", () =>
  withDouble({ batch: false }, async (client, double) => {
    await append(client, "a");
    const call = { method: "append", stream: "a", events: 1, batch: false, requiresLeader: false };
    assert.equal(double.calls("append", "a"), [call]);
  }));

test("a bad request on the batch path is answered twice, two seconds apart, as clients that forget it find out", () =>
  withDouble({}, async (_client, double) => {
    const client = new StreamsClient(`127.0.0.1:${double.port}`, credentials.createInsecure());
    const call = client.batchAppend();
    const answers: (string | undefined)[] = [];
    call.on("data", (answer: streams.BatchAppendResp) => answers.push(answer.getError()?.getMessage()));
    call.on("error", () => {});
    const options = new streams.BatchAppendReq.Options().setAny();
    options.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(new Uint8Array(Buffer.from("a"))));
    const message = new streams.BatchAppendReq.ProposedMessage().setId(new shared.UUID().setString("nonsense"));
    const request = new streams.BatchAppendReq().setOptions(options).setProposedMessagesList([message]);
    call.write(request.setCorrelationId(new shared.UUID().setString("c")).setIsFinal(true));
    await until("both answers", () => answers.length === 2);
    assert.equal(answers, ["BadRequest", "Timeout"]);
    client.close();
  }));

test.run();
