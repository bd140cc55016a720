import { toHex } from "../../domain/evidence/bytes.ts";
import { isErasureOf } from "../../domain/evidence/commitment.ts";
import type { PayloadLine } from "../../domain/evidence/export-lines.ts";
import type { Leaf } from "../../domain/evidence/leaf.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { Platform } from "./platform.ts";
import type { Erased } from "./report.ts";

type Promised = { readonly commitment: string; readonly size: number; readonly index: number };

const SALT_BYTES = 16;
const COMMITMENT = /^[0-9a-f]{64}$/;
/** The subject of an erasure stands before the first slash of the ids that it erased. */
const SUBJECT = /^[^/]+/;
const SHOWN_MAX = 1_000;

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const addCommitments = (value: Json, found: (id: string, commitment: string, size: number) => void): void => {
  if (Array.isArray(value)) for (const item of value) addCommitments(item, found);
  if (!isObject(value)) return;
  const { id, commitment, size } = value;
  if (
    typeof id === "string" &&
    typeof commitment === "string" &&
    COMMITMENT.test(commitment) &&
    typeof size === "number"
  )
    found(id, commitment, size);
  // The commitment to a payload has the one to its headers as a member.
  for (const member of Object.values(value)) addCommitments(member, found);
};

const subjectsOf = ({ data }: Leaf): readonly string[] =>
  [data.id, data.event_id, data.bundle_id].filter((it) => typeof it === "string");

/** Compares what can be erased with its commitments, and tells what was erased from what was withheld. */
export class Payloads {
  readonly #platform: Platform;
  readonly #expected = new Map<string, Promised>();
  readonly #given = new Map<string, Promised>();
  readonly #erasures = new Map<string, Leaf[]>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Null if each payload that the record names is the one that the records before it named so; else what is wrong. */
  note(leaf: Leaf): string | null {
    let other: string | null = null;
    addCommitments(leaf.data, (id, commitment, size) => {
      const known = this.#given.get(id) ?? this.#expected.get(id);
      if (known === undefined) this.#expected.set(id, { commitment, size, index: leaf.index });
      else if (known.commitment !== commitment || known.size !== size)
        other ??= `it has another commitment to ${id} than the record ${known.index}`;
    });
    this.noteErasure(leaf);
    return other;
  }

  /** What the record erased is not withheld. Nothing is expected of what the record itself names. */
  noteErasure(leaf: Leaf): void {
    if (!leaf.type.endsWith("Erased")) return;
    for (const subject of subjectsOf(leaf)) this.#erasures.set(subject, [...(this.#erasures.get(subject) ?? []), leaf]);
  }

  /**
   * Null if the payload is what a record promised; else why not, and of which record. It may come again with each record
   * that names it.
   */
  take({ id, salt, bytes }: PayloadLine): { readonly reason: string; readonly index: number | null } | null {
    const expected = this.#expected.get(id);
    const index = expected?.index ?? null;
    const [saltBytes, value] = [this.#platform.fromBase64(salt), this.#platform.fromBase64(bytes)];
    if (saltBytes?.length !== SALT_BYTES || value === null) return { reason: `the payload ${id} is malformed`, index };
    const salted = new Uint8Array(SALT_BYTES + value.length);
    salted.set(saltBytes);
    salted.set(value, SALT_BYTES);
    const commitment = toHex(this.#platform.sha256(salted));
    if (expected === undefined)
      return this.#given.get(id)?.commitment === commitment
        ? null
        : { reason: `no record before it names the payload ${id}`, index };
    if (value.length !== expected.size || commitment !== expected.commitment)
      return { reason: `the payload ${id} is not the one that was recorded`, index };
    this.#expected.delete(id);
    this.#given.set(id, expected);
    return null;
  }

  #erasureOf(id: string): Leaf | undefined {
    const subject = SUBJECT.exec(id)?.[0] ?? id;
    const found = [...(this.#erasures.get(id) ?? []), ...(this.#erasures.get(subject) ?? [])];
    return found.find((leaf) => isErasureOf(id, leaf));
  }

  ended(): { verified: number; erased: readonly Erased[]; erasedCount: number; withheld: readonly string[] } {
    const erased: Erased[] = [];
    const withheld: string[] = [];
    for (const [id] of this.#expected) {
      const erasure = this.#erasureOf(id);
      if (erasure === undefined) withheld.push(id);
      else erased.push({ id, at: erasure.recorded_at, by: `${erasure.actor.kind} ${erasure.actor.id}` });
    }
    return { verified: this.#given.size, erased: erased.slice(0, SHOWN_MAX), erasedCount: erased.length, withheld };
  }
}
