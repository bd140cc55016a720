import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { PayloadName } from "../../domain/delivery/damage.ts";
import type { Erased } from "../../domain/delivery/erased.ts";
import type { PayloadHead } from "../../domain/delivery/events.ts";
import type { PayloadEvent } from "../../domain/delivery/payload-events.ts";
import type { EventLog, Expected, Revision } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { BLANK_TYPE } from "../../infra/stream-name.ts";
import { type Envelope, toEvents } from "./envelope.ts";
import { appendKnown } from "./run-command.ts";
import { pagesOf } from "./stream-pages.ts";

type Kept = Extract<PayloadEvent, { type: "PayloadKept" }>["data"];
type Encoded = Pick<Kept, "encoding" | "body">;
type Exact = Exclude<Expected, "any">;

/** The exact bytes received, and the headers with secrets redacted. */
export type Incoming = {
  readonly body: Buffer;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly whole?: Buffer;
};

/** Bytes stored of a refused body after the account's allowance for whole bodies is used up. */
const HEAD_BYTES = 4_096;

export const headerBytes = (headers: Incoming["headers"]): number => {
  let bytes = 0;
  for (const name in headers) bytes += name.length + (headers[name]?.length ?? 0);
  return bytes;
};

export const bytesOf = ({ body, contentType, headers }: Incoming): number =>
  body.length + contentType.length + headerBytes(headers);

/** Replaces a body by its beginning. Headers that are longer than that are dropped. */
export const headOf = (incoming: Incoming): Incoming => {
  const headers = headerBytes(incoming.headers) > HEAD_BYTES ? {} : incoming.headers;
  if (incoming.body.length <= HEAD_BYTES) return { ...incoming, headers };
  return { ...incoming, headers, body: incoming.body.subarray(0, HEAD_BYTES), whole: incoming.body };
};

export type KeptPayload = {
  readonly revision: Revision;
  readonly sha256: string;
  readonly head?: PayloadHead;
  readonly isReused?: true;
};

export type OnDamage = (eventId: string, name: PayloadName) => Promise<void>;

export type ReadPayload = Pick<Kept, "content_type" | "content_encoding" | "headers"> & {
  readonly body: Buffer;
  /** 16 random bytes, erased with the body, so that a digest over both reveals nothing afterwards. */
  readonly salt: Buffer;
};

/** 1 MiB less 64 KiB: with its envelope a payload stays below the limit of one append. */
export const PAYLOAD_BYTES_MAX = 1_048_576 - 65_536;
const SALT_BYTES = 16;
const READ_PAGE = 20;
/**
 * Bytes of one append. Encoding them takes the main thread about a millisecond, and the log's writer as long: other
 * requests are served between the parts of a long body.
 */
const PART_BYTES = 128 * 1_024;
/**
 * In JSON, text takes at most six times its bytes (\u0000). Up to here the result stays below the limit of an append,
 * so it is not measured: that takes longer than encoding.
 */
const TEXT_UNMEASURED_MAX = PART_BYTES;
/** The characters that take six times their bytes as JSON. All others take at most twice as many. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for these
const LONG_ESCAPES = /[\0-\x07\x0b\x0e-\x1f]/;
/** Each lost race means that another writer stored something: this many in a row are no coincidence. */
const KEEP_ATTEMPTS_MAX = 64;

export const payloadStream = (eventId: string): string => `payload-${eventId}`;

export const payloadDigest = (salt: Uint8Array, body: Uint8Array): string =>
  createHash("sha256").update(salt).update(body).digest("hex");

const hashesOf = (
  salt: Uint8Array,
  { body, whole }: Pick<Incoming, "body" | "whole">,
  sha256 = payloadDigest(salt, body),
): Pick<KeptPayload, "sha256" | "head"> =>
  whole === undefined ? { sha256 } : { sha256: payloadDigest(salt, whole), head: { size: body.length, sha256 } };

const base64Length = (body: Buffer): number => Math.ceil(body.length / 3) * 4;
const jsonLength = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** Text if it yields the same bytes and is not longer than base64: text can be read in the log. */
export const encodeBody = (body: Buffer): Encoded => {
  if (isUtf8(body)) {
    const text = body.toString("utf8");
    const isShort = body.length <= TEXT_UNMEASURED_MAX && !LONG_ESCAPES.test(text);
    if (isShort || jsonLength(text) <= base64Length(body)) return { encoding: "text", body: text };
  }
  return { encoding: "base64", body: body.toString("base64") };
};

export const decodeBody = (kept: Encoded): Buffer =>
  Buffer.from(kept.body, kept.encoding === "text" ? "utf8" : "base64");

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Slices of at most `PART_BYTES`, cut between characters if the body is text. */
const slicesOf = (body: Buffer): readonly Buffer[] => {
  if (body.length <= PART_BYTES) return [body];
  const isText = isUtf8(body);
  const slices: Buffer[] = [];
  for (let from = 0; from < body.length; ) {
    let to = Math.min(from + PART_BYTES, body.length);
    // A character of UTF-8 has at most three continuation bytes (RFC 3629, section 3).
    if (isText) while (to < body.length && isContinuation(body[to])) to -= 1;
    slices.push(body.subarray(from, to));
    from = to;
  }
  return slices;
};

export const contentEncodingField = (contentEncoding: string): { readonly content_encoding?: string } =>
  contentEncoding === "" ? {} : { content_encoding: contentEncoding };

export type Payloads = {
  /** Stores an event's first payload durably. Null if the stream has records already. */
  keepFirst(eventId: string, incoming: Incoming, envelope: Envelope): Promise<KeptPayload | null>;
  /**
   * Finds the same payload among those stored after `erased`, or stores this one as well. For events that are not
   * admitted. Rejects with `LogUnavailable` if other writers keep winning the race.
   */
  keepAgain(eventId: string, incoming: Incoming, envelope: Envelope, erased?: Erased): Promise<KeptPayload>;
  /**
   * The payload with this name, or its head if only that was stored. Null if it was erased. "damaged" if the bytes do
   * not match the name's hash: the damage is recorded, and the bytes must be neither shown nor sent.
   */
  read(eventId: string, name: PayloadName): Promise<ReadPayload | "damaged" | null>;
};

type Stored = {
  readonly parts: Map<Revision, Encoded>;
  readonly payloads: { readonly revision: Revision; readonly salt: string; readonly body: Buffer }[];
};

const isRevisionBelow = (value: unknown, end: Revision): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < end;

const isEncoded = ({ encoding, body }: Encoded): boolean => typeof encoding === "string" && typeof body === "string";

const isWellFormed = ({ type, data }: PayloadEvent, revision: Revision): boolean =>
  type === "PayloadKept" &&
  isEncoded(data) &&
  typeof data.salt === "string" &&
  (data.parts === undefined ||
    (Array.isArray(data.parts) && data.parts.every((part) => isRevisionBelow(part, revision))));

/** Null if a part is gone: the stream is being erased. */
const joined = (kept: Kept, partAt: (revision: Revision) => Encoded | undefined): Buffer | null => {
  if (kept.parts === undefined) return decodeBody(kept);
  const slices: Buffer[] = [];
  for (const revision of kept.parts) {
    const part = partAt(revision);
    if (part === undefined) return null;
    slices.push(decodeBody(part));
  }
  return Buffer.concat([...slices, decodeBody(kept)]);
};

const isSame = (a: Encoded, b: Encoded): boolean => a.encoding === b.encoding && a.body === b.body;

/**
 * Payloads in `payload-<event>`. A body of more than `PART_BYTES` is appended in parts and exists once the
 * `PayloadKept` that names them is appended. A crash in between leaves parts that are never read and that an erasure
 * removes.
 */
export const payloads = (
  log: EventLog,
  randomness: Randomness,
  onDamage: OnDamage = async () => undefined,
): Payloads => {
  const stored = async (eventId: string, erased: Erased): Promise<Stored> => {
    const found: Stored = { parts: new Map(), payloads: [] };
    if (erased === "all") return found;
    for await (const page of pagesOf(log, payloadStream(eventId), erased, READ_PAGE)) {
      for (const recorded of page) {
        const { revision } = recorded;
        const event = recorded as unknown as PayloadEvent;
        if (event.type === "PayloadPartKept" && isEncoded(event.data)) found.parts.set(revision, event.data);
        else if (event.type === "PayloadKept" && isWellFormed(event, revision)) {
          const body = joined(event.data, (part) => found.parts.get(part));
          if (body !== null) found.payloads.push({ revision, salt: event.data.salt, body });
        }
      }
    }
    return found;
  };

  const keepAt = async (
    eventId: string,
    expected: Exact,
    incoming: Incoming,
    envelope: Envelope,
    there: ReadonlyMap<Revision, Encoded> = new Map(),
  ): Promise<KeptPayload | { readonly actual: Revision | "absent" }> => {
    const stream = payloadStream(eventId);
    const salt = Buffer.from(randomness.bytes(SALT_BYTES));
    const hash = createHash("sha256").update(salt);
    const slices = slicesOf(incoming.body);
    const parts: Revision[] = [];
    let at = expected;
    for (const [index, bytes] of slices.slice(0, -1).entries()) {
      hash.update(bytes);
      const slice = encodeBody(bytes);
      const known = [...there].find(([, part]) => isSame(part, slice));
      if (known !== undefined) {
        parts.push(known[0]);
        continue;
      }
      const fact = { type: "PayloadPartKept", data: { event_id: eventId, ...slice } };
      const named = { ...envelope, commandId: `${envelope.commandId}/part-${index}` };
      const appended = await appendKnown(log, stream, at, toEvents([fact], named));
      if (appended.outcome === "conflict") return { actual: appended.actual };
      parts.push(appended.revision);
      at = appended.revision;
    }
    const last = slices.at(-1) ?? incoming.body;
    const sha256 = hash.update(last).digest("hex");
    const data: Kept = {
      event_id: eventId,
      salt: salt.toString("base64"),
      content_type: incoming.contentType,
      ...contentEncodingField(incoming.contentEncoding),
      ...encodeBody(last),
      ...(parts.length === 0 ? {} : { parts }),
      headers: incoming.headers,
    };
    const appended = await appendKnown(log, stream, at, toEvents([{ type: "PayloadKept", data }], envelope));
    if (appended.outcome === "conflict") return { actual: appended.actual };
    return { revision: appended.revision, ...hashesOf(salt, incoming, sha256) };
  };

  const readAt = async (eventId: string, wanted: Revision): Promise<PayloadEvent | null> => {
    const [event] = await log.read(payloadStream(eventId), wanted === 0 ? null : wanted - 1, 1);
    // In a copied log, placeholders stand where payloads were erased.
    return event?.revision === wanted && event.type !== BLANK_TYPE ? (event as unknown as PayloadEvent) : null;
  };

  const readStored = async (
    eventId: string,
    { revision, sha256, head }: PayloadName,
  ): Promise<ReadPayload | "damaged" | null> => {
    const event = await readAt(eventId, revision);
    if (event === null) return null;
    if (event.type !== "PayloadKept" || !isWellFormed(event, revision)) return "damaged";
    const parts = new Map<Revision, Encoded>();
    for (const wanted of event.data.parts ?? []) {
      const part = await readAt(eventId, wanted);
      if (part === null) return null;
      if (part.type !== "PayloadPartKept" || !isEncoded(part.data)) return "damaged";
      parts.set(wanted, part.data);
    }
    const { content_type, content_encoding = "", headers } = event.data;
    const salt = Buffer.from(event.data.salt, "base64");
    const body = joined(event.data, (part) => parts.get(part));
    if (body === null || payloadDigest(salt, body) !== (head?.sha256 ?? sha256)) return "damaged";
    return { content_type, ...contentEncodingField(content_encoding), headers, body, salt };
  };

  return {
    async keepFirst(eventId, incoming, envelope) {
      const first = await keepAt(eventId, "absent", incoming, envelope);
      return "sha256" in first ? first : null;
    },

    async keepAgain(eventId, incoming, envelope, erased = null) {
      let expected: Exact = "absent";
      for (let attempt = 1; attempt <= KEEP_ATTEMPTS_MAX; attempt += 1) {
        const { parts, payloads } = await stored(eventId, erased);
        const { body, whole = body } = incoming;
        for (const wanted of whole === body ? [incoming] : [{ body: whole }, incoming]) {
          const same = payloads.find((it) => it.body.equals(wanted.body));
          if (same === undefined) continue;
          const { revision, salt } = same;
          return { revision, ...hashesOf(Buffer.from(salt, "base64"), wanted), isReused: true };
        }
        // Each attempt has its own command id: a part that was stored and erased meanwhile must not look like its
        // repeat.
        const named = { ...envelope, commandId: `${envelope.commandId}/${attempt}` };
        const added = await keepAt(eventId, expected, incoming, named, parts);
        if ("sha256" in added) return added;
        expected = added.actual;
      }
      throw new LogUnavailable(`the payload of ${eventId} is written by too many at once`);
    },

    async read(eventId, name) {
      const found = await readStored(eventId, name);
      if (found === "damaged") await onDamage(eventId, name);
      return found;
    },
  };
};
