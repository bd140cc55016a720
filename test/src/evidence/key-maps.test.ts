import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toHex } from "../../../domain/evidence/bytes.ts";
import { keyHashOf, nodeOf, rootFromKeyProof, sortedEntries } from "../../../domain/evidence/key-map.ts";
import { keyMapStream } from "../../../domain/evidence/key-map-events.ts";
import { KeyMapTrie } from "../../../domain/evidence/key-map-rows.ts";
import { keysOfRecord } from "../../../domain/evidence/leaf.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { EvidenceStore } from "../../../domain/ports/evidence-store.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { DatabaseSync } from "../../../infra/sqlite/driver.ts";
import { sqliteEvidenceStore } from "../../../infra/sqlite/evidence-store.ts";
import { packedLinks, unpackedLinks } from "../../../infra/sqlite/key-links.ts";
import { isRecord } from "../../../projections/audit.ts";
import { KEY_MAP_TIMES, KeyMapKeeper } from "../../../src/evidence/key-map-keeper.ts";
import { KeyMaps, type MapCandidate } from "../../../src/evidence/key-maps.ts";
import { sealMap } from "../../../src/evidence/map-sealing.ts";
import { systemEnvelope, toEvents } from "../../../src/streams/envelope.ts";
import { accountOf, appendRecord, foldAll, folded } from "../../support/evidence-log.ts";
import { until } from "../../support/until.ts";

const test = suite("key maps");

const [A, B] = [accountOf(0), accountOf(1)];
const CLOCK = { now: () => Date.UTC(2026, 0, 2) };

const bySystem = (commandId: string) =>
  systemEnvelope({ actor: "key-map", account: A, commandId, at: "2026-01-01T00:00:00.000Z" });

const failed = (why: string): never => {
  throw new Error(why);
};

const logOf = async (records: number): Promise<EventLog> => {
  const log = memoryEventLog();
  for (let n = 0; n < records; n += 1) await appendRecord(log, n % 5 === 0 ? B : A, n);
  return log;
};

/** The root of the account's first records, from the log alone. */
const rootOf = async (log: EventLog, account: string, size: number): Promise<string> => {
  const entries = new Map<string, { keyHash: Uint8Array; number: number; last: number }>();
  const records = (await log.readAll(null, 1_000_000, "records")).filter(
    (it) => isRecord(it) && it.meta.account === account,
  );
  for (const [last, record] of records.slice(0, size).entries())
    for (const key of keysOfRecord(record))
      entries.set(key, { keyHash: keyHashOf(sha256, key), number: (entries.get(key)?.number ?? 0) + 1, last });
  return toHex(nodeOf(sha256, sortedEntries([...entries.values()])).hash);
};

/** A node: its store, its fold of the log, and its maps. */
const nodeOn = async (log: EventLog, store: EvidenceStore = sqliteEvidenceStore(":memory:")) => {
  const follower = await folded(log, store, 7);
  const maps = new KeyMaps(store.maps);
  return {
    store,
    maps,
    async read(): Promise<void> {
      await foldAll(follower, log, 7);
      await maps.catchUp(() => false);
    },
    offer: async (account: string): Promise<MapCandidate> =>
      (await maps.candidate(account, (await store.head(account)).size)) ?? failed("no candidate"),
    stateOf: (account: string) => store.maps.readMap(account, (_, state) => state),
  };
};

test("what a node seals is the map of all that it has folded, and grows with what is new", async () => {
  const log = await logOf(400);
  const node = await nodeOn(log);
  await node.read();
  for (const more of [0, 1, 300, 2]) {
    for (let n = 0; n < more; n += 1) await appendRecord(log, A, 1_000 + more + n);
    await node.read();
    const candidate = await node.offer(A);
    assert.is(candidate.root, await rootOf(log, A, candidate.size));
    assert.is(await sealMap(log, CLOCK, candidate), "sealed");
    await node.read();
    const { seal } = await node.stateOf(A);
    assert.equal([seal?.size, seal?.root], [candidate.size, candidate.root]);
    await appendRecord(log, A, 5_000 + more);
  }
  assert.is(await node.store.maps.mapDifference(), null);
});

/** As those of a ledger: the ids stand in a list. */
const appendWithoutKeys = (log: EventLog, n: number) =>
  log.append("ledger-day", "any", toEvents([{ type: "Settled", data: { entries: [n] } }], bySystem(`settled ${n}`)));

test("records without keys alone are covered by the next map, whose root is the one before", async () => {
  const log = await logOf(40);
  const node = await nodeOn(log);
  for (const count of [0, 1, 3]) {
    for (let n = 0; n < count; n += 1) await appendWithoutKeys(log, n);
    await node.read();
    const candidate = await node.offer(A);
    assert.is(candidate.root, await rootOf(log, A, candidate.size));
    assert.is(await sealMap(log, CLOCK, candidate), "sealed");
  }
  await node.read();
  assert.is(await node.store.maps.mapDifference(), null);
});

test("a seal without a root, which earlier builds wrote, is followed by one that has it", async () => {
  const log = await logOf(40);
  const node = await nodeOn(log);
  assert.is(await sealMap(log, CLOCK, await node.offer(A)), "sealed");
  await node.read();
  const empty = { type: "KeyMapSealed", data: { root: "", size: 41 } };
  await log.append(keyMapStream(A), 0, toEvents([empty], bySystem("empty")));
  await node.read();
  const candidate = await node.offer(A);
  assert.is(await sealMap(log, CLOCK, candidate), "sealed");
  await node.read();
  assert.equal((await node.stateOf(A)).seal?.root, candidate.root);
});

test("a node that comes later reaches the sealed map from the log, and proves keys and their absence", async () => {
  const log = await logOf(300);
  const first = await nodeOn(log);
  await sealMap(log, CLOCK, await first.offer(A));
  for (let n = 0; n < 20; n += 1) await appendRecord(log, A, n);
  const later = await nodeOn(log);
  await later.read();
  const { seal } = await later.stateOf(A);
  assert.is(seal?.size, 240);
  for (const key of [`src_${"a".repeat(32)}`, `src_${"7".repeat(32)}`]) {
    const proof = await later.store.maps.readMap(A, (rows) =>
      new KeyMapTrie(sha256, { get: rows.get, put: () => failed("a proof writes") }).prove(keyHashOf(sha256, key)),
    );
    assert.is(proof.end.kind, key.includes("a") ? "present" : "absent");
    assert.is(toHex(rootFromKeyProof(sha256, keyHashOf(sha256, key), proof) ?? new Uint8Array()), seal?.root);
  }
});

test("of two nodes that seal at once one succeeds, and both have its map", async () => {
  const log = await logOf(100);
  const [one, other] = [await nodeOn(log), await nodeOn(log)];
  const early = await one.offer(A);
  for (let n = 0; n < 10; n += 1) await appendRecord(log, A, n);
  await other.read();
  const late = await other.offer(A);
  assert.ok(late.size > early.size);
  assert.equal([await sealMap(log, CLOCK, early), await sealMap(log, CLOCK, late)], ["sealed", "overtaken"]);
  for (const node of [one, other]) {
    await node.read();
    assert.is((await node.stateOf(A)).seal?.root, await rootOf(log, A, early.size));
    assert.is(await node.store.maps.mapDifference(), null);
  }
  assert.is(await sealMap(log, CLOCK, await other.offer(A)), "sealed");
});

test("a seal that is appended twice, after a lost reply, is one record", async () => {
  const log = await logOf(10);
  const node = await nodeOn(log);
  const candidate = await node.offer(A);
  assert.is(await sealMap(log, CLOCK, candidate), "sealed");
  assert.is(await sealMap(log, CLOCK, candidate), "overtaken");
  assert.is((await log.read(keyMapStream(A), null, 10)).length, 1);
});

const inFile = (run: (path: string) => Promise<void>) => async (): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), "countersign-key-maps-"));
  try {
    await run(join(directory, "evidence.db"));
  } finally {
    await rm(directory, { recursive: true });
  }
};

test(
  "a crash on the way to a seal is continued from where the rows are",
  inFile(async (path) => {
    const log = await logOf(2_000);
    const first = await nodeOn(log, sqliteEvidenceStore(path));
    await sealMap(log, CLOCK, await first.offer(A));
    await first.store.close();
    const second = await nodeOn(log, sqliteEvidenceStore(path));
    let turns = 0;
    const { writeMap } = second.store.maps;
    second.store.maps.writeMap = (...given) => {
      turns += 1;
      if (turns === 3) throw new Error("killed");
      return writeMap.apply(second.store.maps, given);
    };
    await second.read().then(
      () => failed("it was not killed"),
      () => undefined,
    );
    assert.equal(await second.stateOf(A), { size: 1_024, seal: null });
    await second.store.close();
    const third = await nodeOn(log, sqliteEvidenceStore(path));
    assert.is(await third.maps.candidate(A, 1_601), null);
    await third.read();
    assert.is((await third.stateOf(A)).seal?.root, await rootOf(log, A, 1_600));
    await third.store.close();
  }),
);

test("a sealed root that is not the log's is told, once the map was built again from the first record", async () => {
  const log = await logOf(50);
  const node = await nodeOn(log);
  await sealMap(log, CLOCK, await node.offer(A));
  await node.read();
  const forged = { type: "KeyMapSealed", data: { root: "ab".repeat(32), size: 41 } };
  await log.append(keyMapStream(A), 0, toEvents([forged], bySystem("forged")));
  await node.read();
  const difference = await node.store.maps.mapDifference();
  assert.equal([difference?.account, difference?.size, difference?.sealed], [A, 41, "ab".repeat(32)]);
  assert.is(difference?.folded, await rootOf(log, A, 41));
});

test(
  "rows that were changed in the file are built again, and nothing is told",
  inFile(async (path) => {
    const log = await logOf(50);
    const node = await nodeOn(log, sqliteEvidenceStore(path));
    await sealMap(log, CLOCK, await node.offer(A));
    await node.read();
    await node.store.close();
    const file = new DatabaseSync(path);
    file.exec("UPDATE map_rows SET content = zeroblob(length(content))");
    file.close();
    const again = await nodeOn(log, sqliteEvidenceStore(path));
    await appendRecord(log, A, 60);
    await again.read();
    assert.is(await again.maps.candidate(A, 42), null);
    await again.read();
    const candidate = await again.offer(A);
    await sealMap(log, CLOCK, candidate);
    await again.read();
    assert.is(await again.store.maps.mapDifference(), null);
    assert.is((await again.stateOf(A)).seal?.root, await rootOf(log, A, candidate.size));
    await again.store.close();
  }),
);

test("a map is offered within seconds of a record, and never because of a seal alone", async () => {
  const log = await logOf(20);
  const node = await nodeOn(log);
  let now = 0;
  const offered: MapCandidate[] = [];
  const keeper = new KeyMapKeeper(node.store.maps, node.maps, {
    onCandidate: (candidate) => offered.push(candidate),
    onError: () => failed("a look failed"),
    now: () => now,
  });
  await keeper.look();
  now += KEY_MAP_TIMES.sealAfterMs - 1;
  await keeper.look();
  assert.is(offered.length, 0);
  now += 1;
  await keeper.look();
  assert.equal(offered.map(({ account }) => account).sort(), [A, B]);
  for (const candidate of offered.splice(0)) await sealMap(log, CLOCK, candidate);
  await node.read();
  for (let seconds = 0; seconds < 100; seconds += 1) {
    now += 1_000;
    await keeper.look();
  }
  assert.is(offered.length, 0);
  await appendRecord(log, B, 3);
  await node.read();
  await keeper.look();
  now += KEY_MAP_TIMES.sealAfterMs;
  await keeper.look();
  assert.equal(
    offered.map(({ account }) => account),
    [B],
  );
  assert.ok(KEY_MAP_TIMES.sealAfterMs + 2 * KEY_MAP_TIMES.lookMs < 10_000);
});

test("a keeper that had nothing to do looks when records are folded, and goes on until their map is sealed", async () => {
  let waiting: readonly { readonly account: string; readonly size: number }[] = [];
  let looks = 0;
  let offers = 0;
  const store = {
    async unmapped() {
      looks += 1;
      return waiting;
    },
  };
  const maps = {
    catchUp: async () => undefined,
    async candidate() {
      offers += 1;
      waiting = [];
      return null;
    },
  };
  const keeper = new KeyMapKeeper(store, maps, {
    onCandidate: () => undefined,
    onError: () => failed("a look failed"),
    times: { lookMs: 1, sealAfterMs: 5, retryMs: 1 },
  });
  keeper.start();
  await until("it has looked", () => looks > 0);
  waiting = [{ account: A, size: 1 }];
  keeper.wake();
  await until("it offers the map", () => offers > 0);
  await keeper.stop();
});

test("links are the same after packing, for short and for long numbers", () => {
  const records = [
    [],
    [["evt_a", [0, null]] as const, ['action:"\\\u0000ü', [127, 3_000_000_000]] as const],
    [["evt_a", [1, 4_000_000_001]] as const],
  ];
  assert.equal(unpackedLinks(4_000_000_000, packedLinks(4_000_000_000, records)), records);
});

test.run();
