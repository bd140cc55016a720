import type { Document } from "mongodb";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ViewSchema } from "../../../domain/ports/view-store.ts";
import { mongoViewStore } from "../../../infra/mongodb/view-store.ts";
import { ViewsUnavailable } from "../../../infra/view-errors.ts";
import { agreeing, type MongodbDouble, startMongodbDouble } from "../../support/mongodb-double.ts";

const schemas: readonly ViewSchema[] = [{ name: "things.v1", fields: { at: "number" }, indexes: [["at"]] }];
const refusal = (code: number, errmsg: string) => (): Document => ({ ok: 0, code, errmsg });

const test = suite<{ double: MongodbDouble }>("MongoDB that fails");

test.before.each(async (context) => {
  context.double = await startMongodbDouble();
});
test.after.each(({ double }) => double.stop());

const rejection = async (work: Promise<unknown>): Promise<Error> => {
  try {
    await work;
  } catch (error) {
    return error as Error; // Every error here is made by the store.
  }
  throw new Error("nothing was thrown");
};

/** What whoever starts the program reads; no password is in it, nor in what lies behind it. */
const sentence = async (url: string): Promise<string> => {
  const error = await rejection(mongoViewStore({ url, schemas }));
  assert.not.match(`${error.stack} ${error.cause}`, "pass word");
  assert.not.match(`${error.stack} ${error.cause}`, "pass%20word");
  return error.message;
};

test("an invalid URL, or one without a database, is refused in a sentence", async () => {
  for (const url of ["", "localhost:27017", "http://127.0.0.1/countersign"])
    assert.match(await sentence(url), /^MONGODB_URL is no MongoDB URL: give mongodb:\/\/<host>:<port>\/<database>\.$/);
  for (const url of ["mongodb://user:pass%20word@127.0.0.1", "mongodb://127.0.0.1/", "mongodb://127.0.0.1/?w=1"])
    assert.match(await sentence(url), /^MONGODB_URL names no database: give mongodb:/);
  for (const url of ["mongodb://user:pass%20word@127.0.0.1:port/d", "mongodb://u:pass word@@127.0.0.1/d?nothing=1"])
    assert.match(await sentence(url), /^MONGODB_URL cannot be understood: give mongodb:/);
});

test("a missing server is reported in a sentence with the hosts", async () => {
  const { host, stop } = await startMongodbDouble();
  await stop();
  const said = await sentence(`mongodb://user:pass%20word@${host}/countersign`);
  assert.match(
    said,
    new RegExp(`^No MongoDB that takes writes answers at ${host} \\(.*ECONNREFUSED.*\\): start it, or`),
  );
});

test("refused credentials are reported in a sentence", async ({ double }) => {
  double.answerWith(refusal(18, "Authentication failed."));
  const said = await sentence(`mongodb://user:pass%20word@${double.host}/countersign`);
  assert.is(said, `MongoDB at ${double.host} refuses the user name or the password in MONGODB_URL.`);
});

test("a user who may not write is told which role is missing", async ({ double }) => {
  double.answerWith((command) => (command.findAndModify ? refusal(13, "not authorized")() : agreeing(command)));
  const said = await sentence(`mongodb://${double.host}/countersign`);
  assert.match(said, /does not let the program read and write the database countersign: name a user .* role readWrite/);
});

test("a start tries again while a server that is there cuts its connections", async ({ double }) => {
  let cuts = 0;
  double.answerWith((command) => {
    if (command.findAndModify === undefined || cuts === 6) return agreeing(command);
    cuts += 1;
    return "cut";
  });
  const views = await mongoViewStore({ url: `mongodb://${double.host}/countersign`, schemas });
  assert.is(cuts, 6);
  assert.is(await views.get("things.v1", "a"), null);
  await views.close();
});

test("a primary that steps down is unavailable, and the same call reaches the next one", async ({ double }) => {
  const views = await mongoViewStore({ url: `mongodb://${double.host}/countersign`, schemas });
  double.answerWith(refusal(10_107, "not primary"));
  assert.instance(await rejection(views.get("things.v1", "a")), ViewsUnavailable);
  assert.instance(
    await rejection(views.commit("things.v1", null, "1", { documents: new Map([["a", { at: 1 }]]) })),
    ViewsUnavailable,
  );
  double.answerWith(agreeing);
  assert.is(await views.get("things.v1", "a"), null);
  await views.close();
});

test("a connection that breaks in a commit is unavailable, whichever of its commands it was", async ({ double }) => {
  const views = await mongoViewStore({ url: `mongodb://${double.host}/countersign`, schemas });
  const commit = () => views.commit("things.v1", null, "1", { documents: new Map([["a", { at: 1 }]]) });
  const kinds: readonly ((command: Document) => boolean)[] = [
    ({ find }) => find !== undefined,
    ({ insert }) => insert === "things.v1",
    ({ update }) => update === "checkpoints",
  ];
  for (const isIt of kinds) {
    double.answerWith((command) => (isIt(command) ? "cut" : command.update ? { ok: 1, n: 1 } : agreeing(command)));
    assert.instance(await rejection(commit()), ViewsUnavailable);
  }
  await views.close();
});

test("a write that no majority has is unavailable, not committed", async ({ double }) => {
  const views = await mongoViewStore({ url: `mongodb://${double.host}/countersign`, schemas });
  const waiting = { ok: 1, n: 1, writeConcernError: { code: 64, errmsg: "waiting for replication timed out" } };
  for (const name of ["insert", "update"]) {
    double.answerWith((command) => (command[name] ? waiting : command.update ? { ok: 1, n: 1 } : agreeing(command)));
    const commit = views.commit("things.v1", null, "1", { documents: new Map([["a", { at: 1 }]]) });
    assert.instance(await rejection(commit), ViewsUnavailable);
  }
  await views.close();
});

test("a silent server is unavailable within the time of a query", async ({ double }) => {
  const views = await mongoViewStore({ url: `mongodb://${double.host}/countersign`, schemas });
  double.answerWith(() => null);
  const error = await rejection(views.get("things.v1", "a"));
  assert.instance(error, ViewsUnavailable);
  assert.match(error.message, `no answer from MongoDB at ${double.host} within 2000 ms`);
  double.answerWith(agreeing);
  assert.is(await views.get("things.v1", "b"), null);
  await views.close();
});

test("a query without any possible result asks nothing", async ({ double }) => {
  const views = await mongoViewStore({ url: `mongodb://${double.host}/countersign`, schemas });
  double.answerWith(() => "cut");
  const sort = { field: "at", order: "asc" } as const;
  assert.equal(await views.page("things.v1", { where: [], sort, limit: 0 }), []);
  assert.equal(await views.page("things.v1", { where: [{ field: "at", is: "=", value: "text" }], sort, limit: 9 }), []);
  assert.is(await views.count("things.v1", [], 0), 0);
  assert.is((await views.getMany("things.v1", [])).size, 0);
  assert.is(await views.get("things.v1", ""), null);
  await views.close();
});

test.run();
