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

test("the views that write documents of one page move their checkpoints with one command", async (context) => {
  const { views, commands } = context;
  const stored = NAMES.map((name) => checkpoint(name, "1"));
  const commits = async (after: string, upTo: string): Promise<readonly string[]> => {
    answering(context, stored, NAMES.length);
    const commit = async (name: string, n: number): Promise<string> => {
      // The first view knows its document, as one that it has folded lately, and writes while the others still read.
      if (n > 0 || after === "1") await views.load(name, after, ["a"]);
      // The views' writes are of different sizes, so they do not end together.
      const documents = new Map(
        Array.from({ length: 1 + n * 500 }, (_, at) => [at === 0 ? "a" : `${upTo}-${at}`, { at }]),
      );
      return views.commit(name, after, upTo, { documents });
    };
    return Promise.all(NAMES.map(commit));
  };
  const committed = ["committed", "committed", "committed"];
  assert.equal(await commits("1", "2"), committed);
  const finds = NAMES.map((name) => `find ${name}`);
  const writes = NAMES.map((name) => `insert ${name}`);
  assert.equal(commands.splice(0).sort(), ["find checkpoints", ...finds, ...writes, "update checkpoints"].sort());

  for (const kept of stored) kept.position = "2";
  assert.equal(await commits("2", "3"), committed);
  const replaced = NAMES.map((name) => `update ${name}`);
  // The first view has only a document that it has written before, so it inserts none.
  assert.equal(
    commands.sort(),
    ["find checkpoints", ...finds.slice(1), ...writes.slice(1), ...replaced, "update checkpoints"].sort(),
  );
});

test("a view that writes more documents than a server takes in time writes them in parts", async (context) => {
  const { views, commands } = context;
  answering(context, [], 1);
  const documents = new Map(Array.from({ length: 3_000 }, (_, at) => [`${at}`, { at }]));
  assert.is(await views.commit("one.v1", null, "1", { documents }), "committed");
  const inserts = commands.filter((command) => command.startsWith("insert"));
  assert.is(inserts.length, 3);
});

test("a view whose write fails keeps no other view's checkpoint back", async (context) => {
  const { double, views } = context;
  answering(context, [], 1);
  const failing = NAMES[0] ?? "";
  double.answerWith((command) =>
    command.insert === failing ? "cut" : command.update ? { ok: 1, n: 1 } : agreeing(command),
  );
  const commit = (name: string) => views.commit(name, null, "1", { documents: new Map([["a", { at: 1 }]]) });
  const outcomes = await Promise.allSettled(NAMES.slice(0, 2).map(commit));
  assert.equal(
    outcomes.map(({ status }) => status),
    ["rejected", "fulfilled"],
  );
});

test.run();
