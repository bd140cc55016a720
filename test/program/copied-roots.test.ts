import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toHex } from "../../domain/evidence/bytes.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { type EvidenceStore, INSTANCE_TREE } from "../../domain/ports/evidence-store.ts";
import { sqliteEvidenceStore } from "../../infra/sqlite/evidence-store.ts";
import { isRecord } from "../../projections/audit.ts";
import { evidenceFileOf, type LogLocation, openLog, sqliteLogIn } from "../../src/engine/open-engines.ts";
import { rootAt, subtreeHashes } from "../../src/evidence/tree-reads.ts";
import { broadHistory } from "../support/broad-history.ts";
import { countersign } from "../support/command-line.ts";
import { startEventStoreDouble } from "../support/eventstore-double/server.ts";
import { folded } from "../support/evidence-log.ts";
import { appendTo } from "../support/history.ts";
import { keptEnvironment, keptLogs, unpackKeptLog } from "../support/kept-log.ts";
import { readWholeLog } from "../support/log-facts.ts";
import { freshDatabase, mongodbServer } from "../support/mongodb.ts";
import { killPrograms, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";

/** A log is copied from the embedded engine, and the trees that are folded from both are compared. */
const test = suite<{ dir: string; others: readonly [string, string] }>("the roots of a copied log");
const server = mongodbServer("the roots of a copied log at programs with MongoDB");

test.before.each((context) => {
  context.dir = temporaryFolder();
  context.others = [temporaryFolder(), temporaryFolder()];
});
test.after.each(({ dir, others }) => {
  killPrograms();
  for (const folder of [dir, ...others]) removeFolder(folder);
});

/** Of a tree: the leaf hash at each index, and the root over all of them. */
type Tree = { readonly leaves: readonly string[]; readonly root: string };
type Trees = ReadonlyMap<string, Tree>;

const treeOf = async (store: EvidenceStore, name: string, size: number): Promise<Tree> => {
  const indexes = Array.from({ length: size }, (_, index) => ({ level: 0, index }));
  const leaves = await subtreeHashes(store, name, indexes);
  return { leaves: leaves.map(toHex), root: toHex(await rootAt(store, name, size)) };
};

const namesIn = async (dir: string): Promise<readonly string[]> => {
  const records = (await readWholeLog(dir)).filter(isRecord);
  return [INSTANCE_TREE, ...new Set(records.map(({ meta }) => meta.account))];
};

const onLog = async <T>(place: LogLocation, run: (log: EventLog) => Promise<T>): Promise<T> => {
  const log = await openLog(place, { readOnly: true });
  try {
    return await run(log);
  } finally {
    await log.close();
  }
};

/** The trees that a node of its own folds from the log, in pages of this size. */
const foldedTrees = (place: LogLocation, names: readonly string[], pageSize: number): Promise<Trees> =>
  onLog(place, async (log) => {
    const store = sqliteEvidenceStore(":memory:");
    await folded(log, store, pageSize);
    assert.is((await store.instance()).difference, null);
    const trees = new Map<string, Tree>();
    for (const name of names) trees.set(name, await treeOf(store, name, (await store.head(name)).size));
    await store.close();
    return trees;
  });

const copied = async (dir: string, to: string): Promise<void> => {
  const { status, stderr } = await countersign(["log", "copy", "--from", `sqlite:${dir}`, "--to", to]);
  assert.is(status, 0, stderr);
};

const broadLogIn = async (dir: string): Promise<void> => {
  const log = await openLog(sqliteLogIn(dir));
  await appendTo(log, broadHistory().events);
  await log.close();
};

const logs: readonly (readonly [name: string, write: (dir: string) => unknown])[] = [
  ["a broad history", broadLogIn],
  ...keptLogs().map((name) => [name, (dir: string) => unpackKeptLog(name, dir)] as const),
];

for (const [name, write] of logs)
  test(`${name} has the same leaf at each index, and the same roots, at two nodes on EventStoreDB`, async ({ dir }) => {
    await write(dir);
    const names = await namesIn(dir);
    const double = await startEventStoreDouble();
    await copied(dir, double.url);
    const embedded = await foldedTrees(sqliteLogIn(dir), names, 1_000);
    for (const account of names)
      assert.ok(account === INSTANCE_TREE || (embedded.get(account)?.leaves.length ?? 0) > 0, account);
    const place = { engine: "eventstoredb", url: double.url } as const;
    const nodes = await Promise.all([foldedTrees(place, names, 7), foldedTrees(place, names, 1_000)]);
    for (const node of nodes) assert.equal(node, embedded);
    await double.stop();
  });

/** The trees that the program folds into a file of its own, as far as they reach. */
const treesOf = async (dir: string, expected: Trees): Promise<Trees> => {
  const store = sqliteEvidenceStore(evidenceFileOf({ dataDir: dir }));
  const trees = new Map<string, Tree>();
  for (const [name, { leaves }] of expected) {
    // The program may append records of its own meanwhile.
    await until("the tree is folded", async () => (await store.head(name)).size >= leaves.length);
    trees.set(name, await treeOf(store, name, leaves.length));
  }
  await store.close();
  return trees;
};

if (server !== null)
  for (const name of keptLogs())
    test(`${name} has the same leaf at each index, and the same roots, at two programs on EventStoreDB and MongoDB`, async ({
      dir,
      others,
    }) => {
      unpackKeptLog(name, dir);
      const [names, double, database] = [await namesIn(dir), await startEventStoreDouble(), freshDatabase(server)];
      await copied(dir, double.url);
      const embedded = await foldedTrees(sqliteLogIn(dir), names, 1_000);
      const engines = { EVENTSTORE_URL: double.url, MONGODB_URL: database.url };
      // Programs with these roles act on nothing: what the broad history tells of was never done.
      const env = { ...keptEnvironment(dir), ...engines, ROLES: "api,projector" };
      const programs = await Promise.all(others.map((folder) => startProgram(env, folder)));
      for (const folder of others) assert.equal(await treesOf(folder, embedded), embedded);
      for (const program of programs) assert.is(await program.stop(), 0, program.output());
      await double.stop();
      await database.drop();
    });

test.run();
