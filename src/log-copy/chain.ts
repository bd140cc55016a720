import { hash } from "node:crypto";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";

/** `sha256` is hex: 64 zeros for an empty log, then SHA-256 over the previous hex and the next record's text. */
export type Chain = { readonly count: number; readonly sha256: string };

export const EMPTY_CHAIN: Chain = { count: 0, sha256: "0".repeat(64) };

/** Records are compared by this text (RFC 8785). It leaves out the position, which differs between engines. */
export const recordText = ({ stream, revision, id, type, data, meta }: RecordedEvent): string =>
  // The compiler does not accept a readonly type with a nested object as JSON.
  canonicalJson({ stream, revision, id, type, data, meta: { ...meta } });

export const chained = ({ count, sha256 }: Chain, text: string): Chain => ({
  count: count + 1,
  sha256: hash("sha256", sha256 + text),
});
