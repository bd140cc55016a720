import { hash } from "node:crypto";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { canonicalJson } from "../streams/canonical-json.ts";

/**
 * What two logs are compared by: how many records, and a hash over all of them in their order. `sha256` is hex; of no
 * records it is 64 zeros, and each record makes it SHA-256 over the hex before and the record's text.
 */
export type Chain = { readonly count: number; readonly sha256: string };

export const EMPTY_CHAIN: Chain = { count: 0, sha256: "0".repeat(64) };

/** All of a record that a copy keeps, as RFC 8785 writes it: everything but the position, which is its engine's own. */
export const recordText = ({ stream, revision, id, type, data, meta }: RecordedEvent): string =>
  // Metadata is plain JSON; a readonly type with a nested object is not an index signature to the compiler.
  canonicalJson({ stream, revision, id, type, data, meta: { ...meta } });

export const chained = ({ count, sha256 }: Chain, text: string): Chain => ({
  count: count + 1,
  sha256: hash("sha256", sha256 + text),
});
