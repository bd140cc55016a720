import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { eventSource } from "../support/event-source.ts";
import { freshDatabase, mongodbServer } from "../support/mongodb.ts";
import { killPrograms, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";

const test = suite("figures and changes of the program");

const FIGURES = "/v1/stats?metric=admitted,attempts&by=source";

type Series = { readonly metric: string; readonly value: number; readonly list: string };

const figuresOf = async (client: Client, after: string): Promise<readonly Series[]> => {
  const { status, body } = await client.call("GET", `${FIGURES}&after=${after}`);
  assert.is(status, 200);
  return body.series;
};

/** A figure, the list behind it and the frame of the stream, of one account and of another. */
const tryWith = async (environment: Record<string, string>): Promise<void> => {
  const dir = temporaryFolder();
  try {
    let program = await startProgram(environment, dir);
    const [client, stranger] = [await signUp(program.url), await signUp(program.url)];
    const open = (who: Client, headers = {}) =>
      eventSource(`${program.url}/v1/stream?topics=events`, { authorization: `Bearer ${who.key}`, ...headers });
    const [own, foreign] = [await open(client), await open(stranger)];
    const source = await hookSource(client);
    for (const id of ["one", "two"]) assert.is((await source.send(id)).status, 202);
    const last = await source.send("three");
    const after = last.headers.get("countersign-position") ?? "";
    const [admitted] = await figuresOf(client, after);
    assert.is(admitted?.value, 3);
    const listed = await client.call("GET", `${admitted?.list}&total=true`);
    assert.equal([listed.body.data.length, listed.body.total], [3, 3]);
    assert.equal(await figuresOf(stranger, after), []);
    await until("each is told", () => own.events.length >= 3);
    assert.equal(
      own.events.map(({ data }) => JSON.parse(data).id).sort(),
      listed.body.data.map(({ id }: { id: string }) => id).sort(),
    );
    assert.equal(foreign.events, []);
    assert.is((await client.call("GET", "/v1/attention")).status, 200);

    assert.is(await program.stop(), 0);
    await until("the streams have ended", () => own.isEnded() && foreign.isEnded());
    program = await startProgram(environment, dir);
    const again = client.at(program.url);
    const missed = await (await hookSource(again)).send("four");
    const resumed = await open(again, { "last-event-id": own.lastId() });
    await until("the one that was missed is told", () => resumed.events.length > 0);
    const all = await again.call("GET", `/v1/stats?after=${missed.headers.get("countersign-position")}`);
    assert.is(all.body.series[0].value, 4);
  } finally {
    killPrograms();
    removeFolder(dir);
  }
};

test("a figure is the length of its list, and a stream goes on over a restart, on SQLite", () => tryWith({}));

const server = mongodbServer("figures and changes on MongoDB");
if (server !== null)
  test("a figure is the length of its list, and a stream goes on over a restart, on MongoDB", async () => {
    const database = freshDatabase(server);
    try {
      await tryWith({ MONGODB_URL: database.url });
    } finally {
      await database.drop();
    }
  });

test.run();
