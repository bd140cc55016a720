import { existsSync } from "node:fs";
import { cp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Checkpoint, parseCheckpoint } from "../../domain/evidence/checkpoint.ts";
import { INSTANCE_STREAM } from "../../domain/evidence/instance-events.ts";
import { parseNote } from "../../domain/evidence/signed-note.ts";
import type { EvidenceStore } from "../../domain/ports/evidence-store.ts";
import { sqliteEvidenceStore } from "../../infra/sqlite/evidence-store.ts";
import { isRecord } from "../../projections/audit.ts";
import { openLog } from "../../src/engine/open-engines.ts";
import { rootAt } from "../../src/evidence/tree-reads.ts";
import { type Client, signUp } from "../support/client.ts";
import { type Engines, engineSets, locationsIn } from "../support/engine-sets.ts";
import { folded } from "../support/evidence-log.ts";
import { fieldOf, readLogAt } from "../support/log-facts.ts";
import { type Program, removeFolder, startProgram, temporaryFolder, until } from "../support/program.ts";
import { seededRandom } from "../support/seeded-random.ts";

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 5);
/** A log lives for at most so many rounds, since each round reads it from its beginning. */
const ROUNDS_A_LOG_MAX = 12;
const random = seededRandom(Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000));
/** Long enough for more than one seal. */
const KILL_AFTER_MS = 2_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const keyFileIn = ({ env }: Engines, dir: string): string =>
  join(dir, env.EVENTSTORE_URL === undefined ? "audit-key" : "given-audit-key");

const shownIn = async (engines: Engines, dir: string): Promise<Checkpoint | null> => {
  const note = await readFile(`${keyFileIn(engines, dir)}.checkpoint`, "utf8").catch(() => "");
  return parseCheckpoint(parseNote(note)?.text ?? "");
};

/** The log of a program that has ended, folded by the test itself. */
const onFolded = async (engines: Engines, dir: string, run: (store: EvidenceStore) => Promise<void>): Promise<void> => {
  const log = await openLog(locationsIn(engines, dir).log, { readOnly: true });
  const store = sqliteEvidenceStore(":memory:");
  try {
    await folded(log, store);
    await run(store);
  } finally {
    await store.close();
    await log.close();
  }
};

const instanceOf = async (engines: Engines, dir: string) =>
  (await readLogAt(locationsIn(engines, dir).log)).filter(({ stream }) => stream === INSTANCE_STREAM);

/** Makes policies until the program is gone: each is a record or more. */
const load = async (client: Client): Promise<void> => {
  for (let n = 0; ; n += 1)
    try {
      await client.make("/v1/policies", { name: `policy ${n}-${random.below(1e9)}`, rate_per_minute: 10 });
    } catch {
      return;
    }
};

/** Replaces the log's files: what one has not, the other has not afterwards. */
const copyLog = async (from: string, to: string): Promise<void> => {
  for (const file of ["log.db", "log.db-wal", "log.db-shm"]) {
    await rm(join(to, file), { force: true });
    if (existsSync(join(from, file))) await cp(join(from, file), join(to, file));
  }
};

const informational = async ({ url }: Program): Promise<Record<string, string>> => {
  const body = (await (await fetch(`${url}/ready`)).json()) as { informational: Record<string, string> };
  return body.informational;
};

/** Kills one program after the other on the same log. Returns the last checkpoint that was shown. */
const killedUnderLoad = async (engines: Engines, rounds: number): Promise<Checkpoint | null> => {
  const dir = temporaryFolder();
  let client: Client | null = null;
  let before: Checkpoint | null = null;
  for (let round = 0; round < rounds; round += 1) {
    const program = await startProgram(engines.env, dir);
    client = client === null ? await signUp(program.url) : client.at(program.url);
    const loading = load(client);
    await pause(random.below(KILL_AFTER_MS));
    // On a busy machine each of the others may end before its first seal.
    if (round === rounds - 1) await until("a checkpoint is shown", async () => (await shownIn(engines, dir)) !== null);
    await program.kill();
    await loading;
    const shown = await shownIn(engines, dir);
    await onFolded(engines, dir, async (store) => {
      const instance = await store.instance();
      assert.is(instance.difference, null);
      assert.ok(instance.keys.length <= 1, "one key was named");
      for (const checkpoint of [before, shown])
        if (checkpoint !== null)
          assert.equal(await rootAt(store, "", checkpoint.size), checkpoint.root, `round ${round}`);
    });
    assert.ok((shown?.size ?? 0) >= (before?.size ?? 0));
    before = shown;
    const sizes = (await instanceOf(engines, dir))
      .filter(({ type }) => type === "Sealed")
      .map((event) => Number((fieldOf(event, "heads") as unknown[][])[0]?.[1]));
    assert.equal(
      sizes,
      [...new Set(sizes)].sort((a, b) => a - b),
      "each seal covers more",
    );
  }
  removeFolder(dir);
  return before;
};

for (const { name, open } of engineSets()) {
  const test = suite(`sealing on ${name}`);
  // The servers are doubles whose reads and writes take longer.
  const rounds = Math.max(2, Math.round(name === "embedded" ? ROUNDS : ROUNDS / 5));

  test("all records are sealed soon, and an idle service appends nothing", async () => {
    const engines = await open();
    const dir = temporaryFolder();
    const program = await startProgram(engines.env, dir);
    await signUp(program.url);
    const log = await openLog(locationsIn(engines, dir).log, { readOnly: true });
    const sealedSizes = async (): Promise<readonly unknown[]> => {
      const all = await log.readAll(null, 1_000, "records");
      const records = all.filter(isRecord).length;
      const last = all.filter(({ stream }) => stream === INSTANCE_STREAM).at(-1);
      return [records, last?.type === "Sealed" ? (last.data.heads as unknown[][])[0]?.[1] : 0];
    };
    await until("the account is sealed", async () => {
      const [records, sealed] = await sealedSizes();
      return records === sealed;
    });
    await until("the checkpoint is beside the key", async () => (await shownIn(engines, dir))?.size === 2);
    const before = (await log.read(INSTANCE_STREAM, null, 100)).length;
    await pause(3_000);
    const [records, sealed] = await sealedSizes();
    assert.is(records, sealed);
    assert.ok((await log.read(INSTANCE_STREAM, null, 100)).length - before <= 1);
    assert.is((await informational(program)).sealing, "ok");
    await log.close();
    await program.stop();
    removeFolder(dir);
    await engines.close();
  });

  test(`${rounds} rounds: no root forks and checkpoints only grow`, async () => {
    for (let done = 0; done < rounds; done += ROUNDS_A_LOG_MAX) {
      const engines = await open();
      const checkpoint = await killedUnderLoad(engines, Math.min(ROUNDS_A_LOG_MAX, rounds - done));
      assert.ok(checkpoint !== null, "a checkpoint was shown");
      await engines.close();
    }
  });

  test.run();
}

const embedded = suite("sealing of a log that was rolled back");

embedded(
  "a log file that is an older copy is found at the start: nothing more is sealed, and requests are admitted",
  async () => {
    const dir = temporaryFolder();
    const [older, engines] = [temporaryFolder(), { env: {}, close: async () => undefined }];
    const first = await startProgram({}, dir);
    const client = await signUp(first.url);
    await until("the account is sealed", async () => ((await shownIn(engines, dir))?.size ?? 0) >= 2);
    await first.stop();
    await copyLog(dir, older);
    const leaves = (await instanceOf(engines, dir)).flatMap((event) => fieldOf(event, "heads") ?? "a key").length;
    const second = await startProgram({}, dir);
    await client.at(second.url).make("/v1/policies", { name: "one", rate_per_minute: 10 });
    await until("more is sealed", async () => ((await shownIn(engines, dir))?.size ?? 0) > leaves);
    await second.stop();
    await copyLog(older, dir);
    const sealed = (await instanceOf(engines, dir)).length;
    const third = await startProgram({}, dir);
    await until("the roll back is found", async () => (await informational(third)).sealing === "failing");
    assert.match(third.output(), /rolled back or replaced/);
    await client.at(third.url).make("/v1/policies", { name: "two", rate_per_minute: 10 });
    assert.ok((await fetch(`${third.url}/ready`)).ok);
    await third.stop();
    assert.is((await instanceOf(engines, dir)).length, sealed);
    for (const folder of [dir, older]) removeFolder(folder);
  },
);

embedded.run();
