import { createHash } from "node:crypto";
import type { Request } from "../domain/delivery/events.ts";
import type { Json } from "../domain/ports.ts";
import { derivedId } from "../infra/crypto/ids.ts";
import { canonicalJson } from "./audit/canonical-json.ts";

const APPROVAL_ID = /^apr_[a-z2-7]{32}$/;

/** `approvalIdOf` makes no others; and what is no id is no stream's name either. */
export const isApprovalId = (text: string): boolean => APPROVAL_ID.test(text);

/**
 * Sent by its sender an event is held once, so it has one approval: whoever asks for it asks for the same. A replay that
 * is held has one of its own: what was decided of the other stays.
 */
export const approvalIdOf = (account: string, eventId: string, replayId?: string): string =>
  replayId === undefined ? derivedId("apr_", account, eventId) : derivedId("apr_", account, eventId, replayId);

export const approvalStream = (approvalId: string): string => `approval-${approvalId}`;

/** Hex SHA-256 over the canonical form (RFC 8785). */
const digestOf = (value: Json): string => createHash("sha256").update(canonicalJson(value)).digest("hex");

/**
 * What is approved of a source's event: who sent which bytes, and where they go. The bytes by the salted digest of the
 * record, so that an erased payload cannot be guessed from this one either.
 */
export const sourceDigest = (
  account: string,
  { origin, payload, endpoint_id }: Pick<Request, "origin" | "payload" | "endpoint_id">,
): string => digestOf({ account, source: origin.id, payload: payload.sha256, target: endpoint_id });
