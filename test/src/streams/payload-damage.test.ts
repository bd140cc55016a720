import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { toEvents } from "../../../src/streams/envelope.ts";
import { damageRecords } from "../../../src/streams/payload-damage.ts";
import type { KeptPayload } from "../../../src/streams/payload-ref.ts";
import { payloads } from "../../../src/streams/payloads.ts";
import { inDirectory } from "../../infra/sqlite/event-log-children.ts";
import { damagedLog } from "../../support/damaged-log.ts";
import { failingLog } from "../../support/failing-log.ts";
import { at, bundleFacts, deliveryFacts } from "../../support/history.ts";

const test = suite("the record of a damaged payload");

const EVENT = `evt_${"a".repeat(32)}`;
const BUNDLE = `bun_${"a".repeat(32)}`;
const MARK = "one payload that is found in the file";
const CLOCK = { now: () => Date.parse(at(60)) };
const envelope = () => ({
  commandId: `cmd_${randomness.number()}`,
  account: "acc_1",
  actor: { kind: "source", id: "src_1" } as const,
  trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) },
  at: at(0),
});

/** A payload that is kept and decided on. */
const admitted = async (log: EventLog, id: string): Promise<KeptPayload> => {
  const incoming = { body: Buffer.from(MARK), contentType: "text/plain", contentEncoding: "", headers: {} };
  const kept = await payloads(log, randomness).keepFirst(id, incoming, envelope());
  if (kept === null) throw new Error(`${id} is there already`);
  const payload = { ...kept, content_type: "text/plain", size: MARK.length };
  const fact = id === BUNDLE ? bundleFacts(BUNDLE).admitted() : deliveryFacts(EVENT).admitted();
  const stream = id === BUNDLE ? `bundle-${id}` : `delivery-${id}`;
  await log.append(stream, "absent", toEvents([{ type: fact.type, data: { ...fact.data, payload } }], envelope()));
  return kept;
};

/** As the program reads: damage is recorded. `told`: what is written into the program's own log. */
const reader = (log: EventLog) => {
  const told: unknown[] = [];
  const it = payloads(
    log,
    randomness,
    damageRecords(log, CLOCK, (error) => told.push(error)),
  );
  return { read: it.read, told };
};

test("the damage is recorded once in the stream of the event or bundle, however many nodes and readers find it", async () => {
  for (const id of [EVENT, BUNDLE]) {
    const good = memoryEventLog();
    const name = await admitted(good, id);
    const log = damagedLog(good, new Set([`payload-${id}`]));
    const [one, two] = [reader(log), reader(log)];
    const read = await Promise.all([one.read(id, name), two.read(id, name), one.read(id, name)]);
    assert.equal(read, ["damaged", "damaged", "damaged"]);
    assert.is(await two.read(id, name), "damaged");
    const stream = id === BUNDLE ? `bundle-${id}` : `delivery-${id}`;
    const records = (await good.read(stream, 0, 10)).map(({ type, data, meta }) => [type, data, meta.actor.id]);
    const about = id === BUNDLE ? { bundle_id: id } : { event_id: id };
    const type = id === BUNDLE ? "BundlePayloadDamageFound" : "PayloadDamageFound";
    assert.equal(records, [[type, { ...about, revision: 0, at: at(60) }, "payloads"]]);
    const [record] = await good.read(stream, 0, 1);
    assert.equal([record?.meta.account, record?.meta.trace_id], ["acc_1", "1".repeat(32)]);
    assert.match(String([...one.told, ...two.told][0]), /the stored payload of \w+ does not match its hash/);
    // Restored, it is read again.
    assert.ok((await reader(good).read(id, name)) !== "damaged");
  }
});

test("a reader with another hash gets nothing, and nothing is recorded", async () => {
  const log = memoryEventLog();
  const name = await admitted(log, EVENT);
  assert.is(await reader(log).read(EVENT, { ...name, commitment: "00" }), "damaged");
  assert.is((await log.last(`delivery-${EVENT}`))?.type, "EventAdmitted");
});

test("a reader hears of the damage even if the log takes no record", async () => {
  const good = memoryEventLog();
  const name = await admitted(good, EVENT);
  const { read, told } = reader(failingLog(damagedLog(good, new Set([`payload-${EVENT}`])), () => true));
  assert.is(await read(EVENT, name), "damaged");
  assert.is(told.length, 1);
});

test("any byte of a stored payload that changes in the log's file is found: in the body, the salt or around them", () =>
  inDirectory(async (directory) => {
    const path = join(directory, "log.db");
    const log = await sqliteEventLog({ path });
    const name = await admitted(log, EVENT);
    const { data } = (await log.last(`payload-${EVENT}`)) ?? {};
    await log.close();
    const whole = readFileSync(path);
    const record = whole.indexOf(`{"event_id":"${EVENT}","salt":`);
    const at = (text: string): number => whole.indexOf(text, record);
    const offsets = {
      body: at(MARK) + 4,
      salt: at(String(data?.salt)) + 3,
      encoding: at('"text","body"') + 1,
      "a member's name": at('"body":') + 2,
      "a quote, so that it is no JSON": at('"body":'),
    };
    for (const [what, offset] of Object.entries(offsets)) {
      const damaged = Buffer.from(whole);
      damaged[offset] = (damaged[offset] ?? 0) ^ 1;
      const copy = join(directory, `${offset}.db`);
      writeFileSync(copy, damaged, { mode: 0o600 });
      const opened = await sqliteEventLog({ path: copy });
      assert.is(await reader(opened).read(EVENT, name), "damaged", what);
      assert.is((await opened.last(`delivery-${EVENT}`))?.type, "PayloadDamageFound", what);
      await opened.close();
    }
  }));

test.run();
