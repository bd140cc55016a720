import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toBase64 } from "../../../domain/evidence/bytes.ts";
import type { HandoverLine } from "../../../domain/evidence/export-lines.ts";
import { formatVerifierKey, parseNote, parseVerifierKey, verifiedBy } from "../../../domain/evidence/signed-note.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { systemClock } from "../../../infra/clock.ts";
import { ed25519Verify } from "../../../infra/crypto/ed25519.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { sqliteEvidenceStore } from "../../../infra/sqlite/evidence-store.ts";
import { AccountEvidence, NO_WITNESSES } from "../../../src/audit/account-evidence.ts";
import { unsealedRoots } from "../../../src/evidence/unsealed.ts";
import { foldToEnd } from "../../../src/sealing/folded-log.ts";
import { LastCheckpoint } from "../../../src/sealing/last-checkpoint.ts";
import { type NewKeyDeps, reopenLog, rotateSigningKey } from "../../../src/sealing/new-key.ts";
import { sealOnce } from "../../../src/sealing/sealer.ts";
import { Sealing } from "../../../src/sealing/sealing.ts";
import { heldSigner } from "../../../src/sealing/signing-key.ts";
import { startingKeys } from "../../../src/verifier/export.ts";
import { platformHere } from "../../../src/verifier/platform.ts";
import { followHandovers } from "../../../src/verifier/trust.ts";
import { accountOf, appendRecord } from "../../support/evidence-log.ts";

const test = suite("new signing keys and generations");

const A = accountOf(0);

const nodeOf = (log: EventLog, dir: string, isLastExpected = true) => {
  const place = { path: join(dir, "audit-key"), mayCreate: isLastExpected };
  const store = sqliteEvidenceStore(":memory:");
  const sealing = new Sealing({
    log,
    store,
    signerFor: heldSigner({ ...place, mayCreate: true }, () => "hooks.example.com", randomness),
    last: new LastCheckpoint(`${place.path}.checkpoint`, randomness),
    isLastExpected,
  });
  const deps: NewKeyDeps = { log, store, place, clock: systemClock, randomness };
  const seal = async () => {
    await foldToEnd(log, store);
    const outcome = await sealOnce({ log, sealing, clock: systemClock, unsealed: () => unsealedRoots(store) });
    await foldToEnd(log, store);
    return outcome;
  };
  return { store, sealing, deps, seal };
};

const inFolder = async (run: (dir: string) => Promise<void>): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), "countersign-keys-"));
  try {
    await run(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
};

const signers = async (note: string, vkeys: readonly string[]): Promise<readonly string[]> => {
  const parsed = parseNote(note);
  return Promise.all(
    vkeys.map(async (vkey) => {
      const key = parseVerifierKey(sha256, vkey);
      return key === null || parsed === null ? "no key" : verifiedBy(ed25519Verify, parsed, key);
    }),
  );
};

const sealedLog = async (): Promise<EventLog> => {
  const log = memoryEventLog();
  for (let n = 0; n < 5; n += 1) await appendRecord(log, A, n);
  return log;
};

test("the checkpoint that ends with the new key has both signatures, and later ones only the new one", () =>
  inFolder(async (dir) => {
    const log = await sealedLog();
    const node = nodeOf(log, dir);
    await node.seal();
    const old = (await node.store.instance()).keys[0]?.vkey ?? "";
    const vkey = await rotateSigningKey(node.deps, "a new year");
    assert.is.not(vkey, old);
    const handover = await node.sealing.instance();
    assert.is(handover?.size, 3);
    assert.equal(await signers(handover?.note ?? "", [old, vkey]), ["verified", "verified"]);
    await appendRecord(log, A, 5);
    assert.is(await node.seal(), "sealed");
    const later = (await node.sealing.instance())?.note ?? "";
    assert.equal(await signers(later, [old, vkey]), ["absent", "verified"]);
    assert.equal(
      (await node.store.instance()).keys.map(({ reason }) => reason),
      [null, "a new year"],
    );
  }));

/** The log's append fails before or after it has written, as when the command is killed there. */
const dying = (log: EventLog, when: "before" | "after"): EventLog => ({
  ...log,
  async append(...args) {
    if (when === "after") await log.append(...args);
    throw new Error("killed");
  },
});

for (const when of ["before", "after"] as const)
  test(`a rotation that is killed ${when} the append leaves a key that signs, and is completed by the next`, () =>
    inFolder(async (dir) => {
      const log = await sealedLog();
      const node = nodeOf(log, dir);
      await node.seal();
      const old = (await node.store.instance()).keys[0]?.vkey ?? "";
      await rotateSigningKey({ ...node.deps, log: dying(log, when) }, null).catch(() => undefined);
      await appendRecord(log, A, 5);
      const restarted = nodeOf(log, dir);
      assert.is(await restarted.seal(), "sealed");
      const [, second] = (await restarted.store.instance()).keys;
      assert.is(second === undefined, when === "before");
      const vkey = await rotateSigningKey(restarted.deps, null);
      const note = (await restarted.sealing.instance())?.note ?? "";
      assert.equal(await signers(note, [vkey]), ["verified"]);
      assert.is.not(vkey, old);
    }));

test("a log that was rolled back goes on in a new generation that names the last checkpoint and the reason", () =>
  inFolder(async (dir) => {
    const log = await sealedLog();
    const node = nodeOf(log, dir);
    await node.seal();
    await node.sealing.instance();
    const refused = await reopenLog(node.deps, "why", null).catch(String);
    assert.match(refused, /nothing to reopen/);
    const shown = await readFile(join(dir, "audit-key.checkpoint"), "utf8");
    const restored = memoryEventLog();
    for (let n = 0; n < 3; n += 1) await appendRecord(restored, A, n);
    const again = nodeOf(restored, dir);
    assert.is(await again.seal(), "done");
    const vkey = await reopenLog(again.deps, "restored from the backup of Monday", null);
    const [first] = (await again.store.instance()).keys;
    assert.equal(
      [first?.vkey, first?.reason, first?.previous],
      [vkey, "restored from the backup of Monday", parseNote(shown)?.text],
    );
    assert.is(await again.seal(), "sealed");
    const reopened = nodeOf(restored, dir);
    await reopened.seal();
    const instance = await reopened.sealing.instance();
    assert.equal([instance?.origin, instance?.size], ["hooks.example.com/2/instance", 2]);
    assert.is((await reopened.sealing.account(A))?.origin, `hooks.example.com/2/accounts/${A}`);
    // A node whose file is still of the first generation follows.
    assert.is(await readFile(join(dir, "audit-key.checkpoint"), "utf8"), instance?.note);
  }));

/** A log that was sealed twice: a copy of it from before the second seal, and the two checkpoints. */
const restoredIn = async (dir: string) => {
  const log = await sealedLog();
  const node = nodeOf(log, dir);
  await node.seal();
  const older = (await node.sealing.instance())?.note ?? "";
  const copy = await copyOf(log);
  await appendRecord(log, A, 5);
  await node.seal();
  const newest = (await node.sealing.instance())?.note ?? "";
  return { log, copy, older, newest };
};

const copyOf = async (log: EventLog): Promise<EventLog> => {
  const copy = memoryEventLog();
  for (const { stream, id, type, data, meta } of await log.readAll(null, 1_000))
    await copy.append(stream, "any", [{ id, type, data, meta }]);
  return copy;
};

const refusal = (deps: NewKeyDeps, given: string | null): Promise<string> =>
  reopenLog(deps, "restored", given).then((vkey) => `reopened with ${vkey}`, String);

test("a restored log without a checkpoint beside its key is not signed, and is reopened at the newest that is known", () =>
  inFolder(async (dir) => {
    const { copy, older, newest } = await restoredIn(dir);
    await rm(join(dir, "audit-key.checkpoint"));
    const node = nodeOf(copy, dir);
    assert.is(await node.seal(), "done");
    assert.match(JSON.stringify(node.sealing.state()), /not beside the signing key/);
    // What the log continues is no reason to begin a new generation.
    assert.match(await refusal(node.deps, older), /continues the given checkpoint.*audit-key\.checkpoint/);
    await reopenLog(node.deps, "restored", newest);
    assert.is((await node.store.instance()).keys[0]?.previous, parseNote(newest)?.text);
    assert.is((await nodeOf(copy, dir).sealing.judge()).kind, "starting");
    const next = nodeOf(copy, dir);
    await next.seal();
    assert.is((await next.sealing.instance())?.origin, "hooks.example.com/2/instance");
  }));

for (const when of ["before", "after"] as const)
  for (const finish of ["the same command", "the next start"])
    test(`a reopening that is killed ${when} the append begins one generation, which ${finish} completes`, () =>
      inFolder(async (dir) => {
        const { copy, newest } = await restoredIn(dir);
        const beside = join(dir, "audit-key.checkpoint");
        await rm(beside);
        const { deps } = nodeOf(copy, dir);
        assert.match(await refusal({ ...deps, log: dying(copy, when) }, newest), /killed/);
        const restarted = nodeOf(copy, dir);
        if (finish === "the next start") {
          assert.is(await restarted.seal(), when === "after" ? "sealed" : "done");
          assert.is(restarted.sealing.state().kind, when === "after" ? "sealing" : "stopped");
        }
        if (finish === "the same command" || when === "before")
          assert.match(await refusal(nodeOf(copy, dir).deps, newest), /^reopened with/);
        const next = nodeOf(copy, dir);
        await next.seal();
        const instance = await next.sealing.instance();
        assert.is(instance?.origin, "hooks.example.com/2/instance");
        assert.is((await next.store.instance()).keys.length, 1);
        assert.is((await next.store.instance()).keys[0]?.previous, parseNote(newest)?.text);
        assert.is(await readFile(beside, "utf8"), instance?.note);
        assert.equal((await readdir(dir)).sort(), ["audit-key", "audit-key.checkpoint"]);
      }));

test("a key from before a rotation and a reopening leads to the key in force by the handovers of an export", () =>
  inFolder(async (dir) => {
    const log = await sealedLog();
    const node = nodeOf(log, dir);
    await node.seal();
    const old = (await node.store.instance()).keys[0]?.vkey ?? "";
    const second = await rotateSigningKey(node.deps, "a new year");
    const third = await rotateSigningKey(node.deps, "another one");
    const copy = await copyOf(log);
    await appendRecord(log, A, 5);
    await node.seal();
    await node.sealing.instance();
    assert.is(await reopenLog(nodeOf(copy, dir).deps, "restored", null), third);
    const reopened = nodeOf(copy, dir);
    const fourth = await rotateSigningKey(reopened.deps, "after the restore");
    const { store, sealing } = nodeOf(copy, dir);
    await foldToEnd(copy, store);
    const lines: HandoverLine[] = [];
    for await (const { leaf, proof } of new AccountEvidence(store, sealing, NO_WITNESSES).handovers())
      lines.push({ kind: "handover", leaf: toBase64(leaf), proof });
    const platform = platformHere();
    for (const given of [old, second, third, fourth]) {
      const start = startingKeys(platform, { keys: [given], witnesses: [] }, null);
      assert.is.not(typeof start, "string");
      const followed = typeof start === "string" ? start : await followHandovers(platform, lines, start);
      const current = typeof followed === "string" ? followed : followed.keys.current.map(formatVerifierKey);
      assert.equal(current, [fourth]);
    }
  }));

test("a log that was restored once more, right after it was reopened, is found", () =>
  inFolder(async (dir) => {
    const { copy, newest } = await restoredIn(dir);
    const node = nodeOf(copy, dir);
    await reopenLog(node.deps, "restored", newest);
    const backup = await copyOf(copy);
    await node.seal();
    const shown = (await node.sealing.instance())?.note ?? "";
    await rm(join(dir, "audit-key.checkpoint"));
    const again = nodeOf(backup, dir);
    assert.is(await again.seal(), "done");
    assert.is(again.sealing.state().kind, "stopped");
    assert.match(await refusal(again.deps, shown), /^reopened with/);
    const third = nodeOf(backup, dir);
    await third.seal();
    assert.is((await third.sealing.instance())?.origin, "hooks.example.com/3/instance");
  }));

test("without any checkpoint a restored log is reopened at its own", () =>
  inFolder(async (dir) => {
    const { copy, older } = await restoredIn(dir);
    await rm(join(dir, "audit-key.checkpoint"));
    const node = nodeOf(copy, dir);
    await reopenLog(node.deps, "restored", null);
    assert.is((await node.store.instance()).keys[0]?.previous, parseNote(older)?.text);
  }));

test("a log that went on from an older size is reopened at the given checkpoint, whatever is beside the key", () =>
  inFolder(async (dir) => {
    const { copy, newest } = await restoredIn(dir);
    // As a node does whose key other nodes have: it takes what is in the log for sealed by them.
    await rm(join(dir, "audit-key.checkpoint"));
    const forked = nodeOf(copy, dir, false);
    await appendRecord(copy, A, 7);
    assert.is(await forked.seal(), "sealed");
    await forked.sealing.instance();
    await reopenLog(forked.deps, "restored", newest);
    assert.is((await forked.store.instance()).keys[0]?.previous, parseNote(newest)?.text);
  }));

test("a checkpoint of another log, of an account, or with a wrong signature reopens nothing", () =>
  inFolder(async (dir) => {
    const { copy, newest } = await restoredIn(dir);
    const { deps } = nodeOf(copy, dir);
    assert.match(await refusal(deps, "no checkpoint"), /no signed checkpoint/);
    const text = parseNote(newest)?.text ?? "";
    const renamed = (origin: string) => newest.replace(text, text.replace("hooks.example.com/instance", origin));
    assert.match(
      await refusal(deps, renamed("other.example.com/instance")),
      /is of other\.example\.com, and this log is/,
    );
    assert.match(await refusal(deps, renamed(`hooks.example.com/accounts/${A}`)), /give one of the installation/);
    assert.match(await refusal(deps, newest.replace(text, text.replace("\n3\n", "\n4\n"))), /signature .* is wrong/);
    assert.is((await copy.read("checkpoint-instance", null, 100)).length, 2);
  }));

test("a key that was replaced reopens nothing, neither of its own log nor of one from before the rotation", () =>
  inFolder(async (dir) => {
    const { log, copy } = await restoredIn(dir);
    const path = join(dir, "audit-key");
    const old = await readFile(path, "utf8");
    const node = nodeOf(log, dir);
    await node.seal();
    const vkey = await rotateSigningKey(node.deps, null);
    await appendRecord(log, A, 6);
    await node.seal();
    const newest = (await node.sealing.instance())?.note ?? "";
    const newKey = await readFile(path, "utf8");
    await writeFile(path, old);
    assert.match(await refusal(nodeOf(log, dir).deps, newest), /replaced by a rotation/);
    assert.match(await refusal(nodeOf(copy, dir).deps, newest), /neither this log nor .*audit-key has/);
    await writeFile(path, newKey);
    assert.is(await reopenLog(nodeOf(copy, dir).deps, "restored", newest), vkey);
  }));

test.run();
