import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import type { EventLog, RecordedEvent } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { sqliteEvidenceStore } from "../../../infra/sqlite/evidence-store.ts";
import { unsealedRoots } from "../../../src/evidence/unsealed.ts";
import { vkeyOf } from "../../../src/keys/signer-key.ts";
import { makeSigningKey } from "../../../src/sealing/signing-key.ts";
import { systemEnvelope, toEvents } from "../../../src/streams/envelope.ts";
import { payloads } from "../../../src/streams/payloads.ts";
import { countersign } from "../../support/command-line.ts";
import { accountOf, appendInstance, appendRecord, folded } from "../../support/evidence-log.ts";

const test = suite<{ dir: string }>("countersign log verify");
test.before.each((context) => {
  context.dir = mkdtempSync(join(tmpdir(), "log-verify-"));
});
test.after.each(({ dir }) => rmSync(dir, { recursive: true, force: true }));

const RECORDS = 20;

/** Twenty sealed records of one account; `dir` has what was folded of them. */
const sealedLog = async (dir: string): Promise<readonly RecordedEvent[]> => {
  const log = memoryEventLog();
  const vkey = vkeyOf(makeSigningKey("hooks.example.com", randomness));
  const named = { vkey, previous: null, reason: null, handover: null };
  await appendInstance(log, { type: "SigningKeyNamed", data: named });
  for (let n = 0; n < RECORDS; n += 1) await appendRecord(log, accountOf(0), n);
  const store = sqliteEvidenceStore(join(dir, "evidence.db"));
  await folded(log, store);
  await appendInstance(log, { type: "Sealed", data: { heads: (await unsealedRoots(store)).heads } });
  await folded(log, store);
  await store.close();
  return log.readAll(null, 1_000);
};

const write = async (log: EventLog, records: readonly RecordedEvent[]): Promise<void> => {
  for (const { stream, id, type, data, meta } of records) await log.append(stream, "any", [{ id, type, data, meta }]);
};

const verified = async (dir: string, records: readonly RecordedEvent[], ...more: readonly string[]) => {
  const log = await sqliteEventLog({ path: join(dir, "log.db") });
  await write(log, records);
  await log.close();
  return countersign(["log", "verify", `sqlite:${dir}`, ...more]);
};

test("ends with 0 for a log that is as it was sealed", async ({ dir }) => {
  const { status, stdout, stderr } = await verified(dir, await sealedLog(dir));
  assert.is(status, 0, stderr);
  assert.match(stdout, /^22 records, sha256 [0-9a-f]{64}\n$/);
});

test("names the first record that was changed, by what a node had folded beside the log", async ({ dir }) => {
  const records = await sealedLog(dir);
  const changed = records.with(8, { ...(records[8] as RecordedEvent), data: { forged: true } });
  const { status, stderr } = await verified(dir, changed);
  assert.is(status, 1);
  const [account, stream] = [accountOf(0), records[8]?.stream];
  const name = `Record 7 of ${account} (${stream}, revision 0, EventAdmitted)`;
  assert.ok(stderr.includes(`${name} was changed since it was sealed.`), stderr);
});

test("without what a node had folded, it names the records of which one is not as it was", async ({ dir }) => {
  const records = await sealedLog(dir);
  rmSync(join(dir, "evidence.db"));
  const { status, stderr } = await verified(dir, records.toSpliced(8, 1));
  assert.is(status, 1);
  assert.match(stderr, /One of the records 0 to 19 of acc_\w+ was changed, removed or inserted .* --evidence\./);
});

test("with --payloads, a payload that is not the one that a record commits to is named", async ({ dir }) => {
  const log = memoryEventLog();
  const [account, event] = [accountOf(0), `evt_${"e".repeat(32)}`];
  const envelope = systemEnvelope({ actor: "test", account, commandId: "c1", at: "2026-01-01T00:00:00.000Z" });
  const incoming = { body: Buffer.from("four"), contentType: "text/plain", contentEncoding: "", headers: { a: "b" } };
  const kept = await payloads(log, randomness).keepFirst(event, incoming, envelope);
  const data = { event_id: event, payload: { ...kept, size: 4 } };
  await log.append(`delivery-${event}`, "absent", toEvents([{ type: "EventAdmitted", data }], envelope));
  const records = await log.readAll(null, 100);
  const right = await verified(dir, records, "--payloads");
  assert.is(right.status, 0, right.stderr);
  const changes: readonly (readonly [string, (data: JsonObject) => JsonObject])[] = [
    [`${event}/0`, (it) => ({ ...it, body: "five" })],
    [`${event}/0/headers`, (it) => ({ ...it, headers: { a: "c" } })],
  ];
  for (const [n, [id, change]] of changes.entries()) {
    const folder = join(dir, String(n));
    mkdirSync(folder);
    const forged = records.map((it) => (it.stream.startsWith("payload-") ? { ...it, data: change(it.data) } : it));
    const { status, stderr } = await verified(folder, forged, "--payloads");
    assert.is(status, 1, id);
    const name = `The payload ${id} is not the one that delivery-${event}, revision 0 (EventAdmitted) of ${account}`;
    assert.ok(stderr.includes(`${name} commits to.`), stderr);
  }
});

test("a file that does not exist is a wrong call", async ({ dir }) => {
  const { status, stderr } = await verified(dir, await sealedLog(dir), "--evidence", join(dir, "none"));
  assert.is(status, 2);
  assert.match(stderr, /There is no file .*none\./);
});

test.run();
