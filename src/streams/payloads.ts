import { createHash } from "node:crypto";
import type { PayloadName } from "../../domain/delivery/damage.ts";
import type { ErasedUpTo } from "../../domain/delivery/events.ts";
import type { PayloadEvent } from "../../domain/delivery/payload-events.ts";
import { eventOf } from "../../domain/events.ts";
import { headersId, payloadId } from "../../domain/evidence/commitment.ts";
import type { EventLog, Expected, NewEvent, Revision } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import { BLANK_TYPE } from "../../infra/stream-name.ts";
import { bytesOfHeaders, commit, saltedHash, twoSalts } from "./commitments.ts";
import { type Envelope, type Recorder, toEvents } from "./envelope.ts";
import { type Encoded, encodeBody, isEncoded, isSameBytes, joinedBody, slicesOf } from "./payload-encoding.ts";
import { contentEncodingField, type KeptPayload } from "./payload-ref.ts";
import { appendKnown } from "./run-command.ts";
import { pagesOf } from "./stream-pages.ts";

type Kept = Extract<PayloadEvent, { type: "PayloadKept" }>["data"];
type Exact = Exclude<Expected, "any">;

/** A payload as it is to be stored; secrets in its headers are redacted already. */
export type Incoming = {
  readonly body: Buffer;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `body` as UTF-8, if it was decoded already. */
  readonly text?: (() => string) | undefined;
  /** Given if `body` is only the beginning of the payload: the whole body, to which the hash refers. */
  readonly whole?: Buffer;
};

/** Once an account has used up its bytes for refused payloads, only so many bytes of each are stored. */
const HEAD_BYTES = 4_096;

const hasAny = (headers: Incoming["headers"]): boolean => {
  for (const _ in headers) return true;
  return false;
};

export const headerBytes = (headers: Incoming["headers"]): number => {
  let bytes = 0;
  for (const name in headers) bytes += name.length + (headers[name]?.length ?? 0);
  return bytes;
};

export const bytesOf = ({ body, contentType, headers }: Incoming): number =>
  body.length + contentType.length + headerBytes(headers);

export const headOf = (incoming: Incoming): Incoming => {
  const headers = headerBytes(incoming.headers) > HEAD_BYTES ? {} : incoming.headers;
  if (incoming.body.length <= HEAD_BYTES) return { ...incoming, headers };
  return { ...incoming, text: undefined, headers, body: incoming.body.subarray(0, HEAD_BYTES), whole: incoming.body };
};

/** `kept` describes the payload once `events` are appended. */
export type PayloadDraft = {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly kept: KeptPayload;
};

export type OnDamage = (eventId: string, name: PayloadName) => Promise<void>;

export type ReadPayload = Pick<Kept, "content_type" | "content_encoding" | "headers"> & {
  readonly body: Buffer;
  /** 16 random bytes that are erased with the body, so that a digest over both gives nothing away afterwards. */
  readonly salt: Buffer;
};

/** 1 MiB less 64 KiB for the envelope, so that a payload stays below the limit of one append. */
export const PAYLOAD_BYTES_MAX = 1_048_576 - 65_536;
const READ_PAGE = 20;
const KEEP_ATTEMPTS_MAX = 64;

export const payloadStream = (eventId: string): string => `payload-${eventId}`;

type Salts = readonly [body: Uint8Array, headers: Uint8Array];

const commitmentsTo = (
  id: string,
  [salt, headersSalt]: Salts,
  { body, whole, headers }: Pick<Incoming, "body" | "whole" | "headers">,
  commitment = saltedHash(salt, body),
): Pick<KeptPayload, "id" | "commitment" | "head" | "headers"> => {
  const ofHeaders = hasAny(headers) ? { headers: commit(headersId(id), headersSalt, bytesOfHeaders(headers)) } : {};
  return whole === undefined
    ? { id, commitment, ...ofHeaders }
    : { commitment: saltedHash(salt, whole), head: { id, commitment, size: body.length }, ...ofHeaders };
};

export type Payloads = {
  keepFirst(eventId: string, incoming: Incoming, envelope: Envelope): Promise<KeptPayload | null>;
  /** The append that stores a payload which fits into one, in a stream that has to be absent; null for a longer body. */
  draftFirst(eventId: string, incoming: Incoming, envelope: Envelope, recorder?: Recorder): PayloadDraft | null;
  /** Finds this payload among those stored after the erasure that `erased` names, or stores it. */
  keepAgain(eventId: string, incoming: Incoming, envelope: Envelope, erased?: ErasedUpTo): Promise<KeptPayload>;
  /** Null if the payload was erased. "damaged" if its bytes do not match the hash: they are neither shown nor sent. */
  read(eventId: string, name: PayloadName): Promise<ReadPayload | "damaged" | null>;
};

type Stored = {
  readonly parts: Map<Revision, Encoded>;
  readonly payloads: (Pick<Kept, "salt" | "headers_salt" | "headers"> & {
    readonly revision: Revision;
    readonly body: Buffer;
  })[];
};

const isRevisionBelow = (value: unknown, end: Revision): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < end;

const isWellFormed = ({ type, data }: PayloadEvent, revision: Revision): boolean =>
  type === "PayloadKept" &&
  isEncoded(data) &&
  typeof data.salt === "string" &&
  (data.headers_salt === undefined || typeof data.headers_salt === "string") &&
  (data.parts === undefined ||
    (Array.isArray(data.parts) && data.parts.every((part) => isRevisionBelow(part, revision))));

type PayloadsDeps = { readonly log: EventLog; readonly randomness: Randomness };
type NewPayload = { readonly eventId: string; readonly incoming: Incoming; readonly envelope: Envelope };

const storedPayloads = async (log: EventLog, eventId: string, erased: ErasedUpTo): Promise<Stored> => {
  const found: Stored = { parts: new Map(), payloads: [] };
  for await (const page of pagesOf(log, payloadStream(eventId), erased, READ_PAGE)) {
    for (const recorded of page) {
      const { revision } = recorded;
      const event = eventOf<PayloadEvent>(recorded);
      if (event.type === "PayloadPartKept" && isEncoded(event.data)) found.parts.set(revision, event.data);
      else if (event.type === "PayloadKept" && isWellFormed(event, revision)) {
        const body = joinedBody(event.data, (part) => found.parts.get(part));
        if (body !== null) found.payloads.push({ ...event.data, revision, body });
      }
    }
  }
  return found;
};

const samePayload = ({ payloads }: Stored, eventId: string, { body, whole = body }: Incoming): KeptPayload | null => {
  for (const wanted of whole === body ? [{ body }] : [{ body: whole }, { body, whole }]) {
    const same = payloads.find((it) => it.body.equals(wanted.body));
    if (same === undefined) continue;
    const { revision, salt, headers_salt = "", headers } = same;
    const salts: Salts = [Buffer.from(salt, "base64"), Buffer.from(headers_salt, "base64")];
    const hashes = commitmentsTo(payloadId(eventId, revision), salts, { ...wanted, headers });
    return { revision, ...hashes, isReused: true };
  }
  return null;
};

type KeptParts = Pick<NewPayload, "eventId" | "incoming"> & {
  readonly salts: readonly [Buffer, Buffer];
  readonly last: Encoded;
  readonly parts: readonly Revision[];
};

const payloadKept = ({ eventId, incoming, salts: [salt, headersSalt], last, parts }: KeptParts): PayloadEvent => {
  const data: Kept = {
    event_id: eventId,
    salt: salt.toString("base64"),
    ...(hasAny(incoming.headers) ? { headers_salt: headersSalt.toString("base64") } : {}),
    content_type: incoming.contentType,
    ...contentEncodingField(incoming.contentEncoding),
    ...last,
    ...(parts.length === 0 ? {} : { parts }),
    headers: incoming.headers,
  };
  return { type: "PayloadKept", data };
};

const draftFirst = (
  randomness: Randomness,
  { eventId, incoming, envelope }: NewPayload,
  recorder?: Recorder,
): PayloadDraft | null => {
  const { body } = incoming;
  if (slicesOf(body).length > 1) return null;
  const salts = twoSalts(randomness);
  const fact = payloadKept({ eventId, incoming, salts, last: encodeBody(body, incoming.text), parts: [] });
  const kept = { revision: 0, ...commitmentsTo(payloadId(eventId, 0), salts, incoming) };
  const events = recorder?.toEvents([fact], envelope) ?? toEvents([fact], envelope);
  return { stream: payloadStream(eventId), events, kept };
};

/**
 * Appends the parts of a long body first. The payload exists once the `PayloadKept` that names them is appended; parts
 * that a crash left without it are removed by an erasure.
 */
const appendPayload = async (
  { log, randomness }: PayloadsDeps,
  { eventId, incoming, envelope }: NewPayload,
  expected: Exact,
  stored: ReadonlyMap<Revision, Encoded> = new Map(),
): Promise<KeptPayload | { readonly actual: Revision | "absent" }> => {
  const stream = payloadStream(eventId);
  const salts = twoSalts(randomness);
  const digest = createHash("sha256").update(salts[0]);
  const slices = slicesOf(incoming.body);
  const parts: Revision[] = [];
  let at = expected;
  for (const [index, bytes] of slices.slice(0, -1).entries()) {
    digest.update(bytes);
    const slice = encodeBody(bytes);
    const known = [...stored].find(([, part]) => isSameBytes(part, slice));
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
  const commitment = digest.update(last).digest("hex");
  const fact = payloadKept({ eventId, incoming, salts, last: encodeBody(last), parts });
  const appended = await appendKnown(log, stream, at, toEvents([fact], envelope));
  if (appended.outcome === "conflict") return { actual: appended.actual };
  const { revision } = appended;
  return { revision, ...commitmentsTo(payloadId(eventId, revision), salts, incoming, commitment) };
};

const appendOrFind = async (deps: PayloadsDeps, given: NewPayload, erased: ErasedUpTo): Promise<KeptPayload> => {
  let expected: Exact = "absent";
  for (let attempt = 1; attempt <= KEEP_ATTEMPTS_MAX; attempt += 1) {
    const stored = await storedPayloads(deps.log, given.eventId, erased);
    const same = samePayload(stored, given.eventId, given.incoming);
    if (same !== null) return same;
    // Each try has its own command id: else the log would take a part that was erased meanwhile for one stored already.
    const envelope = { ...given.envelope, commandId: `${given.envelope.commandId}/${attempt}` };
    const added = await appendPayload(deps, { ...given, envelope }, expected, stored.parts);
    if ("commitment" in added) return added;
    expected = added.actual;
  }
  throw new LogUnavailable(`the payload of ${given.eventId} is written by too many at once`);
};

const recordAt = async (log: EventLog, eventId: string, wanted: Revision): Promise<PayloadEvent | null> => {
  const [event] = await log.read(payloadStream(eventId), wanted === 0 ? null : wanted - 1, 1);
  // In a copied log, records of the type `BLANK_TYPE` stand where payloads were erased.
  return event?.revision === wanted && event.type !== BLANK_TYPE ? eventOf<PayloadEvent>(event) : null;
};

const readPayload = async (
  log: EventLog,
  eventId: string,
  { revision, commitment, head }: PayloadName,
): Promise<ReadPayload | "damaged" | null> => {
  const event = await recordAt(log, eventId, revision);
  if (event === null) return null;
  if (event.type !== "PayloadKept" || !isWellFormed(event, revision)) return "damaged";
  const parts = new Map<Revision, Encoded>();
  for (const wanted of event.data.parts ?? []) {
    const part = await recordAt(log, eventId, wanted);
    if (part === null) return null;
    if (part.type !== "PayloadPartKept" || !isEncoded(part.data)) return "damaged";
    parts.set(wanted, part.data);
  }
  const { content_type, content_encoding = "", headers } = event.data;
  const salt = Buffer.from(event.data.salt, "base64");
  const body = joinedBody(event.data, (part) => parts.get(part));
  if (body === null || saltedHash(salt, body) !== (head?.commitment ?? commitment)) return "damaged";
  return { content_type, ...contentEncodingField(content_encoding), headers, body, salt };
};

export const payloads = (
  log: EventLog,
  randomness: Randomness,
  onDamage: OnDamage = async () => undefined,
): Payloads => {
  const deps = { log, randomness };
  return {
    async keepFirst(eventId, incoming, envelope) {
      const first = await appendPayload(deps, { eventId, incoming, envelope }, "absent");
      return "commitment" in first ? first : null;
    },
    draftFirst: (eventId, incoming, envelope, recorder) =>
      draftFirst(randomness, { eventId, incoming, envelope }, recorder),
    keepAgain: (eventId, incoming, envelope, erased = null) =>
      appendOrFind(deps, { eventId, incoming, envelope }, erased),
    async read(eventId, name) {
      const found = await readPayload(log, eventId, name);
      if (found === "damaged") await onDamage(eventId, name);
      return found;
    },
  };
};
