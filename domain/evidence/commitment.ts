/**
 * A record has this in place of what can be erased: hex SHA-256 over 16 random bytes and the value's bytes. `size` is in
 * bytes. An erasable stream holds the random bytes and the value.
 */
export type Commitment = { readonly id: string; readonly commitment: string; readonly size: number };

/**
 * Ids of what one event or bundle stored. They begin with its id and a revision of its payload's stream, so that the
 * record of an erasure, which names an event or bundle and a last revision, says which of them it erased. They contain a
 * slash, which no other id does.
 */
export const payloadId = (subject: string, revision: number): string => `${subject}/${revision}`;
export const attemptId = (payload: string, number: number): string => `${payload}/attempts/${number}`;
/** Of a form of the request with this payload, which voters were shown: the record with this revision keeps it. */
export const formId = (payload: string, revision: number): string => `${payload}/forms/${revision}`;
export const headersId = (payload: string): string => `${payload}/headers`;

const PARTS = /^([^/]+)\/(\d+)(?:\/|$)/;

type ErasureRecord = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

/** Whether the record says that the value of the commitment with this id was erased. */
export const isErasureOf = (id: string, { type, data }: ErasureRecord): boolean => {
  if (type === "PersonalDataErased") return data.id === id;
  const [, subject, revision] = PARTS.exec(id) ?? [];
  const erased = type === "PayloadErased" ? data.event_id : type === "BundlePayloadErased" ? data.bundle_id : undefined;
  return (
    subject !== undefined && erased === subject && typeof data.up_to === "number" && Number(revision) <= data.up_to
  );
};
