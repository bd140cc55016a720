import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toBase64, utf8 } from "../../../domain/evidence/bytes.ts";
import { checkpointText } from "../../../domain/evidence/checkpoint.ts";
import {
  consistencyPath,
  EMPTY_FRONTIER,
  inclusionPath,
  leafHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from "../../../domain/evidence/merkle.ts";
import { ED25519, formatVerifierKey, verifierKey } from "../../../domain/evidence/signed-note.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { EvidenceStore } from "../../../domain/ports/evidence-store.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { DatabaseSync } from "../../../infra/sqlite/driver.ts";
import { sqliteEvidenceStore } from "../../../infra/sqlite/evidence-store.ts";
import { EvidenceFollower } from "../../../src/evidence/evidence-follower.ts";
import { frontierAt, leafHashAt, pathAt, rootAt } from "../../../src/evidence/tree-reads.ts";
import { accountOf, appendInstance, appendRecord, foldAll, folded, frontiersOf } from "../../support/evidence-log.ts";

const test = suite("the fold of the evidence");

const [A, B] = [accountOf(0), accountOf(1)];
const KEY = formatVerifierKey(verifierKey(sha256, "hooks.example.com/instance", ED25519, new Uint8Array(32)));

const logOf = async (records: number): Promise<EventLog> => {
  const log = memoryEventLog();
  for (let n = 0; n < records; n += 1) await appendRecord(log, n % 7 === 0 ? B : A, n);
  return log;
};

const everything = (log: EventLog) => log.readAll(null, 100_000, "records");

const headsOf = async (store: EvidenceStore) => [await store.head(A), await store.head(B), await store.head("")];

const inFile = (run: (path: string) => Promise<void>) => async (): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), "countersign-evidence-"));
  try {
    await run(join(directory, "evidence.db"));
  } finally {
    await rm(directory, { recursive: true });
  }
};

/** Seals the present head of both accounts; the roots are computed from the log alone. */
const seal = async (log: EventLog): Promise<void> => {
  const records = await everything(log);
  const heads = [A, B].map((account) => {
    const head = frontiersOf(records, account).at(-1) ?? EMPTY_FRONTIER;
    return [account, head.size, toBase64(rootOf(sha256, head))] as const;
  });
  await appendInstance(log, { type: "Sealed", data: { heads } });
};

const nameKey = (log: EventLog, previous: string | null = null): Promise<void> =>
  appendInstance(log, { type: "SigningKeyNamed", data: { vkey: KEY, previous, reason: null, handover: null } });

test("pages of any size lead to the same trees, which are those of the log alone", async () => {
  const log = await logOf(1_400);
  const records = await everything(log);
  for (const pageSize of [1, 97, 5_000]) {
    const store = sqliteEvidenceStore(":memory:");
    await folded(log, store, pageSize);
    for (const account of [A, B]) {
      const frontiers = frontiersOf(records, account);
      assert.equal(await store.head(account), frontiers.at(-1), `${account} in pages of ${pageSize}`);
      for (const size of [0, 1, 200, 255, 256, 257, 1_199])
        if (size < frontiers.length) assert.equal(await frontierAt(store, account, size), frontiers[size]);
    }
    await store.close();
  }
});

test("inclusion and consistency are proved at any size from the tiles", async () => {
  const log = await logOf(700);
  const store = sqliteEvidenceStore(":memory:");
  await folded(log, store);
  for (const size of [1, 3, 256, 300, 555, 600]) {
    const root = await rootAt(store, A, size);
    for (const index of [0, size >> 1, size - 1]) {
      const path = await pathAt(store, A, inclusionPath(index, size));
      const proof = { index, size, leafHash: await leafHashAt(store, A, index), path };
      assert.ok(verifyInclusion(sha256, proof, root), `${index} of ${size}`);
    }
    const path = await pathAt(store, A, consistencyPath(size, 600));
    const to = { size: 600, root: await rootAt(store, A, 600) };
    assert.ok(verifyConsistency(sha256, { size, root }, to, path), `from ${size}`);
  }
  await store.close();
});

test("sealed heads become leaves of the instance tree and are found by account, index and leaf", async () => {
  const log = memoryEventLog();
  for (let n = 0; n < 8; n += 1) await appendRecord(log, n === 0 ? B : A, n);
  await nameKey(log);
  await seal(log);
  for (let n = 8; n < 10; n += 1) await appendRecord(log, A, n);
  const store = sqliteEvidenceStore(":memory:");
  const follower = await folded(log, store);
  assert.equal(
    (await store.unsealed(10)).map(({ account, size }) => [account, size]),
    [[A, 9]],
  );
  await seal(log);
  await foldAll(follower, log);
  assert.equal(await store.unsealed(10), []);
  assert.equal((await store.instance()).difference, null);
  assert.equal((await store.head("")).size, 5);
  const newest = await store.newestSealed(A);
  assert.equal([newest?.size, newest?.leaf], [9, 3]);
  assert.equal((await store.firstSealed(A, 6))?.size, 7);
  assert.equal((await store.firstSealed(A, 7))?.size, 9);
  assert.equal(await store.firstSealed(A, 9), null);
  assert.equal(await store.sealedAt(0), null);
  assert.equal(await store.sealedAt(3), newest);
  const text = checkpointText(`hooks.example.com/accounts/${A}`, { size: 9, root: await rootAt(store, A, 9) });
  assert.equal(await leafHashAt(store, "", 3), new Uint8Array(leafHash(sha256, utf8(text))));
  await store.close();
});

test("a new generation begins a new instance tree, in which no account is sealed yet", async () => {
  const log = await logOf(10);
  await nameKey(log);
  await seal(log);
  await nameKey(log, checkpointText("hooks.example.com/instance", { size: 3, root: new Uint8Array(32) }));
  const store = sqliteEvidenceStore(":memory:");
  const follower = await folded(log, store);
  assert.equal([(await store.head("")).size, (await store.unsealed(10)).length], [1, 2]);
  assert.equal(await store.newestSealed(A), null);
  await seal(log);
  await foldAll(follower, log);
  const text = checkpointText(`hooks.example.com/2/accounts/${A}`, { size: 8, root: await rootAt(store, A, 8) });
  assert.equal(await leafHashAt(store, "", 1), new Uint8Array(leafHash(sha256, utf8(text))));
  await store.close();
});

test("a sealed root that the log does not have is recorded as a difference, once the log is folded anew", async () => {
  const log = await logOf(10);
  await nameKey(log);
  const store = sqliteEvidenceStore(":memory:");
  await folded(log, store);
  const follower = new EvidenceFollower(log, store);
  await follower.claim();
  const sealed = toBase64(new Uint8Array(32));
  await appendInstance(log, { type: "Sealed", data: { heads: [[A, 8, sealed]] } });
  const error = await foldAll(follower, log).catch((caught: unknown) => caught);
  assert.match(String(error), /is not the sealed one/);
  await foldAll(follower, log);
  const own = toBase64(await rootAt(store, A, 8));
  assert.equal((await store.instance()).difference, { account: A, size: 8, sealed, folded: own });
  await store.close();
});

const DAMAGES: readonly [string, string][] = [
  ["a changed byte of a tile", "UPDATE tiles SET hashes = CAST(x'00' || substr(hashes, 2) AS BLOB) WHERE level = 0"],
  ["a changed tile with its sum", "UPDATE tiles SET (hashes, sum) = (SELECT hashes, sum FROM tiles WHERE number = 1)"],
  ["deleted tiles", "DELETE FROM tiles"],
  ["a changed frontier", "UPDATE trees SET frontier = zeroblob(length(frontier))"],
];
for (const [what, sql] of DAMAGES)
  test(
    `${what} is found before the tree grows, and the evidence is folded again`,
    inFile(async (path) => {
      const log = await logOf(700);
      const before = sqliteEvidenceStore(path);
      await folded(log, before);
      const heads = await headsOf(before);
      await before.close();
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
      const store = sqliteEvidenceStore(path);
      const follower = new EvidenceFollower(log, store);
      await follower.claim();
      await appendRecord(log, B, 700);
      const error = await foldAll(follower, log).catch((caught: unknown) => caught);
      assert.is((error as Error).name, "EvidenceDamaged");
      await foldAll(follower, log);
      const [a, b] = await headsOf(store);
      assert.equal(a, heads[0]);
      assert.equal(b, frontiersOf(await everything(log), B).at(-1));
      await store.close();
    }),
  );

test(
  "a file that is no database is replaced and folded again",
  inFile(async (path) => {
    await writeFile(path, "no database at all".repeat(1_000));
    const log = await logOf(20);
    const store = sqliteEvidenceStore(path);
    await folded(log, store);
    assert.is((await store.head(A)).size, 17);
    await store.close();
  }),
);

test("evidence of another log, or of records that the log lacks, is folded again", async () => {
  const store = sqliteEvidenceStore(":memory:");
  const log = await logOf(30);
  await folded(log, store);
  const shorter = { ...(await logOf(10)), identity: log.identity };
  assert.is(await new EvidenceFollower(shorter, store).claim(), "record-missing");
  await folded(shorter, store);
  assert.is((await store.head(A)).size, 8);
  assert.is(await new EvidenceFollower(await logOf(5), store).claim(), "unknown-log");
  await store.close();
});

test(
  "two processes that fold into one file never write a page twice",
  inFile(async (path) => {
    const log = await logOf(500);
    const stores = [sqliteEvidenceStore(path), sqliteEvidenceStore(path)];
    const followers = stores.map((store) => new EvidenceFollower(log, store));
    for (const follower of followers) await follower.claim();
    for (let round = 0; round < 400; round += 1)
      for (const follower of followers) {
        const page = await log.readAll(follower.position(), round % 2 === 0 ? 3 : 5, "records");
        if (page.length > 0) await follower.advance(page);
      }
    const records = await everything(log);
    for (const store of stores) {
      assert.equal(await store.head(A), frontiersOf(records, A).at(-1));
      assert.equal((await store.keys(A, [accountOf(0)])).size, 0);
      await store.close();
    }
  }),
);

test.run();
