import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { utf8 } from "../../../domain/evidence/bytes.ts";
import { parseCheckpoint } from "../../../domain/evidence/checkpoint.ts";
import { INSTANCE_STREAM } from "../../../domain/evidence/instance-events.ts";
import {
  consistencyPath,
  inclusionPath,
  leafHash,
  verifyConsistency,
  verifyInclusion,
} from "../../../domain/evidence/merkle.ts";
import { parseNote, parseVerifierKey, verifiedBy } from "../../../domain/evidence/signed-note.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { systemClock } from "../../../infra/clock.ts";
import { ed25519Verify } from "../../../infra/crypto/ed25519.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { sqliteEvidenceStore } from "../../../infra/sqlite/evidence-store.ts";
import { EvidenceFollower } from "../../../src/evidence/evidence-follower.ts";
import { pathAt } from "../../../src/evidence/tree-reads.ts";
import { unsealedRoots } from "../../../src/evidence/unsealed.ts";
import { LastCheckpoint } from "../../../src/sealing/last-checkpoint.ts";
import { type SealOutcome, sealOnce } from "../../../src/sealing/sealer.ts";
import { NothingSigned, Sealing, type SignedCheckpoint } from "../../../src/sealing/sealing.ts";
import { heldSigner } from "../../../src/sealing/signing-key.ts";
import { onEachLog } from "../../support/each-log.ts";
import { accountOf, appendInstance, appendRecord, foldAll } from "../../support/evidence-log.ts";

const test = suite("sealing");

const [A, B] = [accountOf(0), accountOf(1)];
const ZEROS = Buffer.alloc(32).toString("base64");

/** A node that seals when it is told to; nodes with the same folder have the same key and the same last checkpoint. */
const nodeOf = async (log: EventLog, dir: string) => {
  const store = sqliteEvidenceStore(":memory:");
  const follower = new EvidenceFollower(log, store);
  await follower.claim();
  const path = join(dir, "audit-key");
  const sealing = new Sealing({
    log,
    store,
    signerFor: heldSigner({ path, mayCreate: true }, () => "hooks.example.com", randomness),
    last: new LastCheckpoint(`${path}.checkpoint`, randomness),
  });
  const fold = () => foldAll(follower, log);
  const unsealed = () => unsealedRoots(store);
  const seal = async (): Promise<SealOutcome> => {
    await fold();
    const outcome = await sealOnce({ log, sealing, clock: systemClock, unsealed });
    await fold();
    return outcome;
  };
  return { store, sealing, fold, unsealed, seal };
};

const inFolder = async (run: (dir: string) => Promise<void>): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), "countersign-sealing-"));
  try {
    await run(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
};

const records = async (log: EventLog, from: number, to: number, account = A): Promise<void> => {
  for (let n = from; n < to; n += 1) await appendRecord(log, account, n);
};

const isSigned = async (vkey: string, { note }: SignedCheckpoint): Promise<boolean> => {
  const [parsed, key] = [parseNote(note), parseVerifierKey(sha256, vkey)];
  return parsed !== null && key !== null && (await verifiedBy(ed25519Verify, parsed, key)) === "verified";
};

const instanceRecords = (log: EventLog) => log.read(INSTANCE_STREAM, null, 1_000);

const nothingSigned = async (signing: Promise<unknown>): Promise<string> => {
  const error = await signing.catch((caught: unknown) => caught);
  assert.instance(error, NothingSigned);
  return String(error);
};

test("nothing is appended before there is something to seal, nor when all is sealed", () =>
  inFolder(async (dir) => {
    const log = memoryEventLog();
    const { seal, sealing } = await nodeOf(log, dir);
    assert.is(await seal(), "done");
    assert.is(await sealing.instance(), null);
    await records(log, 0, 3);
    assert.is(await seal(), "sealed");
    assert.is(await seal(), "done");
    assert.equal(
      (await instanceRecords(log)).map(({ type }) => type),
      ["SigningKeyNamed", "Sealed"],
    );
  }));

test(
  "each account has a signed checkpoint whose text is proved to be a leaf of the signed instance tree",
  onEachLog((log) =>
    inFolder(async (dir) => {
      const { seal, sealing, store } = await nodeOf(log, dir);
      await records(log, 0, 5);
      await records(log, 5, 7, B);
      await seal();
      await records(log, 7, 9);
      await seal();
      const instance = await sealing.instance();
      const vkey = (await store.instance()).keys[0]?.vkey ?? "";
      assert.ok(instance !== null && (await isSigned(vkey, instance)));
      assert.equal([instance.origin, instance.size], ["hooks.example.com/instance", 4]);
      for (const [account, index, size] of [
        [A, undefined, 7],
        [A, 4, 5],
        [B, undefined, 2],
      ] as const) {
        const checkpoint = await sealing.account(account, index);
        assert.ok(checkpoint !== null && (await isSigned(vkey, checkpoint)));
        assert.equal([checkpoint.origin, checkpoint.size], [`hooks.example.com/accounts/${account}`, size]);
        const path = await pathAt(store, "", inclusionPath(checkpoint.leaf, instance.size));
        const place = { index: checkpoint.leaf, size: instance.size, path };
        const leaf = { ...place, leafHash: leafHash(sha256, utf8(checkpoint.text)) };
        assert.ok(verifyInclusion(sha256, leaf, instance.root));
      }
      assert.is(await sealing.account(B, 2), null);
    }),
  ),
);

test("of two nodes that race one appends, and both sign the same bytes", () =>
  inFolder(async (dir) => {
    const log = memoryEventLog();
    const [one, two] = [await nodeOf(log, dir), await nodeOf(log, dir)];
    for (let round = 0; round < 5; round += 1) {
      await records(log, round * 3, round * 3 + 3);
      await one.fold();
      // The second node has folded one record less, so both would seal different heads at the same revision.
      await two.fold();
      await appendRecord(log, B, 100 + round);
      await one.fold();
      const outcomes = await Promise.all(
        [one, two].map(({ sealing, unsealed }) => sealOnce({ log, sealing, clock: systemClock, unsealed })),
      );
      assert.equal(outcomes.sort(), ["sealed", "wait"]);
      await one.fold();
      await two.fold();
      assert.equal((await one.sealing.instance())?.note, (await two.sealing.instance())?.note);
      assert.equal((await one.sealing.account(A))?.note, (await two.sealing.account(A))?.note);
    }
    const types = (await instanceRecords(log)).map(({ type }) => type);
    assert.equal(types, ["SigningKeyNamed", ...Array.from({ length: 5 }, () => "Sealed")]);
  }));

test("the last checkpoint is in the file before its signature is shown, and later ones continue it", () =>
  inFolder(async (dir) => {
    const log = memoryEventLog();
    const { seal, sealing, store } = await nodeOf(log, dir);
    let before: SignedCheckpoint | null = null;
    for (let n = 0; n < 4; n += 1) {
      await records(log, n, n + 1);
      await seal();
      const shown = await sealing.instance();
      assert.is(await readFile(join(dir, "audit-key.checkpoint"), "utf8"), shown?.note);
      if (before !== null && shown !== null) {
        const path = await pathAt(store, "", consistencyPath(before.size, shown.size));
        assert.ok(verifyConsistency(sha256, before, shown, path));
      }
      before = shown;
    }
    // No draft is left.
    assert.equal((await readdir(dir)).sort(), ["audit-key", "audit-key.checkpoint"]);
  }));

const copyOf = async (log: EventLog, count: number): Promise<EventLog> => {
  const copy = memoryEventLog();
  for (const { stream, id, type, data, meta } of (await log.readAll(null, 1_000)).slice(0, count))
    await copy.append(stream, "any", [{ id, type, data, meta }]);
  return copy;
};

test("a log that was rolled back and went on is found at the start: nothing is signed or sealed", () =>
  inFolder(async (dir) => {
    const log = memoryEventLog();
    const node = await nodeOf(log, dir);
    await records(log, 0, 5);
    await node.seal();
    const older = (await log.readAll(null, 1_000)).length;
    await records(log, 5, 8);
    await node.seal();
    await node.sealing.instance();
    for (const gone of [older, 2]) {
      const restored = await copyOf(log, gone);
      await records(restored, 20, 30);
      const again = await nodeOf(restored, dir);
      const before = (await instanceRecords(restored)).length;
      assert.is(await again.seal(), "done");
      assert.is((await instanceRecords(restored)).length, before);
      assert.match(await nothingSigned(again.sealing.instance()), /rolled back or replaced/);
      assert.not(again.sealing.healthy());
    }
    // The log as it was goes on.
    const whole = await nodeOf(await copyOf(log, 1_000), dir);
    await whole.fold();
    assert.is((await whole.sealing.instance())?.size, 3);
  }));

test("a node that has not folded the log of its start signs nothing yet", () =>
  inFolder(async (dir) => {
    const log = memoryEventLog();
    await records(log, 0, 5);
    await (await nodeOf(log, dir)).seal();
    const late = await nodeOf(log, dir);
    assert.match(await nothingSigned(late.sealing.instance()), /still being folded/);
    assert.ok(late.sealing.healthy());
    await late.fold();
    assert.is((await late.sealing.instance())?.size, 2);
  }));

test("a node with another key seals nothing and signs nothing", () =>
  inFolder(async (dir) => {
    const log = memoryEventLog();
    await records(log, 0, 5);
    await (await nodeOf(log, dir)).seal();
    await rm(join(dir, "audit-key"));
    const lost = await nodeOf(log, dir);
    await lost.fold();
    assert.match(await nothingSigned(lost.sealing.instance()), /There is no signing key/);
    await inFolder(async (other) => {
      await (await nodeOf(memoryEventLog(), other)).sealing.judge();
      const stranger = await nodeOf(log, other);
      await records(log, 5, 6);
      assert.is(await stranger.seal(), "done");
      assert.match(await nothingSigned(stranger.sealing.account(A)), /another signing key/);
    });
    assert.is((await instanceRecords(log)).length, 2);
  }));

test("a node whose fold differs from a sealed root says so and signs nothing more", () =>
  inFolder(async (dir) => {
    const log = memoryEventLog();
    const node = await nodeOf(log, dir);
    await records(log, 0, 5);
    await node.seal();
    await appendInstance(log, { type: "Sealed", data: { heads: [[A, 4, ZEROS]] } });
    await node.fold();
    assert.match(await nothingSigned(node.sealing.instance()), /sealed root of acc_a+ at 4 records is AAAA/);
    await records(log, 5, 6);
    assert.is(await node.seal(), "done");
  }));

test("a seal whose reply was lost adds nothing when it is repeated", () =>
  inFolder(async (dir) => {
    const log = memoryEventLog();
    const { sealing, unsealed, fold } = await nodeOf(log, dir);
    await records(log, 0, 5);
    await fold();
    const deps = { log, sealing, clock: systemClock, unsealed };
    assert.equal([await sealOnce(deps), await sealOnce(deps)], ["sealed", "sealed"]);
    assert.is((await instanceRecords(log)).length, 2);
    await fold();
    assert.is(parseCheckpoint((await sealing.instance())?.text ?? "")?.size, 2);
  }));

test.run();
