import type { Json, JsonObject } from "../json.ts";
import type { ActorKind, NewEvent, RecordedEvent } from "../ports/event-log.ts";
import { textOf, toHex, utf8 } from "./bytes.ts";
import { isPlainlyCanonical } from "./canonical-bytes.ts";
import { canonicalJson, wellFormed } from "./canonical-json.ts";
import type { Sha256 } from "./merkle.ts";
import { keysOf, subjectOf } from "./record-keys.ts";

/** Of one key: how many records of the account had it before, and the index of the last of them; null if there was none. */
export type KeyLink = readonly [n: number, last: number | null];

/** What is hashed of a record of the log: the same for whoever reads the log, and enough to read the record alone. */
export type Leaf = {
  readonly v: 1;
  readonly account: string;
  readonly index: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly recorded_at: string;
  readonly actor: { readonly kind: ActorKind; readonly id: string };
  readonly subject: string;
  readonly data: JsonObject;
  /** What the record's metadata says and no other member does. */
  readonly meta: JsonObject;
  readonly keys: Readonly<Record<string, KeyLink>>;
};

/** These members have a sealed text (`domain/sealed.ts`), at the top of the data and in `changes`. */
const SEALED_MEMBERS = ["secret", "password"] as const;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const hashOf = (sha256: Sha256, text: string): string => toHex(sha256(utf8(text)));

const withoutSealedMembers = (sha256: Sha256, object: JsonObject): JsonObject => {
  const { secret, password, headers } = object;
  if (typeof secret !== "string" && typeof password !== "string" && !isObject(headers)) return object;
  const copy: Record<string, Json> = { ...object };
  for (const name of SEALED_MEMBERS) {
    const value = copy[name];
    if (typeof value === "string") copy[name] = hashOf(sha256, value);
  }
  if (isObject(copy.headers))
    copy.headers = Object.fromEntries(
      Object.entries(copy.headers).map(([name, header]) => [
        name,
        isObject(header) && typeof header.sealed === "string"
          ? { ...header, sealed: hashOf(sha256, header.sealed) }
          : header,
      ]),
    );
  return copy;
};

/** A leaf outlives the key that a text is sealed with. The nonce in a sealed text makes its hash one that nobody guesses. */
export const withSealedHashed = (sha256: Sha256, data: JsonObject): JsonObject => {
  const hashed = withoutSealedMembers(sha256, data);
  return isObject(hashed.changes) ? { ...hashed, changes: withoutSealedMembers(sha256, hashed.changes) } : hashed;
};

type Recorded = Pick<RecordedEvent, "stream" | "revision"> & NewEvent;

/** The keys of the record, which a store has to look up before it can say what `keys` is. */
export const keysOfRecord = ({ stream, data, meta }: Recorded): readonly string[] =>
  keysOf({ account: meta.account, actor: meta.actor, stream, data });

export type LeafPlace = { readonly index: number; readonly keys: Readonly<Record<string, KeyLink>> };

/** The record at its index among its account's records, with the link of each of its keys. */
export const leafOf = (sha256: Sha256, record: Recorded, { index, keys }: LeafPlace): Leaf => {
  const { stream, revision, id, type, data } = record;
  const { account, actor, recorded_at, ...meta } = record.meta;
  return {
    v: 1,
    account,
    index,
    stream,
    revision,
    id,
    type,
    recorded_at,
    actor,
    subject: subjectOf(stream),
    data: withSealedHashed(sha256, data),
    meta,
    keys,
  };
};

/** Only a lone surrogate is escaped so in the JSON of a leaf, which then has to have it replaced. */
export const ESCAPED_SURROGATE = "\\ud";

/** The text whose UTF-8 bytes are the leaf in its tree. */
export const leafText = (leaf: Leaf): string => {
  // The compiler does not take a readonly tuple or an optional member for JSON.
  const value = leaf as unknown as JsonObject;
  const text = canonicalJson(value);
  // The search is cheap, the replacement is not.
  return text.includes(ESCAPED_SURROGATE) ? canonicalJson(wellFormed(value)) : text;
};

export const leafBytes = (leaf: Leaf): Uint8Array => utf8(leafText(leaf));

/** A leaf that a verifier reads, of any record type: only what every leaf has is known of it. */
export type LeafFailure =
  | "not-utf8"
  | "not-json"
  | "not-canonical"
  | "lone-surrogate"
  | "unknown-version"
  | "wrong-members";

const ACTOR_KINDS: ReadonlySet<string> = new Set<ActorKind>(["member", "key", "agent", "source", "system"]);

const isCount = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const isLink = (value: Json): boolean =>
  Array.isArray(value) &&
  value.length === 2 &&
  isCount(value[0]) &&
  (value[0] === 0 ? value[1] === null : isCount(value[1]));

const TEXTS = ["account", "stream", "id", "type", "recorded_at", "subject"] as const;
/** A text that is no time could not be compared with a witness's. */
const TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const MEMBERS = 13;

const isLeaf = (value: JsonObject): boolean =>
  Object.keys(value).length === MEMBERS &&
  TEXTS.every((name) => typeof value[name] === "string") &&
  TIME.test(String(value.recorded_at)) &&
  value.subject === subjectOf(String(value.stream)) &&
  isCount(value.index) &&
  isCount(value.revision) &&
  isObject(value.actor) &&
  Object.keys(value.actor).length === 2 &&
  ACTOR_KINDS.has(String(value.actor.kind)) &&
  typeof value.actor.id === "string" &&
  isObject(value.data) &&
  isObject(value.meta) &&
  isObject(value.keys) &&
  Object.values(value.keys).every(isLink);

const KEYS = ',"keys":';
const AFTER_LINKS = '},"meta":{';
/** A link as JSON.parse takes it: a name of plain text, and numbers that are exact. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: no text of JSON has them
const LINK = /"([^"\\\0-\x1f]*)":\[(0|[1-9]\d{0,14}),(?:(0|[1-9]\d{0,14})|null)\](?:,(?!\})|(?=\}))/y;

/** The links that stand in the text from here to there; null if something else stands there. */
const linksIn = (text: string, from: number, to: number): Record<string, KeyLink> | null => {
  const links: Record<string, KeyLink> = Object.create(null);
  for (let at = from; at < to; at = LINK.lastIndex) {
    LINK.lastIndex = at;
    const link = LINK.exec(text);
    if (link === null) return null;
    links[link[1] ?? ""] = [Number(link[2]), link[3] === undefined ? null : Number(link[3])];
  }
  return links;
};

/**
 * What JSON.parse gives. For each new set of names an engine keeps how objects with them are laid out, and nearly every event
 * has another id. So the links are read apart, into an object whose names are only looked up.
 */
const parsed = (text: string): Json => {
  const at = text.indexOf(KEYS);
  const from = at + KEYS.length;
  const to = at !== -1 && text.lastIndexOf(KEYS) === at && text[from] === "{" ? text.indexOf(AFTER_LINKS, from) : -1;
  const links = to === -1 ? null : linksIn(text, from + 1, to);
  if (links !== null) {
    const rest = JSON.parse(`${text.slice(0, from)}0${text.slice(to + 1)}`) as Json; // JSON.parse has no other results.
    // Else the only member of this name is not the leaf's own, but one of its data's.
    if (isObject(rest) && rest.keys === 0) return Object.assign(rest, { keys: links });
  }
  return JSON.parse(text) as Json;
};

/** Reads the bytes of a leaf. Only the one form that `leafBytes` writes is read, so no two texts are the same record. */
export const readLeaf = (bytes: Uint8Array): Leaf | LeafFailure => {
  const text = textOf(bytes);
  if (text === null) return "not-utf8";
  let value: Json;
  try {
    value = parsed(text);
    if (!isPlainlyCanonical(bytes)) {
      // It throws where a value is nested more deeply than the stack allows.
      if (canonicalJson(value) !== text) return "not-canonical";
      if (text.includes(ESCAPED_SURROGATE) && canonicalJson(wellFormed(value)) !== text) return "lone-surrogate";
    }
  } catch {
    return "not-json";
  }
  if (!isObject(value)) return "wrong-members";
  if (value.v !== 1) return "unknown-version";
  return isLeaf(value) ? (value as unknown as Leaf) : "wrong-members"; // isLeaf has looked at each member.
};
