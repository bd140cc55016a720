import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { keyMapStream } from "../../../domain/evidence/key-map-events.ts";
import { systemClock } from "../../../infra/clock.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { DatabaseSync } from "../../../infra/sqlite/driver.ts";
import { sqliteEvidenceStore } from "../../../infra/sqlite/evidence-store.ts";
import { AccountEvidence, NO_WITNESSES } from "../../../src/audit/account-evidence.ts";
import { EvidenceFollower } from "../../../src/evidence/evidence-follower.ts";
import { KeyMaps } from "../../../src/evidence/key-maps.ts";
import { unsealedRoots } from "../../../src/evidence/unsealed.ts";
import { signing } from "../../../src/routes/audit/checkpoints.ts";
import { LastCheckpoint } from "../../../src/sealing/last-checkpoint.ts";
import { sealOnce } from "../../../src/sealing/sealer.ts";
import { Sealing } from "../../../src/sealing/sealing.ts";
import { heldSigner } from "../../../src/sealing/signing-key.ts";
import { systemEnvelope, toEvents } from "../../../src/streams/envelope.ts";
import { accountOf, appendRecord, foldAll } from "../../support/evidence-log.ts";

const test = suite("evidence that differs from the log, or was damaged");

const A = accountOf(0);
const RECORDS = 600;

/** A node with a file of its own, on a log in which all records of one account are sealed. */
const sealedNode = async (dir: string) => {
  const log = memoryEventLog();
  const file = join(dir, "evidence.db");
  const store = sqliteEvidenceStore(file);
  const follower = new EvidenceFollower(log, store);
  await follower.claim();
  const path = join(dir, "audit-key");
  const sealing = new Sealing({
    log,
    store,
    signerFor: heldSigner({ path, mayCreate: true }, () => "hooks.example.com", randomness),
    last: new LastCheckpoint(`${path}.checkpoint`, randomness),
  });
  for (let n = 0; n < RECORDS; n += 1) await appendRecord(log, A, n);
  await foldAll(follower, log);
  await sealOnce({ log, sealing, clock: systemClock, unsealed: () => unsealedRoots(store) });
  await foldAll(follower, log);
  const evidence = new AccountEvidence(store, sealing, NO_WITNESSES);
  return { log, file, store, follower, sealing, evidence };
};

const inFolder = (run: (dir: string) => Promise<void>) => async (): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), "countersign-damaged-"));
  try {
    await run(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
};

test(
  "a tile that was changed is answered as unavailable, and is right again after it was folded anew",
  inFolder(async (dir) => {
    const { log, file, store, follower, evidence } = await sealedNode(dir);
    const proof = () => signing(evidence, (it) => it.inclusion(A, 3, RECORDS));
    const before = await proof();
    const other = new DatabaseSync(file);
    other.exec("UPDATE tiles SET hashes = zeroblob(length(hashes)) WHERE level = 0 AND number = 0");
    other.close();
    const damaged = await proof();
    assert.is("problem" in damaged ? damaged.problem : "", "unavailable");
    assert.is((await store.origin())?.last, null);
    const meanwhile = await signing(evidence, (it) => it.instance());
    assert.is(typeof meanwhile === "object" && meanwhile !== null ? meanwhile.problem : "", "unavailable");
    await appendRecord(log, A, RECORDS);
    await foldAll(follower, log);
    // The first page was one too many for the old position, so the follower began anew.
    await foldAll(follower, log);
    assert.equal(await proof(), before);
    await store.close();
  }),
);

test(
  "a sealed key map that is not the log's stops the signing, and says of which account",
  inFolder(async (dir) => {
    const { log, store, follower, sealing } = await sealedNode(dir);
    assert.is((await sealing.judge()).kind, "sealing");
    const forged = { type: "KeyMapSealed", data: { root: "ab".repeat(32), size: 41 } };
    const at = "2026-01-01T00:00:00.000Z";
    const envelope = systemEnvelope({ actor: "key-map", account: A, commandId: "forged", at });
    await log.append(keyMapStream(A), "absent", toEvents([forged], envelope));
    await foldAll(follower, log);
    await new KeyMaps(store.maps).catchUp(() => false);
    const state = await sealing.judge();
    assert.ok(state.kind === "stopped" && state.reason.includes(`${A} at 41 records has the root abab`));
    assert.is(sealing.healthy(), false);
    await appendRecord(log, A, RECORDS);
    await foldAll(follower, log);
    const outcome = await sealOnce({ log, sealing, clock: systemClock, unsealed: () => unsealedRoots(store) });
    assert.is(outcome, "done");
    await store.close();
  }),
);

test.run();
