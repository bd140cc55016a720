import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fromBase64 } from "../../../../domain/evidence/bytes.ts";
import { parseCheckpoint } from "../../../../domain/evidence/checkpoint.ts";
import { cosignatureOf } from "../../../../domain/evidence/cosignature.ts";
import { leafHash, verifyConsistency, verifyInclusion } from "../../../../domain/evidence/merkle.ts";
import { formatNote, parseNote } from "../../../../domain/evidence/signed-note.ts";
import { parseTlogProof } from "../../../../domain/evidence/tlog-proof.ts";
import type { Metadata } from "../../../../domain/ports/event-log.ts";
import { ed25519Signer } from "../../../../infra/crypto/ed25519.ts";
import { sha256 } from "../../../../infra/crypto/sha256.ts";
import { platformHere, verifyExport } from "../../../../src/verifier/index.ts";
import type { CosignedCheckpoint, Witnessed } from "../../../../src/witnessing/witnessed.ts";
import { accountOf, appendRecord } from "../../../support/evidence-log.ts";
import { evidenceService } from "../../../support/evidence-service.ts";
import { WITNESS } from "../../../support/evidence-world.ts";

const test = suite("the proofs and exports of GET /v1/audit");

const [A, B] = [accountOf(0), accountOf(1)];
const EXPORT = "/v1/audit/export";
const sourceId = (letter: string): string => `src_${letter.repeat(32)}`;

type World = Awaited<ReturnType<typeof evidenceService>>;

const withWorld =
  (run: (world: World) => Promise<void>, given: Parameters<typeof evidenceService> = []) =>
  async (): Promise<void> => {
    const world = await evidenceService(...given);
    try {
      await run(world);
    } finally {
      await world.stop();
    }
  };

const records = async ({ log }: World, account: string, count: number, from = 0): Promise<void> => {
  for (let n = from; n < from + count; n += 1) await appendRecord(log, account, n);
};

const verdictOf = async ({ vkey }: World, text: string) => {
  const source = async function* () {
    yield Buffer.from(text);
  };
  return verifyExport(source, { keys: [vkey], witnesses: [], previous: [] }, platformHere());
};

const linesOf = (text: string): readonly Record<string, unknown>[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const headOf = (note: string) => {
  const checkpoint = parseCheckpoint(parseNote(note)?.text ?? "");
  assert.ok(checkpoint);
  return checkpoint;
};

test(
  "a full export is authentic, and so is each range of it",
  withWorld(async (world) => {
    await records(world, A, 300);
    await records(world, B, 20);
    await world.seal(A);
    for (const query of [
      {},
      { from_index: 100 },
      { from_index: 7, to_index: 200 },
      { to_index: 1 },
      { from_index: 300 },
    ]) {
      const { outcome, text } = await world.get(A, EXPORT, query);
      assert.is(outcome, 200);
      const report = await verdictOf(world, text);
      assert.equal([report.verdict, report.fault, report.missing], ["authentic", null, []], JSON.stringify(query));
    }
  }),
);

test(
  "an export by one key proves that no record is missing, also of a key that has none",
  withWorld(async (world) => {
    await records(world, A, 500);
    await world.seal(A);
    await records(world, A, 30, 500);
    await world.seal();
    const { text } = await world.get(A, EXPORT, { source_id: sourceId("b") });
    const report = await verdictOf(world, text);
    assert.equal([report.verdict, report.fault, report.missing], ["authentic", null, []]);
    assert.equal(report.complete, { key: sourceId("b"), number: 177, size: 531 });
    const absent = await world.get(A, EXPORT, { source_id: sourceId("7") });
    const none = await verdictOf(world, absent.text);
    assert.equal([none.verdict, none.complete?.number], ["authentic", 0]);
    const kinds = linesOf(absent.text).map(({ kind }) => kind);
    assert.equal(
      [kinds.filter((kind) => kind === "record").length, kinds.filter((kind) => kind === "tail").length],
      [1, 30],
    );
    const beyondTail = absent.text.split("\n").filter((line) => !line.startsWith('{"kind":"tail"'));
    assert.ok(beyondTail.join("\n").length < 4_096);
  }),
);

test(
  "other filters choose the right records, and do not claim to have all of them",
  withWorld(async (world) => {
    await records(world, A, 200);
    await world.seal(A);
    const queries = [
      { type: "EventAdmitted" },
      { source_id: sourceId("a"), type: "EventAdmitted" },
      { source_id: sourceId("a"), event_id: `evt_${"d".repeat(32)}` },
      { subject: `evt_${"c".repeat(32)}` },
      { from: "2026-01-01T00:00:00.050Z" },
    ];
    for (const query of queries) {
      const { text } = await world.get(A, EXPORT, query);
      const report = await verdictOf(world, text);
      assert.equal([report.verdict, report.fault], ["incomplete", null], JSON.stringify(query));
    }
    const { text } = await world.get(A, EXPORT, queries[2]);
    const indexes = linesOf(text).flatMap(({ kind, index }) => (kind === "record" ? [index] : []));
    assert.equal(indexes, [3, 99, 195]);
  }),
);

test(
  "a filter that can be no key, or is an id of another kind, is refused and told what to change",
  withWorld(async (world) => {
    await records(world, A, 20);
    await world.seal(A);
    const source = sourceId("a");
    for (const [name, value] of [
      ["event_id", "refund.create"],
      ["event_id", "run-7"],
      ["event_id", source],
      ["member_id", A],
      ["source_id", source.slice(0, -1)],
      ["source_id", `${source} `],
      ["action", "refund create"],
    ] as const)
      for (const beside of [{}, { type: "EventAdmitted" }]) {
        const { outcome, detail } = await world.get(A, EXPORT, { [name]: value, ...beside });
        assert.is(outcome, "invalid-request", `${name}=${value}`);
        assert.match(detail, `${name} must be `);
      }
    // Those that are no ids are served as before, and the answer does not claim to be whole.
    for (const query of [{ actor: "deliverer" }, { subject: "refund.create" }, { actor: A }, { subject: source }]) {
      const { outcome, text } = await world.get(A, EXPORT, query);
      assert.is(outcome, 200);
      const report = await verdictOf(world, text);
      assert.equal([report.verdict, report.complete], ["incomplete", null], JSON.stringify(query));
    }
  }),
);

test(
  "an account sees nothing of another: its keys and records are as if they had never existed",
  withWorld(async (world) => {
    await records(world, A, 20);
    await records(world, B, 5, 24);
    await world.seal(A, B);
    const { text } = await world.get(B, EXPORT, { event_id: `evt_${"b".repeat(32)}` });
    assert.equal((await verdictOf(world, text)).complete?.number, 0);
    assert.is((await world.get(B, "/v1/audit/proof", { index: 20 })).outcome, "not-found");
    const [own] = await world.log.read(`delivery-evt_${"b".repeat(32)}`, null, 1);
    const subject = `evt_${"b".repeat(32)}`;
    assert.is((await world.get(B, "/v1/audit/proof", { id: own?.id, subject })).outcome, "not-found");
    assert.is((await world.get(A, "/v1/audit/proof", { id: own?.id, subject })).outcome, 200);
    assert.not.match((await world.get(B, "/v1/audit/checkpoint")).text, A);
  }),
);

test(
  "proofs and consistency are those of the checkpoints that were served",
  withWorld(async (world) => {
    await records(world, A, 70);
    await world.seal();
    const early = headOf((await world.get(A, "/v1/audit/checkpoint")).text);
    await records(world, A, 9, 70);
    assert.is((await world.get(A, "/v1/audit/proof", { index: 75 })).outcome, "not-found");
    await world.seal();
    const late = headOf((await world.get(A, "/v1/audit/checkpoint")).text);
    const proof = parseTlogProof((await world.get(A, "/v1/audit/proof", { index: 75 })).text);
    assert.ok(proof);
    const { text } = await world.get(A, EXPORT);
    const leaf = fromBase64(String(linesOf(text)[76]?.leaf)) ?? new Uint8Array();
    const inclusion = { index: 75, size: late.size, leafHash: leafHash(sha256, leaf), path: proof.path };
    assert.ok(verifyInclusion(sha256, inclusion, late.root));
    const { body } = await world.get(A, "/v1/audit/consistency", { from: early.size, to: late.size });
    const path = (body.proof as readonly string[]).map((hash) => fromBase64(hash) ?? new Uint8Array());
    assert.ok(verifyConsistency(sha256, early, late, path));
    assert.is((await world.get(A, "/v1/audit/proof", { index: 3, witnessed: "1" })).outcome, "not-witnessed");
    assert.is((await world.get(A, "/v1/audit/consistency", { from: 80, to: 79 })).outcome, "invalid-request");
    assert.match((await world.get("", "/v1/audit/instance/checkpoint")).text, /^hooks\.example\.com\/instance\n/);
    assert.is((await world.get("", "/v1/audit/key")).text, `${world.vkey}\n`);
  }),
);

/** What a witness saw: set by a test, and then kept for the hour or as the newest. */
const witnessSaw = (): {
  readonly witnessed: Witnessed;
  seen: CosignedCheckpoint[];
  newest: CosignedCheckpoint | null;
} => {
  const saw = {
    seen: [] as CosignedCheckpoint[],
    newest: null as CosignedCheckpoint | null,
    witnessed: {
      isRequired: false,
      newest: async () => saw.newest,
      async *hourly() {
        yield* saw.seen;
      },
    },
  };
  return saw;
};

const SEEN_AT = Date.UTC(2026, 0, 3) / 1_000;

const cosignedNow = async (world: World): Promise<CosignedCheckpoint> => {
  const { text } = await world.get("", "/v1/audit/instance/checkpoint");
  const signed = parseNote(text);
  assert.ok(signed);
  const sign = (seed: Uint8Array, message: Uint8Array) => ed25519Signer(seed).sign(message);
  const cosignature = cosignatureOf(sign, signed.text, WITNESS, SEEN_AT);
  const { size, root } = headOf(text);
  return { size, root, note: formatNote({ text: signed.text, signatures: [...signed.signatures, cosignature] }) };
};

const saw = witnessSaw();

test(
  "every export proves that a witness saw its tree, and the newest that was seen is in it",
  withWorld(
    async (world) => {
      await records(world, A, 40);
      await world.seal(A);
      saw.seen = [await cosignedNow(world)];
      await records(world, A, 30, 40);
      await world.seal(A);
      saw.newest = await cosignedNow(world);
      await records(world, A, 5, 70);
      await world.seal();
      for (const query of [
        {},
        { from_index: 50 },
        { to_index: 10 },
        { from_index: 30, to_index: 60 },
        { source_id: sourceId("b") },
        { source_id: sourceId("7") },
      ]) {
        const { text } = await world.get(A, EXPORT, query);
        const source = async function* () {
          yield Buffer.from(text);
        };
        const options = { keys: [world.vkey], witnesses: [WITNESS.vkey], previous: [] };
        const report = await verifyExport(source, options, platformHere());
        const about = JSON.stringify([query, report]);
        assert.equal([report.verdict, report.witnesses.map(({ size }) => size)], ["authentic", [72]], about);
        assert.equal(report.notes, [], about);
      }
    },
    [undefined, { witnessed: saw.witnessed }],
  ),
);

/** The lines that a reader has when the connection ends within this line, without its last record and what follows. */
const cutAt = (lines: readonly string[], at: number) => {
  const whole = lines.slice(0, at);
  const isRecord = (line: string) => line.includes('"kind":"record"');
  const kept = whole.slice(1, whole.findLastIndex(isRecord));
  const last = kept.findLast(isRecord);
  return { kept: last === undefined ? [] : kept, from: last === undefined ? 0 : JSON.parse(last).index + 1 };
};

test(
  "an export of all or of some records that was cut off anywhere goes on where it was, also after more was recorded",
  withWorld(async (world) => {
    await records(world, A, 48);
    await world.seal(A);
    await records(world, A, 12, 48);
    await world.seal();
    for (const filter of [{}, { source_id: sourceId("b") }, { type: "Recorded" }, { source_id: sourceId("z") }]) {
      const { text } = await world.get(A, EXPORT, filter);
      const lines = text.split("\n").slice(0, -1);
      const cuts = lines.map((_, at) => at + 1).filter((at) => at < lines.length);
      for (const at of [...cuts.slice(0, 4), ...cuts.slice(-20)]) {
        const { kept, from } = cutAt(lines, at);
        const rest = (await world.get(A, EXPORT, { ...filter, resume_from: from })).text.split("\n");
        const joined = [rest[0], ...(at === 1 ? [] : kept), ...rest.slice(1)].join("\n");
        assert.is(joined, text, `cut after ${at} lines`);
      }
    }
    const cut = [{}, { source_id: sourceId("b") }, { source_id: sourceId("7") }];
    const before = await Promise.all(cut.map(async (filter) => (await world.get(A, EXPORT, filter)).text.split("\n")));
    await records(world, A, 40, 60);
    await world.seal(A);
    for (const [n, filter] of cut.entries()) {
      const lines = before[n] ?? [];
      const whole = linesOf((await world.get(A, EXPORT, filter)).text);
      for (const at of [lines.length - 2, lines.length - 6, lines.length - 10, lines.length - 14]) {
        const { kept, from } = cutAt(lines, at);
        const rest = (await world.get(A, EXPORT, { ...filter, resume_from: from })).text.split("\n");
        const report = await verdictOf(world, [rest[0], ...kept, ...rest.slice(1)].join("\n"));
        assert.is(report.verdict, "authentic", JSON.stringify(report));
        assert.is(report.records, whole.filter(({ kind }) => kind === "record").length);
      }
      for (const query of [{ resume_from: 10_000 }, { resume_from: 1, from_index: 1, to_index: 2 }])
        assert.is((await world.get(A, EXPORT, { ...filter, ...query })).outcome, "invalid-request");
    }
    const filter = { source_id: sourceId("b") };
    const same = [{ from_index: 20 }, { resume_from: 20 }].map(
      async (query) => (await world.get(A, EXPORT, { ...filter, ...query })).text,
    );
    assert.is(await same[0], await same[1]);
    assert.is((await world.get(A, EXPORT, { ...filter, to_index: 10 })).outcome, "invalid-request");
  }),
);

test(
  "an export by a key goes on at a node that is behind only when its key map covers what the first one has given",
  withWorld(async (world) => {
    await records(world, A, 30);
    await world.seal(A);
    const behind = await evidenceService(world.log);
    try {
      await behind.seal();
      await records(world, A, 30, 30);
      await world.seal(A);
      await records(world, A, 6, 60);
      await world.seal();
      // This node has the newest checkpoint, but still the first key map in its store.
      await behind.foldWithoutMaps();
      const filter = { source_id: sourceId("b") };
      const lines = (await world.get(A, EXPORT, filter)).text.split("\n").slice(0, -1);
      const { kept, from } = cutAt(lines, lines.length - 3);
      assert.ok(from > 40, String(from));
      const answer = behind.get(A, EXPORT, { ...filter, resume_from: from });
      assert.is((await answer).outcome, "not-sealed");
      const later = behind.get(A, EXPORT, { ...filter, resume_from: from });
      await behind.seal();
      const rest = (await later).text.split("\n");
      const report = await verdictOf(behind, [rest[0], ...kept, ...rest.slice(1)].join("\n"));
      assert.is(report.verdict, "authentic", JSON.stringify(report));
    } finally {
      await behind.stop();
    }
  }),
);

test(
  "a tail has a limit, and an export beyond it says up to where nothing is left out",
  withWorld(
    async (world) => {
      await records(world, A, 30);
      await world.seal(A);
      await records(world, A, 29, 30);
      await world.seal();
      const { text } = await world.get(A, EXPORT, { source_id: sourceId("b") });
      const tails = linesOf(text).filter(({ kind }) => kind === "tail");
      // The record that seals the map is the first one that the map does not cover, and is no line of the tail.
      assert.equal([tails.length, tails.at(-1)?.index], [19, 49]);
      const report = await verdictOf(world, text);
      assert.equal([report.verdict, report.fault, report.complete?.size], ["incomplete", null, 50]);
    },
    [undefined, { tailMax: 20 }],
  ),
);

const EVENT = `evt_${"k".repeat(32)}`;

/** An event of the source, whose payload was erased by somebody else, so that the source's records do not say it. */
const erasedEvent = async ({ log }: World, account: string, source: string): Promise<void> => {
  const payload = { id: `${EVENT}/0`, commitment: "0".repeat(64), size: 1 };
  const of = (kind: "source" | "member", id: string): Metadata => ({
    ...{ account, actor: { kind, id }, command_id: id, trace_id: "0".repeat(32), span_id: "0".repeat(16) },
    ...{ causation_id: null, recorded_at: "2026-01-01T00:00:00.000Z", schema: 1 },
  });
  await log.append(`delivery-${EVENT}`, "any", [
    { id: randomUUID(), type: "EventAdmitted", data: { event_id: EVENT, payload }, meta: of("source", source) },
    {
      ...{ id: randomUUID(), type: "PayloadErased", data: { event_id: EVENT, up_to: 0, reason: "asked" } },
      meta: of("member", `usr_${"a".repeat(32)}`),
    },
  ]);
};

test(
  "an export with an erased payload that was cut off goes on after more was recorded, with the erasure given anew",
  withWorld(async (world) => {
    const source = sourceId("b");
    await records(world, A, 10);
    await erasedEvent(world, A, source);
    await records(world, A, 30, 10);
    await world.seal(A);
    for (const filter of [{ source_id: source }, { actor: source }, {}]) {
      const query = { ...filter, payloads: "1" };
      const lines = (await world.get(A, EXPORT, query)).text.split("\n").slice(0, -1);
      const { kept, from } = cutAt(lines, lines.length - 1);
      await records(world, A, 30, 40);
      await world.seal(A);
      const isErasure = (line: string): boolean => line.includes('"kind":"erasure"');
      const rest = (await world.get(A, EXPORT, { ...query, resume_from: from })).text.split("\n");
      const count = "source_id" in filter || "actor" in filter ? 1 : 0;
      assert.equal([kept.filter(isErasure).length, rest.filter(isErasure).length], [count, count]);
      const joined = [rest[0], ...kept.filter((line) => !isErasure(line)), ...rest.slice(1)].join("\n");
      const report = await verdictOf(world, joined);
      const { fault, payloads } = report;
      assert.equal([fault, payloads], [null, { verified: 0, erased: 1, withheld: 0 }], JSON.stringify(report));
    }
  }),
);

test(
  "nothing is exported before it is sealed",
  withWorld(async (world) => {
    await records(world, A, 3);
    for (const path of ["/v1/audit/checkpoint", "/v1/audit/key", EXPORT])
      assert.is((await world.get(A, path)).outcome, "not-sealed", path);
  }),
);

test(
  "a record that was changed in the log is not exported, and the export is cut off",
  withWorld(async (world) => {
    await records(world, A, 5);
    await world.seal();
    const { read } = world.log;
    world.log.read = async (stream, after, limit) =>
      (await read(stream, after, limit)).map((it) => (it.data.number === 3 ? { ...it, data: { number: 4 } } : it));
    const { body } = await world.call("GET", EXPORT, {
      principal: { kind: "key", account: A, id: "key_1", role: "auditor" },
    });
    const received = async () => {
      for await (const _ of body as unknown as Readable);
    };
    const error = await received().then(
      () => null,
      (it: unknown) => it,
    );
    assert.match(String(error), /record 3 of .* is not the one that was sealed/);
  }),
);

test(
  "an account has few exports at once, and a place is free when one ends or its reader leaves",
  withWorld(
    async (world) => {
      await records(world, A, 5);
      await world.seal();
      const principal = { kind: "key", account: A, id: "key_1", role: "auditor" } as const;
      const first = await world.call("GET", EXPORT, { principal });
      assert.is((await world.get(A, EXPORT)).outcome, "rate-limited");
      const stream = first.body as unknown as Readable;
      await new Promise((closed) => stream.once("close", closed).destroy());
      assert.is((await world.get(A, EXPORT)).outcome, 200);
      assert.is((await world.get(A, EXPORT)).outcome, 200);
    },
    [undefined, { limits: { accountMax: 1, max: 1 } }],
  ),
);

test(
  "payloads come with their salts; without a proof that nothing is hidden in them they are withheld",
  withWorld(async (world) => {
    const salt = Buffer.alloc(16, 7);
    const value = "203.0.113.9";
    const id = `per_${"a".repeat(32)}`;
    const commitment = Buffer.from(sha256(Buffer.concat([salt, Buffer.from(value)]))).toString("hex");
    const meta: Metadata = {
      account: A,
      actor: { kind: "member", id: `mem_${"a".repeat(32)}` },
      command_id: "c",
      trace_id: "0".repeat(32),
      span_id: "0".repeat(16),
      causation_id: null,
      recorded_at: "2026-01-01T00:00:00.000Z",
      schema: 1,
    };
    const kept = { id, salt: salt.toString("base64"), value, stream: "x-1", after: null };
    await world.log.append(`personal-${id}`, "absent", [
      { id: randomUUID(), type: "PersonalDataKept", data: kept, meta },
    ]);
    const data = {
      client: { id, commitment, size: value.length },
      payload: { id: "evt_x/0", commitment: "ab".repeat(32), size: 1 },
    };
    await world.log.append("session-s_1", "absent", [{ id: randomUUID(), type: "SessionStarted", data, meta }]);
    await world.seal();
    const { text } = await world.get(A, EXPORT, { payloads: "1" });
    const report = await verdictOf(world, text);
    assert.equal([report.verdict, report.payloads.verified, report.payloads.withheld], ["incomplete", 1, 1]);
    assert.not.match((await world.get(A, EXPORT)).text, "payload");
  }),
);

test.run();
