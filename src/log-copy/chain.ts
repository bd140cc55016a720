import { hash } from "node:crypto";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { canonicalJson } from "../streams/canonical-json.ts";

/**
 * Count and hash of a log's records in order. `sha256` is hex: 64 zeros for no records; each record makes it SHA-256
 * over the hex before and the record's text.
 */
export type Chain = { readonly count: number; readonly sha256: string };

export const EMPTY_CHAIN: Chain = { count: 0, sha256: "0".repeat(64) };

/** RFC 8785 JSON of everything that a copy keeps; positions are the engine's own. */
export const recordText = ({ stream, revision, id, type, data, meta }: RecordedEvent): string =>
  // The compiler does not take metadata, a readonly type with a nested object, for JSON.
  canonicalJson({ stream, revision, id, type, data, meta: { ...meta } });

export const chained = ({ count, sha256 }: Chain, text: string): Chain => ({
  count: count + 1,
  sha256: hash("sha256", sha256 + text),
});
