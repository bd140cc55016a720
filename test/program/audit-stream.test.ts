import { suite } from "uvu";
import * as assert from "uvu/assert";
import { hookSource, signUp } from "../support/client.ts";
import { eventSource } from "../support/event-source.ts";
import { killPrograms, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";

const test = suite("the program's stream of records");

test("the stream reports events as they happen, over a restart without a gap, until the key is revoked", async () => {
  const dir = temporaryFolder();
  let program = await startProgram({}, dir);
  try {
    const client = await signUp(program.url);
    const bearer = { authorization: `Bearer ${client.key}` };
    const source = await hookSource(client);
    const open = (headers = {}, query = "") =>
      eventSource(`${program.url}/v1/audit/stream${query}`, { ...bearer, ...headers });
    const first = await open({}, "?from_index=0");
    assert.is(first.status, 200);
    await source.send("one", { n: 1 });
    const told = (it: typeof first) => it.events.filter(({ event }) => event === "io.countersign.EventAdmitted.v1");
    await until("the first event is told", () => told(first).length === 1);
    const last = first.lastId();
    const startedAt = performance.now();
    assert.is(await program.stop(), 0);
    // Far below the time that what is in flight gets to finish.
    assert.ok(performance.now() - startedAt < 8_000);
    await until("the stream has ended", first.isEnded);

    program = await startProgram({}, dir);
    await (await hookSource(client.at(program.url))).send("two", { n: 2 });
    const second = await open({ "last-event-id": last });
    await until("the second event is told", () => told(second).length === 1);
    const listed = await client.at(program.url).call("GET", "/v1/audit?order=asc&limit=100");
    const indexes = [...first.events, ...second.events].map(({ id }) => Number.parseInt(id, 10));
    const wanted = listed.body.data.map(({ index }: { index: number }) => index);
    assert.equal(indexes, wanted.slice(0, indexes.length));
    assert.equal(
      [...first.events, ...second.events].map(({ data }) => JSON.parse(data).id),
      listed.body.data.slice(0, indexes.length).map(({ id }: { id: string }) => id),
    );

    const keys = await client.at(program.url).session("GET", "/v1/api-keys");
    for (const { id } of keys.body.data) await client.at(program.url).session("DELETE", `/v1/api-keys/${id}`);
    await until("the stream has ended", second.isEnded);
    assert.is((await open()).status, 401);
  } finally {
    killPrograms();
    removeFolder(dir);
  }
});

test.run();
