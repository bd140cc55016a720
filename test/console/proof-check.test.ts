import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Asked, checkRecord, type Outside, type Service } from "../../console/src/pages/proof-check.ts";
import type { ExportLine } from "../../domain/evidence/export-lines.ts";
import { EvidenceWorld, idOf, KEY, ndjson, secondsOf, WITNESS } from "../support/evidence-world.ts";

const test = suite("the console's check of one record");

const SIZE = 6;
const worldOf = (generation = 1, size = SIZE): EvidenceWorld => {
  const world = new EvidenceWorld(undefined, generation);
  for (let n = 0; n < size; n += 1)
    world.write({ stream: `delivery-${idOf("evt", `event ${n}`)}`, type: "AttemptStarted", data: { attempt: n } });
  return world;
};
const WORLD = worldOf();
const ASKED: Asked = { index: 3, account: WORLD.accountId };
const OUTSIDE: Outside = { keys: [KEY.vkey], witnesses: [], kept: "" };

const answering = (lines: readonly ExportLine[], world = WORLD): Service => ({
  exported: async () => ndjson(lines),
  consistency: async (from, to) => world.consistency(from, to),
});
const rangeOf = (from: number, to: number): Service => answering(WORLD.export({ from, to }));
const check = async (service: Service, asked: Partial<Asked> = {}, outside: Partial<Outside> = {}) => {
  const it = await checkRecord(service, { ...ASKED, ...asked }, { ...OUTSIDE, ...outside });
  if ("wrong" in it) throw new Error(it.why);
  return it;
};

test("the record that was asked for is authentic, and is shown", async () => {
  const { report, leaf } = await check(rangeOf(3, 4));
  assert.is(report.verdict, "authentic");
  assert.is((JSON.parse(leaf ?? "null") as { readonly index: number }).index, 3);
  const kept = WORLD.signed(WORLD.accountText(2));
  assert.is((await check(rangeOf(3, 4), {}, { kept })).report.verdict, "authentic");
});

test("a right answer to another question is broken, and nothing of it is shown", async () => {
  const others: readonly [Service, Partial<Asked>, RegExp][] = [
    [rangeOf(4, 5), {}, /answered with the record 4, not with the record 3 alone/],
    [rangeOf(3, 5), {}, /answered with the records 3 to 4, not/],
    [rangeOf(0, SIZE), {}, /answered with the records 0 to 5, not/],
    [rangeOf(3, 4), { account: idOf("acc", "another") }, /answered with records of acc_\w+, not of acc_/],
    [
      answering(WORLD.export({ indexes: [3], filter: { type: "AttemptStarted" } })),
      {},
      /answered with what a filter finds, not/,
    ],
  ];
  for (const [service, asked, reason] of others) {
    const { report, leaf } = await check(service, asked);
    assert.is(report.verdict, "broken");
    assert.match(report.fault?.reason ?? "", reason);
    assert.is(leaf, null);
  }
});

test("of a file that was cut off nothing was checked, and nothing is shown as recorded", async () => {
  const cut = WORLD.export({ from: 3, to: 4 }).slice(0, 2);
  const { report, leaf, meaning } = await check(answering(cut));
  assert.is(report.verdict, "incomplete");
  assert.match(meaning, /^nothing in the file was checked/);
  assert.is(leaf, null);
});

test("records that are others since a restore are said to be gone or changed", async () => {
  const kept = WORLD.signed(WORLD.accountText());
  const now = worldOf(2, SIZE - 1);
  const { report, meaning } = await check(answering(now.export({ from: 3, to: 4 }), now), {}, { kept });
  assert.is(report.verdict, "incomplete");
  assert.match(meaning, /^records that the earlier checkpoint covered are gone or were changed/);
});

test("what is no key and no checkpoint is a wrong input, and no broken record", async () => {
  const wrong: readonly [Partial<Outside>, "keys" | "checkpoint", RegExp][] = [
    [{ keys: [KEY.vkey.slice(0, -3)] }, "keys", /^No verifier key of a log: .* It has its three parts/],
    [{ keys: ["countersign.example"] }, "keys", /^No verifier key of a log: .* A key has three parts/],
    [{ witnesses: [KEY.vkey], kept: "hello\n" }, "keys", /^No verifier key of a witness: /],
    [{ kept: "hello\n" }, "checkpoint", /^What was given as a previous checkpoint is none\.$/],
  ];
  for (const [outside, kind, sentence] of wrong) {
    const it = await checkRecord(rangeOf(3, 4), ASKED, { ...OUTSIDE, ...outside });
    assert.ok("wrong" in it, "it was checked");
    assert.is(it.wrong, kind);
    assert.match(it.why, sentence);
  }
});

test("records whose time contradicts a witness, and notes, are remarks", async () => {
  const world = worldOf();
  const early = world.cosigned(world.seal(), [[WITNESS, secondsOf(0) - 3_600]]);
  const backdated = answering(world.export({ from: 3, to: 4, tail: [early] }));
  const { report, remarks } = await check(backdated, {}, { witnesses: [WITNESS.vkey] });
  assert.is(report.verdict, "authentic");
  assert.match(remarks.join("\n"), /^Record 3 says 2026-.*, but /);
  const unproved = world.cosigned(world.seal(2), [[WITNESS, secondsOf(2)]]);
  const left = answering(world.export({ from: 3, to: 4, tail: [unproved] }));
  const noted = await check(left, {}, { witnesses: [WITNESS.vkey] });
  assert.match(noted.remarks.join("\n"), /^Note: 1 cosigned checkpoints were left aside/);
});

test.run();
