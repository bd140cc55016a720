import type { PayloadName } from "../../domain/delivery/damage.ts";
import type { PayloadRef } from "../../domain/delivery/events.ts";
import type { EventDocument } from "../../projections/event-document.ts";

/** `isReused`: the same payload was stored before. */
export type KeptPayload = Pick<PayloadRef, "id" | "commitment" | "head" | "headers" | "revision"> & {
  readonly isReused?: true;
};

type Received = { readonly body: Uint8Array; readonly contentType: string; readonly contentEncoding: string };

export const contentEncodingField = (contentEncoding: string): { readonly content_encoding?: string } =>
  contentEncoding === "" ? {} : { content_encoding: contentEncoding };

/** What a record says of a stored payload. */
export const payloadRef = (
  { isReused: _, ...kept }: KeptPayload,
  { body, contentType, contentEncoding }: Received,
): PayloadRef => ({
  size: body.length,
  content_type: contentType,
  ...contentEncodingField(contentEncoding),
  ...kept,
});

/** The inverse of `payloadRef`. */
export const keptPayload = ({ content_type, content_encoding, size, ...kept }: PayloadRef): KeptPayload => kept;

/** The name of a payload that the view of events shows. */
export const shownPayload = ({ revision, sha256, head }: EventDocument["payload"]): PayloadName => ({
  revision,
  commitment: sha256,
  ...(head === undefined ? {} : { head: { size: head.size, commitment: head.sha256 } }),
});
