import type { PayloadEvent } from "../../domain/delivery/payload-events.ts";
import { eventOf } from "../../domain/events.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Commitment } from "../../domain/evidence/commitment.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import { personalStream } from "../erasure/personal-data.ts";
import { bytesOfExchange, bytesOfHeaders, saltedHash } from "../streams/commitments.ts";
import type { ResponseKept } from "../streams/exchanges.ts";
import { decodeBody, type Encoded, isEncoded, joinedBody } from "../streams/payload-encoding.ts";
import { type Payloads, payloadStream } from "../streams/payloads.ts";
import { pagesOf } from "../streams/stream-pages.ts";

/** What opens a commitment: SHA-256 over the salt and the bytes. */
export type Opened = { readonly salt: Uint8Array; readonly bytes: Uint8Array };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** All commitments in a record's data: to payloads, to headers, and to personal data. */
export const allCommitmentsIn = (value: Json): readonly Commitment[] => {
  if (Array.isArray(value)) return value.flatMap(allCommitmentsIn);
  if (!isObject(value)) return [];
  const { id, commitment, size } = value;
  const isOne = typeof id === "string" && typeof commitment === "string" && typeof size === "number";
  // The commitment to a payload has the one to its headers as a member.
  return [...(isOne ? [{ id, commitment, size }] : []), ...Object.values(value).flatMap(allCommitmentsIn)];
};

/** The event or bundle whose payload the id names; null for personal data. */
export const payloadSubjectOf = (id: string): string | null => (id.includes("/") ? (id.split("/")[0] ?? null) : null);

/** The ids that `domain/evidence/commitment.ts` makes: of a payload, of an attempt with it, and of the headers of either. */
const PAYLOAD = /^([^/]+)\/(\d+)(?:\/attempts\/(\d+))?(\/headers)?$/;
const FORM = /^([^/]+)\/\d+\/forms\/(\d+)$/;

const isText = (value: Json | undefined): value is string => typeof value === "string";

type Source = { readonly log: Pick<EventLog, "read">; readonly payloads: Pick<Payloads, "read"> };

const recordAt = async (log: Source["log"], stream: string, revision: number): Promise<RecordedEvent | null> => {
  const [event] = await log.read(stream, revision === 0 ? null : revision - 1, 1);
  return event?.revision === revision ? event : null;
};

const openedPersonal = async ({ log }: Source, account: string, { id }: Commitment): Promise<Opened | null> => {
  const event = await recordAt(log, personalStream(id), 0);
  if (event === null || event.meta.account !== account) return null;
  const { salt, value } = event.data;
  if (!isText(salt) || value === undefined) return null;
  return { salt: Buffer.from(salt, "base64"), bytes: Buffer.from(isText(value) ? value : canonicalJson(value)) };
};

type KeptPart = {
  readonly subject: string;
  readonly revision: number;
  readonly isOfHeaders: boolean;
  readonly commitment: string;
};

const READ_PAGE = 20;

/** Null if it was erased, or never stored. */
const responseOf = async (
  { log }: Source,
  { subject, revision }: KeptPart,
  attempt: number,
): Promise<ResponseKept | null> => {
  for await (const page of pagesOf(log, payloadStream(subject), revision, READ_PAGE))
    for (const record of page) {
      const event = eventOf<PayloadEvent>(record);
      if (event.type === "ResponseKept" && event.data.number === attempt) return event.data;
    }
  return null;
};

/** What a receiver answered to an attempt, or the headers that were sent and answered. */
const openedExchange = async (source: Source, part: KeptPart, attempt: number): Promise<Opened | null> => {
  const kept = await responseOf(source, part, attempt);
  if (kept === null) return null;
  if (part.isOfHeaders) return { salt: Buffer.from(kept.headers_salt, "base64"), bytes: bytesOfExchange(kept) };
  return isText(kept.salt) ? { salt: Buffer.from(kept.salt, "base64"), bytes: decodeBody(kept) } : null;
};

const openedKept = async (
  { payloads }: Source,
  { subject, revision, isOfHeaders, commitment }: KeptPart,
  event: RecordedEvent,
): Promise<Opened | "damaged" | null> => {
  if (!isOfHeaders) {
    const read = await payloads.read(subject, { revision, commitment });
    return read === null || read === "damaged" ? read : { salt: read.salt, bytes: read.body };
  }
  const { headers_salt: salt, headers } = event.data;
  if (!isText(salt) || !isObject(headers)) return null;
  // The payload's headers are texts by their names.
  return { salt: Buffer.from(salt, "base64"), bytes: bytesOfHeaders(headers as Readonly<Record<string, string>>) };
};

/** The form of an approval's request, which stands after the payload that it shows. */
const openedForm = async (
  { log }: Source,
  account: string,
  stream: string,
  revision: number,
): Promise<Opened | null> => {
  const record = await recordAt(log, stream, revision);
  if (record === null || record.meta.account !== account) return null;
  const event = eventOf<PayloadEvent>(record);
  if (event.type !== "FormKept" || !isEncoded(event.data)) return null;
  const parts = new Map<number, Encoded>();
  for (const at of event.data.parts ?? []) {
    const part = await recordAt(log, stream, at);
    const kept = part === null ? null : eventOf<PayloadEvent>(part);
    if (kept?.type === "PayloadPartKept" && isEncoded(kept.data)) parts.set(at, kept.data);
  }
  const bytes = joinedBody(event.data, (at) => parts.get(at));
  return bytes === null ? null : { salt: Buffer.from(event.data.salt, "base64"), bytes };
};

const openedPayload = async (
  source: Source,
  account: string,
  { id, commitment }: Commitment,
): Promise<Opened | "damaged" | null> => {
  const [, formSubject, formRevision] = FORM.exec(id) ?? [];
  if (formSubject !== undefined) return openedForm(source, account, payloadStream(formSubject), Number(formRevision));
  const [, subject, digits, attempt, ofHeaders] = PAYLOAD.exec(id) ?? [];
  if (subject === undefined) return null;
  const part = { subject, revision: Number(digits), isOfHeaders: ofHeaders !== undefined, commitment };
  const event = await recordAt(source.log, payloadStream(subject), part.revision);
  if (event === null || event.meta.account !== account) return null;
  return attempt === undefined ? openedKept(source, part, event) : openedExchange(source, part, Number(attempt));
};

/** What is kept under the commitment's id, whether it matches or not; null if it was erased, or is another account's. */
const keptUnder = (source: Source, account: string, commitment: Commitment): Promise<Opened | "damaged" | null> =>
  (payloadSubjectOf(commitment.id) === null ? openedPersonal : openedPayload)(source, account, commitment);

const isOpenedBy = ({ salt, bytes }: Opened, { commitment }: Commitment): boolean =>
  saltedHash(salt, bytes) === commitment;

/** Null if the value was erased, is another account's, or does not match its commitment. */
export const openCommitment = async (
  source: Source,
  account: string,
  commitment: Commitment,
): Promise<Opened | null> => {
  const kept = await keptUnder(source, account, commitment);
  return kept !== null && kept !== "damaged" && isOpenedBy(kept, commitment) ? kept : null;
};

/** True if a value is kept under the commitment's id, and is not the one that the commitment is about. */
export const isContradicted = async (source: Source, account: string, commitment: Commitment): Promise<boolean> => {
  const kept = await keptUnder(source, account, commitment);
  return kept !== null && (kept === "damaged" || !isOpenedBy(kept, commitment));
};
