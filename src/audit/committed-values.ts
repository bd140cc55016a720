import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Commitment } from "../../domain/evidence/commitment.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import { personalStream } from "../erasure/personal-data.ts";
import { bytesOfHeaders, saltedHash } from "../streams/commitments.ts";
import { type Payloads, payloadStream } from "../streams/payloads.ts";

/** What opens a commitment: SHA-256 over the salt and the bytes. */
export type Opened = { readonly salt: Uint8Array; readonly bytes: Uint8Array };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** All commitments in a record's data: to payloads, to headers, and to personal data. */
export const allCommitmentsIn = (value: Json): readonly Commitment[] => {
  if (Array.isArray(value)) return value.flatMap(allCommitmentsIn);
  if (!isObject(value)) return [];
  const { id, commitment, size } = value;
  if (typeof id === "string" && typeof commitment === "string" && typeof size === "number")
    return [{ id, commitment, size }];
  return Object.values(value).flatMap(allCommitmentsIn);
};

/** The event or bundle whose payload the id names; null for personal data. */
export const payloadSubjectOf = (id: string): string | null => (id.includes("/") ? (id.split("/")[0] ?? null) : null);

const PAYLOAD = /^([^/]+)\/(\d+)(\/headers)?$/;

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

const openedPayload = async (
  { log, payloads }: Source,
  account: string,
  { id, commitment }: Commitment,
): Promise<Opened | null> => {
  const [, subject, digits, isOfHeaders] = PAYLOAD.exec(id) ?? [];
  if (subject === undefined) return null;
  const revision = Number(digits);
  const event = await recordAt(log, payloadStream(subject), revision);
  if (event === null || event.meta.account !== account) return null;
  if (isOfHeaders === undefined) {
    const read = await payloads.read(subject, { revision, commitment });
    return read === null || read === "damaged" ? null : { salt: read.salt, bytes: read.body };
  }
  const { headers_salt: salt, headers } = event.data;
  if (!isText(salt) || !isObject(headers)) return null;
  // The payload's headers are texts by their names.
  return { salt: Buffer.from(salt, "base64"), bytes: bytesOfHeaders(headers as Readonly<Record<string, string>>) };
};

/** Null if the value was erased, is another account's, or does not match its commitment. */
export const openCommitment = async (
  source: Source,
  account: string,
  commitment: Commitment,
): Promise<Opened | null> => {
  const open = payloadSubjectOf(commitment.id) === null ? openedPersonal : openedPayload;
  const opened = await open(source, account, commitment);
  return opened !== null && saltedHash(opened.salt, opened.bytes) === commitment.commitment ? opened : null;
};
