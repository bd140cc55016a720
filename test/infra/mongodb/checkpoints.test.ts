import type { Document as BsonDocument } from "mongodb";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ViewSchema, ViewStore } from "../../../domain/ports/view-store.ts";
import { mongoViewStore } from "../../../infra/mongodb/view-store.ts";
import { agreeing, type MongodbDouble, startMongodbDouble } from "../../support/mongodb-double.ts";

const NAMES = ["one.v1", "two.v1", "three.v1"];
const schemas: readonly ViewSchema[] = NAMES.map((name) => ({ name, fields: { at: "number" }, indexes: [["at"]] }));

type Context = { double: MongodbDouble; views: ViewStore; commands: string[] };
const test = suite<Context>("checkpoints in MongoDB");

const found = (collection: string, documents: readonly BsonDocument[]): BsonDocument => ({
  ok: 1,
  cursor: { id: 0n, ns: `d.${collection}`, firstBatch: documents },
});
const checkpoint = (_id: string, position: string | null, generation = 0) => ({ _id, position, generation });

/** From then on the checkpoints are these, and `matched` of those which an update asks for are as it says. */
const answering = ({ double, commands }: Context, kept: readonly BsonDocument[], matched: number): void => {
  double.answerWith((command) => {
    const [name = ""] = Object.keys(command);
    if (name !== "endSessions") commands.push(`${name} ${command[name]}`);
    if (command.find === "checkpoints") return found("checkpoints", kept);
    return command.update === "checkpoints" ? { ok: 1, n: matched } : agreeing(command);
  });
};

const commitAll = ({ views }: Context) =>
  Promise.all(NAMES.map((name) => views.commit(name, "1", "2", { documents: new Map() })));

test.before.each(async (context) => {
  context.double = await startMongodbDouble();
  context.views = await mongoViewStore({ url: `mongodb://${context.double.host}/countersign`, schemas });
  context.commands = [];
});
test.after.each(async ({ double, views }) => {
  await views.close();
  await double.stop();
});

test("positions that are read at the same time are one command", async (context) => {
  answering(context, [checkpoint("three.v1", "3"), checkpoint("one.v1", "1")], 0);
  const positions = await Promise.all([...NAMES, "one.v1"].map((name) => context.views.position(name)));
  assert.equal(positions, ["1", null, "3", "1"]);
  assert.equal(context.commands, ["find checkpoints"]);
});

test("commits without documents at the same time are one command, and nothing is read", async (context) => {
  answering(context, [], NAMES.length);
  assert.equal(await commitAll(context), ["committed", "committed", "committed"]);
  assert.equal(context.commands, ["update checkpoints"]);
});

test("commits of which only some succeed get their own answers", async (context) => {
  answering(context, [checkpoint("one.v1", "2"), checkpoint("two.v1", "9"), checkpoint("three.v1", "2", 1)], 1);
  assert.equal(await commitAll(context), ["committed", "stale", "stale"]);
});

test("a commit reads the checkpoint once, with or without a load before it", async (context) => {
  const { views, commands } = context;
  const documents = new Map([["a", { at: 1 }]]);
  answering(context, [checkpoint("one.v1", "1")], 1);
  await views.load("one.v1", "1", ["a"]);
  assert.is(await views.commit("one.v1", "1", "2", { documents }), "committed");
  assert.equal(commands.splice(0), ["find checkpoints", "find one.v1", "insert one.v1", "update checkpoints"]);

  answering(context, [checkpoint("one.v1", "9")], 1);
  assert.is(await views.commit("one.v1", "2", "3", { documents }), "stale");
  assert.is(await views.commit("one.v1", "1", "2", { documents }), "stale");
  assert.equal(commands, ["find checkpoints", "find checkpoints"]);
});

test.run();
