import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toHex, utf8 } from "../../../domain/evidence/bytes.ts";
import { accountOrigin, checkpointText, signingKeyName } from "../../../domain/evidence/checkpoint.ts";
import {
  type KeyEntry,
  keyHashOf,
  type MapProof,
  nodeOf,
  nodesInMemory,
  proveKey,
  type SortedEntries,
  sortedEntries,
} from "../../../domain/evidence/key-map.ts";
import { type KeyLink, keysOfRecord, leafBytes, leafOf } from "../../../domain/evidence/leaf.ts";
import {
  frontierSubtrees,
  HASH_BYTES,
  inclusionPath,
  leafHash,
  nodeHash,
  type PathPart,
  pathHashes,
  rootOf,
  type Subtree,
} from "../../../domain/evidence/merkle.ts";
import { formatNote, signatureOf } from "../../../domain/evidence/signed-note.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import { ed25519Signer } from "../../../infra/crypto/ed25519.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { type ExportDeps, exportLines } from "../../../src/audit/export.ts";
import { vkeyOf } from "../../../src/keys/signer-key.ts";
import { platformHere, verifyExport } from "../../../src/verifier/index.ts";
import { signerKey } from "../../support/evidence-export.ts";
import { seededRandom } from "../../support/seeded-random.ts";

/** CI wants a million, as promised: `PROOF_RECORDS=1000000 npm test -- proof-sizes`. */
const RECORDS = Math.max(10_000, Math.round(Number(process.env.PROOF_RECORDS ?? 50_000)));
const CHOSEN = 2_000;
/** Bytes beyond the leaves, which the issue allows for the proofs in a log of a million records. */
const CHOSEN_BYTES_MAX = 1_000_000;
const ABSENT_BYTES_MAX = 4_000;

const test = suite(`the sizes of proofs in a log of ${RECORDS} records`);

const LOG = { host: "host", generation: 1 };
const SIGNER = signerKey(signingKeyName(LOG.host), 1);
const ACCOUNT = `acc_${"a".repeat(32)}`;
const AGENT = `agt_${"b".repeat(32)}`;
const NOBODY = `agt_${"c".repeat(32)}`;

const recordAt = (index: number, stream: string, type: string, data: JsonObject): RecordedEvent => ({
  stream,
  revision: 0,
  position: "",
  id: `id-${index}`,
  type,
  data,
  meta: {
    account: ACCOUNT,
    actor: { kind: "system", id: "test" },
    recorded_at: "2026-01-15T12:00:00.000Z",
    command_id: `c${index}`,
    causation_id: null,
    schema: 1,
    trace_id: "0".repeat(32),
    span_id: "0".repeat(16),
  },
});

/** The hashes of all perfect subtrees, the leaves first. */
const treeOver = (leaves: Uint8Array): readonly Uint8Array[] => {
  const levels = [leaves];
  for (let below = leaves; below.length >= 2 * HASH_BYTES; below = levels.at(-1) ?? below) {
    const level = new Uint8Array(Math.floor(below.length / (2 * HASH_BYTES)) * HASH_BYTES);
    for (let at = 0; at < level.length; at += HASH_BYTES) {
      const [left, right] = [
        below.subarray(2 * at, 2 * at + HASH_BYTES),
        below.subarray(2 * at + HASH_BYTES, 2 * at + 2 * HASH_BYTES),
      ];
      level.set(nodeHash(sha256, left, right), at);
    }
    levels.push(level);
  }
  return levels;
};

/** An account of that many records: those of the agent and the last one, which seals the map, are real ones. */
const world = () => {
  const random = seededRandom(1);
  const indexes = new Set<number>();
  while (indexes.size < CHOSEN) indexes.add(random.below(RECORDS - 1));
  const chosen = [...indexes].sort((a, b) => a - b);
  const leaves = new Uint8Array(RECORDS * HASH_BYTES);
  for (let index = 0; index < RECORDS; index += 1)
    leaves.set(createHash("sha256").update(`record ${index}`).digest(), index * HASH_BYTES);
  const records = new Map<number, RecordedEvent>();
  const links = new Map<number, readonly (readonly [string, KeyLink])[]>();
  const add = (index: number, record: RecordedEvent, known: ReadonlyMap<string, KeyLink>): void => {
    const keys = keysOfRecord(record).map((key) => [key, known.get(key) ?? [0, null]] as const);
    records.set(index, record);
    links.set(index, keys);
    const leaf = leafBytes(leafOf(sha256, record, { index, keys: Object.fromEntries(keys) }));
    leaves.set(leafHash(sha256, leaf), index * HASH_BYTES);
  };
  chosen.forEach((index, n) => {
    const record = recordAt(index, `delivery-evt_${index}`, "EventAdmitted", { agent_id: AGENT });
    add(index, record, new Map([[AGENT, [n, chosen[n - 1] ?? null]]]));
  });
  // Every second record names a key that no other one names.
  const others = Array.from({ length: Math.floor(RECORDS / 2) }, (_, n): KeyEntry => {
    return { keyHash: keyHashOf(sha256, `key ${n}`), number: 1, last: n };
  });
  const agent = { keyHash: keyHashOf(sha256, AGENT), number: CHOSEN, last: chosen.at(-1) ?? 0 };
  const entries: SortedEntries = sortedEntries([...others, agent]);
  const seal = RECORDS - 1;
  const root = toHex(nodeOf(sha256, entries).hash);
  add(seal, recordAt(seal, `keymap-${ACCOUNT}`, "KeyMapSealed", { root, size: seal }), new Map());
  const proofOf = (key: string): MapProof => proveKey(keyHashOf(sha256, key), nodesInMemory(sha256, entries));
  return { chosen, records, links, seal, levels: treeOver(leaves), proofOf };
};

type World = ReturnType<typeof world>;

const evidenceOf = ({ levels, links }: World): ExportDeps["evidence"] => {
  const at = ({ level, index }: Subtree): Uint8Array =>
    levels[level]?.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES) ?? new Uint8Array();
  const path = async (_: string, parts: readonly PathPart[]) => pathHashes(sha256, parts, at);
  return {
    leafHashes: async (_, indexes) => indexes.map((index) => at({ level: 0, index })),
    links: async (_, indexes) => indexes.map((index) => links.get(index) ?? []),
    path,
    inclusion: (account, index, size) => path(account, inclusionPath(index, size)),
    consistency: async () => [],
    async *cosigned() {},
    async *handovers() {},
  };
};

const exportOf = async (it: World, key: string, indexes: readonly number[]): Promise<string> => {
  const { levels, records, seal } = it;
  const roots = frontierSubtrees(RECORDS).map(({ level, index }) =>
    (levels[level] ?? new Uint8Array()).subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  );
  const origin = accountOrigin(LOG, ACCOUNT);
  const text = checkpointText(origin, { size: RECORDS, root: rootOf(sha256, { size: RECORDS, roots }) });
  const sign = (seed: Uint8Array, message: Uint8Array) => ed25519Signer(seed).sign(message);
  const note = formatNote({ text, signatures: [signatureOf(sign, text, SIGNER)] });
  const read = async (_: string, some: readonly number[]) => some.flatMap((index) => records.get(index) ?? []);
  const lines = exportLines(
    { evidence: evidenceOf(it), records: read },
    {
      account: ACCOUNT,
      end: { origin, size: RECORDS, note },
      verifierKey: vkeyOf(SIGNER),
      from: 0,
      to: RECORDS,
      filter: { agent_id: key },
      indexes: async function* () {
        yield indexes;
      },
      map: { key, sealed: { size: seal, index: seal, proof: it.proofOf(key) } },
      payloads: null,
    },
  );
  let whole = "";
  for await (const line of lines) whole += line;
  return whole;
};

/** All lines but those of records, which have the leaves. */
const bytesBeyondLeaves = (text: string): number =>
  Buffer.byteLength(
    text
      .split("\n")
      .filter((line) => !line.startsWith('{"kind":"record"'))
      .join("\n"),
  );

const verified = (text: string) =>
  verifyExport(
    async function* () {
      yield utf8(text);
    },
    { keys: [vkeyOf(SIGNER)], witnesses: [], previous: [] },
    platformHere(),
  );

test("the proof of 2,000 records of one key, and that there is none, are as small as was promised", async () => {
  const it = world();
  for (const [key, indexes, max] of [
    [AGENT, it.chosen, CHOSEN_BYTES_MAX],
    [NOBODY, [], ABSENT_BYTES_MAX],
  ] as const) {
    const text = await exportOf(it, key, indexes);
    const report = await verified(text);
    assert.is(report.verdict, "authentic", JSON.stringify(report));
    assert.equal(report.complete, { key, number: indexes.length, size: RECORDS });
    const bytes = bytesBeyondLeaves(text);
    assert.ok(bytes <= max, `${bytes} bytes beyond the leaves of ${indexes.length} records of ${key}`);
  }
});

test.run();
