import { toBase64 } from "../../domain/evidence/bytes.ts";
import { checkpointText } from "../../domain/evidence/checkpoint.ts";
import { type KeyLink, keysOfRecord, leafBytes, leafOf } from "../../domain/evidence/leaf.ts";
import { append, EMPTY_FRONTIER, leafHash, rootOf } from "../../domain/evidence/merkle.ts";
import {
  ED25519,
  formatNote,
  formatVerifierKey,
  type SignerKey,
  signatureOf,
  verifierKey,
} from "../../domain/evidence/signed-note.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Actor } from "../../domain/ports/event-log.ts";
import { ed25519Signer } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";

export type ExportedRecord = {
  readonly type: string;
  readonly stream?: string;
  readonly revision?: number;
  readonly data: JsonObject;
  readonly actor?: Actor;
  readonly recorded_at?: string;
};

const ACCOUNT = `acc_${"a".repeat(32)}`;
const ORIGIN = `host/accounts/${ACCOUNT}`;

export const PERIOD = { from: "2026-01-01T00:00:00.000Z", to: "2026-02-01T00:00:00.000Z" };

/** With it, an export covers the period to its end. */
export const AFTER_PERIOD: ExportedRecord = {
  type: "AfterThePeriod",
  data: {},
  recorded_at: "2026-02-01T00:01:00.000Z",
};

/** In front of the records of an export's range, it shows that the period has no earlier ones. */
export const BEFORE_PERIOD: ExportedRecord = {
  type: "BeforeThePeriod",
  data: {},
  recorded_at: "2025-12-31T23:58:59.999Z",
};

export const signerKey = (name: string, filled: number): SignerKey => {
  const seed = new Uint8Array(32).fill(filled);
  const { keyId } = verifierKey(sha256, name, ED25519, ed25519Signer(seed).publicKey);
  return { name, keyId, type: ED25519, seed };
};

const OPERATOR = signerKey("host/instance", 1);

const vkeyOf = ({ name, seed }: SignerKey): string =>
  formatVerifierKey(verifierKey(sha256, name, ED25519, ed25519Signer(seed).publicKey));

export const OPERATOR_KEY = vkeyOf(OPERATOR);

/** Makes leaves with the right links of their keys. */
const leaves = (records: readonly ExportedRecord[], from: number): readonly Uint8Array[] => {
  const links = new Map<string, KeyLink>();
  return records.map((record, n) => {
    const { type, stream = `delivery-evt_${n}`, revision = 0, data } = record;
    const { actor = { kind: "system", id: "test" }, recorded_at = "2026-01-15T12:00:00.000Z" } = record;
    const meta = { account: ACCOUNT, actor, recorded_at, command_id: `c${n}`, causation_id: null, schema: 1 };
    const traced = { ...meta, trace_id: "0".repeat(32), span_id: "0".repeat(16) };
    const recorded = { stream, revision, id: `id-${from + n}`, type, data, meta: traced };
    const index = from + n;
    const keys: Record<string, KeyLink> = {};
    for (const key of keysOfRecord(recorded)) {
      const link = links.get(key) ?? [0, null];
      keys[key] = link;
      links.set(key, [link[0] + 1, index]);
    }
    return leafBytes(leafOf(sha256, recorded, { index, keys }));
  });
};

/** The lines of an export whose records begin at `from`. From 0, its checkpoint is that of its records. */
export const exportLines = (records: readonly ExportedRecord[], from = 0): readonly JsonObject[] => {
  const bytes = leaves(records, from);
  const tree = bytes.reduce((frontier, leaf) => append(sha256, frontier, leafHash(sha256, leaf)), EMPTY_FRONTIER);
  const size = from + records.length;
  const text = checkpointText(ORIGIN, { size, root: rootOf(sha256, tree) });
  const sign = (seed: Uint8Array, message: Uint8Array) => ed25519Signer(seed).sign(message);
  const note = formatNote({ text, signatures: [signatureOf(sign, text, OPERATOR)] });
  const key = OPERATOR_KEY;
  return [
    { kind: "header", account: ACCOUNT, origin: ORIGIN, key, from_index: from, to_index: size, filter: null },
    ...bytes.map((leaf, n) => ({ kind: "record", index: from + n, leaf: toBase64(leaf) })),
    { kind: "checkpoint", text: note, count: records.length },
  ];
};

export async function* chunksOf(lines: readonly JsonObject[], size = 1_000): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
