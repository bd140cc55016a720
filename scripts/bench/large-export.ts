import { createHash } from "node:crypto";
import { toBase64, toHex, utf8 } from "../../domain/evidence/bytes.ts";
import { checkpointText } from "../../domain/evidence/checkpoint.ts";
import type { ExportLine } from "../../domain/evidence/export-lines.ts";
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
import { ed25519Signer } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { KeyTree } from "../../src/verifier/key-tree.ts";
import { deliveryFacts } from "../../test/support/history.ts";

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** An id as the service makes them: 160 bits, so that a map of many has the depth that it has in a service. */
const idOf = (prefix: string, name: string): string => {
  const digest = createHash("sha256").update(`${prefix} ${name}`).digest();
  return `${prefix}_${Array.from({ length: 32 }, (_, i) => BASE32.charAt((digest[i] ?? 0) % 32)).join("")}`;
};

const ACCOUNT = idOf("acc", "large");
const ORIGIN = `bench.example.com/accounts/${ACCOUNT}`;
const SEED = new Uint8Array(32).fill(1);
const KEY = verifierKey(sha256, "bench.example.com/instance", ED25519, ed25519Signer(SEED).publicKey);
const SIGNER: SignerKey = { name: KEY.name, keyId: KEY.keyId, type: ED25519, seed: SEED };

/** The key that a verifier of `largeExport` is given. */
export const LARGE_EXPORT_KEY = formatVerifierKey(KEY);

const SOURCES = 10;
const ENDPOINTS = 20;
/** Records from one sealed key map to the next. */
const MAP_EVERY = 10_000;
const START = Date.UTC(2026, 0, 1);
/** Milliseconds from one record to the next. */
const STEP = 20;

type Written = { readonly stream: string; readonly revision: number; readonly type: string; readonly data: JsonObject };

/** The records of one event that is delivered at its first attempt. */
const recordsOf = (n: number): readonly Written[] => {
  const event = idOf("evt", String(n));
  const is = deliveryFacts(event, idOf("end", String(n % ENDPOINTS)));
  const origin = { kind: "source", id: idOf("src", String(n % SOURCES)), name: "shop", type: "stripe" } as const;
  const facts = [is.admitted({ origin }), is.started(1, 1), is.succeeded(1, 2), is.delivered(2)];
  return facts.map(({ type, data }, revision) => {
    // Every event is plain JSON; the compiler cannot see that of types with optional members.
    return { stream: `delivery-${event}`, revision, type, data: data as unknown as JsonObject };
  });
};

/** An account's records with the links of their keys, its tree, and its key map. */
class LargeAccount {
  readonly #links = new Map<string, { readonly link: KeyLink; readonly entry: number }>();
  readonly #map = new KeyTree(sha256);
  #frontier = EMPTY_FRONTIER;

  get size(): number {
    return this.#frontier.size;
  }

  line({ stream, revision, type, data }: Written): ExportLine {
    const index = this.size;
    const id = `00000000-0000-8000-a000-${String(index).padStart(12, "0")}`;
    const recorded = {
      ...{ stream, revision, id, type, data },
      meta: {
        account: ACCOUNT,
        actor: { kind: "system", id: "deliverer" },
        command_id: `cmd_${index}`,
        trace_id: toHex(sha256(utf8(stream)).subarray(0, 16)),
        span_id: "b7ad6b7169203331",
        causation_id: null,
        recorded_at: new Date(START + index * STEP).toISOString(),
        schema: 1,
      },
    } as const;
    const keys: Record<string, KeyLink> = {};
    for (const key of keysOfRecord(recorded)) {
      const known = this.#links.get(key) ?? { link: [0, null], entry: this.#map.entryOf(sha256(utf8(key))) };
      keys[key] = known.link;
      const number = known.link[0] + 1;
      this.#links.set(key, { link: [number, index], entry: known.entry });
      this.#map.count(known.entry, number, index);
      this.#map.cover(known.entry, index);
    }
    const leaf = leafBytes(leafOf(sha256, recorded, { index, keys }));
    const hash = leafHash(sha256, leaf);
    this.#frontier = append(sha256, this.#frontier, hash);
    return { kind: "record", index, leaf: toBase64(leaf), leaf_hash: toBase64(hash) };
  }

  /** Seals the map of all records so far. */
  mapLine(revision: number): ExportLine {
    const data = { root: toHex(this.#map.rootHash()), size: this.size };
    return this.line({ stream: `keymap-${ACCOUNT}`, revision, type: "KeyMapSealed", data });
  }

  checkpoint(): ExportLine {
    const text = checkpointText(ORIGIN, { size: this.size, root: rootOf(sha256, this.#frontier) });
    const sign = (seed: Uint8Array, message: Uint8Array) => ed25519Signer(seed).sign(message);
    const note = formatNote({ text, signatures: [signatureOf(sign, text, SIGNER)] });
    return { kind: "checkpoint", text: note, count: this.size };
  }
}

/** The lines of a whole, signed export with so many records: deliveries, and the key maps sealed among them. */
export function* largeExport(records: number): Generator<string> {
  const account = new LargeAccount();
  const about = { account: ACCOUNT, origin: ORIGIN, key: LARGE_EXPORT_KEY, filter: null };
  yield textOf({ kind: "header", ...about, from_index: 0, to_index: records });
  let pending: readonly Written[] = [];
  for (let maps = 0, events = 0; account.size < records; ) {
    if (account.size % MAP_EVERY === MAP_EVERY - 1) {
      yield textOf(account.mapLine(maps));
      maps += 1;
      continue;
    }
    if (pending.length === 0) {
      pending = recordsOf(events);
      events += 1;
    }
    const [next, ...others] = pending;
    if (next !== undefined) yield textOf(account.line(next));
    pending = others;
  }
  yield textOf(account.checkpoint());
}

const textOf = (line: ExportLine): string => `${JSON.stringify(line)}\n`;
