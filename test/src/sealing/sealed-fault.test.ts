import { suite } from "uvu";
import * as assert from "uvu/assert";
import { instanceOrigin } from "../../../domain/evidence/checkpoint.ts";
import { INSTANCE_STREAM } from "../../../domain/evidence/instance-events.ts";
import type { EventLog, RecordedEvent } from "../../../domain/ports/event-log.ts";
import { type EvidenceStore, INSTANCE_TREE } from "../../../domain/ports/evidence-store.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { sqliteEvidenceStore } from "../../../infra/sqlite/evidence-store.ts";
import { isRecord } from "../../../projections/audit.ts";
import { rootAt } from "../../../src/evidence/tree-reads.ts";
import { unsealedRoots } from "../../../src/evidence/unsealed.ts";
import { vkeyOf } from "../../../src/keys/signer-key.ts";
import { firstSealedFault } from "../../../src/sealing/sealed-fault.ts";
import { makeSigningKey } from "../../../src/sealing/signing-key.ts";
import { accountOf, appendInstance, appendRecord, folded } from "../../support/evidence-log.ts";

const HOST = "hooks.example.com";
const [A, B] = [accountOf(0), accountOf(1)];
const ROUNDS = 4;
const PER_ROUND = 10;

type World = { before: readonly RecordedEvent[]; reference: EvidenceStore };
const test = suite<World>("what was sealed");

const foldedAnew = async (log: EventLog): Promise<EvidenceStore> => {
  const store = sqliteEvidenceStore(":memory:");
  await folded(log, store);
  return store;
};

const seal = async (log: EventLog): Promise<void> => {
  const store = await foldedAnew(log);
  const { heads } = await unsealedRoots(store);
  await appendInstance(log, { type: "Sealed", data: { heads } });
  await store.close();
};

/** Forty records of two accounts by turns, sealed after every ten, and then a few that are not sealed. */
test.before.each(async (context) => {
  const log = memoryEventLog();
  const vkey = vkeyOf(makeSigningKey(HOST, randomness));
  await appendInstance(log, {
    type: "SigningKeyNamed",
    data: { vkey, previous: null, reason: null, handover: null },
  });
  for (let n = 0; n < ROUNDS * PER_ROUND; n += 1) {
    await appendRecord(log, n % 2 === 0 ? A : B, n);
    if (n % PER_ROUND === PER_ROUND - 1) await seal(log);
  }
  await appendRecord(log, A, 98);
  context.before = await log.readAll(null, 1_000);
  context.reference = await foldedAnew(log);
});
test.after.each(({ reference }) => reference.close());

/** The log as someone wrote it anew who may write to it. */
const written = async (records: readonly RecordedEvent[]): Promise<EventLog> => {
  const log = memoryEventLog();
  for (const { stream, id, type, data, meta } of records) await log.append(stream, "any", [{ id, type, data, meta }]);
  return log;
};

const faultIn = async (records: readonly RecordedEvent[], reference: EvidenceStore | null) => {
  const log = await written(records);
  const own = await foldedAnew(log);
  const fault = await firstSealedFault({ log, own }, { reference, shown: null });
  await own.close();
  return fault;
};

/** The seals of the log are made anew as well, so that the log agrees with itself. */
const resealed = async (records: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> => {
  const log = memoryEventLog();
  for (const record of records) {
    const { stream, id, type, data, meta } = record;
    if (type === "Sealed") await seal(log);
    else await log.append(stream, "any", [{ id, type, data, meta }]);
  }
  return log.readAll(null, 1_000);
};

const placeOf = (records: readonly RecordedEvent[], account: string, index: number): number =>
  records.indexOf(records.filter((it) => isRecord(it) && it.meta.account === account)[index] as RecordedEvent);

const without = (records: readonly RecordedEvent[], place: number): readonly RecordedEvent[] =>
  records.toSpliced(place, 1);

const changed = (records: readonly RecordedEvent[], place: number, as: Partial<RecordedEvent>) =>
  records.with(place, { ...(records[place] as RecordedEvent), ...as });

test("a log as it was has no fault, and records that are not sealed yet may differ", async ({ before, reference }) => {
  assert.is(await faultIn(before, reference), null);
  assert.is(await faultIn(before.slice(0, -1), reference), null);
  assert.is(await faultIn(before, null), null);
});

for (const [how, rewrite] of [
  ["without the seals", async (records: readonly RecordedEvent[]) => records],
  ["and all seals made anew", resealed],
] as const) {
  const first = (fault: Awaited<ReturnType<typeof faultIn>>) =>
    fault?.kind === "record" ? [fault.account, fault.index, fault.how] : fault;

  test(`a changed record is named, ${how}`, async ({ before, reference }) => {
    const place = placeOf(before, A, 7);
    const fault = await faultIn(await rewrite(changed(before, place, { data: { forged: true } })), reference);
    assert.equal(first(fault), [A, 7, "changed"]);
    assert.is(fault?.kind === "record" && fault.record?.stream, before[place]?.stream);
  });

  test(`a removed record is named by the one that took its place, ${how}`, async ({ before, reference }) => {
    const fault = await faultIn(await rewrite(without(before, placeOf(before, B, 4))), reference);
    assert.equal(first(fault), [B, 4, "removed"]);
  });

  test(`an inserted record is named, ${how}`, async ({ before, reference }) => {
    const place = placeOf(before, A, 12);
    const forged = { ...(before[place] as RecordedEvent), stream: "delivery-forged", id: crypto.randomUUID() };
    assert.equal(first(await faultIn(await rewrite(before.toSpliced(place, 0, forged)), reference)), [
      A,
      12,
      "inserted",
    ]);
  });

  test(`two records that were exchanged are named, ${how}`, async ({ before, reference }) => {
    const [one, two] = [placeOf(before, A, 2), placeOf(before, A, 3)];
    const swapped = before.with(one, before[two] as RecordedEvent).with(two, before[one] as RecordedEvent);
    const fault = await faultIn(await rewrite(swapped), reference);
    // Both have keys of their own, so either place tells.
    assert.ok(fault?.kind === "record" && fault.account === A && fault.index === 2, JSON.stringify(fault));
  });

  test(`a record that was given to another account is named, ${how}`, async ({ before, reference }) => {
    const place = placeOf(before, A, 9);
    const { meta } = before[place] as RecordedEvent;
    const fault = await faultIn(await rewrite(changed(before, place, { meta: { ...meta, account: B } })), reference);
    const [account, index] = fault?.kind === "record" ? [fault.account, fault.index] : [];
    assert.ok((account === A && index === 9) || (account === B && index === 9), JSON.stringify(fault));
  });
}

test("a log that was cut off is found by what a node has folded, and by a checkpoint that was shown", async ({
  before,
  reference,
}) => {
  const cut = before.slice(0, placeOf(before, A, 15));
  const fault = await faultIn(cut, reference);
  assert.equal(fault?.kind === "record" && [fault.account, fault.index, fault.how], [A, 15, "cut-off"]);
  const log = await written(cut);
  const own = await foldedAnew(log);
  const { size } = await reference.head(INSTANCE_TREE);
  const root = await rootAt(reference, INSTANCE_TREE, size);
  const shown = { origin: instanceOrigin({ host: HOST, generation: 1 }), size, root, extensions: [] };
  assert.equal(await firstSealedFault({ log, own }, { reference: null, shown }), { kind: "checkpoint", size });
  await own.close();
});

test("without a reference, the seals tell between which records it is", async ({ before }) => {
  const fault = await faultIn(changed(before, placeOf(before, A, 7), { data: { forged: true } }), null);
  assert.equal(fault, { kind: "range", account: A, from: 5, to: 10 });
});

test("a seal that was removed while its records stayed is named", async ({ before, reference }) => {
  const place = before.findLastIndex(({ stream, type }) => stream === INSTANCE_STREAM && type === "Sealed");
  assert.is((await faultIn(without(before, place), reference))?.kind, "seal");
});

test("what was folded of another log tells nothing", async ({ before }) => {
  const other = await foldedAnew(memoryEventLog());
  const fault = await faultIn(changed(before, placeOf(before, A, 7), { data: { forged: true } }), other);
  assert.is(fault?.kind, "range");
  await other.close();
});

test.run();
