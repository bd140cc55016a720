import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { locationsOf, openLog } from "../../src/engine/open-engines.ts";
import { positionText } from "../../src/http/position-text.ts";
import { type Client, hookSource, type Reply, reply, signUp } from "../support/client.ts";
import { countersign } from "../support/command-line.ts";
import { startEventStoreDouble } from "../support/eventstore-double/server.ts";
import { freshDatabase, mongodbServer } from "../support/mongodb.ts";
import { killPrograms, type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

/** The log is copied and the program started on the copy, with the views of the log that it was copied from. */
const test = suite<{ from: string; to: string; target: Receiver }>("a log that was moved");
const server = mongodbServer("moving to EventStoreDB with the views in MongoDB");

test.before.each(async (context) => {
  context.from = temporaryFolder();
  context.to = temporaryFolder();
  context.target = await receiver();
  context.target.answer((_arrival, response) => response.end());
});
test.after.each(async ({ from, to, target }) => {
  killPrograms();
  await target.close();
  for (const folder of [from, to]) removeFolder(folder);
});

const BEFORE = ["one", "two", "three"];
/** As many again: positions of the copy pass those of the log that it was copied from, where both count records. */
const AFTER = ["four", "five"];
const DROPPED = "Views of another log, or incomplete ones, are folded again from the log: ";

const isDelivered = async (client: Client, ids: readonly string[]): Promise<boolean> => {
  const { body } = await client.call("GET", "/v1/events?limit=100");
  const delivered: readonly string[] = (body.data ?? [])
    .filter(({ status }: Reply["body"]) => status === "delivered")
    .map((event: Reply["body"]) => event.id);
  return delivered.length === ids.length && ids.every((id) => delivered.includes(id));
};

/** Events that the program has listed as delivered, with what is needed to send more. */
const used = async (program: Program, target: Receiver) => {
  const client = await signUp(program.url);
  const app = await client.make("/v1/endpoints", { name: "app", url: target.url });
  const hook = await hookSource(client, { endpoint_id: app.id });
  const ids: string[] = [];
  const positions: (string | null)[] = [];
  for (const id of BEFORE) {
    const { body, headers } = await hook.send(id);
    ids.push(body.event_id);
    positions.push(headers.get("countersign-position"));
  }
  await until("all are listed", () => isDelivered(client, ids));
  return { client, hook, ids, position: positions[0] };
};

/**
 * At the copy what is sent is delivered and listed, beside all that was copied, and the views are at the copy's end. A
 * position of the log from before is refused for good.
 */
const goesOn = async (
  { url }: Program,
  { client, hook, ids, position: before }: Awaited<ReturnType<typeof used>>,
  locations: Parameters<typeof locationsOf>[0],
): Promise<void> => {
  const sent: string[] = [];
  for (const id of AFTER) sent.push((await hook.at(url).send(id)).body.event_id);
  await until("all are listed", () => isDelivered(client.at(url), [...ids, ...sent]));
  const refused = await client.at(url).call("GET", `/v1/events?after=${before}`);
  assert.equal([refused.status, refused.body.code], [400, "invalid-request"]);
  assert.match(refused.body.detail, "another log");
  const log = await openLog(locationsOf(locations).log, { readOnly: true });
  const positions = positionText(await log.identity());
  const areAtTheEnd = async (): Promise<boolean> => {
    const { body } = await reply(await fetch(`${url}/runtime`));
    const [last] = (await log.readAll(null, 1_000, "records")).slice(-1);
    const end = last === undefined ? null : positions.of(last.position);
    return body.projections.every(({ position, lag_events }: Reply["body"]) => position === end && lag_events === 0);
  };
  await until("the views are at the log's end, as /runtime says", areAtTheEnd);
  await log.close();
};

test("to another file next to views.db", async ({ from, to, target }) => {
  const old = await startProgram({}, from);
  const world = await used(old, target);
  assert.is(await old.stop(), 0);
  const copied = await countersign(["log", "copy", "--from", `sqlite:${from}`, "--to", `sqlite:${to}`]);
  assert.is(copied.status, 0, copied.stderr);
  for (const name of ["key", "views.db"]) copyFileSync(join(from, name), join(to, name));

  const program = await startProgram({}, to);
  assert.match(program.output(), DROPPED);
  await goesOn(program, world, { dataDir: to, eventstoreUrl: null, mongodbUrl: null });
  assert.is(await program.stop(), 0);
  const again = await startProgram({}, to);
  assert.not.match(again.output(), DROPPED);
  assert.is(await again.stop(), 0);
});

if (server !== null)
  test("to EventStoreDB, with the database that has the views, by nodes with a role each", async ({
    from,
    to,
    target,
  }) => {
    const database = freshDatabase(server);
    const double = await startEventStoreDouble();
    const old = await startProgram({ MONGODB_URL: database.url }, from);
    const world = await used(old, target);
    assert.is(await old.stop(), 0);
    const copied = await countersign(["log", "copy", "--from", `sqlite:${from}`, "--to", double.url]);
    assert.is(copied.status, 0, copied.stderr);

    const env = {
      MONGODB_URL: database.url,
      EVENTSTORE_URL: double.url,
      COUNTERSIGN_KEY: readFileSync(join(from, "key"), "utf8").trim(),
    };
    const api = await startProgram({ ...env, ROLES: "api" }, to);
    const runtime = await reply(await fetch(`${api.url}/runtime`));
    for (const { position, lag_events } of runtime.body.projections)
      assert.equal([position, lag_events], [null, 1], "nothing of this log is folded");
    const projector = await startProgram({ ...env, ROLES: "projector" }, to);
    assert.match(projector.output(), DROPPED);
    const deliverer = await startProgram({ ...env, ROLES: "deliverer" }, to);
    await goesOn(api, world, { dataDir: to, eventstoreUrl: double.url, mongodbUrl: database.url });
    for (const program of [deliverer, projector, api]) assert.is(await program.stop(), 0, program.output());
    await double.stop();
    await database.drop();
  });

test.run();
